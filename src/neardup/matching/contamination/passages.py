"""PASSAGES: where a document holds an item, in characters."""

from collections import defaultdict
from collections.abc import Iterator

import pyarrow as pa

from neardup.matching.contamination.excerpts import span_of
from neardup.matching.contamination.items import Items
from neardup.matching.contamination.options import DecontaminationOptions
from neardup.matching.contamination.overlaps import DocumentShingles, Overlap
from neardup.matching.contamination.readings import Reading, readings_of, word_of
from neardup.matching.contamination.scan import is_stronger
from neardup.matching.contamination.token_places import TokenPlaces, texts_in_chunks, token_places


class Passages:
    """Finds the passages of documents that are known to hold items; see `neardup.matching.contamination.scan`."""

    def __init__(self, items: Items, options: DecontaminationOptions) -> None:
        self._items, self._options = items, options
        self._forms = defaultdict[int, list[int]](list)
        for form, item in enumerate(items.form_items.tolist()):
            self._forms[item].append(form)

    def span(self, text: str, item: int) -> tuple[int, int] | None:
        """The characters [start, stop) of the passage for which a document holds a distinct item; None if it holds it not."""
        best: tuple[Overlap, TokenPlaces, Reading | None] | None = None
        for places, read in self._readings(text):
            document = DocumentShingles(places)
            for form in self._forms[item]:
                overlap = document.overlap(self._items.forms[form])
                holds = overlap.share >= self._options.min_share or overlap.run >= self._options.min_run
                if holds and (best is None or is_stronger(overlap, best[0])):
                    best = overlap, places, read
        if best is None:
            return None
        overlap, places, read = best
        first, end = overlap.passage(self._options.min_share)
        guess = (places.characters_before(first), places.characters_before(end))
        return span_of(text, first, end, guess, read=read, version=self._options.version)

    def _readings(self, text: str) -> Iterator[tuple[TokenPlaces, Reading | None]]:
        """The tokens of the text as it stands, then of its other readings."""
        texts = pa.array([text], pa.large_string())
        others = [read for _, read in readings_of(texts, self._is_word)]
        for read in (None, *others):
            looked = texts if read is None else pa.array([read.text], pa.large_string())
            for _, folded in texts_in_chunks(looked):
                for i in range(len(folded)):
                    yield token_places(folded, i, self._options.version), read

    def _is_word(self, left: str, right: str) -> bool:
        return word_of(left, right) in self._items.words
