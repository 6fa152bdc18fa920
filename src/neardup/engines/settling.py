"""SETTLING: from matches to links with survivors; by one task if they are few, and else in rounds."""

from typing import Any

from neardup.engines import components, rounds, settle
from neardup.engines.schemas import MATCHES
from neardup.engines.stage import Engine, Found, Output, Stage
from neardup.engines.work import Work

AT_ONCE = 1 << 21
"""Matches that one task decides by: some 300 MB."""


def _same(rows: Any) -> Found:
    yield "all", rows


GATHER = Stage("gather", _same, {"all": Output(MATCHES.schema)})
"""All matches, in one bucket."""


def links_of(engine: Engine, work: Work, matches: Any) -> Any:
    """The links of documents with their survivors."""
    if matches.count <= AT_ONCE:
        return engine.run(settle.SETTLED[work.options.cluster], engine.run(GATHER, matches)["all"])["links"]
    return _of_star(engine, matches) if work.options.cluster == "star" else _of_components(engine, matches)


def _of_star(engine: Engine, matches: Any) -> Any:
    ends, outs, out = engine.run(rounds.BEGIN, matches)["ends"], [], None
    for _ in range(rounds.MOST):
        asked = engine.run(rounds.ASK, ends, out if out is not None else engine.nothing(rounds.OUT))["asked"]
        found = engine.run(rounds.ANSWER, asked)
        ends, out = found["ends"], found["out"]
        outs.append(out)
        if ends.is_empty:
            break
    else:
        left = engine.run(rounds.LEAVE, ends, out)["left"]
        divided = engine.run(rounds.DIVIDE, left, _labels(engine, left))["edges"]
        outs.append(engine.run(rounds.FINISH, divided)["out"])
    everyone = engine.together(*outs)
    by_p = engine.run(rounds.JOIN_Q, matches, everyone)["matches"]
    return engine.run(rounds.JOIN_P, by_p, everyone)["links"]


def _labels(engine: Engine, edges: Any) -> Any:
    """The smallest rank of the component of each rank in edges; of the smallest itself, none."""
    found, told = engine.run(components.BEGIN, edges)["edges"], None
    while True:
        found = engine.run(components.SMALL_STAR, engine.run(components.LARGE_STAR, found)["edges"])
        rows = engine.collect(found["told"]).to_pydict()
        now = sorted(zip(rows["edges"], rows["sum"], strict=True))
        if now == told:
            return found["labels"]
        told, found = now, found["edges"]


def _of_components(engine: Engine, matches: Any) -> Any:
    labels, ends = _labels(engine, matches), engine.run(components.ENDS, matches)
    direct = engine.run(components.DIRECT_MATCHES, ends["matches"], labels)["direct"]
    members = engine.run(components.LABEL, ends["nodes"], labels, direct)["members"]
    return engine.run(components.LINK, members)["links"]
