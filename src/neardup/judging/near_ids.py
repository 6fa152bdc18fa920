"""IDS like one that no document has: what a person may have meant."""

import difflib
import heapq
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from neardup.io.corpora.file_corpus import FileCorpus

SHOWN_IDS = 3
"""Ids that are proposed."""
MAX_COMPARED_IDS = 50_000
"""Ids that are compared letter by letter; of more, only those with the wanted one in them are proposed."""
_OF_ROW = re.compile(r"(?P<file>.+):(?P<row>\d+)")


@dataclass
class NearIds:
    """The ids most like a wanted one, of those that are shown to it.

    Attributes:
        wanted: the id.
    """

    wanted: str
    _seen: int = 0
    _best: list[tuple[float, int, Any]] = field(default_factory=list)

    def look_at(self, ids: Iterable[str | None]) -> None:
        """Compare some ids, given as JSON."""
        folded = self.wanted.casefold()
        matcher = difflib.SequenceMatcher(None, "", folded)
        for token in ids:
            if token is None:
                continue
            self._seen += 1
            alike = self._alike(token.strip('"').casefold(), folded, matcher)
            if alike and (len(self._best) < SHOWN_IDS or alike > self._best[0][0]):
                push = heapq.heappush if len(self._best) < SHOWN_IDS else heapq.heappushpop
                push(self._best, (alike, -self._seen, json.loads(token)))

    def _alike(self, other: str, folded: str, matcher: "difflib.SequenceMatcher[str]") -> float:
        """How alike two ids are, from 0.6 to 1; 0 if less."""
        if other == folded:
            return 1.0
        if folded in other or (len(other) > 2 and other in folded):
            return 0.9 + 0.09 * min(len(folded), len(other)) / max(len(folded), len(other))
        if self._seen > MAX_COMPARED_IDS:
            return 0.0
        matcher.set_seq1(other)
        alike = min(matcher.real_quick_ratio(), matcher.quick_ratio())
        alike = matcher.ratio() if alike >= 0.6 else 0.0
        return 0.89 * alike if alike >= 0.6 else 0.0

    def question(self) -> str:
        """The most similar ids as a question; nothing if none is similar."""
        best = [repr(name) for _, _, name in sorted(self._best, reverse=True)]
        return f" Did you mean {' or '.join(filter(None, (', '.join(best[:-1]), best[-1])))}?" if best else ""


def id_of_row(corpus: FileCorpus, wanted: str) -> str:
    """If an id is FILE:ROW, as of documents without ids, the id that this row has; else nothing. The corpus has been read."""
    named = _OF_ROW.fullmatch(wanted)
    if named is None:
        return ""
    for number, shard in enumerate(corpus.shards):
        if shard.name == named["file"] or shard.relative == named["file"]:
            rows = corpus.rows_of(number)
            row = rows.start + int(named["row"])
            if row >= rows.stop:
                return f" {shard.name} has {rows.stop - rows.start:,} rows, counted from 0."
            for first, ids in corpus.map(lambda batch: batch.ids):
                if first <= row < first + len(ids):
                    token = ids[row - first].as_py()
                    return (
                        ""
                        if token is None
                        else f" Row {named['row']} of {shard.name} has the id {json.loads(token)!r}."
                    )
    return ""
