"""FLOW: the whole run, from parts of texts to the documents that are removed, whoever runs the stages."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from neardup.engines import classes, edges, marks, outcomes, postings, settle, verified
from neardup.engines.candidates.table import METHODS
from neardup.engines.documents import read
from neardup.engines.schemas import DOCUMENTS, SAMPLE
from neardup.engines.stage import Engine, Reading
from neardup.engines.work import Work
from neardup.store.orders import BY_HASH


@dataclass(frozen=True)
class Flow:
    """What a run has decided.

    Attributes:
        removed: rows of `neardup.engines.schemas.CLUSTERED`, as the engine holds them.
    """

    removed: Any


def deduplicate(engine: Engine, work: Work) -> Flow:
    """Decide which documents survive, as `neardup.dedup` does."""
    found = engine.read(Reading("documents", partial(read, work), {"documents": DOCUMENTS, "sample": SAMPLE}))
    documents = engine.ranked(found["documents"], work)
    order = (
        postings.order_of_sample(engine.collect(found["sample"]))
        if METHODS[work.options.method].needs_order
        else BY_HASH
    )
    equal = engine.run(classes.CLASSES, documents)
    links = _links(engine, work, equal, order)
    removed = engine.run(outcomes.stage(work), links, equal["heads"], equal["members"])["removed"]
    return Flow(engine.run(outcomes.CLUSTER, removed)["clustered"])


def _links(engine: Engine, work: Work, equal: dict[str, Any], order: Any) -> Any:
    """Classes with the survivors that they match."""
    keys = engine.read(postings.reading(work, _marks(engine, equal["marked"]), order))["postings"]
    pairs = engine.run(postings.stage(work), keys)["pairs"]
    ends = engine.run(edges.FIRST_ENDS, pairs, equal["leaders"])["pairs"]
    found = engine.run(edges.second_ends(work), ends, equal["leaders"])
    matches = _matches(engine, work, found)
    return engine.run(settle.SETTLED[work.options.cluster], engine.gathered(matches))["links"]


def _matches(engine: Engine, work: Work, found: dict[str, Any]) -> Any:
    """The edges whose texts are similar enough."""
    if work.by_distance:
        return engine.run(verified.by_distance(), found["edges"])["matches"]
    texts = engine.read(verified.reading(work, _marks(engine, found["first"]), _marks(engine, found["second"])))
    arrivals = engine.run(verified.SEND, found["edges"], texts["second"])["arrivals"]
    return engine.run(verified.stage(work), arrivals, texts["first"])["matches"]


def _marks(engine: Engine, marked: Any) -> marks.Marks:
    return marks.marks_in(engine.collect(engine.run(marks.STAGE, marked)["marks"]))
