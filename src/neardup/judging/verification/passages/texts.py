"""What the log says of each text, compared with the text: the tokens of each passage, and what is left."""

import hashlib
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.judging.verification.passages.cut_lines import CutLines
from neardup.judging.verification.passages.windows import Order, bits_of
from neardup.survivors.repeats.text_places import TokenPlaces, places_in_pieces
from neardup.survivors.repeats.token_stream import TokenStream
from neardup.text.units import find, without_units

DIGEST_BYTES = 16


@dataclass(slots=True)
class RowFound:
    """What is found in one document.

    Attributes:
        texts: its columns without what the log cuts.
        cut, characters: how many tokens and characters are cut.
        lines, copies: of each line of the log that is of this document, or that names a copy in it: the digest of its tokens (None
            if it is not known which), and the place of its first token (-1 if there are no such tokens).
        of_lines, of_windows: what is wrong, as sentences: with lines, by their numbers; and with what is cut.
    """

    texts: list[str]
    cut: int = 0
    characters: int = 0
    lines: list[tuple[int, bytes | None, int]] = field(default_factory=list)
    copies: list[tuple[int, bytes | None, int]] = field(default_factory=list)
    of_lines: list[tuple[int, str]] = field(default_factory=list)
    of_windows: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TextChecker:
    """Compares texts with the log.

    Attributes:
        lines: the log.
        order: the places of all tokens.
        bits: the places of repeated windows, as bits.
        is_complete: whether these are all, or a sample.
        stream, size, align: how texts are cut into tokens, the least tokens of a passage, and the units.
    """

    lines: CutLines
    order: Order
    bits: Array
    is_complete: bool
    stream: TokenStream
    size: int
    align: str | None

    def is_concerned(self, row: int) -> bool:
        """Whether anything is known of a row."""
        first, end = self.order.starts[row : row + 2].tolist()
        has_lines = self.lines.of_row(row, copies=False) or self.lines.of_row(row, copies=True)
        return bool(has_lines) or (row < self.order.inputs and bool(bits_of(self.bits, first, end).any()))

    def check(self, row: int, text: str) -> RowFound:
        """Compare one document with the lines of the log."""
        columns = self.stream.columns_of(text)
        pieces = pa.array(columns, pa.large_string())
        places, tokens = places_in_pieces(pieces, self.stream), self.stream.tokens(pieces)
        first = int(self.order.starts[row])
        starts = [first + int(number) for number in tokens.documents]
        repeated, found = bits_of(self.bits, starts[0], starts[-1]), RowFound(columns)
        own, copies = (self.lines.of_row(row, copies=is_copy) for is_copy in (False, True))
        for number, column in enumerate(columns):
            begin, end = tokens.documents[number : number + 2].tolist()

            def digest(some: tuple[int, int], begin: int = begin) -> bytes:
                joined = b"\0".join(
                    tokens.data[tokens.starts[i] : tokens.ends[i]].tobytes()
                    for i in range(begin + some[0], begin + some[1])
                )
                return hashlib.blake2b(joined, digest_size=DIGEST_BYTES).digest()

            here = _Column(column, places.of(number), starts[number])
            for line in copies:
                if self.lines.copies.columns[line] == number:
                    some = self._tokens_of(here, line, found, copy=True)
                    known = some is not None and not here.is_shared(*some)
                    found.copies.append(
                        (line, digest(some) if some and known else None, here.first + some[0] if some else -1)
                    )
            cuts = list[tuple[int, int, int]]()
            for line in own:
                if self.lines.cuts.columns[line] == number:
                    some = self._tokens_of(here, line, found, copy=False)
                    known = some is not None and not here.is_shared(*some)
                    found.lines.append(
                        (line, digest(some) if some and known else None, here.first + some[0] if some else -1)
                    )
                    if some is not None:
                        cuts.append((*some, line))
            if row < self.order.inputs:
                covered = _covered(repeated[begin:end], self.size)
                is_cut = self._cut(here, number, cuts, covered, found)
                if is_cut.any() and self.stream.similarity.is_plain and self.stream.folds_alone:
                    kept = [tokens.text(i) for i in (begin + np.flatnonzero(~is_cut)).tolist()]
                    if kept != self._tokens(found.texts[number]):
                        found.of_windows.append("two tokens run together where something was cut")
        return found

    def _tokens(self, text: str) -> list[str]:
        tokens = self.stream.tokens(pa.array([text], pa.large_string()))
        return [tokens.text(i) for i in range(len(tokens.starts))]

    def _tokens_of(self, here: "_Column", line: int, found: RowFound, *, copy: bool) -> tuple[int, int] | None:
        """The tokens of a passage or of a copy; None if these are not its tokens, which `found` then says."""
        side = self.lines.copies if copy else self.lines.cuts
        some = here.tokens_in(int(side.starts[line]), int(side.ends[line]), int(self.lines.tokens[line]))
        if some is None:
            what = (
                f"its copy, characters {side.starts[line]} to {side.ends[line]} of row {side.rows[line]}"
                if copy
                else "this"
            )
            found.of_lines.append((line, f"{what} is not {self.lines.tokens[line]} whole tokens"))
        return some

    def _cut(
        self, here: "_Column", number: int, cuts: list[tuple[int, int, int]], covered: Array, found: RowFound
    ) -> Array:
        """Cut a column, and compare what is cut with what is repeated; bool[tokens], what is cut."""
        is_cut = np.zeros(len(covered), np.bool_)
        for begin, end, line in cuts:
            if is_cut[begin:end].any():
                found.of_lines.append((line, "some of its tokens are in another line"))
            is_cut[begin:end] = True
        found.cut += int(is_cut.sum())
        text, shared = here.text, here.shared
        if self.align is None:
            found.texts[number] = self._without(text, here, cuts, found)
            expected = covered
        else:
            rest, in_units, expected = self._without_units(text, here.places, is_cut, covered | shared)
            found.texts[number] = rest
            for begin, end, line in cuts:
                if not in_units[begin:end].all():
                    found.of_lines.append((line, f"it is no part of a {self.align} all of whose tokens are cut"))
                if self.lines.separated[line]:
                    found.of_lines.append((line, "its separator is no space"))
        found.characters += (
            len(text) - len(found.texts[number]) + sum(self.lines.separated[line] for _, _, line in cuts)
        )
        kept = np.flatnonzero(expected & ~is_cut & ~shared)
        column = "" if len(found.texts) == 1 else f" of text column {number + 1}"
        if len(kept):
            found.of_windows.append(f"{here.quoted(kept)}{column} stood earlier, and is not cut")
        wrong = np.flatnonzero(is_cut & ~expected & ~shared)
        if len(wrong) and self.is_complete:
            found.of_windows.append(f"{here.quoted(wrong)}{column} is cut, and is in no passage that stood earlier")
        return is_cut

    def _without(self, text: str, here: "_Column", cuts: list[tuple[int, int, int]], found: RowFound) -> str:
        """A text without its cuts: each goes from the first character of a run of lines to the last one."""
        parts, at, k = list[str](), 0, 0
        cuts = sorted(cuts)
        while k < len(cuts):
            last = k
            while last + 1 < len(cuts) and cuts[last + 1][0] <= cuts[last][1]:
                if self.lines.separated[cuts[last][2]]:
                    found.of_lines.append((cuts[last][2], "its separator stands inside a cut"))
                last += 1
            firsts, lasts = here.places
            parts.append(text[at : int(firsts[cuts[k][0]])])
            parts.append(" " if self.lines.separated[cuts[last][2]] else "")
            at, k = int(lasts[max(end for _, end, _ in cuts[k : last + 1]) - 1]) + 1, last + 1
        return "".join([*parts, text[at:]])

    def _without_units(self, text: str, places: TokenPlaces, is_cut: Array, covered: Array) -> tuple[str, Array, Array]:
        """A text without the units all of whose tokens are cut; which tokens are in these (bool[tokens]), and which are in units
        all of whose tokens are covered.
        """
        data = text.encode()
        units = find(np.frombuffer(data, np.uint8), np.array([0, len(data)]), self.align or "line")
        in_bytes = np.append(np.flatnonzero((np.frombuffer(data, np.uint8) & 0xC0) != 0x80), len(data))
        of_tokens = np.searchsorted(units.starts, in_bytes[places.firsts], "right") - 1
        sizes = np.bincount(of_tokens, minlength=len(units))
        gone, expected = (
            (sizes > 0) & (np.bincount(of_tokens, weights=some, minlength=len(units)) == sizes)
            for some in (is_cut, covered)
        )
        rest = without_units([text], np.flatnonzero(gone), self.align or "line")[0] if gone.any() else text
        return rest, gone[of_tokens], expected[of_tokens]


