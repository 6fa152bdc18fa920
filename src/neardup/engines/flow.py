"""FLOW: the whole run, from parts of texts to the documents that are removed, whoever runs the stages."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from neardup.engines.candidates.table import METHODS
from neardup.engines.clustering.cluster import links_of, standing_of
from neardup.engines.job_options import Work
from neardup.engines.pairing import all_pairs, blocks, dense_groups, equal_elements, join_keys, large_groups
from neardup.engines.reading import element_order, row_selection
from neardup.engines.reading.documents import ranked, read
from neardup.engines.reading.preferred_values import KINDS, compared_as
from neardup.engines.results import best_survivor, reference_matches
from neardup.engines.results import labels as labeling
from neardup.engines.results import list_pairs as listing
from neardup.engines.schemas import COPIES, DOCUMENTS, MATCHES, PAIRS, SAMPLE, UNORDERED
from neardup.engines.stages import Engine, Reading, Stage
from neardup.engines.verification import held_pairs, pair_partitions, prefilter, text_partitions, verify
from neardup.kernels.store.prefixes import Order
from neardup.matching.element_order import BY_HASH


@dataclass(frozen=True)
class Decided:
    """What a run has decided.

    Attributes:
        results: rows of `neardup.engines.schemas.RESULTS`, as the engine holds them.
        engine: that has run.
        gone: rows of MARKED, of the documents that do not survive.
        compared_as: how the values that `keep` names were compared; None if there are none.
        matching_reference: counts the documents that match one of the reference, which must be there, whatever else they match; in
            further stages.
    """

    results: Any
    engine: Engine
    gone: Any
    compared_as: str | None
    matching_reference: Callable[[], int]

    @cached_property
    def removed(self) -> row_selection.Marks:
        """The documents that do not survive; a stage makes it when it is asked for first."""
        return marks_of(self.engine, self.gone)


def deduplicate(engine: Engine, work: Work) -> Decided:
    """Decide which documents survive, as `neardup.dedup` does."""
    first = first_reading(engine, work, merges=True)
    work, equal = first.work, engine.run(equal_elements.CLASSES, first.documents)
    links = _links(engine, work, equal, first.order)
    decided = engine.run(best_survivor.stage(work), links, equal["heads"], equal["members"])
    if not first.copies.is_empty:
        others = engine.run(best_survivor.FOLLOW, decided["removed"], first.copies)
        decided = {name: engine.together(rows, others[name]) for name, rows in decided.items()}
    results = _results(engine, work, decided, first.places)
    matching = partial(_matching_reference, engine, work, first, decided["removed"])
    return Decided(results, engine, decided["gone"], first.compared_as, matching)


class FirstReading(NamedTuple):
    """What the first reading of the input gives.

    Attributes:
        work: what is to be done, with the number of documents.
        documents: rows of DOCUMENTS.
        copies: rows of COPIES.
        places: rows of PLACES, if the engine orders documents.
        order: of elements, if the method needs one.
        compared_as: how the values that `keep` names are compared; None if there are none.
    """

    work: Work
    documents: Any
    copies: Any
    places: Any | None
    order: Order
    compared_as: str | None


def first_reading(engine: Engine, work: Work, *, merges: bool) -> FirstReading:
    """Read all documents, and put them in order. `merges`: copies of a text that come together go as one document."""
    ordered = not engine.orders(work)
    outputs = {"documents": DOCUMENTS if ordered else UNORDERED, "copies": COPIES, "sample": SAMPLE, "kinds": KINDS}
    found = engine.read(Reading("documents", partial(read, work, merges and ordered), outputs))
    known, places, way = found, None, compared_as(engine, work, found["kinds"])
    if not ordered:
        places = engine.places(work, found["documents"], way)
        known = engine.run(ranked(merges=merges), found["documents"], places)
    order, documents, copies = BY_HASH, known["documents"], known["copies"]
    work = replace(work, documents=documents.count + copies.count)
    if METHODS[work.options.method].needs_order(work):
        order = element_order.order_of_counted(
            engine.collect(engine.run(element_order.COUNT, found["sample"])["counted"])
        )
    return FirstReading(work, documents, copies, places, order, way)


def _results(engine: Engine, work: Work, decided: dict[str, Any], places: Any | None) -> Any:
    """The documents that are removed, with their names."""
    asked = (marks_of(engine, decided[name]) for name in ("named", "compared"))
    labels = engine.read(labeling.reading(work, *asked))["labels"]
    if places is not None:
        labels = engine.run(labeling.PLACE, labels, places)["labels"]
    named = engine.run(labeling.label(work), decided["removed"], labels)
    clusters = engine.run(labeling.CLUSTER, named["firsts"], labels)["clusters"]
    return engine.run(labeling.FINISH, named["labeled"], clusters)["results"]


def _links(engine: Engine, work: Work, equal: dict[str, Any], order: Any) -> Any:
    """Classes with the survivors that they match: of small groups all pairs are compared, and large groups come in waves.

    The first wave waits for nothing, so its texts are read again together with those of small groups.
    """
    leaders = equal["leaders"]
    pairs, large, finding = candidates(engine, work, equal["marked"], order)
    large, dense = divided(engine, work, large, leaders)
    matches, leading = engine.nothing(MATCHES), work.limits.first_documents
    waiting = large if large.is_empty else engine.run(large_groups.RANK, large, leaders)["waiting"]
    while not (pairs.is_empty and waiting.is_empty):
        if not waiting.is_empty:
            found = engine.run(large_groups.wave(finding, leading), waiting)
            pairs = engine.together(pairs, found["pairs"], tiled(engine, finding, found["placed"], leaders))
        if not pairs.is_empty:
            matches = engine.together(matches, matches_of(engine, work, pairs, leaders))
        if waiting.is_empty or found["rest"].is_empty:
            break
        standing = standing_of(engine, work, matches, found["open"])
        waiting = engine.run(large_groups.NEXT, found["rest"], standing)["waiting"]
        pairs, leading = engine.nothing(PAIRS), leading * work.limits.wave_growth
    return links_of(engine, work, matches if dense is None else _held(engine, work, dense, leaders, matches))


class Dense(NamedTuple):
    """Documents that are held against each other: rows of WAITING, and their texts."""

    waiting: Any
    texts: Any


def divided(engine: Engine, work: Work, large: Any, leaders: Any) -> tuple[Any, Dense | None]:
    """The postings of large groups that are not dense; and what is held against each other of dense ones, if there are any."""
    if large.is_empty or work.by_distance:
        return large, None
    found = engine.run(dense_groups.find(work), engine.run(dense_groups.CROWDS_OF, large, leaders)["crowds"])
    if found["waiting"].is_empty:
        return large, None
    texts = engine.read(dense_groups.reading(marks_of(engine, found["marked"])))["texts"]
    return engine.run(dense_groups.LEAVE, large, found["held"])["large"], Dense(found["waiting"], texts)


def _held(engine: Engine, work: Work, dense: Dense, leaders: Any, matches: Any) -> Any:
    """All matches, with those of dense groups, which come in waves as well."""
    waiting, leading = dense.waiting, work.limits.first_documents
    while True:
        found = engine.run(large_groups.wave(work, leading, holds=True), waiting)
        held = engine.nothing(MATCHES)
        if not found["placed"].is_empty:
            held = held_of(engine, work, dense, found["placed"], leaders)
            matches = engine.together(matches, held)
        if found["rest"].is_empty:
            return matches
        standing = standing_of(engine, work, matches, found["open"])
        waiting = engine.run(large_groups.NEXT, found["rest"], standing)["waiting"]
        few = held.count <= work.limits.pairs_per_document * leading
        leading *= work.limits.wave_growth if few else work.limits.held_growth


def held_of(engine: Engine, work: Work, dense: Dense, placed: Any, leaders: Any, *, across: bool = False) -> Any:
    """The matches of documents of dense groups that are in tiles together. `across`: only those of a reference."""
    tiles = engine.run(dense_groups.attach(work), placed, leaders, dense.texts)["tiles"]
    return engine.run(held_pairs.hold(work, across=across), tiles)["matches"]


def as_it_is(stage: Stage) -> Stage:
    """The stage."""
    return stage


def candidates(
    engine: Engine, work: Work, marked: Any, order: Any, wanted: Callable[[Stage], Stage] = as_it_is
) -> tuple[Any, Any, Work]:
    """The pairs of small groups of documents with a key in common; the postings of large groups; and by what these are found.

    Args:
        engine, work: of the run.
        marked: rows of MARKED, the documents that are compared.
        order: of elements.
        wanted: what a stage that lists pairs becomes.
    """
    pairs, finding = engine.nothing(PAIRS), work
    while True:
        keys = engine.read(join_keys.reading(finding, marks_of(engine, marked), order))["postings"]
        found = engine.run(wanted(join_keys.stage(finding)), keys)
        pairs, refined_by = engine.together(pairs, found["pairs"]), METHODS[finding.options.method].refined_by
        if refined_by is None or found["large"].is_empty:
            return pairs, found["large"], finding
        marked = engine.run(join_keys.DOCS, found["large"])["marked"]
        finding = replace(work, options=replace(work.options, method=refined_by))


def tiled(engine: Engine, work: Work, placed: Any, leaders: Any, wanted: Callable[[Stage], Stage] = as_it_is) -> Any:
    """The pairs of groups that are divided into tiles. `wanted`: see `candidates`."""
    if placed.is_empty:
        return engine.nothing(PAIRS)
    divided = engine.run(blocks.attach(work), placed, leaders)["tiles"]
    return engine.run(wanted(blocks.stage(work)), divided)["pairs"]


def matches_of(engine: Engine, work: Work, pairs: Any, leaders: Any) -> Any:
    """The pairs whose texts are similar enough."""
    met = engine.run(pair_partitions.PLACE, pairs)
    if not engine.run(pair_partitions.find_large(work), met["sizes"])["large"].is_empty:
        met = engine.run(pair_partitions.divide(work), met["pairs"])
    known = engine.run(prefilter.INFORM, met["visits"], leaders)["records"]
    found = engine.run(prefilter.sieve(work), met["pairs"], known)
    if work.by_distance or found["needs"].is_empty:
        return found["matches"]  # so that no text is read again
    crowded = engine.run(text_partitions.find_large(work), found["needs"])["large"]
    large = engine.collect(crowded).column("site").to_pylist()
    local, journeys, others = found["local"], found["journeys"], found["edges"]
    if large:
        moved = engine.run(text_partitions.move(work, large), local, journeys, found["needs"])
        local, journeys, others = moved["local"], moved["journeys"], engine.together(others, moved["edges"])
    texts = engine.read(verify.reading(work, marks_of(engine, found["needed"]), large))["texts"]
    found = engine.run(verify.at_sites(work), local, journeys, texts)
    if others.is_empty:
        return found["matches"]
    return engine.together(found["matches"], engine.run(verify.stage(work), others, found["arrivals"])["matches"])


def marks_of(engine: Engine, marked: Any) -> row_selection.Marks:
    """Which documents a later reading needs: rows of MARKED."""
    return row_selection.marks_in(engine.collect(engine.run(row_selection.STAGE, marked)["marks"]))


def list_pairs(engine: Engine, work: Work, *, across: bool = False, distinct: bool = False) -> Any:
    """All pairs of documents that match: rows of `neardup.engines.results.list_pairs.LISTED`, as the engine holds them.

    Args:
        engine, work: `keep` of the options is `first`, so that ranks are the order of the input.
        across: list only pairs of a document, on the left, and one of the reference.
        distinct: of documents with equal normalized texts, on one side, use only the first.
    """
    first = first_reading(engine, work, merges=False)
    work, equal = first.work, engine.run(all_pairs.classes_of(distinct=distinct), first.documents)
    matches = _all_matches(engine, work, equal, first.order, across=across)
    return _of_documents(engine, work, matches, equal["members"], across=across)


def _matching_reference(engine: Engine, work: Work, first: FirstReading, removed: Any) -> int:
    asked = engine.run(reference_matches.ask(work), removed)["marked"]
    known = int(removed.count - asked.count) if work.options.cluster == "star" else 0
    if asked.is_empty:
        return known
    classes = all_pairs.classes_of(distinct=False, among=marks_of(engine, asked))
    equal = engine.run(classes, first.documents)
    matches = _all_matches(engine, work, equal, first.order, across=True)
    ends = engine.run(listing.ENDS_OF_MATCHES, matches)["ends"]
    found = engine.run(reference_matches.FOUND, equal["members"], ends)["documents"]
    if found.is_empty or first.copies.is_empty:
        return known + int(found.count)
    copies = engine.run(reference_matches.COPIES_OF_FOUND, found, first.copies)["documents"]
    return known + int(found.count + copies.count)


def _all_matches(engine: Engine, work: Work, equal: dict[str, Any], order: Order, *, across: bool) -> Any:
    """All classes that match. `across`: only with those of a reference."""
    wanted, leaders = all_pairs.across if across else as_it_is, equal["leaders"]
    pairs, large, finding = candidates(engine, work, equal["marked"], order, wanted)
    large, dense = divided(engine, work, large, leaders)
    if not large.is_empty:
        waiting = engine.run(large_groups.RANK, large, leaders)["waiting"]
        placed = engine.run(large_groups.wave(finding, all_pairs.ALL), waiting)["placed"]
        pairs = engine.together(pairs, tiled(engine, finding, placed, leaders, wanted))
    matches = matches_of(engine, work, pairs, leaders)
    if dense is not None:
        placed = engine.run(large_groups.wave(work, all_pairs.ALL, holds=True), dense.waiting)["placed"]
        held = held_of(engine, work, dense, placed, leaders, across=across)
        matches = engine.run(held_pairs.EACH_ONCE, engine.together(matches, held))["matches"]
    return matches


def _of_documents(engine: Engine, work: Work, matches: Any, members: Any, *, across: bool) -> Any:
    """The pairs of the documents of classes that match, and of those of one class."""
    ends = engine.run(listing.ENDS_OF_MATCHES, matches)["ends"]
    needed = engine.run(listing.NEEDED, members, ends)
    named = marks_of(engine, needed["named"])
    labels = engine.read(labeling.reading(work, named, named))["labels"]
    named = engine.run(listing.NAME, needed["members"], labels)["members"]
    halves = engine.run(listing.halve(work), matches, named)["halves"]
    listed = engine.run(listing.pairs(work, across=across), halves, named)
    pairs = listed["pairs"]
    if not listed["left"].is_empty:
        of_tiles = engine.run(listing.pairs_of_tiles(across=across), listed["left"], listed["right"])["pairs"]
        pairs = engine.together(pairs, of_tiles)
    return pairs
