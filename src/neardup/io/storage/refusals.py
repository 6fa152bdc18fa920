"""Errors that several formats share."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from neardup.errors import DataError, InputError

if TYPE_CHECKING:
    from neardup.io.corpora.shard import Shard


def damaged(name: str, kind: str, reason: str) -> DataError:
    """The error for a file that cannot be read to its end; raised even where single rows may be set aside."""
    reason = reason.splitlines()[0].rstrip(".") if reason else "no reason is known"
    return DataError(
        f"{name} is damaged, or is not {kind} data: {reason}. "
        "It cannot be skipped, for nobody knows how many rows are lost: make or fetch the file again."
    )


def demand_new(name: str, added: Iterable[str], there: Collection[str]) -> None:
    """Raise InputError if a column that is to be added to a file is there already."""
    for column in added:
        if column in there:
            raise InputError(
                f'{name} has a column "{column}" already; it looks as if it had been annotated before. '
                "Remove or rename that column, or start from the original file."
            )


def no_columns(name: str, wanted: Sequence[str], added: Sequence[str]) -> InputError:
    """The error for a column that is requested of, or added to, a file of plain text."""
    if wanted:
        return InputError(
            f'{name} is plain text: it has no columns, so no "{wanted[0]}". Leave the column out, or convert the file to '
            "JSON lines; the id of a text file is its relative path, that of a line FILE:ROW."
        )
    return InputError(
        f"{name} is plain text: it has no columns, so none can be added ({', '.join(added)}). "
        "Leave out `annotate`: the audit says the same; or convert the file to JSON lines."
    )


def mixed_formats(name: str, kind: str, output_kind: str, *, converts: bool = False) -> InputError:
    """The error for rows of one format that would be written as another; `converts`: some others could be written."""
    others = ", or converted to JSON lines, Parquet or Arrow" if converts else ""
    return InputError(
        f"{name} is {kind}, but the output is {output_kind}. Rows are written as they are{others}: name an output of "
        f"{'such a' if converts else 'the same'} format, or a folder (OUT/), which keeps the files apart."
    )


def demand_format(shard: "Shard", sink: Any) -> None:
    """Raise InputError if a sink takes rows of another format than the shard's."""
    if sink.format != shard.format:
        raise mixed_formats(shard.name, shard.format, sink.format)
