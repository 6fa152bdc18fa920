"""Write fingerprint files of fingerprints that another program made."""

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from neardup.errors import InputError, OptionError
from neardup.fingerprints.files.digits import check_bits, check_digits
from neardup.fingerprints.files.fingerprint_file import is_fingerprint_file
from neardup.fingerprints.files.imported import ImportedBatches
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import ReadingDict, reading_of
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards, listed_inputs
from neardup.io.corpora.stored_shards import FINGERPRINT, recorded_reading
from neardup.io.formats.table import FILES
from neardup.io.outputs.output_names import output_for
from neardup.io.storage.places import path_text
from neardup.jobs.stages.digit_readings import readings_of, tell_of_missing_zeros
from neardup.jobs.stages.fingerprint import with_distance
from neardup.jobs.stages.fingerprint_outputs import fingerprint_paths, write_fingerprint_files
from neardup.options import OnError
from neardup.progress import Watcher, progress_of
from neardup.recipe.kinds import FingerprintRecipe
from neardup.recipe.plain_recipe import MAX_BITS
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.programs import UNNAMED, Digits, ProgramRecipe
from neardup.recipe.recipe import Recipe
from neardup.resources.resources import Resources
from neardup.resources.unfinished import temporary_folder


def import_fingerprint_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    fingerprint: str | None = None,
    digits: Digits | None = None,
    bits: int | None = None,
    recipe: RecipeLike | None = None,
    program: str | None = None,
    max_distance: int | None = None,
    value: Sequence[str] = (),
    on_error: OnError = "stop",
    threads: int | None = None,
    temp_dir: str | None = None,
    temp_limit: int | str | None = None,
    overwrite: bool = False,
    progress: Watcher = None,
    **reading: Unpack[ReadingDict],
) -> int:
    """Write the fingerprints that another program made to a fingerprint file; see `neardup.fingerprints.files.fingerprint_file`.

    Pairs, clusters and indexes then use them like others. Equal fingerprints are at distance 0, but not exact duplicates, because
    nobody here knows their texts.

    Args:
        inputs: CSV, TSV, JSON lines, Parquet, or text files with `lines=True`; files, folders, globs, or `-`.
        output: a file that ends in .parquet, or a folder (ends in /; one file for each input).
        fingerprint: the column of the fingerprints; text files have none.
        digits: how they are written: `decimal`, `signed` (two's complement), `hexadecimal`, `binary` or `bytes` (big-endian, in
            binary columns of Parquet). Columns of integers and bytes in Parquet need none.
        bits: their width, 1 to 512. By default that of the recipe, of the column's type, or of the first hexadecimal or binary
            digits or bytes, which all others must then match; decimal numbers have 64.
        recipe: the recipe that makes the same bits as the program, such as "cppjieba". Texts can then be compared with these
            fingerprints.
        program: without a recipe, a name for the program; fingerprints of different programs are never compared. Without a name,
            all fingerprints of one width count as those of one program.
        max_distance: the distance that later steps take by default, kept in the file; that of the recipe by default.
        value: further columns to store, by which `cluster_files` can choose survivors.
        on_error: the treatment of rows whose fingerprint is missing, has wrong digits or another width: `stop`, or `skip` them
            into a file of rejects, which is the output without its ending + `.rejects.jsonl`.
        threads, temp_dir, temp_limit, overwrite, progress: as in `fingerprint_files`.
        **reading: id, lines, encoding, dialect, max_document_bytes of `neardup.io.corpora.reading.Reading`.

    Returns:
        The number of fingerprints, without rejected rows.

    Raises:
        InputError: an input is missing or has no such column, a width is not known, or an output exists.
        OptionError: an option has a value that is not allowed, or options contradict each other.
        DataError: a fingerprint cannot be read, or a file is damaged.
    """
    output = output_for(path_text(output), listed_inputs(inputs)) or ""
    how, progress = reading_of(reading, import_fingerprint_files), progress_of(progress)
    resources = Resources(threads, temp_dir=temp_dir, temp_limit=temp_limit)
    for name in ("text", "html"):
        if name in reading:
            raise OptionError(f"`{name}`: for texts, not for fingerprints. Leave it out.")
    if digits is not None:
        check_digits(digits)
    if fingerprint is not None and (not isinstance(fingerprint, str) or not fingerprint):
        raise OptionError(f"`fingerprint={fingerprint!r}`: give the name of a column.")
    made_by = _declared(recipe, program, bits, max_distance)
    with temporary_folder(resources.files) as spool:
        shards = find_shards(inputs, temporary=spool, reading=how, progress=progress)
        _check_shards(shards, fingerprint)
        paths = fingerprint_paths(output, shards, on_error)
        if paths.hold_digits:
            raise InputError(f"{output}: fingerprints come into a fingerprint file. Give a name that ends in .parquet.")
        columns = Columns((), how.id, tuple(value), stored=fingerprint, asked_by=dict.fromkeys(value, "value="))
        FileCorpus(shards, columns).check()
        chosen = made_by.bits if made_by is not None else bits
        readings = readings_of(shards, columns, digits, chosen, resources)
        tell_of_missing_zeros(shards[0], columns, readings[shards[0].name], resources, progress)
        if made_by is None:
            width = next(iter(readings.values())).bits
            made_by = ProgramRecipe(program=program or UNNAMED, bits=width, max_distance=max_distance)
        if isinstance(made_by, ProgramRecipe) and made_by.program == UNNAMED:
            progress.say(
                f"no `program` is named: all fingerprints of {made_by.bits} bits without a name are taken for those of one program"
            )
        batches = ImportedBatches(fingerprint, readings, tuple(value), made_by.min_tokens)
        corpus = FileCorpus(
            shards, columns, on_error=on_error, progress=progress, resources=resources, refine=batches.refine
        )
        content = paths.content(made_by, value, reading=recorded_reading(how, **{FINGERPRINT: fingerprint or ""}))
        with paths.opened(shards, overwrite=overwrite, temp_dir=temp_dir) as outputs:
            return write_fingerprint_files(corpus, batches.read, content, paths, outputs, progress)


