"""What the audit states of every removal, computed again from the texts."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from neardup.arrays import Array, Bools, Float64s, Int64s
from neardup.display import shortened, similarity_text, threshold_text
from neardup.judging.verification.read_corpus import ReadCorpus
from neardup.judging.verification.result import Check
from neardup.recipe.tables.methods import METHODS
from neardup.survivors.decisions import NONE, Decisions, differ_in_digits
from neardup.survivors.records.audit_reader import Line
from neardup.text.preference import groups_of

CHUNK_LINES = 1 << 14
"""Lines whose ids are compared at a time."""
NOT_STATED = -2
"""Instead of `only_digits`, in audits of versions that did not state it."""
_DIGITS = {None: NONE, False: 0, True: 1}
_SAID_OF_DIGITS = np.array(["null", "false", "true"])
TOLERANCE = 1e-12
"""Similarities that differ by no more are the same: sums of weights may be rounded in another order."""

_decode = msgspec.json.Decoder().decode

RowOf = Callable[[Line], int]
"""The row of the survivor that a line names, over the inputs and the reference; NONE if there is no such row."""


@dataclass(frozen=True, slots=True)
class Removals:
    """The lines of an audit, as arrays; n is their number.

    Attributes:
        rows, survivors: int64[n], rows over the inputs and the reference; NONE where there is no such row.
        stated_rows: int64[n], the rows as the lines have them.
        clusters, similarity, distance, exact, matched_similarity: as stated; int64[n], float64[n], int64[n], bool[n], float64[n].
        only_digits: int64[n], as stated: as `Decisions.only_digits`, or NOT_STATED.
        ids, survivor_ids, matched_ids: as stated; matched_ids are there only if clusters are components.
        other_ids: the places of lines whose ids are not those of their rows.
    """

    rows: Int64s
    survivors: Int64s
    stated_rows: Int64s
    clusters: Int64s
    similarity: Float64s
    distance: Int64s
    exact: Bools
    matched_similarity: Float64s
    only_digits: Int64s
    ids: list[Any]
    survivor_ids: list[Any]
    matched_ids: list[Any]
    other_ids: list[int]

    @property
    def known(self) -> Bools:
        """bool[n]: both rows of the line exist."""
        found: Bools = (self.rows >= 0) & (self.survivors >= 0)
        return found


_NUMBERS: dict[str, Any] = {
    "rows": np.int64,
    "survivors": np.int64,
    "stated_rows": np.int64,
    "clusters": np.int64,
    "similarity": np.float64,
    "distance": np.int64,
    "exact": np.bool_,
    "matched_similarity": np.float64,
    "only_digits": np.int64,
}
"""The arrays of `Removals`, in the order in which their values are read from a line."""


def read_removals(lines: Iterable[Line], read: ReadCorpus, row_of: RowOf) -> Removals:
    """Read the lines of an audit, and compare their ids with those of their rows."""
    numbers: list[tuple[Any, ...]] = []
    ids, survivor_ids, matched_ids, other_ids = list[Any](), list[Any](), list[Any](), list[int]()
    is_document = read.documents.valid[: read.decided]
    every = iter(lines)
    while chunk := list(itertools.islice(every, CHUNK_LINES)):
        rows = [line["row"] if 0 <= line["row"] < read.decided and is_document[line["row"]] else NONE for line in chunk]
        survivors = [row_of(line) for line in chunk]
        for names, of, column in (("id", rows, ids), ("survivor_id", survivors, survivor_ids)):
            column += [line[names] for line in chunk]
            found = read.documents.ids.take(np.maximum(of, 0)).to_pylist() if len(read.documents) else []
            for place, (line, row) in enumerate(zip(chunk, of, strict=True)):
                if row >= 0 and (found[place] is None or not _same(_decode(found[place]), line[names])):
                    other_ids.append(len(numbers) + place)
        matched_ids += [line["matched_id"] for line in chunk if "matched_id" in line]
        for line, row, survivor in zip(chunk, rows, survivors, strict=True):
            numbers.append(
                (
                    row,
                    survivor,
                    line["row"],
                    line["cluster_id"],
                    _number(line["similarity"]),
                    NONE if line["distance"] is None else line["distance"],
                    line["exact"],
                    _number(line.get("matched_similarity")),
                    _DIGITS[line["only_digits"]] if "only_digits" in line else NOT_STATED,
                )
            )
    columns = zip(*numbers, strict=True) if numbers else iter([()] * len(_NUMBERS))
    arrays = {name: np.array(next(columns), kind) for name, kind in _NUMBERS.items()}
    others = sorted(set(other_ids))
    return Removals(**arrays, ids=ids, survivor_ids=survivor_ids, matched_ids=matched_ids, other_ids=others)


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _id(value: Any) -> str:
    return shortened(msgspec.json.encode(value).decode())


def _in_words(found: Removals, i: int) -> str:
    """A line of the audit in words."""
    return f"{_id(found.ids[i])} (row {found.stated_rows[i]})"


def _to(found: Removals, i: int) -> str:
    return _id(found.survivor_ids[i])


def check_survivors(found: Removals, in_output: Bools, *, with_reference: bool) -> Check:
    """Every removal is of one document, and has a survivor in the output or in the reference.

    `in_output`: bool[rows of inputs and reference], the survivors that are there.
    """

    def failures() -> Iterator[str]:
        seen: set[int] = set()
        for i, (row, survivor) in enumerate(zip(found.rows.tolist(), found.survivors.tolist(), strict=True)):
            if row < 0:
                yield f"{_in_words(found, i)} is no document of the inputs"
            elif row in seen:
                yield f"{_in_words(found, i)} is in the audit twice"
            elif survivor < 0:
                yield f"{_in_words(found, i)}: its survivor {_to(found, i)} does not exist"
            elif not in_output[survivor]:
                yield f"{_in_words(found, i)}: its survivor {_to(found, i)} is not in the output"
            seen.add(row)

    where = "in the output or in the reference" if with_reference else "in the output"
    return Check.of("survivors", f"every removal has one survivor, which is {where}", len(found.rows), failures())


def check_stated(
    found: Removals, read: ReadCorpus, measured: tuple[Array, Array, Bools], again: Decisions | None = None
) -> Check:
    """Ids, clusters, similarities, distances and how texts differ are as stated. `measured`: of the `known` lines. `again`: the
    decisions, if not all members of clusters are in the audit.
    """
    known = np.flatnonzero(found.known)
    similarity, distance, equal = measured
    clusters = np.full(len(read.documents), len(read.documents))
    for rows in (found.rows[known], found.survivors[known]):
        inside = rows < read.decided
        np.minimum.at(clusters, found.survivors[known][inside], rows[inside])
    wrong: dict[int, list[str]] = {}
    for i in found.other_ids:
        wrong.setdefault(i, []).append("its id or its survivor's is not that of the row")
    expected = clusters[found.survivors[known]] if again is None else again.cluster[found.rows[known]]
    same = np.isclose(similarity, found.similarity[known], rtol=0, atol=TOLERANCE, equal_nan=True)
    if read.claim.shards is not None and read.claim.cluster == "components":
        same |= np.isnan(found.similarity[known])  # stages know the similarities of listed pairs only
    figures = read.documents.figures
    digits = differ_in_digits(figures[found.rows[known]], figures[found.survivors[known]], equal)
    stated_digits = found.only_digits[known]
    same_digits = (digits == stated_digits) | (stated_digits == NOT_STATED)
    if read.claim.shards is not None:
        same_digits |= stated_digits == NONE  # stages have no texts
    for name, differs, now, stated in (
        ("cluster", expected != found.clusters[known], expected, found.clusters[known]),
        ("similarity", ~same, similarity, found.similarity[known]),
        ("distance", distance != found.distance[known], distance, found.distance[known]),
        ("exact", equal != found.exact[known], equal, found.exact[known]),
        (
            "only_digits",
            ~same_digits,
            _SAID_OF_DIGITS[digits + 1],
            _SAID_OF_DIGITS[np.maximum(stated_digits, NONE) + 1],
        ),
    ):
        for place in np.flatnonzero(differs).tolist():
            told = f"its {name} is {_value(now[place])}, but {_value(stated[place])} is stated"
            wrong.setdefault(int(known[place]), []).append(told)
    failures = [f"{_in_words(found, i)}: {'; '.join(wrong[i])}" for i in sorted(wrong)]
    claim = "ids, clusters, similarities, distances, exact and only_digits are as stated"
    return Check.of("stated", claim, len(found.rows), failures)


def _value(value: Any) -> str:
    value = value.item()
    if isinstance(value, bool | str):
        return str(value).lower()
    return "null" if value != value else repr(value)


def check_threshold(
    found: Removals, read: ReadCorpus, measured: tuple[Array, Array, Bools], again: Decisions | None = None
) -> Check:
    """Every removal matches its survivor or, if clusters are components, is connected to it by matches. `again`: as in
    `check_stated`.
    """
    claim, known = read.claim, np.flatnonzero(found.known)
    if claim.cluster == "components":
        return _check_links(found, read, known, again)
    matches = _match(read, found.rows[known], found.survivors[known], measured)
    failures = []
    for place in np.flatnonzero(~matches).tolist():
        i, (similarity, distance, _) = int(known[place]), measured
        alike = similarity_text(similarity[place], claim.min_similarity)
        how = f"distance {distance[place]}" if claim.is_by_distance else f"similarity {alike}"
        failures.append(
            f"{_in_words(found, i)} does not match its survivor {_to(found, i)}: {how}{_apart(read, found, i)}"
        )
    return Check.of("threshold", f"every removal matches its survivor: {_limit(read)}", len(found.rows), failures)


def _apart(read: ReadCorpus, found: Removals, i: int) -> str:
    if read.groups is None or read.groups[found.rows[i]] == read.groups[found.survivors[i]]:
        return ""
    within, guard = read.claim.within, read.claim.guard
    values = [] if within is None else read.documents.values[within].take([found.rows[i], found.survivors[i]])
    if within is not None and len(set(groups_of(values).tolist())) > 1:
        return f", and another value of {within!r}"
    return f", and other numbers (`guard={guard!r}`)"


def _limit(read: ReadCorpus) -> str:
    claim = read.claim
    by = claim.method is not None and METHODS[claim.method].is_by_distance
    least = f"{claim.compared_by} similarity of at least {threshold_text(claim.min_similarity)}"
    limits = [] if claim.is_by_distance else [least]
    return " and ".join([*limits, *([f"distance of at most {claim.max_distance}"] if by else [])])


def _match(read: ReadCorpus, left: Int64s, right: Int64s, measured: tuple[Array, Array, Bools]) -> Bools:
    """bool[n]: whether rows left[i] and right[i] match."""
    claim, (similarity, distance, equal) = read.claim, measured
    matches = np.ones(len(left), np.bool_) if claim.is_by_distance else similarity >= claim.min_similarity - TOLERANCE
    if claim.method is not None and METHODS[claim.method].is_by_distance and claim.max_distance is not None:
        matches = matches & (distance <= claim.max_distance)
    if claim.method is not None:
        tokens = np.minimum(read.documents.tokens[left], read.documents.tokens[right])
        matches = matches & (tokens >= claim.min_tokens)
    matches = matches | equal
    if read.groups is not None:
        matches = matches & (read.groups[left] == read.groups[right])
    found: Bools = matches
    return found


def _check_links(found: Removals, read: ReadCorpus, known: Int64s, again: Decisions | None) -> Check:
    """Every removal is connected to its survivor by links, which are matches, and as similar as stated.

    Lines name the document of a link by its id. Of several documents with this id in the cluster, one has to fit. A link to any
    document of the reference is enough: the audit has no lines about links between these.
    """
    of_cluster: dict[tuple[int, Any], set[int]] = {}
    for i in known.tolist():
        cluster = int(found.survivors[i])
        of_cluster.setdefault((cluster, found.ids[i]), set()).add(int(found.rows[i]))
        of_cluster.setdefault((cluster, found.survivor_ids[i]), set()).add(cluster)
    if again is not None:
        _add_others(of_cluster, found, read, known, again)
    of_reference = _rows_of_reference(read, set(found.matched_ids))
    lines, left, right = list[int](), list[int](), list[int]()
    for i in known.tolist():
        matched = found.matched_ids[i]
        others = of_cluster.get((int(found.survivors[i]), matched), set()) | of_reference.get(matched, set())
        for other in sorted(others - {int(found.rows[i])}):
            lines.append(i)
            left.append(int(found.rows[i]))
            right.append(other)
    places, a, b = (np.array(each, np.int64) for each in (lines, left, right))
    measured = read.measured(a, b)
    stated = found.matched_similarity[places]
    fits = _match(read, a, b, measured) & np.isclose(measured[0], stated, rtol=0, atol=TOLERANCE, equal_nan=True)
    has_link = np.zeros(len(found.rows), np.bool_)
    has_link[places[fits]] = True
    reached = np.ones(len(read.documents), np.bool_)
    reached[found.rows[known]] = False
    reached = connected(reached, a[fits], b[fits])
    failures = []
    for i in known.tolist():
        if not has_link[i]:
            matched = _id(found.matched_ids[i])
            failures.append(f"{_in_words(found, i)}: its link to {matched} is no match, or not as similar as stated")
        elif not reached[found.rows[i]]:
            failures.append(f"{_in_words(found, i)}: no chain of links leads to its survivor {_to(found, i)}")
    claim = f"every removal is linked to its survivor by matches: {_limit(read)}"
    return Check.of("threshold", claim, len(found.rows), failures)


def _add_others(
    of_cluster: dict[tuple[int, Any], set[int]], found: Removals, read: ReadCorpus, known: Int64s, again: Decisions
) -> None:
    """Add the documents of clusters that stay besides the first, of which the audit has no lines."""
    first_of = dict(zip(again.cluster[found.rows[known]].tolist(), found.survivors[known].tolist(), strict=True))
    rows = np.flatnonzero(again.kept & (again.cluster_size > 1))
    for row, cluster, token in zip(
        rows.tolist(), again.cluster[rows].tolist(), read.documents.ids.take(rows).to_pylist(), strict=True
    ):
        if cluster in first_of and token is not None:
            of_cluster.setdefault((first_of[cluster], _decode(token)), set()).add(row)


def _rows_of_reference(read: ReadCorpus, ids: set[Any]) -> dict[Any, set[int]]:
    """The rows of the reference with these ids."""
    found: dict[Any, set[int]] = {}
    for row, token in enumerate(read.documents.ids[read.rows :].to_pylist(), read.rows):
        if token is not None and (name := _decode(token)) in ids:
            found.setdefault(name, set()).add(row)
    return found


def connected(reached: Bools, left: Int64s, right: Int64s) -> Bools:
    """The rows that pairs connect to those in `reached` (bool[rows]), and those themselves."""
    reached = reached.copy()
    while True:
        near = reached[left] | reached[right]
        if (reached[left[near]] & reached[right[near]]).all():
            return reached
        reached[left[near]] = reached[right[near]] = True
