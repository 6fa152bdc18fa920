"""REPRODUCE: run again what a summary records, into a folder of its own, and compare the bytes."""

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from neardup.errors import InputError, RecipeMismatch
from neardup.io.corpora.shards import find_shards
from neardup.io.corpora.stored_shards import digest_of_files
from neardup.io.outputs.output_names import output_folder
from neardup.io.storage.places import Place, is_url, path_text, place_of
from neardup.jobs.removal.reference import reference_without
from neardup.jobs.reproduction.calls import Call, outputs_in, recorded_call
from neardup.jobs.reproduction.result import Changed, ReproducedFile, Reproduction, State
from neardup.options import refuse_unknown
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike
from neardup.resources.resources import ResourceOptions, Resources
from neardup.resources.unfinished import temporary_folder
from neardup.survivors.records.summary_kinds import find_summary, parsed_summary, place_of_recorded

COMPARED = ("output", "audit", "rejects", "items", "superseded")
"""The files that are compared. The summary and a report have times."""
_COMPARED_BYTES = 1 << 20
_OF_RUN = {
    "inputs": "they have other bytes than the run read",
    "reference": "its files have other bytes than the run read",
    "fingerprints": "the fingerprint files of the reference have other bytes than the run read",
    "store": "it has other documents than when the run read it",
    "clusters": "the cluster file has other bytes than the run read",
}


def reproduce(
    summary: str | Path,
    output: str | Path | None = None,
    *,
    recipe: RecipeLike | None = None,
    progress: Watcher = None,
    **resources: Unpack[ResourceOptions],
) -> Reproduction:
    """Run again what a summary records, and compare every byte with what the run wrote.

    The run is done in a temporary folder, so nothing is replaced. Compared are the output, the audit, the rejects, the items
    and the list of superseded documents; the summary and the report have times. Of files that are gone, the digest in the summary
    is compared: of the size and three pieces of each. If the inputs are not those of then, nothing is run: the result says so.

    Call it in the folder of the run, for inputs are found by the names they were given.

    Args:
        summary: the summary of a run of `deduplicate_files`, `deduplicate_units`, `apply_files`, `passages_files`,
            `decontaminate_files` or `split_files`; or its audit, its output or the folder of a split.
        output: keep the new files in this folder, which is made, or is empty.
        recipe: the recipe of the run; needed only if it has a function of yours, or a file that is too large to be kept in the
            summary (more than 64 KiB) and is not where it was.
        progress: True for the command line's display, or a function that is called with each `ProgressEvent`.
        **resources: threads, memory, temp_dir and temp_limit, which change no result.

    Raises:
        InputError: there is no such summary, it does not record all of the run, inputs are missing, or the folder is not empty.
        OptionError: an option of the run was a function, or a part of its recipe is not here.
        DataError: the summary is damaged.
    """
    refuse_unknown(resources, reproduce)
    shown, output = progress_of(progress), path_text(output)
    limits = Resources(**resources)
    path = find_summary(place_of(summary))
    command, values = parsed_summary(path)
    files = values["files"]
    try:
        call = recorded_call(path, command, values, recipe)
    except RecipeMismatch as problem:
        if recipe is not None:
            raise
        return Reproduction(str(summary), None, (), (Changed("recipe", str(problem)),), None, 0.0)
    if changed := _changed_inputs(call, files):
        return Reproduction(str(summary), None, (), (changed,), None, 0.0)
    call = _apart_from_output(call, files)
    begun = time.monotonic()
    with _folder(output, limits) as base:
        made = _run(call, outputs_in(base, command, files), resources, shown)
        with shown.stage("compare"):
            compared = tuple(_compare(path, files, made["files"]))
    seconds = round(time.monotonic() - begun, 3)
    changes = (*_changes(files, made["files"]), *_versions(values, made))
    return Reproduction(str(summary), command, compared, changes, output, seconds)


def _changed_inputs(call: Call, files: Mapping[str, Any]) -> Changed | None:
    """Whether the inputs are not those of then; found before anything is run."""
    try:
        shards = find_shards(call.inputs, reading=call.reading)
    except InputError as problem:
        raise InputError(f"{problem} Run this in {files['folder']}, with the inputs in their places.") from None
    if digest_of_files(shards) == (files.get("content") or {}).get("inputs"):
        return None
    return Changed("inputs", f"{', '.join(call.inputs[:3])}: {_OF_RUN['inputs']}")


