"""Verify a split: every document is on one side, and none matches, or shares a group with, a document on another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.display import counted, similarity_text
from neardup.errors import InputError
from neardup.fingerprints.documents import Documents, FirstPass, KeptValues, read_documents
from neardup.io.checks.number_files import refuse_lone_numbers
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading, stored_reading
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.jobs.splits.matching import matching_of
from neardup.jobs.splits.previous import FinishedSplit, read_split
from neardup.judging.verification.result import SHOWN_FAILURES, Check, Verification
from neardup.judging.verification.rows import RowKeys, align, read_keys
from neardup.matching.matches import list_matches
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.presets import RecipeLike
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import recipe_of_run
from neardup.recipe.similarity import stored_similarity
from neardup.resources.unfinished import temporary_folder
from neardup.survivors.splits.options import CONFLICTS
from neardup.text.preference import named_groups

NOWHERE = -1
"""The side of documents in conflict."""


@dataclass(frozen=True, slots=True)
class SplitVerification(Verification):
    """What `verify_files` found of a split. `survivors` counts the documents on sides, `removed` those in conflict.

    Attributes:
        sides: the documents of each side.
    """

    sides: dict[str, int] = field(default_factory=dict)

    def _verdict(self) -> str:
        sides = ", ".join(f"{side} {number:,}" for side, number in self.sides.items())
        more = f", {self.removed:,} in conflict" if self.removed else ""
        counts = f"{counted(self.documents, 'document')}: {sides}{more}"
        if not self.proven:
            return f"not proven: {counted(self.failures, 'failure')} ({counts})"
        return f"proven: {counts}; no two on different sides match, {self.promise}"


@dataclass(frozen=True, slots=True)
class _Dealt:
    """The documents on the sides of a split, and on those of earlier ones.

    Attributes:
        corpus: all of them: first the files of the split, with those of conflicts, then those of earlier splits.
        documents: of `corpus`; `sides`: int64[rows], the side of each; NOWHERE for conflicts.
        keys: uint64[rows, WORDS], of each row; `written`: how many rows the split itself has.
    """

    corpus: FileCorpus
    documents: Documents
    sides: Array
    keys: Array
    written: int

    def name(self, row: int) -> str:
        [file], rows = self.corpus.locate(np.array([row]))
        return f"{self.documents.ids[row].as_py()} ({file}, row {int(rows[0])})"


def verify_split(
    folder: str, inputs: Sequence[str | Path], recipe: RecipeLike | None, options: DedupOptions, progress: Progress
) -> SplitVerification:
    """Verify a split that was written to a folder; see `neardup.jobs.verification.verify.verify_files`.

    Raises:
        InputError: a file is missing, the inputs came on standard input, or documents matched within the values of a function.
        DataError: the summary, or a file, is damaged.
    """
    found = read_split(folder)
    reading, given = stored_reading(found.files), found.summary.options
    known = recipe_of_run({**found.summary.recipe}, recipe, str(folder))
    if given["within"] is not None and given["within"].endswith("()"):
        raise InputError(
            f"{folder} was split within the values of a function, {given['within']}, which is not known here. Only splits within a "
            "column can be verified."
        )
    resources = {name: getattr(options, name) for name in ("threads", "memory", "temp_dir", "temp_limit")}
    similarity = stored_similarity(given["similarity"])
    chosen = matching_of(
        {"min_similarity": given["min_similarity"], "similarity": similarity, "within": given["within"], **resources}
    )
    how: dict[str, Any] = {"on_error": "skip", "progress": progress, "resources": options.resources}
    with temporary_folder(chosen.resources.files) as temporary:
        shards = find_shards(_inputs(found, inputs), temporary=temporary, reading=reading)
    corpus = FileCorpus(shards, reading.columns(), refine=refuse_lone_numbers(shards), **how)
    corpus.check()
    with progress.stage("read"):
        keys, valid = read_keys(corpus)
    dealt = _read(found, reading, known, chosen, progress, how)
    sides = [each.side for each in found.summary.sides]
    counts = np.bincount(dealt.sides[: dealt.written][dealt.sides[: dealt.written] >= 0], minlength=len(sides)).tolist()
    checks = [_check_rows(keys, valid, corpus, dealt), _check_apart(dealt, known, chosen, sides, progress)]
    if given["group"] is not None:
        checks.append(_check_groups(dealt, given["group"], sides))
    stated = [
        f"{each.side} has {counted(number, 'document')}, and the summary says {each.documents:,}"
        for each, number in zip(found.summary.sides, counts, strict=True)
        if each.documents != number
    ]
    checks.append(Check.of("counts", "the summary has the number of documents of each side", len(sides), stated))
    total = int(np.count_nonzero(valid))
    return SplitVerification(
        output=folder,
        audit=None,
        method="exact",
        promise="by theorem",
        similarity=str(similarity),
        min_similarity=chosen.min_similarity,
        documents=total,
        survivors=sum(counts),
        removed=dealt.written - sum(counts),
        checks=tuple(checks),
        missed=None,
        seconds=progress.seconds | {"total": round(sum(progress.seconds.values()), 3)},
        sides=dict(zip(sides, counts, strict=True)),
    )


def _inputs(found: FinishedSplit, given: Sequence[str | Path]) -> list[str]:
    named = [str(each) for each in given] or found.files["inputs"]
    if "-" in named:
        raise InputError("The inputs came on standard input, which cannot be read again. Give `inputs`, as files.")
    return named


def _read(
    found: FinishedSplit,
    reading: Reading,
    recipe: Recipe,
    options: DedupOptions,
    progress: Progress,
    how: dict[str, Any],
) -> _Dealt:
    """Read the documents of all sides."""
    names = [each.side for each in found.summary.sides]
    shards, side_of, written = list[Shard](), list[int](), 0
    for split in (found, *(read_split(each) for each in found.files["previous"])):
        for side in split.files["sides"]:
            files = split.shards(side, reading) if split is found or side != CONFLICTS else []
            shards += files
            side_of += [NOWHERE if side == CONFLICTS else names.index(side)] * len(files)
        written = written or len(shards)
    group, within = found.summary.options["group"], options.grouped_by
    values = tuple(dict.fromkeys(name for name in (within, group) if name is not None))
    corpus = FileCorpus(shards, reading.columns(values), refine=refuse_lone_numbers(shards), demands_text=False, **how)
    corpus.check()
    keys = RowKeys(corpus.shards, None)
    with progress.stage("fingerprint"):
        documents = read_documents(
            corpus,
            recipe,
            progress=progress,
            resources=options.resources,
            values=KeptValues(values),
            how=FirstPass(side_pass=keys),
        )
    sides = np.full(len(documents), NOWHERE)
    for number, side in enumerate(side_of):
        sides[corpus.rows_of(number)] = side
    end = corpus.rows_of(written - 1).stop if written else 0
    return _Dealt(corpus, documents, sides, keys.keys, end)


def _check_rows(keys: Array, valid: Array, corpus: FileCorpus, dealt: _Dealt) -> Check:
    """Every document of the inputs is on one side, once and unchanged."""
    part = slice(0, dealt.written)
    aligned = align(keys, valid, None, dealt.keys[part], dealt.documents.valid[part])
    missing = np.flatnonzero(valid & ~aligned.kept)
    names, places = corpus.locate(missing)
    failures = [f"{name}, row {row}, is on no side" for name, row in zip(names, places.tolist(), strict=True)]
    for row, repeats in zip(aligned.extra.tolist(), aligned.repeats.tolist(), strict=True):
        why = "is there twice" if repeats else "is in no input: its text or its id is another"
        failures.append(f"{dealt.name(row)} {why}")
    failures += [f"{each.file}, row {each.row} cannot be read: {each.reason}" for each in dealt.corpus.rejected]
    return Check.of("rows", "every document is on one side, once and unchanged", int(valid.sum()), failures)


def _check_apart(
    dealt: _Dealt, recipe: Recipe, options: DedupOptions, names: Sequence[str], progress: Progress
) -> Check:
    """No two documents on different sides match: each side is held against those before it, as against a reference."""
    failures, first = 0, list[str]()
    for side in range(1, len(names)):
        for left, right, similarity in _matches(dealt, side, recipe, options, progress):
            failures += 1
            if len(first) < SHOWN_FAILURES:
                pair = (f"{dealt.name(row)} in {names[dealt.sides[row]]}" for row in (left, right))
                first.append(f"{' and '.join(pair)}: similarity {similarity_text(similarity, options.min_similarity)}")
    checked = int(np.count_nonzero(dealt.sides >= 0))
    claim = "no document matches one on another side"
    return Check("apart", claim, checked, failures, tuple(first))


def _matches(
    dealt: _Dealt, side: int, recipe: Recipe, options: DedupOptions, progress: Progress
) -> Iterator[tuple[int, int, float]]:
    """The matches of texts on a side with those on the sides before it."""
    known = dealt.documents
    wanted = (dealt.sides >= 0) & (dealt.sides <= side)
    some = known.only(wanted)
    sides = np.where(dealt.sides == side, 2, 1).astype(np.uint8)
    for part in list_matches(
        dealt.corpus, some, recipe, options=options, progress=progress, sides=sides, distinct=True
    ):
        yield from zip(part.left.tolist(), part.right.tolist(), part.similarity.tolist(), strict=True)


def _check_groups(dealt: _Dealt, group: str, names: Sequence[str]) -> Check:
    """No value of the column is on two sides."""
    codes, values = named_groups(dealt.documents.values[group])
    known = (codes >= 0) & (dealt.sides >= 0)
    pairs = np.unique(codes[known] * len(names) + dealt.sides[known])
    on, counts = np.unique(pairs // len(names), return_counts=True)
    failures = [
        f"{group} {values[code]!r} is on {counts[i]} sides" for i, code in enumerate(on.tolist()) if counts[i] > 1
    ]
    return Check.of("groups", f"no value of {group} is on two sides", len(on), failures)
