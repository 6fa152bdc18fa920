"""Split files into sides, such as train and test, so that no two documents on different sides match."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from neardup.errors import InputError
from neardup.io.corpora.reading import READING, Reading, ReadingDict, recipe_for
from neardup.io.corpora.shards import listed_inputs
from neardup.io.storage.places import path_text
from neardup.jobs.splits.matching import SplitMatching, matching_of
from neardup.jobs.splits.side_paths import SplitRequest, split_folder
from neardup.options import OnError, options_for_elements, refuse_unknown
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.resources.unfinished import temporary_folder
from neardup.survivors.splits.options import CONFLICTS, Shares, SplitOptions

if TYPE_CHECKING:
    from neardup.jobs.splits.steps import FileSplit


class SplitFileOptions(ReadingDict, SplitMatching, total=False):
    """The options of `split_files`."""


def split_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    shares: Shares,
    seed: int = 0,
    stratify: str | None = None,
    group: str | None = None,
    previous: str | Path | Sequence[str | Path] = (),
    recipe: RecipeLike | None = None,
    dry_run: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    on_error: OnError = "stop",
    progress: Watcher = None,
    **options: Unpack[SplitFileOptions],
) -> "FileSplit":
    """Split files into sides, such as train and test, so that no two documents on different sides match.

    Documents that matches connect, however long the chain, go to one side, as do all with the same value of `group`. Matches are
    found by an exact join: none is missed. The sides depend on the texts, the shares and the seed, not on ids or on the order of
    rows.

    No file appears under its final name before all files are complete. Existing files are replaced only with `overwrite`.

    Args:
        inputs: files, folders, globs, or `-` for standard input.
        output: a folder. One input gives `train.jsonl` for the side train, in the format of the input; several give a folder
            `train/` with a file for each. Rows are written unchanged; `split.summary.json` is beside them.
        shares, seed, stratify, group: see `SplitOptions`.
        previous: folders of earlier splits. What was dealt there stays on its side. New documents that match documents of two sides
            go to `conflicts`.
        recipe: how texts become what is compared; by default `Recipe()`.
        dry_run: do all the work, and write nothing.
        overwrite, resume, on_error, progress: as in `deduplicate_files`.
        **options: the fields of `neardup.io.corpora.reading.Reading` (text, id …), and min_similarity, similarity, within, threads,
            memory, temp_dir, temp_limit of `DedupOptions`.

    Raises:
        InputError: an input is missing, an output exists, or a folder is not that of a split.
        OptionError: an option has a value that is not allowed, or an earlier split was made in another way.
        RowError: a row cannot be read, and `on_error` is `stop`.
        DataError: a file is damaged.
    """
    output, shown = path_text(output), progress_of(progress)
    refuse_unknown(options, split_files)
    given: dict[str, Any] = dict(options)
    reading = Reading(**{name: value for name, value in given.items() if name in READING})
    chosen = matching_of({name: value for name, value in given.items() if name not in READING})
    chosen = chosen if reading.elements is None else options_for_elements(chosen)
    how = SplitOptions(shares=shares, seed=seed, stratify=stratify, group=group)
    made_by = recipe_for(reading, recipe_of(recipe, chosen.version))
    if not output and not dry_run:
        raise InputError("Give `output` a folder; or pass `dry_run=True`.")
    earlier = listed_inputs(previous)
    listed = listed_inputs(inputs)
    request = SplitRequest(
        inputs=listed,
        output=split_folder(output) if output else None,
        reading=reading,
        sides=(*how.sides, CONFLICTS) if earlier else how.sides,
        dry_run=dry_run,
        overwrite=overwrite,
        resume=resume,
        on_error=on_error,
        resources=chosen.resources,
        named={"previous": [str(each) for each in earlier]},
    )
    with temporary_folder(chosen.resources.files) as spool:
        shards = request.find_shards(spool, shown)
        # loads NumPy and Arrow, once nothing is refused
        from neardup.jobs.splits.steps import split_shards

        return split_shards(shards, earlier, made_by, chosen, how, request, shown)
