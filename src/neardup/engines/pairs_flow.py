"""PAIRS FLOW: from parts of texts to all pairs of documents that match, as `neardup.matching.matches` lists them."""

from typing import Any

from neardup.engines import every_pair, expansion, postings, results
from neardup.engines.flow import first_reading, marks_of, matches_of
from neardup.engines.stage import Engine
from neardup.engines.work import Work


def list_pairs(engine: Engine, work: Work, *, across: bool = False, distinct: bool = False) -> Any:
    """All pairs of documents that match: rows of `neardup.engines.expansion.LISTED`, as the engine holds them.

    Args:
        engine, work: `keep` of the options is `first`, so that ranks are the order of the input.
        across: list only pairs of a document, on the left, and one of the reference.
        distinct: of documents with equal normalized texts, on one side, use only the first.
    """
    first = first_reading(engine, work)
    equal = engine.run(every_pair.classes_of(distinct=distinct), first.documents)
    keys = engine.read(postings.reading(work, marks_of(engine, equal["marked"]), first.order))["postings"]
    found = engine.run(every_pair.pairs_of_keys(work, across=across), keys)
    pairs = found["pairs"]
    if not found["tiles"].is_empty:
        pairs = engine.together(
            pairs, engine.run(every_pair.pairs_of_tiles(work, across=across), found["tiles"])["pairs"]
        )
    return _of_documents(
        engine, work, matches_of(engine, work, pairs, equal["leaders"]), equal["members"], across=across
    )


def _of_documents(engine: Engine, work: Work, matches: Any, members: Any, *, across: bool) -> Any:
    """The pairs of the documents of classes that match, and of those of one class."""
    ends = engine.run(expansion.ENDS_OF_MATCHES, matches)["ends"]
    needed = engine.run(expansion.NEEDED, members, ends)
    labels = engine.read(results.reading(marks_of(engine, needed["named"])))["labels"]
    named = engine.run(expansion.NAME, needed["members"], labels)["members"]
    halves = engine.run(expansion.HALVE, matches, named)["halves"]
    listed = engine.run(expansion.pairs(work, across=across), halves, named)
    pairs = listed["pairs"]
    if not listed["left"].is_empty:
        tiles = engine.run(expansion.pairs_of_tiles(across=across), listed["left"], listed["right"])["pairs"]
        pairs = engine.together(pairs, tiles)
    return pairs
