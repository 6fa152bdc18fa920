"""CLUSTER: from matches to links with survivors; by one task if they are few, and else in rounds."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from neardup.engines.clustering import connected_components as components
from neardup.engines.clustering import matches as by_matches
from neardup.engines.clustering import star_rounds as rounds
from neardup.engines.job_options import Work
from neardup.engines.schemas import MATCHED, MATCHES, OPEN
from neardup.engines.stages import Engine, Found, Output, Stage
from neardup.errors import DataError


def _select(names: Sequence[str], rows: pa.Table) -> Found:
    yield "all", rows.select(names)


def _gathering(output: Output) -> Stage:
    """The stage that brings these columns of all rows to one bucket."""
    return Stage("gather", partial(_select, output.schema.names), {"all": Output(output.schema)})


GATHER, GATHER_ENDS, GATHER_OPEN = map(_gathering, (MATCHES, MATCHED, OPEN))
"""All matches; who matches whom; and all open documents."""


def links_of(engine: Engine, work: Work, matches: Any) -> Any:
    """The links of documents with their survivors."""
    if matches.count <= work.limits.matches_per_task:
        return engine.run(by_matches.SETTLED[work.options.cluster], engine.run(GATHER, matches)["all"])["links"]
    return _of_star(engine, work, matches) if work.options.cluster == "star" else _of_components(engine, matches)


def standing_of(engine: Engine, work: Work, matches: Any, open_docs: Any) -> Any:
    """What is certain of documents (STANDING), by all matches so far, and the documents that are not compared with all before them.

    After so many rounds, some of what is certain may be unknown: then more is compared than need be.
    """
    if matches.count + open_docs.count <= work.limits.matches_per_task:
        gathered = engine.run(GATHER_ENDS, matches)["all"], engine.run(GATHER_OPEN, open_docs)["all"]
        return engine.run(by_matches.standing(work), *gathered)["standing"]
    if work.options.cluster == "components":
        return engine.run(by_matches.CONNECTED, _of_components(engine, matches))["standing"]
    outs = [engine.nothing(rounds.OUT)]
    _rounds(engine, work, engine.run(rounds.BEGIN, matches)["ends"], outs, open_docs)
    return engine.run(by_matches.FALLEN, engine.together(*outs))["standing"]


def _rounds(engine: Engine, work: Work, ends: Any, outs: list[Any], open_docs: Any) -> Any:
    """The edges that are left after some rounds, at both of their ends; `outs` gets who is out, round by round."""
    for _ in range(work.limits.rounds):
        asked = engine.run(rounds.ASK, ends, outs[-1], open_docs)["asked"]
        found = engine.run(rounds.ANSWER, asked)
        ends = found["ends"]
        outs.append(found["out"])
        if ends.is_empty:
            break
    return ends


def _of_star(engine: Engine, work: Work, matches: Any) -> Any:
    """The links of a star.

    Raises:
        DataError: a component stays too large for a task.
    """
    ends, outs = engine.run(rounds.BEGIN, matches)["ends"], [engine.nothing(rounds.OUT)]
    for _ in range(work.limits.tries):
        ends = _rounds(engine, work, ends, outs, engine.nothing(OPEN))
        if ends.is_empty:
            break
        left = engine.run(rounds.LEAVE, ends, outs[-1])["left"]
        divided = engine.run(rounds.DIVIDE, left, _labels(engine, left))
        large = engine.collect(engine.run(rounds.find_large(work), divided["sizes"])["large"])
        larger = max(large.column("matches").to_pylist(), default=0)
        if not larger:
            outs.append(engine.run(rounds.FINISH, divided["edges"])["out"])
            break
    else:
        raise DataError(
            f"After {work.limits.tries * work.limits.rounds} rounds, {larger:,} matches are left that hang together; one task can "
            f"decide by at most {work.limits.matches_per_component:,}. "
            'Ask for a higher similarity, give `within=`, or use `cluster="components"`.'
        )
    everyone = engine.together(*outs)
    by_p = engine.run(rounds.JOIN_Q, matches, everyone)["matches"]
    return engine.run(rounds.JOIN_P, by_p, everyone)["links"]


def _labels(engine: Engine, edges: Any) -> Any:
    """The smallest rank of the component of each rank in edges; of the smallest itself, none."""
    found, before = engine.run(components.BEGIN, edges)["edges"], None
    while True:
        found = engine.run(components.SMALL_STAR, engine.run(components.LARGE_STAR, found)["edges"])
        rows = engine.collect(found["told"]).to_pydict()
        now = sorted(zip(rows["edges"], rows["sum"], strict=True))
        if now == before:
            return found["labels"]
        before, found = now, found["edges"]


def _of_components(engine: Engine, matches: Any) -> Any:
    labels, ends = _labels(engine, matches), engine.run(components.ENDS, matches)
    direct = engine.run(components.DIRECT_MATCHES, ends["matches"], labels)["direct"]
    members = engine.run(components.LABEL, ends["nodes"], labels, direct)["members"]
    return engine.run(components.LINK, members)["links"]