def _apart_from_output(call: Call, files: Mapping[str, Any]) -> Call:
    """The call, whose reference does not have the output, which was written into a folder of the reference."""
    against, output = call.arguments.get("against"), files["output"]
    if not against:
        return call
    folder = output_folder(output)
    inputs = [] if folder is None else find_shards(call.inputs, reading=call.reading)
    written = [place_of(output)] if folder is None else [folder / shard.relative for shard in inputs]
    others = reference_without(against, written, call.reading)
    return replace(call, arguments=call.arguments | {"against": others})


@contextlib.contextmanager
def _folder(output: str | None, limits: Resources) -> Iterator[Path]:
    if output is None:
        with temporary_folder(limits.files) as folder:
            yield folder.path
        return
    if is_url(output):
        raise InputError(f"`output={output!r}`: give a folder of this machine.")
    place = Path(output)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InputError(f"{output} exists and is not an empty folder. Name a new one: nothing is replaced.")
    place.mkdir(parents=True, exist_ok=True)
    yield place


def _run(call: Call, outputs: dict[str, str], resources: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Do the run, and return its result as the summary has it."""
    arguments = dict(call.arguments)
    first = (arguments.pop("clusters"),) if call.command == "apply" else ()
    if call.command in ("apply", "decontaminate"):  # they take no memory
        resources = {name: value for name, value in resources.items() if name != "memory"}
    done = call.function(*first, list(call.inputs), **outputs, **arguments, **resources, progress=progress)
    found: dict[str, Any] = json.loads(done.to_json())
    return found


def _compare(path: Place, files: Mapping[str, Any], made: Mapping[str, Any]) -> Iterator[ReproducedFile]:
    """Each file that was made, beside the one of then."""
    for kind in COMPARED:
        then, now = files.get(kind), made.get(kind)
        if then is None or now is None or then == "-":
            continue
        as_recorded = files["written"].get(kind) == made["written"].get(kind)
        for name, file in _files_in(Path(now)):
            there = place_of_recorded(path, then)
            there = there / name if there is not None and name else there
            named = f"{then.rstrip('/')}/{name}" if name else then
            state, at = _state(there, file, as_recorded=as_recorded)
            yield ReproducedFile(kind, named, state, at, file.stat().st_size)


def _files_in(place: Path) -> Iterator[tuple[str, Path]]:
    """A file, or all files in a folder but summaries, each with its name there."""
    if not place.is_dir():
        yield "", place
        return
    for file in sorted(place.rglob("*")):
        if file.is_file() and not file.name.endswith((".summary.json", ".rejects.jsonl")):
            yield str(file.relative_to(place)), file


def _state(there: Place | None, file: Path, *, as_recorded: bool) -> tuple[State, int | None]:
    """What became of a file of then; `as_recorded`: the new ones have the digest of the summary."""
    if there is None or not there.is_file():
        return ("missing" if as_recorded else "differs"), None
    at = _first_difference(there, file)
    if at is None:
        return "same", None
    return ("edited" if as_recorded else "differs"), at


def _first_difference(there: Place, file: Path) -> int | None:
    """The first byte in which two files differ; None if none does."""
    begin = 0
    with there.open("rb") as left, file.open("rb") as right:
        while True:
            ours, theirs = left.read(_COMPARED_BYTES), right.read(_COMPARED_BYTES)
            if ours != theirs:
                pairs = zip(ours, theirs, strict=False)
                return begin + next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))
            if not ours:
                return None
            begin += len(ours)


def _changes(files: Mapping[str, Any], made: Mapping[str, Any]) -> Iterator[Changed]:
    """What was read besides the inputs, and is not as it was."""
    then, now = files.get("content") or {}, made.get("content") or {}
    for name, digest in then.items():
        if digest != now.get(name):
            named = (
                files.get("against") or files.get("previous") or ([files["clusters"]] if "clusters" in files else [])
            )
            yield Changed(name, f"{', '.join(map(str, named[:3]))}: {_OF_RUN.get(name, 'it is not as it was')}")


def _versions(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Changed]:
    for name in dict.fromkeys((*then["versions"], *now["versions"])):
        here, there = then["versions"].get(name), now["versions"].get(name)
        if here != there:
            yield Changed(f"version of {name}", f"{here or 'none'} then, {there or 'none'} now")
