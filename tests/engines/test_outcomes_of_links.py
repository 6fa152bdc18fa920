"""Each removed document gets its best survivor, by rows that are written down here, and then its name and its cluster."""

import math

import numpy as np
import pyarrow as pa
import pytest

import naive
from engine_runs import batch_of, work_of
from neardup.engines.job_options import Limits
from neardup.engines.reading.row_selection import find, marks_in
from neardup.engines.results import best_survivor as outcomes
from neardup.engines.results import labels as results
from neardup.engines.schemas import (
    BEFORE_ALL,
    CLUSTERS,
    FIRSTS,
    HEADS,
    LABELED,
    LABELS,
    LINKS,
    MEMBERS,
    NONE,
    PLACES,
    REMOVED,
    ROW_BITS,
    UNKNOWN,
    marked,
)
from neardup.engines.stages import Part
from neardup.text.normalizers import digests_without_figures, fold_texts

NAN = math.nan


def rows_of(output, *rows):
    return pa.Table.from_pylist([dict(zip(output.schema.names, row, strict=True)) for row in rows], output.schema)


def decided(work, *, links=(), heads=(), members=()):
    """What is decided of rows: links (x, rank, survivor, its rank, similarity, distance), heads (leader, rank, is_reference) and
    members (leader, doc, is_copy, outcome_rank, reference): document, survivor, whether exact, similarity, distance (-1: unknown).
    """
    tables = (rows_of(output, *rows) for output, rows in ((LINKS, links), (HEADS, heads), (MEMBERS, members)))
    found = dict(outcomes.stage(work).work(*tables))
    rows = [tuple(row.values()) for row in found["removed"].sort_by("doc").to_pylist()] if found else []
    if found:
        gone, named, compared = (
            {(row["part"] << ROW_BITS) + row["row"] for row in found[name].to_pylist()}
            for name in ("gone", "named", "compared")
        )
        assert gone == {row[0] for row in rows}
        assert named == {doc for row in rows for doc in row[:2]}
        assert compared == {doc for row in rows for doc in row[:2] if not row[2]}
    return [(*row[:3], None if math.isnan(row[3]) else row[3], row[4]) for row in rows]


def test_the_most_similar_survivor_then_the_earlier():
    links = [(9, 9, 5, 5, 0.7, 2), (9, 9, 6, 6, 0.8, 1), (9, 9, 4, 4, 0.8, 7), (8, 8, 4, 4, 0.6, 3)]
    assert decided(work_of(), links=links) == [(8, 4, False, 0.6, 3), (9, 4, False, 0.8, 7)]


def test_by_distance_the_nearest_survivor_then_the_earlier():
    work = work_of(method="simhash", min_similarity=0, max_distance=9)
    links = [(9, 9, 4, 4, NAN, 2), (9, 9, 6, 6, NAN, 1), (9, 9, 5, 5, NAN, 1)]
    assert decided(work, links=links) == [(9, 5, False, None, 1)]


def test_members_of_a_class_go_with_their_leader_that_survives():
    members = [(2, 5, True, 2, NONE), (2, 7, False, 7, NONE)]
    heads = [(2, 2, False)]
    assert decided(work_of(), heads=heads, members=members) == [(5, 2, True, 1.0, 0), (7, 2, False, 1.0, UNKNOWN)]
    by_prints = work_of(method="simhash", max_distance=9)  # whose classes have one fingerprint
    assert decided(by_prints, heads=heads, members=members) == [(5, 2, True, 1.0, 0), (7, 2, False, 1.0, 0)]


def test_members_of_a_class_that_falls_match_what_it_matches():
    links = [(5, 5, 2, 2, 0.9, 1), (5, 5, 6, 6, 0.95, 2)]  # 6 is after 5, and before 7
    members = [(5, 7, False, 7, NONE), (5, 8, True, 5, NONE)]
    found = decided(work_of(), links=links, heads=[(5, 5, False)], members=members)
    assert found == [(5, 2, False, 0.9, 1), (7, 6, False, 0.95, UNKNOWN), (8, 2, False, 0.9, 1)]


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_the_equal_text_of_a_reference_is_the_survivor(cluster):
    reference, other = -BEFORE_ALL + 1, -BEFORE_ALL + 2
    members = [(50, 5, True, reference, NONE), (50, 7, False, other, 51)]
    found = decided(work_of(cluster=cluster), heads=[(50, reference, True)], members=members)
    assert found == [(5, 50, True, 1.0, 0), (7, 51, True, 1.0, 0)]


def test_a_reference_that_matches_another_survives():
    first, second = -BEFORE_ALL + 1, -BEFORE_ALL + 2
    links, members = [(51, second, 50, first, 0.9, 0)], [(51, 7, False, 7, NONE)]
    heads = [(51, second, True)]
    assert decided(work_of(), links=links, heads=heads, members=members) == [(7, 51, False, 1.0, UNKNOWN)]


