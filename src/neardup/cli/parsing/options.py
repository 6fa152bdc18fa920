"""Options that several commands share."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from neardup.cli.parsing.flags import in_flags
from neardup.cli.parsing.values import COLUMN, FILE, KEEP, NUMBER, RECIPE, SIMILARITY, Names
from neardup.cli.shown.terminal import is_verbose, keep_verbose
from neardup.io.corpora.reading import HTML, Reading
from neardup.options import CLUSTERS, GUARDS, DedupOptions
from neardup.recipe.tables.keeps import KEEP_AS, KEEPS
from neardup.recipe.tables.methods import METHODS, MethodRow
from neardup.recipe.tables.similarities import SIMILARITIES, SimilarityRow
from neardup.store.rules import STORE_KEEPS, STORE_METHODS

if TYPE_CHECKING:
    from neardup.progress import Progress

Function = TypeVar("Function", bound=Callable[..., Any])

DEFAULTS, READING = DedupOptions(), Reading()


def described(table: Mapping[str, str | MethodRow | SimilarityRow]) -> str:
    """Describe the rows of a table for a help text: `a: meaning of a; b: …`."""
    return "; ".join(f"{name}: {row if isinstance(row, str) else row.meaning}" for name, row in table.items())


def _one_of(
    flag: str, table: Mapping[str, str | MethodRow | SimilarityRow], default: str
) -> Callable[[Function], Function]:
    """A flag that takes the name of a row of a table."""
    return click.option(flag, type=click.Choice(list(table)), default=default, show_default=True, help=described(table))


def several(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Several flags as one."""

    def add(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def progress(quiet: bool) -> "Progress":
    """The progress display of the current command; with `quiet`, even the compilation of kernels is silent."""
    from neardup.progress import progress_for

    if quiet and is_verbose():
        raise click.UsageError("--quiet and --verbose: give one of them.")
    if quiet:
        from neardup.kernels import compilation

        compilation.quiet()
    command = click.get_current_context().command
    return progress_for(quiet, verbose=is_verbose(), wording=lambda line: in_flags(line, command))


def is_given(name: str) -> bool:
    """Whether the call, or its configuration file, has this option of the current command."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def demand_one_output(as_json: bool, output: str | None) -> None:
    """Raise UsageError if both the summary and the documents would go to standard output."""
    if as_json and output == "-":
        raise click.UsageError("--json and -o - would both write to standard output. Give -o a file.")


inputs = click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=FILE)

report_by = click.option(
    "--report-by", type=COLUMN, help="Count removed documents by the values of this column in the report (by file)."
)

reading = several(
    click.option(
        "--text",
        multiple=True,
        default=READING.text,
        type=COLUMN,
        help="Column of the text (text); nested columns as meta.body, lists as messages[].content; repeatable.",
    ),
    click.option("--id", type=COLUMN, help="Column of the id (id if it exists, else FILE:ROW)."),
    click.option("--html", type=click.Choice(list(HTML)), help=f"The texts are HTML; {described(HTML)}."),
    click.option("--lines", is_flag=True, help="The inputs are text files with one document per line."),
    click.option(
        "--encoding",
        default=READING.encoding,
        show_default=True,
        metavar="NAME",
        help="Encoding of all inputs except Parquet and Arrow: utf-16, gb18030, shift_jis …",
    ),
    click.option(
        "--dialect",
        metavar="CHARACTERS",
        help="Dialect of CSV and TSV: the delimiter, then the quote and escape characters if any, as ';\"' (detected).",
    ),
    click.option(
        "--max-document-bytes",
        default="256M",
        show_default=True,
        metavar="SIZE",
        help="Largest row; a longer one is malformed, and is not held in memory.",
    ),
)


recipe = click.option(
    "--recipe",
    default="default",
    show_default=True,
    metavar="NAME|FILE.toml",
    type=RECIPE,
    help="A name that `neardup recipes` lists, or a .toml file.",
)


def recipe_or_default(meaning: str) -> Callable[[Function], Function]:
    """The flag `--recipe` of a command for which something else may say the recipe; `meaning` is its help."""
    return click.option("--recipe", metavar="NAME|FILE.toml", type=RECIPE, help=meaning)


elements = click.option(
    "--elements",
    type=COLUMN,
    help="Compare the lists of strings or integers in this column, not texts: lists of Parquet or Arrow, or arrays in JSON lines.",
)


reading_or_elements = several(reading, elements)


def documents_output(*, required: bool = False) -> Callable[[Function], Function]:
    """The flag `-o` of a command that writes documents."""
    return click.option(
        "-o",
        "--output",
        required=required,
        metavar="OUT",
        type=FILE,
        help="A file, a folder (one shard for each input), or - (JSON lines).",
    )


def min_similarity(meaning: str, *, default: float | None = DEFAULTS.min_similarity) -> Callable[[Function], Function]:
    """The flag `--min-similarity`; `meaning` is its help."""
    return click.option(
        "--min-similarity", type=NUMBER, metavar="J", default=default, show_default=default is not None, help=meaning
    )


def similarity(meaning: str, *, default: str | None = "jaccard") -> Callable[[Function], Function]:
    """The flag `--similarity`; `meaning` is its help, to which the kinds of values are added."""
    return click.option(
        "--similarity",
        type=SIMILARITY,
        metavar="NAME|FILE.toml",
        default=default,
        show_default=default is not None,
        help=f"{meaning} With other shingles: 'jaccard(word_shingle=1)', or the fields of a `Similarity` in a .toml file.",
    )


def guard(purpose: str) -> Callable[[Function], Function]:
    """The flag for what must be equal besides; `purpose` is for its help text."""
    return click.option("--guard", type=click.Choice(list(GUARDS)), help=f"{purpose}; {described(GUARDS)}.")


near = several(
    _one_of("--method", METHODS, DEFAULTS.method),
    min_similarity("Similarity from which texts match, from 0 to 1; with 0, match by distance alone."),
    similarity(f"{described(SIMILARITIES)}."),
    click.option(
        "--max-distance",
        type=int,
        metavar="N",
        help="Hamming distance up to which fingerprints are candidates (the recipe's); implies --method simhash. "
        "With minhash: the limit of its sieve (0.3 of the bits; all bits: no sieve).",
    ),
    guard("What must be equal besides (nothing)"),
)


wait = click.option(
    "--wait",
    type=NUMBER,
    default=0.0,
    metavar="SECONDS",
    help="Time to wait for another process to stop writing to the store (0).",
)
metadata = click.option(
    "--metadata",
    multiple=True,
    type=COLUMN,
    help="Also keep this column with the documents: `neardup store get` shows it, and --keep max:COLUMN or min:COLUMN compares "
    "it; repeatable.",
)
ttl = click.option(
    "--ttl",
    metavar="DURATION",
    help="Let each document that is kept expire after this time: 90s, 12h, 30d, 4w. [default: never]",
)

texts = click.option(
    "--texts",
    is_flag=True,
    default=None,
    help="Of a new store: keep the texts of documents, also of duplicates, as they are given (only fingerprints and elements).",
)


def keep_as(purpose: str, otherwise: str = "their kind decides") -> Callable[[Function], Function]:
    """The flag for how values are compared; `purpose` and `otherwise` are for its help text."""
    return click.option(
        "--keep-as", type=click.Choice(list(KEEP_AS)), help=f"{purpose} ({otherwise}); {described(KEEP_AS)}."
    )


matching_of_store = several(
    click.option(
        "--method", type=click.Choice(list(STORE_METHODS)), help=f"Of a new store (exact); {described(STORE_METHODS)}."
    ),
    min_similarity(
        f"Of a new store: similarity from which texts match, from 0 to 1 ({DEFAULTS.min_similarity}).", default=None
    ),
    similarity(f"Of a new store ({DEFAULTS.similarity}); {described(SIMILARITIES)}.", default=None),
    guard("Of a new store: what must be equal besides (nothing)"),
    click.option(
        "--floor",
        type=NUMBER,
        metavar="J",
        help="Of a new store with --method exact: least similarity that `neardup store neighbors`, `pairs` and `clusters` can be "
        "asked for, if below --min-similarity (that).",
    ),
    click.option(
        "--keep",
        metavar="RULE",
        type=KEEP,
        help=f"Of a new store: which of matching documents are kept (first); {described(STORE_KEEPS)}.",
    ),
    keep_as("Of a new store: how --keep max:KEY and min:KEY compare values", "the first value decides"),
    texts,
)
of_new_store = several(
    recipe_or_default("Recipe of a new store: a name that `neardup recipes` lists, or a file (default)."),
    matching_of_store,
    click.option(
        "--max-distance",
        type=int,
        metavar="N",
        help="Of a new store: Hamming distance up to which fingerprints are candidates, with simhash (the recipe's) and minhash.",
    ),
)


def survivors(*, sources: str, within: str) -> Callable[[Function], Function]:
    """The flags that choose survivors; `sources` and `within` say, in help texts, where sources and columns come from."""
    return several(
        preference(sources=sources, within=f"Match only documents with equal values in this column{within}"),
        _one_of("--cluster", CLUSTERS, DEFAULTS.cluster),
    )


whole_clusters = several(
    click.option(
        "--keep-most",
        type=int,
        metavar="N",
        help="Keep the first N documents of each cluster in order of preference (1); clusters stay the same.",
    ),
    click.option(
        "--drop-matched",
        is_flag=True,
        help="Remove every document that matches any other; none stays. With --cluster components.",
    ),
    click.option(
        "--max-cluster",
        type=NUMBER,
        metavar="SHARE",
        help="Refuse a run in which one cluster has more than this share of the documents, such as 0.1.",
    ),
)


def preference(*, sources: str, within: str) -> Callable[[Function], Function]:
    """The flags that say which documents are preferred, and which are compared; `within`: the help of the latter."""
    return several(
        click.option(
            "--keep", default=DEFAULTS.keep, show_default=True, metavar="RULE", type=KEEP, help=described(KEEPS)
        ),
        keep_as("How --keep max:COLUMN and min:COLUMN compare values"),
        click.option(
            "--prefer-source",
            metavar="A,B",
            default=(),
            type=Names(),
            help=f"Sources whose documents are preferred, the most preferred first: files, folders or globs of the {sources}.",
        ),
        click.option("--within", type=COLUMN, help=within),
    )


threads = click.option(
    "--threads", type=int, metavar="N", help="Number of threads (all processors); never changes the result."
)
memory = click.option(
    "--memory", metavar="SIZE", help="Memory for finding candidates, such as 512M or 4G (half of the machine's)."
)
temp_dir = click.option(
    "--temp-dir", type=click.Path(exists=True, file_okay=False, writable=True), help="Folder for temporary files."
)
temp_limit = click.option(
    "--temp-limit",
    metavar="SIZE",
    help="Most that temporary files may take together, such as 500M or 20G (nine tenths of what is free in their folder).",
)
temporary_files = several(temp_dir, temp_limit)
resources = several(threads, memory, temporary_files)
threads_and_files = several(threads, temporary_files)
audit = click.option(
    "--audit",
    metavar="FILE|DIR/",
    type=FILE,
    help="Path of the audit: a file, .jsonl or .parquet, or a folder with one file for each input (OUT without its ending + "
    ".duplicates.jsonl).",
)
overwrite = click.option("--overwrite", is_flag=True, help="Replace existing outputs.")


def _on_error(skipped: str) -> Callable[[Function], Function]:
    return click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help=f"Stop at a malformed row, or skip it{skipped}.",
    )


on_error = _on_error(" and write it to a file of rejects")
on_error_without_rejects = _on_error("")
quiet = click.option("--quiet", is_flag=True, help="Show nothing except errors.")
shown = several(
    quiet,
    click.option(
        "--verbose",
        is_flag=True,
        expose_value=False,
        callback=keep_verbose,
        help="Also show the stages with their times, the method and why, memory, and candidates.",
    ),
)
"""The flags that say how much is shown."""
