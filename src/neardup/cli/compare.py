"""The command `neardup compare`."""

import errno
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from neardup.cli import options, values

if TYPE_CHECKING:
    from neardup.judging.comparison import Comparison, FingerprintSteps

HEAVIEST = 12
"""Features shown for each text."""
SHOWN_BITS = 64
SHOWN_PATH = 200
IN_A_LINE, IN_A_ROW = 16, 8
"""Sums in one line, and in a row of several lines."""


DIGITS = 6
"""Significant digits of weights and sums; with --json, all of them."""


def _plain(number: Decimal) -> str:
    """Format a number with few digits, without trailing zeros."""
    text = f"{number:.{DIGITS}g}"
    if "e" in text and abs(number) >= 1:
        text = f"{number:.0f}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def _features(label: str, steps: "FingerprintSteps") -> None:
    occurring = sum(feature.count for feature in steps.features)
    counted = f"{len(steps.tokens):,} tokens, " if steps.tokens else ""
    click.echo(f"\n{label}: {counted}{len(steps.features):,} distinct features ({occurring:,} in all)")
    if steps.tokens:
        more = " …" if len(steps.tokens) > 2 * HEAVIEST else ""
        click.echo("  tokens       " + " / ".join(steps.tokens[: 2 * HEAVIEST]) + more)
    click.echo("  weight       count  hash")
    for feature in steps.features[:HEAVIEST]:
        bits = feature.hash[:SHOWN_BITS] + ("…" if len(feature.hash) > SHOWN_BITS else "")
        click.echo(f"  {_plain(feature.weight):<12} {feature.count:<6} {bits}  {feature.name}")
    if len(steps.features) > HEAVIEST:
        click.echo(f"  … and {len(steps.features) - HEAVIEST:,} more")
    for line in _sums(list(map(_plain, steps.sums))):
        click.echo(line)
    if len(steps.bits) <= SHOWN_BITS:
        click.echo(f"  fingerprint  {steps.bits}")


def _sums(numbers: list[str]) -> Iterator[str]:
    """The sums in a line, or in rows of eight."""
    if len(numbers) <= IN_A_LINE:
        yield f"  sums         [{', '.join(numbers)}]"
        return
    width = max(map(len, numbers))
    for start in range(0, len(numbers), IN_A_ROW):
        row = "  ".join(f"{number:>{width}}" for number in numbers[start : start + IN_A_ROW])
        yield f"  {'' if start else 'sums':<13}{row}"


def _exactly(value: object) -> str:
    """A value of JSON: numbers as strings with all their digits."""
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _marked(left: str, right: str) -> None:
    for start in range(0, len(left), SHOWN_BITS):
        a, b = left[start : start + SHOWN_BITS], right[start : start + SHOWN_BITS]
        differs = [x != y for x, y in zip(a, b, strict=True)]
        paint = [click.style(y, fg="red", bold=True) if d else y for y, d in zip(b, differs, strict=True)]
        marks = "".join("^" if d else " " for d in differs)
        click.echo(f"  left   {a}\n  right  {''.join(paint)}\n" + f"         {marks}".rstrip())


def _show(result: "Comparison", min_tokens: int = 0) -> None:
    _features("left", result.left)
    _features("right", result.right)
    bits = len(result.left.bits)
    click.echo("\nfingerprints, differing bits marked")
    _marked(result.left.bits, result.right.bits)
    click.echo(f"distance           {result.distance} of {bits} bits")
    click.echo(f"estimated cosine   {result.estimated_cosine:.4f}  = cos(π · {result.distance} / {bits})")
    if result.similarity is not None:
        of_what = f"{result.common_shingles:,} of {result.all_shingles:,} shingles"
        if not result.all_shingles:
            of_what = (
                "no shingles; the texts are " + ("equal" if result.similarity else "not equal") + " after normalization"
            )
        click.echo(f"similarity         {result.similarity:.4f}  = {of_what}")
    if result.similarities is not None:
        others = (f"{name} {value:.4f}" for name, value in result.similarities.items() if name != "jaccard")
        click.echo(f"others             {', '.join(others)}")
    few = "no token" if min_tokens <= 1 else f"fewer than {min_tokens} tokens"
    if min(len(side.tokens) for side in (result.left, result.right)) < min_tokens:
        click.echo(f"short              {few}: by fingerprints a duplicate only of an equal text")


def _read(path: str) -> str:
    from neardup.errors import DataError, InputError

    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise DataError(f"{path} is not UTF-8: {problem.reason} at byte {problem.start}. Convert it first.") from None
    except OSError as problem:
        is_text = problem.errno in (errno.ENOENT, errno.ENAMETOOLONG)
        hint = " For texts instead of files there is --text LEFT RIGHT." if is_text else ""
        shown = path if len(path) <= SHOWN_PATH else f"{path[:SHOWN_PATH]}…"
        raise InputError(f"{shown} cannot be read: {problem.strerror}.{hint}") from None


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
    keywords: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Compare two texts and show every step.

    Shows the tokens, the heaviest features with weight and hash, the sums, both fingerprints, their distance, the estimated
    cosine, and the similarity of the texts.
    """
    if (len(files) == 2) + (text is not None) + (features is not None) != 1 or len(files) not in (0, 2):
        raise click.UsageError('Give two files, or --text "…" "…", or --features FILE.json.')
    if features is not None:
        if click.get_current_context().get_parameter_source("recipe") is not ParameterSource.DEFAULT:
            raise click.UsageError("--features brings its own weights and hashes. Leave --recipe out.")
        if stop_words:
            raise click.UsageError("--features brings its own weights and hashes. Leave --stop-words out.")
        if keywords is not None:
            raise click.UsageError("--features brings its own weights and hashes. Leave --keywords out.")
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
    from neardup.recipe.presets import find_recipe

    chosen = find_recipe(recipe)
    if stop_words:
        chosen = replace(chosen, stop_words=(*chosen.stop_words, *stop_words))
    result = compare(left, right, recipe=chosen, keywords=_numbers(keywords))
    if as_json:
        click.echo(json.dumps(asdict(result), default=_exactly, ensure_ascii=False))
    else:
        _show(result, chosen.min_tokens)
