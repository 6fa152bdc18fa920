"""The contents of an index, their changes and facts: documents are added and removed by fingerprint, short texts by digest."""

from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.display import counted
from neardup.errors import OptionError
from neardup.hamming.index.answers import IndexInfo
from neardup.hamming.index.files.folder import DIGEST_BITS, Manifest
from neardup.hamming.index.files.stored_recipe import StoredRecipe, damaged_copies
from neardup.hamming.index.ids import as_ids
from neardup.hamming.index.search import Searched
from neardup.hamming.index.search_options import SearchOptions
from neardup.hamming.index.segment import Segment
from neardup.hamming.index.segments import Segments
from neardup.hamming.unique import fingerprint_rows

MAX_DOCUMENTS = 2**32 - 1
"""Document numbers have 32 bits in a segment."""
DIGESTS = SearchOptions(DIGEST_BITS, max_distance=0, method="block-tables", options={})
"""How digests of short texts are searched: equal digests only."""


class Contents:
    """Documents with ids.

    Attributes:
        search: how the documents are searched.
        documents: the documents, by fingerprint.
        short: the texts too short for a fingerprint, by digest; None while there are none.
        added: the number of documents ever added.
    """

    def __init__(self, search: SearchOptions) -> None:
        self.search = search
        self.documents = Segments(search.words, search.way)
        self.short: Contents | None = None
        self.added = 0
        self._strings: bool | None = None

    @property
    def strings(self) -> bool | None:
        """Whether ids are strings; None while undecided."""
        return self._strings

    @strings.setter
    def strings(self, strings: bool | None) -> None:
        if self._strings not in (None, strings):
            raise OptionError("This index has ids, so of which kind they are cannot change.")
        self._strings = strings

    def restore(self, manifest: Manifest, segments: list[Segment], short: list[Segment]) -> None:
        """Take over the contents read from a folder."""
        self.documents.made, self.added, self._strings = segments, manifest.added, manifest.strings
        if short:
            self.short = Contents(DIGESTS)
            self.short.documents.made, self.short.strings = short, manifest.strings

    @property
    def parts(self) -> list[Segments]:
        """The documents, and the short texts if there are any."""
        return [self.documents, *([] if self.short is None else [self.short.documents])]

    def searched(self) -> Searched:
        """The segments that a query by fingerprint searches."""
        return Searched(self.documents.searched(), self.search.words, self._strings)

    def searched_short(self) -> Searched:
        """The segments that a query by digest searches."""
        segments = [] if self.short is None else self.short.documents.searched()
        return Searched(segments, DIGESTS.words, self._strings)

    def add(self, ids: Any, fingerprints: Array) -> None:
        """See `neardup.Index.add`."""
        rows = self.search.rows(fingerprints)
        if self.documents.rows + len(rows) > MAX_DOCUMENTS:
            raise OptionError(
                f"{counted(len(rows), 'document')} more would be more than {MAX_DOCUMENTS:,}, removed ones "
                "included. Deal them out to several indexes."
            )
        labels = as_ids(np.arange(self.added, self.added + len(rows)) if ids is None else ids)
        if len(labels) != len(rows):
            raise OptionError(f"{counted(len(labels), 'id')} for {counted(len(rows), 'fingerprint')}: give one each.")
        if not len(rows):
            return
        self._demand_kind(labels)
        self.added += len(rows)
        self.documents.add(labels, rows)

    def add_short(self, ids: Any, digests: Array) -> None:
        """See `neardup.Index.add_short`."""
        labels = as_ids(ids)
        rows = fingerprint_rows(digests)
        if len(rows) and len(labels) == len(rows):
            self._demand_kind(labels)
        if self.short is None:
            self.short = Contents(DIGESTS)
        self.short.add(labels, rows)

    def remove(self, ids: Any) -> int:
        """See `neardup.Index.remove`."""
        labels = as_ids(ids)
        if self._strings is None or not len(labels):
            return 0
        if self._strings == isinstance(labels, np.ndarray):
            raise OptionError(
                f"These ids are not {'strings' if self._strings else 'integers'}, as those of the index are."
            )
        return sum(part.remove(labels) for part in self.parts)

    def merge(self) -> None:
        """See `neardup.Index.merge`."""
        for part in self.parts:
            part.merge()

    def info(self, recipe: StoredRecipe | None, short_rule: int, *, verify: bool) -> IndexInfo:
        """See `neardup.Index.info`."""
        search, made, searched = self.search, self.documents.made, self.documents.listed()
        damaged, copies = None, {}
        if verify:
            stored = [segment for part in self.parts for segment in part.made]
            damaged = {name: pages for segment in stored for name, pages in segment.damaged_pages().items()}
            copies = damaged_copies(recipe)
        return IndexInfo(
            documents=len(self.documents),
            short=0 if self.short is None else len(self.short.documents),
            removed=sum(len(segment) - segment.live for segment in searched),
            bits=search.bits,
            max_distance=search.max_distance,
            method=search.method,
            is_exact=search.is_exact,
            options=tuple(segment.options for segment in made),
            segments=tuple(len(segment) for segment in searched),
            nbytes=sum(segment.nbytes for segment in searched),
            recipe=None if recipe is None else recipe.digest,
            recipe_fields=None if recipe is None else recipe.facts,
            short_rule=short_rule,
            ids=None if self.strings is None else "strings" if self.strings else "integers",
            damaged=None if damaged is None else damaged | copies,
            hit_probability=0.0 if damaged else self.documents.hit_probability(search.max_distance),
            methods=tuple(segment.method for segment in made),
        )

    def _demand_kind(self, labels: Any) -> None:
        """Refuse ids of another kind than those of the index. The first ids decide the kind."""
        strings = not isinstance(labels, np.ndarray)
        if self._strings is not None and strings != self._strings:
            kinds = ("integers", "strings")
            raise OptionError(f"These ids are {kinds[strings]}, but those of the index are {kinds[self._strings]}.")
        self._strings = strings
