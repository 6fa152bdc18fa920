"""Who survives by the matches, against the definitions of star and components, on random graphs."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from neardup.engines.clustering.matches import SETTLED, survivors_of
from neardup.engines.schemas import BEFORE_ALL, LINKS, MATCHES, UNKNOWN, ranked_before_all

N = 12
GRAPHS = st.dictionaries(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda pair: pair[0] < pair[1]),
    st.sampled_from([0.5, 0.75, 1.0]),
    max_size=30,
)


def rank_of(place, references):
    return place - BEFORE_ALL if place < references else 10 * place


def links_of(cluster, graph, references, order):
    """The links (x, survivor, similarity) by matches of places, the smaller preferred; the first are those of a reference."""
    pairs = sorted(graph, key=order.__getitem__)
    p, q = np.array([*zip(*pairs, strict=True)], np.int64).reshape(2, -1)
    ranks = [np.array([rank_of(place, references) for place in side.tolist()], np.int64) for side in (p, q)]
    apart = [1000 * a + b for a, b in pairs]
    matches = pa.table(
        [q + 100, p + 100, *ranks, [graph[pair] for pair in pairs], apart], names=["q", "p", *MATCHES.schema.names[2:]]
    )
    matches = matches.select(MATCHES.schema.names).cast(MATCHES.schema)
    found = [table for _, table in SETTLED[cluster].work(matches)]
    if not found:
        return []
    table = found[0].cast(LINKS.schema)
    for end in ("x", "survivor"):
        places = (table.column(end).to_numpy() - 100).tolist()
        assert table.column(f"{end}_rank").to_pylist() == [rank_of(place, references) for place in places]
    rows = zip(*(table.column(name).to_pylist() for name in ("x", "survivor", *LINKS.schema.names[4:])), strict=True)
    found = []
    for x, survivor, similarity, distance in rows:
        pair = min(x, survivor) - 100, max(x, survivor) - 100
        assert distance == (1000 * pair[0] + pair[1] if pair in graph else UNKNOWN)
        found.append((x - 100, survivor - 100, similarity))
    return found


def grades(graph, references):
    """What the definitions ask: documents of a reference do not match each other."""
    return lambda p, q: -1 if max(p, q) < references else graph.get((min(p, q), max(p, q)), -1)


def shuffled(graph, data):
    order = data.draw(st.permutations(sorted(graph)))
    return {pair: place for place, pair in enumerate(order)}


@given(GRAPHS, st.integers(0, 4), st.data())
def test_star_links_every_document_to_the_survivors_that_it_matches(graph, references, data):
    links = links_of("star", graph, references, shuffled(graph, data))
    found = naive.star(N, grades(graph, references), 0.1)
    survives = [survivor == place for place, (survivor, _) in enumerate(found)]
    assert all(survives[survivor] for _, survivor, _ in links)
    between = [link for link in links if max(link[:2]) < references]  # the members of their classes ask for them
    assert {(min(x, s), max(x, s)) for x, s, _ in between} == {pair for pair in graph if pair[1] < references}
    others = sorted(set(links) - set(between))
    assert len(others) + len(between) == len(links)
    assert others == sorted(
        (x, survivor, graph[min(x, survivor), max(x, survivor)])
        for x, survivor in itertools.permutations(range(N), 2)
        if survives[survivor] and not survives[x] and (min(x, survivor), max(x, survivor)) in graph
    )
    for place, (survivor, grade) in enumerate(found):
        if survivor != place:  # the best of those before it, then the earlier
            mine = [(-similarity, s) for x, s, similarity in others if x == place and s < place]
            assert min(mine) == (-grade, survivor)


@given(GRAPHS, st.integers(0, 4), st.data())
def test_components_link_all_that_is_connected_to_the_most_preferred(graph, references, data):
    links = links_of("components", graph, references, shuffled(graph, data))
    of = naive.components(N, lambda p, q: graph.get((min(p, q), max(p, q)), -1), 0.1)
    matched = sorted({place for pair in graph for place in pair})
    assert [link[:2] for link in links] == [(place, of[place]) for place in matched]
    for x, survivor, similarity in links:
        expected = graph.get((survivor, x), math.nan)
        assert similarity == expected or (math.isnan(similarity) and math.isnan(expected))


@given(GRAPHS)
def test_survivors_are_those_of_the_star(graph):
    earlier, later = np.array([*zip(*graph, strict=True)], np.int64).reshape(2, -1)
    found = naive.star(N, grades(graph, 0), 0.1)
    assert survivors_of(N, earlier, later).tolist() == [survivor == place for place, (survivor, _) in enumerate(found)]


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_no_matches_have_no_links(cluster):
    assert list(SETTLED[cluster].work(MATCHES.schema.empty_table())) == []


def test_ranks_tell_documents_of_a_reference():
    most = (1 << 28) << 32  # parts of a reference have numbers from 2^27 on
    ranks = np.array([-BEFORE_ALL, most - 1 - BEFORE_ALL, -((1 << 27) << 32), -1, 0, 1, 1 << 59])
    assert ranked_before_all(ranks).tolist() == [True, True, False, False, False, False, False]
