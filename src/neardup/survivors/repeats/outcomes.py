"""OUTCOMES: what becomes of each document, and the characters of each cut and of the copy that it names."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.protocol import Corpus, SourcedCorpus
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, Checkpoints
from neardup.io.resume.codecs import codec
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.repeats.cuts import Cuts, meet_any
from neardup.survivors.repeats.find import Repeats, find_repeats
from neardup.survivors.repeats.options import Align, PassageOptions
from neardup.survivors.repeats.text_cuts import CutTexts, cut_texts
from neardup.survivors.repeats.text_places import PiecePlaces, places_in_pieces
from neardup.survivors.repeats.token_stream import TokenStream
from neardup.text.columns import in_chunks

Result = TypeVar("Result")


def _is_sound(found: "CutDocuments") -> bool:
    """Whether rows ascend, and spans and segments have an extent."""
    spans, segments = found.spans, found.segments
    if spans.shape[1] != 5 or segments.shape[1] != 6:
        return False
    rows = np.diff(found.rows, prepend=-1) > 0
    extents = (spans[:, 2] < spans[:, 3]) & (spans[:, 2] >= 0), (segments[:, 4] < segments[:, 5]) & (segments[:, 2] > 0)
    known = np.isin(spans[:, 0], found.rows), np.diff(segments[:, 0], prepend=-1) > 0
    return bool(all(map(np.all, (rows, *extents, *known, segments >= 0, found.left >= 0, found.parts >= 0))))


@codec(
    "passages cuts",
    2,
    is_sound=_is_sound,
    rows="int64[changed]",
    left="int64[changed]",
    spans="int64[spans, five]",
    segments="int64[segments, six]",
    parts="int64[segments]",
)
@dataclass(frozen=True, slots=True)
class CutDocuments:
    """What is cut from documents.

    Attributes:
        rows, left: int64[n], the documents from which something is removed, ascending, and how many tokens each has left.
        spans: int64[s, 5]: row, column, first character and end of what is removed, and whether a space is put there.
        segments: int64[m, 6]: the place of each segment that is removed, its earlier place, its number of tokens; and its column,
            first character and end there.
        parts: int64[m], the number of the one in `Cuts` that each segment is a part of.
    """

    rows: Array
    left: Array
    spans: Array
    segments: Array
    parts: Array

    @classmethod
    def joined(cls, parts: "list[CutDocuments]") -> "CutDocuments":
        none = np.empty(0, np.int64)
        nothing = cls(none, none, np.empty((0, 5), np.int64), np.empty((0, 6), np.int64), none)
        each = ((p.rows, p.left, p.spans, p.segments, p.parts) for p in [nothing, *parts])
        return cls(*map(np.concatenate, zip(*each, strict=True)))


@dataclass(frozen=True, slots=True)
class Pieces:
    """The text columns of some documents, and where their tokens are.

    Attributes:
        texts: Arrow large_string[n].
        rows, columns: int64[n], the document and the number of the column of each.
        places: int64[n], ascending, the first place of each among all tokens.
        tokens: where the tokens of these are in them.
    """

    texts: Any
    rows: Array
    columns: Array
    places: Array
    tokens: PiecePlaces

    @classmethod
    def of(cls, rows: Array, texts: Any, starts: Array, stream: TokenStream) -> "Pieces":
        """Of documents: their rows (int64[d], ascending), texts (Arrow large_string[d]) and first places (int64[d])."""
        pieces, columns = stream.columns_in(texts), stream.columns
        tokens = places_in_pieces(pieces, stream)
        sizes = np.diff(tokens.tokens).reshape(-1, columns) + 1
        places = starts[:, np.newaxis] + np.cumsum(sizes, axis=1) - sizes
        numbers = np.tile(np.arange(columns), len(rows))
        return cls(pieces, np.repeat(rows, columns), numbers, places.reshape(-1), tokens)

    def __len__(self) -> int:
        return len(self.rows)

    def documents(self, columns: int) -> "Iterator[Pieces]":
        """Each document by itself."""
        for first in range(0, len(self), columns):
            some = slice(first, first + columns)
            begin, end = self.tokens.tokens[[first, first + columns]]
            tokens = PiecePlaces(
                self.tokens.firsts[begin:end],
                self.tokens.lasts[begin:end],
                self.tokens.tokens[first : first + columns + 1] - begin,
            )
            yield Pieces(self.texts[some], self.rows[some], self.columns[some], self.places[some], tokens)

    def within(self, places: Array) -> slice:
        """Which of some places (int64[m], ascending, none of documents between these) are in these."""
        if not len(self):
            return slice(0, 0)
        end = self.places[-1] + self.tokens.tokens[-1] - self.tokens.tokens[-2]
        return slice(*np.searchsorted(places, [self.places[0], end]).tolist())

    def pieces_of(self, places: Array) -> Array:
        """int64[m]: the pieces of some places."""
        return np.searchsorted(self.places, places, "right") - 1

    def runs(self, places: Array, counts: Array) -> Array:
        """int64[m, 2]: the tokens at so many places each, from some on (int64[m] each): first and end."""
        of = self.pieces_of(places)
        first = self.tokens.tokens[of] + places - self.places[of]
        return np.column_stack([first, first + counts])

    def places_of(self, runs: Array) -> Array:
        """int64[m, 2]: the places of such runs, which are not empty."""
        of = np.searchsorted(self.tokens.tokens, runs[:, 0], "right") - 1
        found: Array = runs + (self.places - self.tokens.tokens[:-1])[of, np.newaxis]
        return found

    def located(self, places: Array, counts: Array) -> Array:
        """int64[m, 3]: the column, first character and end of such runs."""
        return np.column_stack(
            [self.columns[self.pieces_of(places)], self.tokens.characters(self.runs(places, counts))]
        )


class Copies(NamedTuple):
    """Where copies are that segments name.

    Attributes:
        order: int64[m], the segments by earlier place.
        places, counts: int64[m], in that order: earlier place, and number of tokens.
    """

    order: Array
    places: Array
    counts: Array

    @classmethod
    def of(cls, segments: Array) -> "Copies":
        order = np.argsort(segments[:, 1], kind="stable")
        return cls(order, *np.ascontiguousarray(segments[order, 1:3].T))

    def located(self, pieces: Pieces) -> tuple[Array, Array]:
        """The segments that name copies in some pieces, and int64[n, 3]: the column, first character and end of each copy."""
        some = pieces.within(self.places)
        return self.order[some], pieces.located(self.places[some], self.counts[some])


def cut_documents(
    repeats: Repeats, reference: Corpus | None, options: PassageOptions, progress: Progress, checkpoints: Checkpoints
) -> tuple[CutDocuments, Array]:
    """Read the documents with cuts and with copies once more, cut the first, and find the characters of both: those of the copy
    that each segment names are int64[m, 3], as in `Passages.copies`.
    """
    starts, stream, raw = repeats.places.starts, repeats.stream, repeats.found.segments
    copies = Copies.of(raw)
    wanted = repeats.places.with_any(raw[:, 0], raw[:, 1])
    cut, named = list[CutDocuments](), np.full((len(raw), 3), -1, np.int64)

    def work(rows: Array, texts: Any) -> tuple[CutDocuments, Array, Array]:
        pieces = Pieces.of(rows, texts, starts[rows], stream)
        made, _ = cut_pieces(pieces, repeats.found, stream, options.align)
        return made, *copies.located(pieces)

    for each in of_wanted(repeats, reference, work, wanted, "passages-cuts", progress, checkpoints):
        for made, numbers, places in each:
            cut.append(made)
            named[numbers] = places
    found = CutDocuments.joined(cut)
    located = named[found.parts]
    narrowed = np.flatnonzero((found.segments[:, 1:3] != raw[found.parts, 1:3]).any(axis=1))
    if len(narrowed):
        located[narrowed] = _places_of_copies(repeats, reference, found.segments[narrowed], progress)
    return found, located


def _places_of_copies(repeats: Repeats, reference: Corpus | None, segments: Array, progress: Progress) -> Array:
    """int64[m, 3]: the column, first character and end of the copies that some segments name, which are parts of others."""
    copies, found = Copies.of(segments), np.full((len(segments), 3), -1, np.int64)
    wanted = repeats.places.with_any(copies.places)

    def work(rows: Array, texts: Any) -> tuple[Array, Array]:
        return copies.located(Pieces.of(rows, texts, repeats.places.starts[rows], repeats.stream))

    for each in of_wanted(repeats, reference, work, wanted, "passages-copies", progress, NO_CHECKPOINTS):
        for numbers, places in each:
            found[numbers] = places
    return found


def of_wanted(
    repeats: Repeats,
    reference: Corpus | None,
    work: Callable[[Array, Any], Result],
    wanted: Array,
    name: str,
    progress: Progress,
    checkpoints: Checkpoints,
) -> Iterator[list[Result]]:
    """What `work` makes of the wanted documents (bool[rows]) of each batch, some at a time: it takes their rows (int64[n]) and
    texts (Arrow large_string[n]). First those of the corpus, then those of the reference.
    """
    for corpus, begin, end in ((repeats.corpus, 0, repeats.inputs), (reference, repeats.inputs, len(wanted))):
        some = wanted[begin:end]
        if corpus is None or not some.any():
            continue
        firsts = getattr(corpus, "starts", None)

        def read(batch: Batch, begin: int = begin, some: Array = some, firsts: Any = firsts) -> list[Result]:
            first = batch.row if firsts is None else firsts[batch.shard] + batch.row
            here = np.flatnonzero(some[first : first + len(batch.texts)])
            texts, found, at = batch.texts.take(pa.array(here)), list[Result](), 0
            for chunk in in_chunks(texts):
                found.append(work(begin + first + here[at : at + len(chunk)], chunk))
                at += len(chunk)
            return found

        for _, found in checkpoints.map(corpus, read, name=f"{name}-{begin}", wanted=some):
            yield found
        progress.advance(end - begin)


def cut_pieces(pieces: Pieces, found: Cuts, stream: TokenStream, align: Align | None) -> tuple[CutDocuments, CutTexts]:
    """What is cut from some pieces."""
    some = found.cuts[pieces.within(found.cuts[:, 0])]
    runs = pieces.runs(some[:, 0], some[:, 1] - some[:, 0])
    cut = cut_texts(pieces.texts, pieces.tokens, runs, stream, align)
    segments, parts = _parts_of(found.segments, pieces.places_of(cut.runs))
    spans = np.column_stack([pieces.rows[cut.spans[:, 0]], pieces.columns[cut.spans[:, 0]], cut.spans[:, 1:]])
    rows = np.unique(spans[:, 0])
    of = np.searchsorted(rows, pieces.rows)
    is_changed = of < len(rows)
    is_changed[is_changed] = rows[of[is_changed]] == pieces.rows[is_changed]
    left = np.bincount(of[is_changed], cut.left[is_changed], len(rows)).astype(np.int64)
    lines = np.column_stack([segments, pieces.located(segments[:, 0], segments[:, 2])])
    return CutDocuments(rows, left, spans, lines, parts), cut


def _parts_of(segments: Array, runs: Array) -> tuple[Array, Array]:
    """The parts of segments that lie in runs of places (int64[n, 2], ascending): int64[m, 3], place, earlier place and number of
    tokens; and int64[m], which segment each is a part of.
    """
    begins = segments[:, 0]
    first = np.maximum(np.searchsorted(begins, runs[:, 0]) - 1, 0)
    counts = np.searchsorted(begins, runs[:, 1]) - first
    of = np.repeat(np.arange(len(runs)), counts)
    number = np.arange(len(of)) + np.repeat(first - np.cumsum(counts) + counts, counts)
    place, earlier, size = segments[number].T
    begin, end = np.maximum(place, runs[of, 0]), np.minimum(place + size, runs[of, 1])
    some = begin < end
    found = np.column_stack([begin, earlier + begin - place, end - begin])
    return found[some], number[some]


@dataclass(frozen=True)
class Passages:
    """What was found and what becomes of it.

    Attributes:
        repeats: what is repeated.
        cut: what is cut.
        copies: int64[m, 3], the column, first character and end of the copy that each segment names.
        in_cuts: bool[m], whether some of the copy that a segment names is cut itself.
        emptied: int64[n], the documents that are removed, because too few of their tokens are left.
        kept_for_copies: how many documents stay with too few tokens, because cuts name a copy in them.
    """

    repeats: Repeats
    cut: CutDocuments
    copies: Array
    in_cuts: Array
    emptied: Array
    kept_for_copies: int

    @property
    def kept(self) -> Array:
        """bool[rows of the corpus], the documents that are written."""
        found = self.repeats.documents.valid[: self.repeats.inputs].copy()
        found[self.emptied] = False
        return found


def find_passages(
    corpus: SourcedCorpus,
    recipe: Recipe,
    options: PassageOptions,
    progress: Progress,
    *,
    reference: Corpus | None = None,
    columns: int = 1,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> Passages:
    """Find repeated passages, and decide what is cut and which documents go; `columns`: of which the texts are joined."""
    repeats = find_repeats(
        corpus, recipe, options, progress, reference=reference, columns=columns, checkpoints=checkpoints
    )
    with progress.stage("cut", len(repeats.documents)):
        cut, copies = cut_documents(repeats, reference, options, progress, checkpoints)
    named = repeats.places.with_any(cut.segments[:, 1])
    is_few = cut.left < options.min_left
    few, left = cut.rows[is_few], cut.left[is_few]
    stays = named[few] & (left > 0)  # a copy of which nothing is left has one of its own
    begins, earlier, counts = cut.segments[:, :3].T
    in_cuts = meet_any(begins, begins + counts, earlier, earlier + counts)
    return Passages(repeats, cut, copies, in_cuts, few[~stays], int(stays.sum()))
