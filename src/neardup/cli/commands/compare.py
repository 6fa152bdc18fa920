"""The command `neardup compare`."""

import errno
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.parsing.options import described
from neardup.cli.shown.terminal import line_width, tell
from neardup.display import ToldLine, cut, display_width, similarity_text
from neardup.recipe.tables.similarities import SIMILARITIES

if TYPE_CHECKING:
    from neardup.judging.comparison import Comparison, Feature, FingerprintSteps
    from neardup.judging.pair_verdict import PairVerdict

MAX_FEATURES = 12
"""Features shown for each text."""
BITS_PER_LINE = 64
"""Bits of a fingerprint in a line."""
MAX_BINARY_BITS = 32
"""Bits of a hash up to which it is shown in binary."""
MAX_PATH_CHARACTERS = 200
MAX_SUMS_IN_LINE, MAX_SUMS_IN_ROW = 16, 8
"""Sums in one line, and in a row of several lines."""
INDENT_COLUMNS = 15
"""Columns before the tokens and the sums."""
DIGITS = 6
"""Significant digits of weights and sums; with --json, all of them."""


def _plain(number: Decimal) -> str:
    """Format a number with few digits, without trailing zeros."""
    text = f"{number:.{DIGITS}g}"
    if "e" in text and abs(number) >= 1:
        text = f"{number:.0f}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def _features(label: str, steps: "FingerprintSteps") -> None:
    occurring, width = sum(feature.count for feature in steps.features), line_width()
    counted = f"{len(steps.tokens):,} tokens, " if steps.tokens else ""
    click.echo(f"\n{label}: {counted}{len(steps.features):,} distinct features ({occurring:,} in all)")
    for line in _tokens(steps.tokens, width):
        click.echo(line)
    click.echo("  weight       count  hash")
    for feature in steps.features[:MAX_FEATURES]:
        click.echo(cut(f"  {_plain(feature.weight):<12} {feature.count:<6} {_hash(feature)}  {feature.name}", width))
    if len(steps.features) > MAX_FEATURES:
        click.echo(f"  … and {len(steps.features) - MAX_FEATURES:,} more")
    for line in _sums(list(map(_plain, steps.sums)), width):
        click.echo(line)
    if len(steps.bits) <= BITS_PER_LINE:
        click.echo(f"  fingerprint  {steps.bits}")


def _tokens(tokens: tuple[str, ...], width: int) -> Iterator[str]:
    """The first tokens, in lines that fit."""
    shown = [*tokens[: 2 * MAX_FEATURES], *(["…"] if len(tokens) > 2 * MAX_FEATURES else [])]
    line, label = "", "  tokens"
    for number, token in enumerate(shown):
        part = token if number == len(shown) - 1 or shown[number + 1] == "…" else f"{token} /"
        longer = f"{line} {part}" if line else part
        if line and INDENT_COLUMNS + display_width(longer) > width:
            yield f"{label:<{INDENT_COLUMNS}}{line}"
            line, label = part, ""
        else:
            line = longer
    if line:
        yield f"{label:<{INDENT_COLUMNS}}{line}"


def _hash(feature: "Feature") -> str:
    """The hash of a feature: in binary, or if that is long, in hexadecimal."""
    bits = len(feature.hash)
    return feature.hash if bits <= MAX_BINARY_BITS else f"0x{int(feature.hash, 2):0{-(-bits // 4)}x}"


def _sums(numbers: list[str], width: int) -> Iterator[str]:
    """The sums in a line, or in rows of at most eight that fit."""
    whole = f"  {'sums':<{INDENT_COLUMNS - 2}}[{', '.join(numbers)}]"
    if len(numbers) <= MAX_SUMS_IN_LINE and len(whole) <= width:
        yield whole
        return
    each, row_length = max(map(len, numbers)), MAX_SUMS_IN_ROW
    while row_length > 1 and INDENT_COLUMNS + row_length * (each + 2) - 2 > width:
        row_length //= 2
    for start in range(0, len(numbers), row_length):
        row = "  ".join(f"{number:>{each}}" for number in numbers[start : start + row_length])
        yield f"  {'' if start else 'sums':<{INDENT_COLUMNS - 2}}{row}"


def _exactly(value: object) -> str:
    """A value of JSON: numbers as strings with all their digits."""
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _marked(left: str, right: str) -> None:
    for start in range(0, len(left), BITS_PER_LINE):
        a, b = left[start : start + BITS_PER_LINE], right[start : start + BITS_PER_LINE]
        differs = [x != y for x, y in zip(a, b, strict=True)]
        paint = [click.style(y, fg="red", bold=True) if d else y for y, d in zip(b, differs, strict=True)]
        marks = "".join("^" if d else " " for d in differs)
        click.echo(f"  left   {a}\n  right  {''.join(paint)}\n" + f"         {marks}".rstrip())


def _show(result: "Comparison", verdict: "PairVerdict | None" = None, short: str | None = None) -> None:
    """The verdict, what it rests on, and every step that leads there; `short`: why a text is too short for a fingerprint."""
    told: list[ToldLine] = []
    if verdict is not None:
        labels = ["match" if verdict.matches else "no match", *[""] * len(verdict.reasons)]
        told = list(zip(labels, verdict.reasons, strict=False))
    tell([*told, *_figures(result, short)], err=False)
    _features("left", result.left)
    _features("right", result.right)
    click.echo("\nfingerprints, differing bits marked")
    _marked(result.left.bits, result.right.bits)


