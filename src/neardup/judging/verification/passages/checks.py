"""The checks of a run that cut passages."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from neardup.arrays import Array, Bools
from neardup.display import counted
from neardup.fingerprints.documents import Documents
from neardup.io.ids import repeated_ids
from neardup.judging.verification.passages.cut_lines import CutLines
from neardup.judging.verification.passages.found import Texts
from neardup.judging.verification.passages.windows import Order
from neardup.judging.verification.result import Check
from neardup.survivors.repeats.options import PassageOptions
from neardup.survivors.repeats.token_stream import SEPARATOR


def _of_lines(lines: CutLines, wrong: list[tuple[int, str]]) -> list[str]:
    """What is wrong with lines, one sentence for each."""
    by_line = dict[int, list[str]]()
    for line, problem in sorted(wrong, key=lambda each: each[0]):
        by_line.setdefault(line, []).append(problem)
    return [f"{lines.name(line)}: {'; '.join(dict.fromkeys(problems))}" for line, problems in by_line.items()]


def check_passages(lines: CutLines, texts: Texts, order: Order, options: PassageOptions, groups: Array | None) -> Check:
    """Every passage is as many tokens as stated, the same as those of its copy, which stands earlier."""

    def wrong() -> Iterator[tuple[int, str]]:
        yield from lines.problems
        yield from texts.of_lines
        for line, ((one, other), (place, earlier)) in enumerate(zip(texts.digests, texts.places.tolist(), strict=True)):
            if place < 0 or earlier < 0:
                continue  # told before
            if one != other and one is not None and other is not None:
                yield line, f"its tokens are not those of its copy, {_copy(lines, line)}"
            row, copy_row = (int(side.rows[line]) for side in (lines.cuts, lines.copies))
            ranks = [at - order.starts[of] + order.firsts[of] for at, of in ((place, row), (earlier, copy_row))]
            if ranks[1] >= ranks[0]:
                yield line, f"its copy, {_copy(lines, line)}, does not stand earlier"
            if options.scope != "all" and (options.scope == "same-document") != (row == copy_row):
                where = "another document" if options.scope == "same-document" else "the same document"
                yield line, f"its copy is in {where}"
            if groups is not None and options.scope != "same-document" and groups[row] != groups[copy_row]:
                yield line, f"its copy is in a document of another value of {options.within!r}"

    claim = "every passage that was cut is, token for token, a copy of what stands earlier"
    return Check.of("passages", claim, len(lines), _of_lines(lines, list(wrong())))


def _copy(lines: CutLines, line: int) -> str:
    copy = lines.copies
    return f"characters {copy.starts[line]} to {copy.ends[line]} of {lines.copy_ids[line].decode()}"


def removed_by_rule(lines: CutLines, left: Array, is_cut: Bools, least: int) -> tuple[Bools, int]:
    """bool[rows]: the documents that lose something, of which fewer than `least` tokens are left, and that hold no copy that the
    log names or of which nothing is left; and how many stay because they hold one.
    """
    copies = lines.copies.rows
    named = np.zeros(len(left), np.bool_)
    named[copies[copies >= 0]] = True
    few = is_cut & (left < least)
    stays = few & named & (left > 0)
    return few & ~stays, int(np.count_nonzero(stays))


def check_stated(
    lines: CutLines, documents: Documents, removed: Bools, name: Callable[[int], str], least: int
) -> Check:
    """Ids, and whether a copy is cut and a document is removed, are as stated; and lines are in order."""
    wrong = list[tuple[int, str]]()
    for side, ids, whose in ((lines.cuts, lines.ids, "its id"), (lines.copies, lines.copy_ids, "the id of its copy")):
        known = np.flatnonzero(side.rows >= 0)
        found = documents.ids.take(side.rows[known]).to_pylist() if len(known) else []
        for line, token in zip(known.tolist(), found, strict=True):
            if token is None or token.encode() != ids[line]:
                wrong.append((line, f"{whose} is not that of the row"))
    for line in np.flatnonzero(lines.are_cut() != lines.copy_is_cut).tolist():
        wrong.append((line, f"copy_is_cut is {str(bool(lines.copy_is_cut[line])).lower()}, and that is not so"))
    order = lines.by_place
    for line in np.flatnonzero(np.diff(order) < 0).tolist():
        wrong.append((int(order[line + 1]), "it is not in its place: lines are ordered by row and place"))
        break
    inside = np.flatnonzero(lines.cuts.rows >= 0)
    for line in inside[removed[lines.cuts.rows[inside]] != lines.document_removed[inside]].tolist():
        row = int(lines.cuts.rows[line])
        rule = f"fewer than {counted(least, 'token')} are left, and nothing is or no cut names a copy in it"
        wrong.append((line, f"{name(row)} is removed exactly if {rule}, which is {str(bool(removed[row])).lower()}"))
    return Check.of(
        "stated", "ids, copies that are cut, and removed documents are as stated", len(lines), _of_lines(lines, wrong)
    )


def check_repeated(
    texts: Texts, tokens: int, size: int, halvings: int, name: Callable[[int], str], align: str | None
) -> Check:
    """Nothing that stood earlier is left, and nothing else is cut."""
    failures = [f"{name(row)}: {problem}" for row, problem in sorted(texts.of_rows, key=lambda each: each[0])]
    left = f"no run of {size:,} tokens that stood earlier is left"
    if align is not None:
        left = f"no {align} is left all of whose tokens are in runs of {size:,} that stood earlier"
    if halvings:
        claim = f"{left}, of a sample: one in {1 << halvings:,} of all runs (more have no room, see `temp_limit`)"
    else:
        claim = f"{left}, and nothing else was cut"
    return Check.of("repeated", claim, tokens, failures)


def check_counts(
    stated: dict[str, Any],
    documents: Documents,
    inputs: int,
    lines: CutLines,
    texts: Texts,
    removed: Bools,
    kept_for_copies: int,
    columns: int,
) -> Check:
    """The summary has the counts of these inputs and of this log."""
    valid, cut = documents.valid[:inputs], texts.cut[:inputs]
    number = int(np.count_nonzero(valid))
    tokens, lengths = documents.tokens[:inputs][valid], documents.lengths[:inputs][valid]
    gone = removed[:inputs]
    again = {
        "rows": inputs,
        "documents": number,
        "rejected": inputs - number,
        "reference_documents": int(np.count_nonzero(documents.valid[inputs:])),
        "changed": int(np.count_nonzero((cut > 0) & ~gone)),
        "removed": int(np.count_nonzero(gone)),
        "kept_for_copies": kept_for_copies,
        "passages": len(lines),
        "tokens": int(tokens.sum()),
        "cut_tokens": int(cut.sum()),
        "removed_tokens": int((documents.tokens[:inputs] - cut)[gone].sum()),
        "characters": int(lengths.sum()) - len(SEPARATOR) * (columns - 1) * number,
        "cut_characters": texts.characters,
        "repeated_ids": repeated_ids(documents.ids.slice(0, inputs)),
    }
    failures = [
        f"{name} is {value:,}, but the summary has {stated[name]:,}"
        for name, value in again.items()
        if value != stated[name]
    ]
    return Check.of("counts", "the summary has the counts of these inputs and this log", len(again), failures)
