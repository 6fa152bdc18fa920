"""Matches that are too many for one task are settled in rounds, with the links that one task gives."""

import random
from dataclasses import replace

import pyarrow as pa
import pytest

import neardup as nd
from neardup.engines.clustering import cluster as settling
from neardup.engines.job.local_engine import SerialEngine
from neardup.engines.job_options import Limits, Work
from neardup.engines.schemas import BEFORE_ALL, LINKS, MATCHES, NONE, OPEN
from neardup.engines.stages import Part, Reading
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe


def matches_of(pairs, ranks):
    """A table of matches between documents, which have these ranks."""
    rows = []
    for number, (a, b) in enumerate(pairs):
        p, q = sorted((a, b), key=lambda doc: ranks[doc])
        rows.append((q, p, ranks[p], ranks[q], 0.5 + number % 7 / 14, number % 5))
    names = ("q", "p", "p_rank", "q_rank", "similarity", "distance")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return pa.table([columns[name] for name in MATCHES.schema.names], MATCHES.schema)


def work_with(cluster, at_once, **limits):
    work = Work.of(Recipe(), DedupOptions(method="exact", cluster=cluster))
    return replace(work, limits=Limits(matches_per_task=at_once, **limits))


def links(tmp_path, table, cluster, at_once, **limits):
    engine = SerialEngine(tmp_path / str(at_once), lambda: [Part(0, iter(()))], buckets=5)
    held = engine.read(Reading("given", lambda _: [("matches", table)], {"matches": MATCHES}))["matches"]
    found = engine.collect(settling.links_of(engine, work_with(cluster, at_once, **limits), held))
    rows = {tuple(str(value) for value in row.values()) for row in found.select(LINKS.schema.names).to_pylist()}
    return rows, [each.name for each in engine.measured]


@pytest.mark.parametrize("most", [1, 2, 10])
@pytest.mark.parametrize("cluster", ["star", "components"])
def test_rounds_settle_as_one_task(tmp_path, cluster, most):
    chance = random.Random(most)
    for number in range(6):
        n = chance.choice([3, 20, 60])
        docs = chance.sample(range(1000), n)
        ranks = dict(zip(docs, chance.sample(range(10_000), n), strict=True))
        if cluster == "star":
            ranks |= {doc: ranks[doc] - BEFORE_ALL for doc in docs[: n // 10]}
        pairs = {tuple(sorted(chance.sample(docs, 2))) for _ in range(int(n * chance.choice([0.4, 1, 3])) + 1)}
        table = matches_of(pairs, ranks)
        folder = tmp_path / str(number)
        by_rounds, at_once = (links(folder, table, cluster, matches, rounds=most)[0] for matches in (0, 10**6))
        assert by_rounds == at_once


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_a_long_chain_takes_few_rounds(tmp_path, cluster):
    n = 17_000
    table = matches_of([(i, i + 1) for i in range(n - 1)], range(n))
    found, stages = links(tmp_path, table, cluster, 0)
    assert len(stages) < 120
    removed = {int(row[0]) for row in found if row[0] != row[3]}
    assert removed == (set(range(1, n, 2)) if cluster == "star" else set(range(1, n)))


def test_a_component_that_is_too_large_for_a_task_gets_more_rounds_or_is_refused(tmp_path):
    few = {"rounds": 2, "matches_per_component": 30}
    table = matches_of([(i, i + 1) for i in range(39)], range(40))
    found, stages = links(tmp_path, table, "star", 0, **few)
    assert {int(row[0]) for row in found if row[0] != row[3]} == set(range(1, 40, 2))
    assert stages.count("large components") == 5  # 2 matches of the chain are settled in 2 rounds
    with pytest.raises(
        nd.DataError, match=r"After 6 rounds, 33 matches are left that hang together; .* at most 30\. Ask"
    ):
        links(tmp_path / "again", table, "star", 0, tries=3, **few)


def standing(tmp_path, cluster, table, open_docs, at_once, most):
    """What is certain: who is out, and the documents that are known to be connected."""
    engine = SerialEngine(tmp_path / str(at_once), lambda: [Part(0, iter(()))], buckets=5)
    given = lambda _: [("matches", table), ("open", open_docs)]  # noqa: E731
    held = engine.read(Reading("given", given, {"matches": MATCHES, "open": OPEN}))
    work = work_with(cluster, at_once, rounds=most)
    rows = engine.collect(settling.standing_of(engine, work, held["matches"], held["open"])).to_pylist()
    parts = {}
    for row in rows:
        if row["part"] != NONE:
            parts.setdefault(row["part"], set()).add(row["doc"])
    assert all(part >= 0 for part in parts)
    return {row["doc"] for row in rows if row["is_out"]}, {frozenset(part) for part in parts.values()}


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_rounds_know_what_one_task_knows_between_waves(tmp_path, cluster):
    chance, fewer, known = random.Random(3), 0, 0
    for number in range(8):
        n = chance.choice([3, 20, 60])
        docs = chance.sample(range(1000), n)
        ranks = dict(zip(docs, chance.sample(range(-5000, 5000), n), strict=True))
        if cluster == "star":
            ranks |= {doc: ranks[doc] - BEFORE_ALL for doc in docs[: n // 10]}
        pairs = {tuple(sorted(chance.sample(docs, 2))) for _ in range(n)}
        waits = chance.sample(docs, n // 3)
        open_docs = pa.table([waits, [ranks[doc] for doc in waits]], OPEN.schema)
        found = []
        for most, at_once in ((50, 10**6), (50, 0), (1, 0)):
            folder = tmp_path / f"{number} {most}"
            found.append(standing(folder, cluster, matches_of(pairs, ranks), open_docs, at_once, most))
        assert found[0] == found[1]
        assert found[2][0] <= found[0][0]
        assert found[2][1] == found[0][1]
        fewer += len(found[0][0]) - len(found[2][0])
        known += len(found[0][0]) + len(found[0][1])
    assert known > 8
    assert fewer > 0 or cluster == "components"