def _figures(result: "Comparison", short: str | None) -> Iterator[ToldLine]:
    """How similar the texts are, and how far apart their fingerprints."""
    if result.similarity is not None:
        of_what = f"{result.common_shingles:,} of {result.all_shingles:,} shingles"
        if not result.all_shingles:
            of_what = (
                "no shingles; the texts are " + ("equal" if result.similarity else "not equal") + " after normalization"
            )
        yield "jaccard", f"{similarity_text(result.similarity)} = {of_what}"
    if result.similarities is not None:
        others = (
            f"{name} {similarity_text(value)}" for name, value in result.similarities.items() if name != "jaccard"
        )
        yield "others", ", ".join(others)
    bits = len(result.left.bits)
    cosine = f"estimated cosine {similarity_text(result.estimated_cosine)} = cos(π · {result.distance} / {bits})"
    yield "distance", f"{result.distance} of {bits} bits: {cosine}"
    if short is not None:
        yield "short", f"{short}: by fingerprints a duplicate only of an equal text"


def _read(path: str) -> str:
    from neardup.errors import DataError, InputError

    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise DataError(f"{path} is not UTF-8: {problem.reason} at byte {problem.start}. Convert it first.") from None
    except OSError as problem:
        shown = path if len(path) <= MAX_PATH_CHARACTERS else f"{path[:MAX_PATH_CHARACTERS]}…"
        if problem.errno in (errno.ENOENT, errno.ENAMETOOLONG):
            raise InputError(
                f"{shown}: there is no such file. To compare two texts instead of two files, put --text before them."
            ) from None
        raise InputError(f"{shown} cannot be read: {problem.strerror}.") from None


def _numbers(given: str | None) -> tuple[int, int] | None:
    """Parse the numbers of keywords for the left text and for the right one."""
    if given is None:
        return None
    parts = given.split(",")
    if len(parts) > 2 or not all(part.strip().isdecimal() and int(part) for part in parts):
        raise click.UsageError(
            f"--keywords {given}: give a number of at least 1, or two with a comma between, such as 22,11."
        )
    return int(parts[0]), int(parts[-1])


@click.command()
@click.argument("files", nargs=-1, metavar="[A B]", type=values.FILE)
@click.option("--text", nargs=2, metavar="TEXT TEXT", help="Two texts instead of two files.")
@click.option(
    "--features",
    metavar="FILE.json",
    type=values.FILE,
    help="Show every step from the features, weights and hashes in this file.",
)
@options.min_similarity("Similarity from which the texts match, from 0 to 1; with 0, the recipe's distance decides.")
@options.similarity(f"The similarity that decides. {described(SIMILARITIES)}.")
@options.recipe
@click.option(
    "--stop-words",
    multiple=True,
    metavar="NAME|FILE",
    type=values.FILE,
    help="Leave out the words of this list, as `stop_words` of a recipe does; repeatable.",
)
@click.option(
    "--keywords",
    metavar="N[,M]",
    help="Only the N heaviest features of each text vote; with M, N of the left text and M of the right one.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print everything as one JSON object, with all digits of weights and sums."
)
def command(
    files: tuple[str, ...], text: tuple[str, str] | None, features: str | None, recipe: str, stop_words: tuple[str, ...],
    keywords: str | None, min_similarity: float, similarity: Any, as_json: bool,
) -> None:  # fmt: skip
    """Compare two texts and show every step.

    Shows whether they match, as `neardup dedup` decides; every similarity; the distance of the fingerprints, with the estimated
    cosine; the tokens, the heaviest features with weight and hash, the sums, and both fingerprints.
    """
    if (len(files) == 2) + (text is not None) + (features is not None) != 1 or len(files) not in (0, 2):
        raise click.UsageError('Give two files, or --text "…" "…", or --features FILE.json.')
    if features is not None:
        for name in ("recipe", "stop_words", "keywords", "min_similarity", "similarity"):
            if options.is_given(name):
                flag = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"--features brings its own weights and hashes. Leave {flag} out.")
        from neardup.judging.comparison import Comparison, replay

        found = replay(features)
        if as_json:
            click.echo(json.dumps(asdict(found), default=_exactly, ensure_ascii=False))
        elif isinstance(found, Comparison):
            _show(found)
        else:
            _features("features", found)
        return
    left, right = text or (_read(files[0]), _read(files[1]))
    from neardup.judging.comparison import compare
    from neardup.judging.pair_verdict import fewest_tokens, pair_verdict
    from neardup.options import DedupOptions
    from neardup.recipe.kinds import few_tokens
    from neardup.recipe.presets import find_recipe

    compared = DedupOptions(min_similarity=min_similarity, similarity=similarity)
    chosen = find_recipe(recipe)
    if stop_words:
        chosen = replace(chosen, stop_words=(*chosen.stop_words, *stop_words))
    result = compare(left, right, recipe=chosen, keywords=_numbers(keywords))
    verdict = pair_verdict(left, right, result, chosen, compared)
    if as_json:
        told = asdict(result) | {"min_similarity": compared.min_similarity} | asdict(verdict)
        click.echo(json.dumps(told, default=_exactly, ensure_ascii=False))
    else:
        is_short = fewest_tokens(left, right, chosen) < chosen.min_tokens
        _show(result, verdict, few_tokens(chosen.min_tokens) if is_short else None)
