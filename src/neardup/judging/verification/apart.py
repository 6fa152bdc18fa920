"""Whether survivors match one another, and whether removed documents match a survivor: by a join that misses nothing."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from neardup.arrays import Array, Bools, Int64s
from neardup.display import similarity_text, threshold_text
from neardup.judging.verification.claim import Claim
from neardup.judging.verification.read_corpus import ReadCorpus
from neardup.judging.verification.removals import connected
from neardup.judging.verification.result import SHOWN_FAILURES, Check, Missed
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.matches import Matches, list_matches
from neardup.options import DedupOptions
from neardup.recipe.tables.methods import BY_DISTANCE, METHODS, Method, MethodRow, Promise

EXACT: Method = "exact"


def join_options(claim: Claim, options: DedupOptions, method: Method | None = None) -> DedupOptions:
    """The options of a join that lists every match: by similarity, or by distance alone. Or those of `method`."""
    taken = method or (BY_DISTANCE if claim.is_by_distance else EXACT)
    return dataclasses.replace(
        options,
        method=taken,
        min_similarity=claim.min_similarity,
        similarity=claim.similarity,
        max_distance=claim.max_distance if METHODS[taken].takes_distance else None,
        within=claim.within,
        guard=claim.guard,
        **claim.preference,
    )


@dataclass
class _Counted:
    """Pairs, counted; the first of them, and the rows of all of them (bool[rows])."""

    rows: Bools
    pairs: int = 0
    beyond: int = 0
    first: list[tuple[int, int, float, int]] = field(default_factory=list)

    def add(self, found: Matches, limit: int | None) -> None:
        """Count pairs; those of a larger distance than `limit` are counted as `beyond`, too."""
        self.pairs += len(found)
        self.rows[found.left] = self.rows[found.right] = True
        if limit is not None:
            self.beyond += int(np.count_nonzero(found.distance > limit))
        room = slice(0, max(0, SHOWN_FAILURES - len(self.first)))
        columns = (found.left[room], found.right[room], found.similarity[room], found.distance[room])
        self.first += list(zip(*(column.tolist() for column in columns), strict=True))


def _list(
    read: ReadCorpus, rows: Bools, options: DedupOptions, *, sides: Array | None = None, distinct: bool = False
) -> Iterator[Matches]:
    """The matches among some rows (bool[rows of both]), or across sides of them (uint8[rows of both])."""
    return list_matches(
        read.corpus,
        read.among(rows),
        read.claim.recipe,
        options=options,
        progress=read.progress,
        sides=sides,
        distinct=distinct,
        kept=read.kept if METHODS[options.method].keeps_elements else None,
        every_empty=True,
    )


def matches_among(read: ReadCorpus, rows: Bools, options: DedupOptions, *, distinct: bool = False) -> Iterator[Matches]:
    """The matches of inputs with one another, then with the reference; of both, if they were ordered together. `rows`: bool[rows
    of both].
    """
    if read.claim.together:
        yield from _list(read, rows, options, distinct=distinct)
        return
    inside = np.arange(len(rows)) < read.rows
    yield from _list(read, rows & inside, options, distinct=distinct)
    if (rows & ~inside).any():
        sides = np.where(inside, 1, 2).astype(np.uint8)
        yield from _list(read, rows, options, sides=sides, distinct=distinct)


def check_apart(read: ReadCorpus, in_output: Bools, *, strict: bool) -> tuple[Check, Missed | None]:
    """No two survivors match, nor a survivor and a document of the reference. If the run decided on these, too, no two documents of
    the output and of what stays of the reference match.

    All matches are listed by a join that misses none. If the method of the run may miss some, it is run again on the documents of
    these pairs: what it finds is a failure, and the others are its misses. Whether it finds a pair depends on the pair alone.

    Args:
        in_output: bool[rows of both], the survivors that are there, and what stays of the reference.
        strict: misses of the method are failures, too.
    """
    claim, known = read.claim, read.documents.valid
    rows = known & in_output
    options = join_options(claim, read.options)
    row = None if claim.method is None else METHODS[claim.method]
    limit = claim.max_distance if row is not None and not claim.is_by_distance else None
    every = _Counted(np.zeros(len(known), np.bool_))
    for part in matches_among(read, rows, options):
        every.add(part, limit)
    failing, missed = every, None
    if row is not None and row.promise is not Promise.EXACT and not claim.is_by_distance:
        failing = _Counted(np.zeros(len(known), np.bool_))
        if every.pairs:
            again = join_options(claim, read.options, claim.method)  # type: ignore[arg-type]  # it was checked
            for part in matches_among(read, rows & every.rows, again):
                failing.add(part, None)
        missed = _missed(read, every, failing, row)
        if strict:
            failing, missed = every, dataclasses.replace(missed, pairs=0, first=())
    with_reference = len(known) > read.rows
    reference = " or a document of the reference" if with_reference else ""
    if with_reference and claim.together:
        reference = " or a document of the reference that stays, and no two of these match"
    more = "" if row is None or row.promise is Promise.EXACT or strict else f" that `{claim.method}` finds"
    claimed = f"no survivor matches another survivor{reference}{more}"
    checked = int(np.count_nonzero(rows[: read.decided]))
    first = tuple(_pair(read, pair) for pair in failing.first)
    return Check("apart", claimed, checked, failing.pairs, first), missed


def _missed(read: ReadCorpus, every: _Counted, failing: _Counted, row: MethodRow) -> Missed:
    claim = read.claim
    pairs = every.pairs - failing.pairs
    found = set(failing.first)
    first = tuple(_pair(read, pair) for pair in every.first if pair not in found)
    if row.promise is Promise.PROBABLE:
        sieved = f"; {every.beyond:,} of them were dropped by its sieve, at distances above {claim.max_distance}"
        why = (
            f"{claim.method} misses a pair at the threshold with a probability of {row.miss_probability:g}"
            f"{sieved if every.beyond else ''}"
        )
        return Missed(pairs, claim.matches, row.miss_probability, why, first)
    why = f"{claim.method} promises pairs within distance {claim.max_distance} only"
    return Missed(pairs, claim.matches, None, why, first)


def _pair(read: ReadCorpus, pair: tuple[int, int, float, int]) -> str:
    left, right, similarity, distance = pair
    alike = "" if similarity != similarity else f"similarity {similarity_text(similarity, read.claim.min_similarity)}, "
    return f"{named(read, left)} and {named(read, right)}: {alike}distance {distance}"


def named(read: ReadCorpus, row: int) -> str:
    """A row of the inputs or the reference in words."""
    if row < read.rows:
        return read.name(row)
    return f"{read.documents.ids[row].as_py()} (row {row - read.rows} of the reference)"


def check_matched(read: ReadCorpus, removed: Bools) -> Check:
    """Of a run that removes all that matches: the removed documents are those that match another, or one of the reference.

    `removed`: bool[rows that were decided], by the audit, and the list of superseded documents. Matches are those that the method
    of the run finds; which these are depends on pairs alone.
    """
    claim, known = read.claim, read.documents.valid
    inside = np.arange(len(known)) < read.decided
    matched = np.zeros(len(known), np.bool_)
    options = join_options(claim, read.options, claim.method)  # type: ignore[arg-type]
    for part in matches_among(read, known, options, distinct=True):  # what equals another matches it
        matched[part.left] = matched[part.right] = True
    every = np.flatnonzero(known)
    first = exact_representatives(read.documents, every, read.groups)
    copies = first != every
    matched[every[copies]] = matched[first[copies]] = True
    wrong = np.flatnonzero((matched & inside)[: read.decided] != removed)
    failures = [
        f"{named(read, row)} was {'removed, but matches no other' if removed[row] else 'kept, but matches another'}"
        for row in wrong.tolist()
    ]
    reference = " or one of the reference" if len(known) > read.decided else ""
    claimed = f"the removed documents are those that match another{reference}"
    return Check.of("matched", claimed, int(np.count_nonzero(known & inside)), failures)


def check_covered(read: ReadCorpus, kept: Bools) -> Check:
    """Without an audit: every removed document matches a survivor or, if clusters are components, is connected to one.

    `kept`: bool[rows], the rows of the inputs that are in the output.
    """
    known = read.documents
    inside = np.arange(len(known)) < read.rows
    removed = known.valid & inside
    removed[: read.rows] &= ~kept
    rows = np.flatnonzero(removed)
    options = join_options(read.claim, read.options)
    covered = known.valid & ~removed
    if len(rows):
        if read.claim.cluster == "components":
            covered = _connected_to(read, covered, options)
        else:
            sides = np.where(removed, 1, 2).astype(np.uint8)
            for part in _list(read, known.valid, options, sides=sides, distinct=True):
                covered[part.left] = covered[part.right] = True
        representative = exact_representatives(known, rows, read.groups)
        covered[rows] = covered[representative]
    alone = rows[~covered[rows]]
    failures = [f"{read.name(row)} was removed, but {_why(read)}" for row in alone.tolist()]
    link = "is connected to a survivor by matches" if read.claim.cluster == "components" else "matches a survivor"
    limit = f"{read.claim.compared_by} similarity of at least {threshold_text(read.claim.min_similarity)}"
    return Check.of("removals", f"every removed document {link}: {limit}", len(rows), failures)


def _why(read: ReadCorpus) -> str:
    if read.claim.cluster == "components":
        return "no chain of matches leads to a survivor"
    return f"no survivor is similar to it by {threshold_text(read.claim.min_similarity)}"


def _connected_to(read: ReadCorpus, covered: Bools, options: DedupOptions) -> Bools:
    """The rows that chains of matches connect to `covered` ones (bool[rows of both])."""
    pairs: list[tuple[Int64s, Int64s]] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    pairs += [(part.left, part.right) for part in _list(read, read.documents.valid, options, distinct=True)]
    every = np.flatnonzero(read.documents.valid)
    first = exact_representatives(read.documents, every, read.groups)
    pairs.append((every, first))
    left, right = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return connected(covered, left, right)
