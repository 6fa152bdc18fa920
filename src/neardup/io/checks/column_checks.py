"""COLUMN CHECKS: before a run, whether every file has the columns that are to be read, and lacks those that are to be added."""

from collections.abc import Sequence

from neardup.display import counted
from neardup.errors import InputError
from neardup.io.checks.likely_encoding import encoding_advice
from neardup.io.checks.missing_columns import MissingColumnError, told_once
from neardup.io.checks.missing_texts import advice, nested_advice
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shard import Shard
from neardup.io.formats.table import FORMATS, WITH_LISTS

MAX_LISTED = 5
"""Problems, or files, that a message lists one by one."""


def demand_lists(shards: Sequence[Shard], columns: Columns) -> None:
    """Raise InputError if a shard is of a format whose columns cannot be lists."""
    for shard in shards:
        if shard.format not in WITH_LISTS:
            raise InputError(
                f"{shard.name}: `elements={columns.text[0]!r}` is a column of lists, and a file of this format has none. Give "
                "Parquet, or JSON lines with arrays."
            )


def demand_columns(shards: Sequence[Shard], columns: Columns, added: Sequence[str] = (), *, named_by: str = "") -> None:
    """Refuse files that lack a column to read, or have one already that is to be `added`; see `FileCorpus.check`.

    Raises:
        InputError: with every problem found.
    """
    problems: list[str] = []
    alike: dict[tuple[str, str], list[MissingColumnError]] = {}
    advised: dict[tuple[str, str], str] = {}
    nested: dict[tuple[str, str], str] = {}
    fine: list[Shard] = []
    for shard in shards:
        try:
            FORMATS[shard.format].check(shard, columns, added)
            fine.append(shard)
        except MissingColumnError as problem:
            kind = (problem.column, problem.there)
            alike.setdefault(kind, []).append(problem)
            if kind not in advised:
                doubt = encoding_advice(shard, "").strip()
                nested[kind] = nested_advice(shard, problem.column) if problem.column in columns.text else ""
                advised[kind] = advice(shard, columns) + (f" {doubt}" if doubt else "")
        except InputError as problem:
            problems.append(str(problem) + advice(shard, columns))
    problems = [
        told_once(each, columns, named_by, fine, nested[kind]) + advised[kind] for kind, each in alike.items()
    ] + problems
    refuse_shards(problems)


def refuse_shards(problems: Sequence[str]) -> None:
    """Raise InputError if there are problems, of one shard each: with the first ones, and how many more there are."""
    if problems:
        more = len(problems) - MAX_LISTED
        further = [f"… and {counted(more, 'more shard')} like these."] if more > 0 else []
        raise InputError("\n".join([*problems[:MAX_LISTED], *further]))
