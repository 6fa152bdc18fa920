"""The definition of a store: each document is compared with every kept one, one after another, as `deduplicate` compares two texts."""

import math
from dataclasses import dataclass, field
from functools import cache

import neardup as nd


@cache
def match_of(kept, text, options):
    """The similarity, distance and exactness of two texts that match, or None."""
    found = nd.deduplicate([kept, text], **dict(options)).duplicates.to_pylist()
    return (found[0]["similarity"], found[0]["distance"], found[0]["exact"]) if found else None


def rank_of(keep, text, metadata=None):
    """How good a text is."""
    kind, _, key = keep.partition(":")
    if key:
        value = (metadata or {}).get(key)
        return -math.inf if value is None else value if kind == "max" else -value
    return {"longest": len(text), "shortest": -len(text), "last": 0}[keep]


@dataclass
class NaiveStore:
    """Kept documents and texts that were not kept, in the order in which they came. `options`: a tuple of pairs, of `deduplicate`.

    `skipped` has each document that is not kept by its id: its text, the number of its survivor, and whether it equals that. It can
    be compared if so, if the store keeps `texts`, or if it is in `contents`, by its survivor: since another one with its text has
    moved there. `orphans` has those that lost their survivors and have no match, and whether they were compared.
    """

    options: tuple
    keep: str = "first"
    kept: dict = field(default_factory=dict)
    removed: list = field(default_factory=list)
    replaced: list = field(default_factory=list)
    count: int = 0
    texts: bool = False
    skipped: dict = field(default_factory=dict)
    orphans: dict = field(default_factory=dict)
    contents: set = field(default_factory=set)

    def check(self, text):
        """(similarity, distance, exactness of the first, name) of each match, best first; of a text seen before, as it was then."""
        found = [(*match, number, name) for number, name, match in self._matches(text)]
        if self.keep == "always":
            found.sort(key=lambda each: (not each[2], each[1] if each[0] is None else -each[0], each[3]))
            return [(alike, distance, found[0][2], name) for alike, distance, _, _, name in found]
        for _, _, exact, _, name in sorted(found, key=lambda each: each[3]):
            if exact:
                return [(1.0, 0, True, name)]
        for other, survivor, alike, distance in reversed(self.removed):
            match = match_of(other, text, self.options)
            if match and match[2]:
                return [(alike, distance, False, self._id_of(survivor))]
        found.sort(key=lambda each: (each[1] if each[0] is None else -each[0], each[3]))
        return [(alike, distance, False, name) for alike, distance, _, _, name in found]

    def add(self, name, text, metadata=None):
        """The same; then keep the document, or remember what became of it."""
        before = {number for number, *_ in self.kept.values()}
        is_same = name in self.kept and (match_of(self.kept[name][1], text, self.options) or (0, 0, False))[2]
        if name in self.kept and not is_same:
            self._forget(name)
        found = self._decide(name, text, metadata)
        for known in (self.skipped, self.orphans):
            known.pop(name, None)
        if name not in self.kept:
            *_, exact, of = found[0]
            self.skipped[name] = (text, self.kept[of][0], exact)
        self._settle(before)
        return found

    def _decide(self, name, text, metadata):
        if self.keep not in ("first", "always"):
            return self._add_better(name, text, metadata)
        found = self.check(text)
        if found and self.keep != "always":
            alike, distance, exact, of = found[0]
            if not exact and not self._was_removed(text):
                self.removed.append((text, self.kept[of][0], alike, distance))
        elif name not in self.kept:
            self.kept[name] = (self.count, text, metadata)
            self.count += 1
        return found

    def _add_better(self, name, text, metadata):
        """The same where a better document replaces those that it matches; then, these are in `replaced`."""
        found = self._all_matches(text)
        ranks = [
            (rank_of(self.keep, text, metadata), -self.count),
            *((rank_of(self.keep, *self.kept[of][1:]), -number) for *_, number, of in found),
        ]
        best = ranks[0][0] > max(rank for rank, _ in ranks[1:]) if found and self.keep != "last" else True
        if not best:
            return [(alike, distance, exact, of) for alike, distance, exact, _, of in found]
        for alike, distance, _, _, of in found:
            self.kept.pop(of)
            self.replaced.append((name, of, alike, distance))
        self.kept[name] = (self.count, text, metadata)
        self.count += 1
        return []

    def remove(self, *names):
        before = {number for number, *_ in self.kept.values()}
        for name in names:
            for known in (self.skipped, self.orphans):
                known.pop(name, None)
            if name in self.kept:
                self._forget(name)
        return self._settle(before)

    def _settle(self, before):
        """Let those whose survivors went have others that they match, the best first, or be orphans."""
        gone = before - {number for number, *_ in self.kept.values()}
        for name, (text, survivor, exact) in list(self.skipped.items()):
            if survivor in gone:
                can_be_compared = exact or self.texts or (survivor, text.lower()) in self.contents
                found = list(self._matches(text)) if can_be_compared else []
                found.sort(
                    key=lambda each: (not each[2][2], each[2][1] if each[2][0] is None else -each[2][0], each[0])
                )
                if found:
                    number, _, (*_, exact) = found[0]
                    self.skipped[name] = (text, number, exact)
                    self.contents |= set() if exact else {(number, text.lower())}
                else:
                    self.skipped.pop(name)
                    self.orphans[name] = can_be_compared

    def _forget(self, name):
        number, *_ = self.kept.pop(name)
        self.removed = [each for each in self.removed if each[1] != number]

    def neighbors(self, text, least):
        """The similarity, distance and name of all kept documents that are so similar, equal texts first, then the best."""
        options = tuple((dict(self.options) | {"min_similarity": least}).items())
        found = []
        for name, (number, other, _) in self.kept.items():
            match = match_of(other, text, options)
            if match:
                found.append((*match, number, name))
        found.sort(key=lambda each: (not each[2], each[1] if each[0] is None else -each[0], each[3]))
        return [(alike, distance, name) for alike, distance, _, _, name in found]

    def _all_matches(self, text):
        """Similarity, distance, exactness, number and name of all matches, best first."""
        found = [(*match, number, name) for number, name, match in self._matches(text)]
        return sorted(found, key=lambda each: (each[1] if each[0] is None else -each[0], each[3]))

    def _was_removed(self, text):
        return any((match_of(other, text, self.options) or (0, 0, False))[2] for other, *_ in self.removed)

    def _matches(self, text):
        for name, (number, other, _) in self.kept.items():
            match = match_of(other, text, self.options)
            if match:
                yield number, name, match

    def _id_of(self, number):
        return next(name for name, (other, *_) in self.kept.items() if other == number)
