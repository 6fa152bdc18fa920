"""COMPARISON: every difference between what came out of a case and what its definition says."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import neardup
from fuzz.cases import Case
from fuzz.definition import Definition
from fuzz.ways import Observed, Place, recipe_of, run, squeezed

MISS_PROBABILITY = 1e-3
"""What minhash states of a pair at the threshold; above it, the probability is smaller."""


@dataclass
class Compared:
    """The outcome of a case.

    Attributes:
        differences: in words; none if all is as defined.
        method: that was taken; `removed`, `pairs`: how much there was to be wrong.
        promised, missed: for minhash, pairs that match and those of them that it did not find.
        expected_missed: how many of them it may miss, by the probability that it states for each.
    """

    differences: list[str] = field(default_factory=list)
    method: str = ""
    removed: int = 0
    pairs: int = 0
    promised: int = 0
    missed: int = 0
    expected_missed: float = 0.0


def compare(case: Case) -> Compared:
    """Run a case and compare; what the library raises is a difference, too."""
    try:
        observed = run(case)
    except neardup.NeardupError as refusal:
        return Compared([f"refused: {type(refusal).__name__}: {refusal}"])
    except Exception as problem:
        import traceback

        return Compared([f"raised {type(problem).__name__}: {problem}\n{traceback.format_exc()}"])
    compared = Compared(list(observed.failures), observed.method)
    method = "exact" if observed.method == "auto" else observed.method
    expected = Definition(case, observed.texts, method=method)
    if method == "minhash":
        _check_minhash(case, expected, compared)
    if observed.pairs is not None:
        _compare_pairs(case, expected, observed, compared)
    else:
        _compare_audit(expected, observed, compared)
    return compared


def _check_minhash(case: Case, expected: Definition, compared: Compared) -> None:
    """Let the definition decide from the pairs that minhash finds, each of which must match; count those that it misses."""
    rows = [{"text": item.text, "language": item.group} for item in expected.items]
    options = {
        name: case.options[name] for name in ("max_distance", "min_similarity", "within") if name in case.options
    }
    with squeezed(case):
        listed = neardup.match(rows, method="minhash", recipe=recipe_of(case), **options)
    expected.found = set()
    for p, q, similarity in zip(listed.left.tolist(), listed.right.tolist(), listed.similarity.tolist(), strict=True):
        expected.found.add((p, q))
        true = expected.similarity(p, q)
        if similarity != true or true < expected.least:
            compared.differences.append(f"minhash lists {p}, {q} with {similarity}, which have {true}")
    for p, q in itertools.combinations(range(len(expected.items)), 2):
        if expected.same[p] == p and expected.same[q] == q and expected.could_match(p, q):
            compared.promised += 1
            compared.missed += (p, q) not in expected.found
            compared.expected_missed += MISS_PROBABILITY


def _compare_pairs(case: Case, expected: Definition, observed: Observed, compared: Compared) -> None:
    pairs = expected.pairs(of_reference=case.reference is not None)
    found = observed.pairs or {}
    compared.pairs = len(pairs)
    for pair in sorted(pairs.keys() | found.keys()):
        if pair not in found:
            compared.differences.append(f"pair {pair} of {pairs[pair]} is not listed")
        elif pair not in pairs:
            compared.differences.append(f"pair {pair} of {expected.similarity(*pair)} is listed with {found[pair]}")
        elif found[pair] != (pairs[pair], expected.distance(*pair)):
            told = pairs[pair], expected.distance(*pair)
            compared.differences.append(f"pair {pair} is listed with {found[pair]}, not {told}")


def _compare_audit(expected: Definition, observed: Observed, compared: Compared) -> None:
    place_of: dict[Place, int] = {(item.row, item.number): place for place, item in enumerate(expected.items)}
    removed = {place_of.get(place, -1): line for place, line in observed.audit.items()}
    compared.removed = len(expected.removed)
    say = compared.differences.append
    for place in sorted(expected.removed.keys() | removed.keys()):
        name = _name(expected, place)
        if place not in removed:
            say(f"{name} stays; its survivor should be {_name(expected, expected.removed[place].survivor)}")
            continue
        if place not in expected.removed:
            say(f"{name} is removed for {removed[place][0]}, and should stay")
            continue
        true, (stays, similarity, distance, exact, _) = expected.removed[place], removed[place]
        told: dict[str, Any] = {
            "survivor": place_of.get(stays),
            "similarity": similarity,
            "distance": distance,
            "exact": exact,
        }
        if similarity is None and expected.case.way == "stages" and expected.case.option("cluster") == "components":
            del told["similarity"]  # stages know the pairs that are listed, and no others
        for column, value in told.items():
            if value != getattr(true, column):
                say(f"{name}: {column} is {value}, not {getattr(true, column)}")
    _compare_clusters(expected, removed, say)
    _compare_links(expected, observed, place_of, say)
    if observed.written is not None and observed.written != expected.written():
        for row, (ours, true_text) in enumerate(zip(observed.written, expected.written(), strict=True)):
            if ours != true_text:
                say(f"row {row} is written as {ours!r}, not {true_text!r}")
    counts = observed.counts
    gone = len(expected.removed)
    of_units = expected.case.unit != "document"
    true_counts = {
        "documents": len(expected.case.documents),
        "removed_units" if of_units else "duplicates": gone,
        "survivors": sum(text is not None for text in expected.written()),
        "clusters": len({outcome.survivor for outcome in expected.removed.values()}),
        "exact_duplicates": sum(outcome.exact for outcome in expected.removed.values()),
    }
    for count, number in true_counts.items():
        if count in counts and counts[count] != number:
            say(f"the summary counts {counts[count]} {count}, not {number}")


def _name(expected: Definition, place: int) -> str:
    item = expected.items[place]
    return f"row {item.row}" if expected.case.unit == "document" else f"unit {item.number} of row {item.row}"


def _compare_clusters(expected: Definition, removed: dict[int, Any], say: Any) -> None:
    """Documents' clusters are named by their smallest row; those of lines and paragraphs, by any number of their own."""
    numbers: dict[Any, int] = {}
    for survivor, members in expected.clusters.items():
        for place in members:
            if place not in removed:
                continue
            number = removed[place][4]
            if numbers.setdefault(number, survivor) != survivor:
                say(f"cluster {number} is that of two survivors")
            if expected.case.unit == "document" and number != expected.items[members[0]].row:
                say(f"{_name(expected, place)}: cluster_id is {number}, not {expected.items[members[0]].row}")


def _compare_links(expected: Definition, observed: Observed, place_of: dict[Place, int], say: Any) -> None:
    """Every link is a match, and following links leads to the survivor."""
    if expected.case.option("cluster") != "components" or not observed.links:
        return
    links = {place_of[place]: (place_of[match], similarity) for place, (match, similarity) in observed.links.items()}
    for place, (match, similarity) in links.items():
        equal = expected.same[place] == expected.same[match]
        if equal and similarity != 1.0:
            say(f"{_name(expected, place)}: matched_similarity of an equal text is {similarity}")
        elif not equal:
            representative = expected.grade(expected.same[place], expected.same[match])
            true = expected.similarity(place, match) if expected.least > 0 else None
            if representative < 0 or similarity != true:
                say(f"{_name(expected, place)}: matched {_name(expected, match)} with {similarity}, not {true}")
        at = place
        for _ in range(len(expected.items)):
            at = links[at][0] if at in links else at
        if expected.items[at].is_reference:
            continue  # a component may have several documents of a reference, and links lead to one of them
        if place in expected.removed and at != expected.removed[place].survivor:
            say(f"{_name(expected, place)}: its links lead to {_name(expected, at)}")
