"""FLOW of repeated passages: documents → minimizers → windows → earliest places → tokens of copies → cuts → outcomes."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from neardup.engines.flow import marks_of
from neardup.engines.reading.preferred_values import compared_as
from neardup.engines.repeats import cuts, minimizers, outcomes, windows
from neardup.engines.repeats.work import PassageWork
from neardup.engines.stages import Engine


@dataclass(frozen=True)
class CutPassages:
    """What a run has cut, as the engine holds it.

    Attributes:
        outcomes: rows of OUTCOMES, the documents from which something is cut.
        log: rows of LOGGED, what is cut.
        documents: rows of DOCUMENTS, all that were read.
    """

    outcomes: Any
    log: Any
    documents: Any


WINDOWS = ("windows", "first windows")
"""Stages whose rows are windows: none can have more than `find_all_windows` gives."""


class Ranked(NamedTuple):
    """What the first reading gives: rows of DOCUMENTS, RANKED and MINIMIZERS."""

    documents: Any
    ranked: Any
    minimizers: Any


def _first_reading(engine: Engine, work: PassageWork) -> Ranked:
    is_ordered = not engine.orders(work)
    found = engine.read(minimizers.reading(work))
    documents, way = found["documents"], compared_as(engine, work, found["kinds"])
    if is_ordered:
        ranked = engine.run(minimizers.AS_THEY_ARE, documents)["ranked"]
    else:
        ranked = engine.run(minimizers.RANK, documents, engine.places(work, documents, way))["ranked"]
    return Ranked(documents, ranked, found["minimizers"])


def find_all_windows(engine: Engine, work: PassageWork) -> None:
    """The stages up to the earliest windows, as if every window might have stood earlier: of a sample, nobody knows which do."""
    found = _first_reading(engine, work)
    minimizers.repeated_minimizers(engine, found.minimizers)
    all_windows = engine.read(windows.reading(work, minimizers.all_minimizers()))["windows"]
    engine.run(windows.FIND_FIRSTS, all_windows, found.ranked)


def cut_passages(engine: Engine, work: PassageWork) -> CutPassages:
    """Find passages that stood earlier and cut them, as `neardup.survivors.repeats` does."""
    documents, ranked, of_windows = _first_reading(engine, work)
    seen = minimizers.repeated_minimizers(engine, of_windows)
    some = engine.read(windows.reading(work, seen))["windows"]
    firsts = engine.run(windows.FIND_FIRSTS, some, ranked)["firsts"]
    earliest = engine.run(windows.FIND_EARLIEST, firsts)["earliest"]
    found = engine.run(windows.find_runs(work), some, ranked, earliest)
    texts = engine.read(cuts.reading(marks_of(engine, found["marked"])))["texts"]
    sent = engine.run(cuts.send(work), found["asked"], texts)["sent"]
    cut = engine.run(cuts.cut(work), found["runs"], texts, sent)
    decided = engine.run(outcomes.decide(work), cut["copies"], texts, cut["segments"], cut["edited"])
    log = engine.run(outcomes.LOG, cut["segments"], decided["located"], decided["outcomes"])["log"]
    return CutPassages(decided["outcomes"], log, documents)
