"""PAIRS FLOW: from parts of texts to all pairs of documents that match, as `neardup.matching.matches` lists them."""

from typing import Any

from neardup.engines.flow import as_it_is, candidates, first_reading, marks_of, matches_of, tiled
from neardup.engines.job_options import Work
from neardup.engines.pairing import all_pairs as every_pair
from neardup.engines.pairing import large_groups as waves
from neardup.engines.results import labels as results
from neardup.engines.results import list_pairs as expansion
from neardup.engines.stages import Engine


def list_pairs(engine: Engine, work: Work, *, across: bool = False, distinct: bool = False) -> Any:
    """All pairs of documents that match: rows of `neardup.engines.results.list_pairs.LISTED`, as the engine holds them.

    Args:
        engine, work: `keep` of the options is `first`, so that ranks are the order of the input.
        across: list only pairs of a document, on the left, and one of the reference.
        distinct: of documents with equal normalized texts, on one side, use only the first.
    """
    first = first_reading(engine, work, merges=False)
    work, equal = first.work, engine.run(every_pair.classes_of(distinct=distinct), first.documents)
    wanted, leaders = every_pair.across if across else as_it_is, equal["leaders"]
    pairs, large, finding = candidates(engine, work, equal["marked"], first.order, wanted)
    if not large.is_empty:
        waiting = engine.run(waves.RANK, large, leaders)["waiting"]
        placed = engine.run(waves.wave(finding, every_pair.ALL), waiting)["placed"]
        pairs = engine.together(pairs, tiled(engine, finding, placed, leaders, wanted))
    matches = matches_of(engine, work, pairs, leaders)
    return _of_documents(engine, work, matches, equal["members"], across=across)


def _of_documents(engine: Engine, work: Work, matches: Any, members: Any, *, across: bool) -> Any:
    """The pairs of the documents of classes that match, and of those of one class."""
    ends = engine.run(expansion.ENDS_OF_MATCHES, matches)["ends"]
    needed = engine.run(expansion.NEEDED, members, ends)
    named = marks_of(engine, needed["named"])
    labels = engine.read(results.reading(work, named, named))["labels"]
    named = engine.run(expansion.NAME, needed["members"], labels)["members"]
    halves = engine.run(expansion.HALVE, matches, named)["halves"]
    listed = engine.run(expansion.pairs(work, across=across), halves, named)
    pairs = listed["pairs"]
    if not listed["left"].is_empty:
        of_tiles = engine.run(expansion.pairs_of_tiles(across=across), listed["left"], listed["right"])["pairs"]
        pairs = engine.together(pairs, of_tiles)
    return pairs