def test_as_components_another_text_makes_a_class_one():
    reference = -BEFORE_ALL + 1
    members = [(50, 5, False, 5, NONE), (50, 7, False, reference + 1, 51)]
    found = decided(work_of(cluster="components"), heads=[(50, reference, True)], members=members)
    assert found == [(5, 50, False, 1.0, UNKNOWN), (7, 50, False, 1.0, UNKNOWN)]


def test_nothing_is_decided_of_nothing():
    assert decided(work_of()) == []
    stages = (
        (results.label(work_of()), REMOVED, LABELS),
        (results.CLUSTER, FIRSTS, LABELS),
        (results.FINISH, LABELED, CLUSTERS),
    )
    for stage, *inputs in stages:
        assert list(stage.work(*(each.schema.empty_table() for each in inputs))) == []


def finished(removed, labels, many):
    """The results, as an engine gives them."""
    by = [("survivor", "ascending"), ("share", "ascending")]
    named = dict(results.label(work_of(limits=Limits(duplicates_per_share=many))).work(removed, labels))
    [(_, clusters)] = results.CLUSTER.work(named["firsts"].sort_by("survivor"), labels)
    [(_, found)] = results.FINISH.work(named["labeled"].sort_by(by), clusters.sort_by(by))
    return found


def clusters_of(*removed, places, many):
    """(id, survivor_id, cluster_id) of removed documents (doc, survivor), by the places of all documents."""
    labels = rows_of(LABELS, *((doc, places[doc], f'"{doc}"', b"", 0) for doc in sorted(places)))
    rows = rows_of(REMOVED, *((*each, False, 0.9, 1) for each in sorted(removed)))
    found = finished(rows, labels, many)
    assert found.column("place").to_pylist() == [places[doc] for doc in found.column("doc").to_pylist()]
    assert found.column("survivor_place").to_pylist() == [places[doc] for doc in found.column("survivor").to_pylist()]
    assert found.column("cluster_id").to_pylist() == [f'"{doc}"' for doc in found.column("cluster").to_pylist()]
    rows = found.select(["id", "survivor_id", "cluster_id"]).to_pylist()
    return sorted(tuple(value.strip('"') for value in row.values()) for row in rows)


@pytest.mark.parametrize("many", [0, 64])
def test_a_cluster_is_named_after_its_first_document(many):
    """With 0, each survivor has its duplicates in shares."""
    places = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5}
    assert clusters_of((3, 2), (4, 2), (1, 5), places=places, many=many) == [
        ("1", "5", "1"),
        ("3", "2", "2"),
        ("4", "2", "2"),
    ]
    places = {1: 5, 2: 4, 3: 3, 4: 2, 5: 1}
    assert clusters_of((3, 2), (4, 2), (1, 5), places=places, many=many) == [
        ("1", "5", "5"),
        ("3", "2", "4"),
        ("4", "2", "4"),
    ]


def test_labels_get_the_places_of_documents():
    labels = rows_of(LABELS, (3, 3, '"a"', b"", 0), (5, 5, '"b"', b"", 0))
    [(_, found)] = results.PLACE.work(labels, rows_of(PLACES, (3, 11, 0), (4, 1, 0), (5, 10, 0)))
    assert found.column("place").to_pylist() == [11, 10]


def test_the_ids_of_marked_documents_are_read_and_fingerprints_of_those_that_are_compared():
    first = 2 << ROW_BITS
    named, compared = (marks_in(dict(find(marked(np.array(rows) + first)))["marks"]) for rows in ([1, 3], [3]))
    part = Part(2, iter([batch_of(["a", None]), batch_of([]), batch_of(["c", "d e 7"])]))
    found = pa.concat_tables([table for _, table in results.reading(work_of(), named, compared).work(part)]).to_pylist()
    value = naive.fingerprint("d e 7")
    print_of = b"".join(word.to_bytes(8, "little") for word in (value >> 64, value & (1 << 64) - 1))
    assert [(row["doc"] - first, row["id"], row["print"]) for row in found] == [(1, "1", b""), (3, "1", print_of)]
    [figures] = digests_without_figures(fold_texts(pa.array(["d e 12"], pa.large_string()))).view(np.int64)
    assert [row["figures"] for row in found] == [0, figures]


def test_distances_that_are_unknown_are_those_of_fingerprints_and_digits_are_compared():
    labels = rows_of(
        LABELS,
        (1, 1, None, bytes([0b11] + 7 * [0]), 17),
        (2, 2, None, bytes([0b101] + 7 * [0]), 17),
        (3, 3, None, bytes([0b111] + 7 * [0]), -17),
    )
    rows = rows_of(REMOVED, (2, 1, False, 1.0, UNKNOWN), (3, 1, False, 0.9, 7))
    found = finished(rows, labels, 64)
    assert found.column("distance").to_pylist() == [2, 7]
    assert found.column("only_digits").to_pylist() == [True, False]