def _declared(
    recipe: RecipeLike | None, program: str | None, bits: int | None, max_distance: int | None
) -> FingerprintRecipe | None:
    """The recipe that is given; None if only the width is missing.

    Raises:
        OptionError: a value is not allowed, or options contradict each other.
    """
    if bits is not None:
        check_bits(bits)
    if recipe is None:
        named = UNNAMED if program is None else program
        found = ProgramRecipe(program=named, bits=bits or MAX_BITS, max_distance=max_distance)
        return None if bits is None else found
    if program is not None:
        raise OptionError(
            f"`program={program!r}`: with `recipe`, the recipe says what made the fingerprints. Leave one of them out."
        )
    known: Recipe = with_distance(recipe_of(recipe), max_distance)
    if bits is not None and bits != known.bits:
        raise OptionError(f"`bits={bits}`: the recipe has {known.bits} bits. Leave it out, or give another recipe.")
    return known


def _check_shards(shards: Sequence[Shard], fingerprint: str | None) -> None:
    """Refuse files that hold no fingerprints of another program in the column, or in lines."""
    for shard in shards:
        if shard.format in FILES:
            raise InputError(
                f"{shard.name} is a text file. With `lines=True`, each line of it is a fingerprint; leave out `fingerprint` then."
            )
        if is_fingerprint_file(shard):
            raise InputError(f"{shard.name} is a fingerprint file already. Use it as it is.")
        if shard.format == "lines" and fingerprint is not None:
            raise InputError(f"`fingerprint={fingerprint!r}`: the lines of {shard.name} have no columns. Leave it out.")
        if shard.format != "lines" and fingerprint is None:
            raise OptionError(
                f"{shard.name} is {shard.format}: name the column of the fingerprints with `fingerprint`."
            )