@dataclass(frozen=True)
class _Column:
    """A column: its text, where its tokens are, and the place of the first of them."""

    text: str
    places: TokenPlaces
    first: int

    @property
    def shared(self) -> Array:
        """bool[tokens]: which share a character with another, as the tokens of U+FDFA do."""
        firsts, lasts = self.places
        found = np.zeros(len(firsts), np.bool_)
        together = lasts[:-1] >= firsts[1:]
        found[:-1] |= together
        found[1:] |= together
        return found

    def is_shared(self, begin: int, end: int) -> bool:
        """Whether the first or the last of some tokens is such a one, so that others may be meant."""
        return bool(self.shared[begin] or self.shared[end - 1])

    def tokens_in(self, start: int, end: int, count: int) -> tuple[int, int] | None:
        """The tokens that some characters are, if they are so many: the first, and the end."""
        firsts, lasts = self.places
        begin, stop = np.searchsorted(firsts, [start, start + 1]).tolist()
        for first in range(begin, stop):
            if 0 < count <= len(firsts) - first and lasts[first + count - 1] + 1 == end:
                return first, first + count
        return None

    def quoted(self, tokens: Array) -> str:
        """The first run of some tokens, in words."""
        firsts, lasts = self.places
        run = 1
        while run < len(tokens) and tokens[run] == tokens[run - 1] + 1:
            run += 1
        start, end = int(firsts[tokens[0]]), int(lasts[tokens[run - 1]]) + 1
        text = self.text[start:end]
        return f"{text[:SHOWN] + ('…' if len(text) > SHOWN else '')!r} (characters {start} to {end})"


SHOWN = 60
"""Characters of a text that a failure quotes."""


def _covered(repeated: Array, size: int) -> Array:
    """bool[t]: which tokens are in a window of so many tokens that begins at a repeated place (bool[t])."""
    change = np.zeros(len(repeated) + size + 1, np.int64)
    at = np.flatnonzero(repeated)
    change[at] += 1
    change[at + size] -= 1
    found: Array = np.cumsum(change)[: len(repeated)] > 0
    return found
