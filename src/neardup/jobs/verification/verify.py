"""Verify a finished run, ours or another tool's: read its inputs, its output and its audit, and compute again what they state."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from neardup.display import as_code
from neardup.errors import InputError, OptionError
from neardup.io.corpora.reading import READING, Reading, ReadingDict, recipe_for, split_options
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards, listed_inputs, repeated_files
from neardup.io.endings import AUDIT_ENDING, CONTAMINATION_ENDING, PASSAGES_ENDING, SPLIT_SUMMARY
from neardup.io.formats.table import FILES
from neardup.io.outputs.output_names import output_folder, stem
from neardup.io.storage.places import Place, files_below, path_text, place_of, real_name
from neardup.jobs.splits.side_paths import is_split
from neardup.judging.reports.commands import flags_of
from neardup.judging.verification.claim import Claim, read_claim
from neardup.options import Cluster, DedupOptions, Guard, OnError
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.similarity import Similarity, SimilarityLike
from neardup.recipe.tables.similarities import SimilarityName
from neardup.resources.resources import ResourceOptions
from neardup.resources.unfinished import TemporaryFolder, temporary_folder
from neardup.survivors.records.audit_files import (
    audit_beside,
    audit_files,
    is_audit,
    refuse_decontamination,
    summary_path,
    summary_paths,
)
from neardup.survivors.records.summary_reader import read_summaries
from neardup.survivors.repeats.records.cut_log_files import ENDINGS as CUT_LOGS
from neardup.survivors.repeats.records.cut_log_files import is_cut_log, list_summary, log_beside

if TYPE_CHECKING:
    from neardup.judging.verification.passages.claim import PassagesClaim
    from neardup.judging.verification.result import Verification

OF_RUN = ("min_similarity", "similarity", "within", "guard", "cluster")
"""Options of a run that its summary has."""


class VerifyOptions(ReadingDict, ResourceOptions, total=False):
    """The options of `verify_files`."""

    min_similarity: float
    similarity: SimilarityLike
    within: str | None
    guard: Guard | None
    cluster: Cluster


def verify_files(
    output: str | Path,
    inputs: str | Path | Sequence[str | Path] = (),
    *,
    audit: str | Path | None = None,
    against: str | Path | Sequence[str | Path] = (),
    recipe: RecipeLike | None = None,
    strict: bool = False,
    on_error: OnError = "stop",
    progress: Watcher = None,
    **options: Unpack[VerifyOptions],
) -> "Verification":
    """Prove a finished run from its files: nothing is missing or twice, every removal is justified, and no two survivors match.

    With an audit, all that it states of every removal is computed again from the texts. Without one, every document that is not in
    the output must match a survivor; so the run of any tool can be verified that leaves texts and ids unchanged.

    That survivors do not match is proven by an exact join. The methods minhash and simhash may leave pairs that match: these are
    counted in `Verification.missed` and are no failures, unless `strict`. A pair that the method does find is a failure.

    Texts and ids of rows are compared; other columns are not.

    Args:
        output: the file, or the folder of shards, that the run wrote.
        inputs: the inputs of the run; by default those that its summary names.
        audit: a file, or a folder with one for each shard; by default the one beside the output, if there is one.
        against: the reference of a run without a summary.
        recipe: the recipe of a run without a summary; `Recipe()` by default. Normalized texts and features come from it. A
            run with a summary needs it only if the recipe has a function of yours, or a file that is too large to be kept there.
        strict: fail for every two survivors that match, even if the method of the run promises less.
        on_error: the treatment of rows of the inputs that cannot be read, for a run without a summary: `stop`, or `skip`.
        progress: as in `deduplicate_files`.
        **options: threads, memory, temp_dir and temp_limit; the similarity of the run once more, if it has a function; and, for a
            run without a summary, min_similarity, similarity, within, guard, cluster of `DedupOptions` and the fields of
            `neardup.io.corpora.reading.Reading`.

    Raises:
        InputError: a file is missing, or no inputs are known.
        OptionError: an option has a value that is not allowed, or the summary has it; or the run was of lines, paragraphs or
            vectors.
        RowError: a row of the inputs cannot be read, and `on_error` is `stop`.
        DataError: a file is damaged.
    """
    output, progress = path_text(output), progress_of(progress)
    reading, chosen = split_options(options, verify_files)
    if chosen.min_similarity == 0:
        raise OptionError("`min_similarity=0`: without a summary, no distance is known. Give a similarity above 0.")
    if is_split(output):
        more = {"strict": strict, "against": listed_inputs(against), "audit": audit}
        return _verify_split(
            output, inputs, recipe, chosen, progress, [*options, *(name for name in more if more[name])]
        )
    _refuse_audit(output)
    audited = _audit_of(output, path_text(audit))
    if audited is not None and is_cut_log(audited):
        more = {name: value for name, value in (("strict", strict), ("against", listed_inputs(against))) if value}
        return _verify_cuts(output, inputs, audited, recipe, chosen, progress, [*options, *more])
    claim = None if audited is None else read_claim(audited, recipe)
    given = listed_inputs(inputs)
    if claim is None:
        claim = _claim_of_caller(output, audited, given, listed_inputs(against), recipe, reading, chosen)
    else:
        asked = [name for name in (*READING, *OF_RUN) if name in options]
        if "similarity" in asked and _is_same(chosen.compared_by, claim.similarity):
            claim = replace(claim, similarity=chosen.compared_by)
            asked.remove("similarity")
        asked += ["against"] if listed_inputs(against) else []
        if asked:
            raise OptionError(
                f"{as_code(asked)}: the summary of the run, {summary_path(audited or '')}, has it. Leave it out."
            )
        on_error = "skip"
    with temporary_folder(chosen.resources.files) as spool:
        temporary = spool
        shards = _find_inputs(claim, given, temporary)
        written = _find_output(output, shards, claim.reading, temporary)
        # loads NumPy and Arrow, once nothing is refused
        from neardup.jobs.verification.verify_steps import verify_shards

        return verify_shards(
            claim,
            shards,
            written,
            audited,
            chosen,
            progress,
            output=output,
            on_error=on_error,
            strict=strict,
            temporary=temporary,
        )


def _verify_cuts(
    output: str,
    inputs: str | Path | Sequence[str | Path],
    log: Place,
    recipe: RecipeLike | None,
    chosen: DedupOptions,
    progress: Progress,
    asked: Sequence[str],
) -> "Verification":
    """Verify a run that cut passages; `asked`: the options that are given."""
    resources = {name: getattr(chosen, name) for name in ("threads", "memory", "temp_dir", "temp_limit")}
    if known := [name for name in asked if name not in (*resources, "strict")]:
        raise OptionError(f"{as_code(known)}: the summary of the run, {summary_path(log)}, has it. Leave it out.")
    if "strict" in asked:
        raise OptionError(
            "`strict=True`: it is for similar documents, and passages are the same, token for token. Leave it out."
        )
    from neardup.judging.verification.passages.claim import read_passages_claim  # loads what other runs do not need

    claim = read_passages_claim(log, recipe, **resources)
    with temporary_folder(claim.options.resources.files) as temporary:
        shards = _find_inputs(claim, listed_inputs(inputs), temporary)
        written = _find_output(output, shards, claim.reading, temporary)
        # loads NumPy and Arrow, once nothing is refused
        from neardup.jobs.verification.passages import verify_cuts

        return verify_cuts(claim, shards, written, log, progress, output=output, temporary=temporary)


def _verify_split(
    output: str,
    inputs: str | Path | Sequence[str | Path],
    recipe: RecipeLike | None,
    chosen: DedupOptions,
    progress: Progress,
    asked: Sequence[str],
) -> "Verification":
    """Verify a split; `asked`: the options that are given."""
    if known := [name for name in asked if name not in ("threads", "memory", "temp_dir", "temp_limit")]:
        raise OptionError(
            f"{as_code(known)}: the summary of the split, {output.rstrip('/')}/{SPLIT_SUMMARY}, has it. Leave it out."
        )
    from neardup.jobs.verification.splits import verify_split  # loads what other runs do not need

    return verify_split(output, listed_inputs(inputs), recipe, chosen, progress)


def _is_same(given: Similarity | SimilarityName, recorded: Similarity | SimilarityName) -> bool:
    """Whether the caller gives the similarity of the run, whose parts the summary may lack."""
    both = isinstance(given, Similarity) and isinstance(recorded, Similarity)
    return both and given.digest() == recorded.digest()  # type: ignore[union-attr]


def _refuse_audit(output: str) -> None:
    """Refuse an audit in the place of the output, and name the output that it is of."""
    place = place_of(output)
    if output == "-" or not (is_audit(place) or place.name.endswith(CUT_LOGS)):
        return
    if place.name.endswith(CUT_LOGS):
        from neardup.survivors.repeats.records.cut_log_reader import read_cut_summary

        ending, written = PASSAGES_ENDING, read_cut_summary(place)["files"]["output"]
    else:
        summaries = read_summaries(place)
        ending, written = AUDIT_ENDING, summaries[0][1]["files"]["output"] if summaries else None
    if written in (None, "-"):
        raise InputError(f"{output} is an audit. Give the output of its run, and name the audit with `audit`.")
    by_default = audit_beside(written) if ending == AUDIT_ENDING else place_of(stem(written) + ending)
    beside = real_name(by_default) == real_name(place)
    command = shlex.join(["neardup", "verify", written, *flags_of({} if beside else {"audit": output})])
    raise InputError(f"{output} is an audit, and verified is the output of its run, {written}: `{command}`.")


def _audit_of(output: str, audit: str | None) -> Place | None:
    """The audit that is named, or the one beside the output; None if there is none."""
    if audit is not None:
        place = place_of(audit)
        if is_cut_log(place):
            return place
        refuse_decontamination(place)
        if not (place.is_dir() and summary_paths(place)):  # text files of which none was removed have no audits
            audit_files(place)  # refuses what is not there
        return place
    beside, decontamination = audit_beside(output), place_of(stem(output) + CONTAMINATION_ENDING)
    if not beside.is_file() and decontamination.is_file():
        raise InputError(
            f"{output} was written by `neardup decontaminate`, as {decontamination} says: documents were not compared with each "
            "other. Only runs of `neardup dedup` can be verified. `neardup decontaminate --dry-run` of the output, with the same "
            "benchmarks, finds nothing."
        )
    if not beside.is_file() and (summary := list_summary(output)) is not None:
        raise InputError(
            f"{output} is a list of passages, as {summary} says, and no documents. Verify the output of a run without `list`."
        )
    return beside if beside.is_file() else log_beside(output)


def _claim_of_caller(
    output: str,
    audit: Place | None,
    inputs: tuple[str | Path, ...],
    against: tuple[str | Path, ...],
    recipe: RecipeLike | None,
    reading: Reading,
    options: DedupOptions,
) -> Claim:
    """What the caller says about a run without a summary."""
    if not inputs:
        beside = "no audit is known" if audit is None else f"{summary_path(audit)}, which would name them, is missing"
        raise InputError(f"Give `inputs`, the inputs of the run that wrote {output}: {beside}.")
    if callable(options.within):
        raise OptionError("`within`: give the name of a column, not a function.")
    return Claim(
        recipe=recipe_for(reading, recipe_of(recipe, options.version)),
        similarity=options.compared_by,
        min_similarity=options.min_similarity,
        cluster=options.cluster,
        within=options.within,
        guard=options.guard,
        reading=reading,
        inputs=tuple(map(str, inputs)),
        against=tuple(map(str, against)),
    )


def _find_inputs(
    claim: "Claim | PassagesClaim", given: tuple[str | Path, ...], temporary: TemporaryFolder
) -> list[Shard]:
    named = [str(each) for each in given] or list(claim.inputs)
    if "-" in named or "stdin" in named:
        raise InputError("The inputs came on standard input, which cannot be read again. Give `inputs`, as files.")
    try:
        shards = find_shards(named, temporary=temporary, reading=claim.reading)
    except InputError as problem:
        if given:
            raise
        raise InputError(
            f"{problem} Run this in {claim.folder}, with the inputs in their places, or give `inputs`."
        ) from None
    if claim.shards is not None and len(claim.shards) != len(shards):
        raise InputError(
            f"The run was of {len(claim.shards):,} shards, but the inputs are {len(shards):,}. Name all of them, in the order of "
            "the cluster file."
        )
    if claim.shards is not None and not given:
        # the ids of text files, and the names of outputs, are relative to what led to them
        return [replace(shard, relative=stored.relative) for shard, stored in zip(shards, claim.shards, strict=True)]
    return shards


def _find_output(output: str, shards: Sequence[Shard], reading: Reading, temporary: TemporaryFolder) -> list[Shard]:
    """The files of the output, in the order of the inputs' shards; files of no input come last."""
    if output == "-":
        raise InputError("`output='-'`: an output that is verified is a file or a folder. Name it.")
    folder = output_folder(output)
    found = _in_folder(folder, shards, reading, temporary) if folder is not None and folder.is_dir() else None
    if found is None:
        found = find_shards(output, temporary=temporary, reading=reading)
        if len(shards) == len(found) == 1 and shards[0].format in FILES:
            # one document, whose id is the name of the input
            found = [replace(found[0], relative=shards[0].relative)]
    if problems := repeated_files([*shards, *found]):
        raise InputError(f"{problems[0]} The output comes first, then the inputs.")
    return found


def _in_folder(folder: Place, shards: Sequence[Shard], reading: Reading, temporary: TemporaryFolder) -> list[Shard]:
    """The files of an output folder. Those of an input's name are there, whatever they end in; a folder may have none."""
    problem, by_name = None, dict[str, Shard]()
    try:
        by_name = {shard.relative: shard for shard in find_shards(str(folder), temporary=temporary, reading=reading)}
    except InputError as raised:
        problem = raised
    ordered = []
    for shard in shards:
        path = folder / shard.relative
        known = by_name.pop(shard.relative, None)
        if known is None and path.is_file():
            [known] = find_shards(str(path), temporary=temporary, reading=reading)
            known = replace(known, relative=shard.relative)
        if known is not None:
            ordered.append(known)
    if problem is not None and not ordered and files_below(folder, ("",)):
        raise problem
    return [*ordered, *by_name.values()]
