"""The parts of a report: what is counted and sampled of an audit, how texts are compared, how large a page can be."""

import html
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from marks import long
from neardup.errors import DataError
from neardup.judging import reports
from neardup.judging.reports.bands import FIRST_PAIRS, OTHER_PAIRS, Bands
from neardup.judging.reports.changes import changes_of
from neardup.judging.reports.charts import distance_chart, similarity_chart
from neardup.judging.reports.commands import MAX_COMMAND_BYTES, command_of
from neardup.judging.reports.page import Findings, _environment, page
from neardup.judging.reports.removal_ranges import removal_ranges
from neardup.judging.reports.shown_pairs import FIGURE_PAIRS, bands_of_pairs
from neardup.judging.reports.sources import Source, Sources
from neardup.judging.reports.tally import LARGEST_CLUSTERS, SAMPLED_LINES, SHOWN_MEMBERS, members, scattered, tally
from neardup.judging.reports.texts import LENGTH_STEPS, Digests, ReadAgain, Text, Texts
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.text.side_by_side.rows import SIDE_BYTES, aligned_rows
from neardup.text.side_by_side.shown_tokens import tokens_of
from neardup.text.side_by_side.visible import language, plainly

WORDS = "wolf winter river stone lantern ferry bread salt clock pine harbor meadow".split()


def audit(lines, text="id"):
    """Lines of an audit of 2 * lines rows: every other row is a duplicate of the one before, or of the first."""
    for number in range(lines):
        row = 2 * number + 1
        survivor = 0 if number % 3 == 0 else row - 1
        exact = number % 5 == 0
        alike = 1.0 if exact else 0.8 + scattered(row) % 2000 / 10000
        distance = 0 if exact else scattered(row) % 19
        yield {
            "id": f"{text}{row}", "row": row, "survivor_id": f"{text}{survivor}", "survivor_row": survivor,
            "cluster_id": survivor, "similarity": alike, "distance": distance, "exact": exact,
        }  # fmt: skip


def summary(lines, inputs=("in.jsonl",)):
    recipe = Recipe()
    duplicates = list(lines)
    rows = 2 * len(duplicates)
    seconds = {"fingerprint": 1.5, "write": 0.5, "total": 2.0}
    of_bytes = {"fingerprint": 10, "total": 10}
    return {
        "rows": rows, "documents": rows, "rejected": 0, "reference_documents": 0, "against_reference": 0,
        "survivors": rows - len(duplicates), "duplicates": len(duplicates),
        "exact_duplicates": sum(line["exact"] for line in duplicates),
        "clusters": len({line["cluster_id"] for line in duplicates}), "short": 0, "min_tokens": 1, "repeated_ids": 0,
        "method": "exact", "reason": None, "max_distance": None, "min_similarity": 0.8, "candidates": 9, "matches": 9,
        "options": DedupOptions().as_dict(), "recipe": recipe.as_dict() | {"digest": recipe.digest()},
        "seconds": seconds, "read_bytes": of_bytes, "written_bytes": of_bytes, "peak_memory_bytes": 1,
        "peak_temporary_bytes": 1, "temporary_limit_bytes": 1, "versions": {"neardup": "1"},
        "files": {
            "inputs": list(inputs), "folder": "/", "text": ["text"], "id": None, "html": None, "lines": False,
            "encoding": "utf-8", "dialect": None, "max_document_bytes": 256 << 20, "against": [], "output": "out.jsonl",
            "audit": "out.duplicates.jsonl", "summary": "out.summary.json", "rejects": None,
        },
    }  # fmt: skip


def made(lines, beginning, *, text="id", inputs=("in.jsonl",), files=1):
    """A page of a synthetic audit, in which every document has the same text."""
    found = summary(audit(lines, text), inputs)
    bands = Bands(0.8, None)
    counts = tally(audit(lines, text), bands, rows=2 * lines, bits=128)
    clusters = members(audit(lines, text), [cluster for cluster, _ in (*counts.largest, *counts.equal)])
    rows = {
        row
        for line in itertools.chain(*counts.sample.values(), *(each.lines for each in clusters.values()))
        for row in (line["row"], line["survivor_row"])
    }
    texts = {
        row: Text(f"{beginning} {row}"[:20_000], len(beginning), json.dumps(row), None, digest=row) for row in rows
    }
    lengths = np.full((LENGTH_STEPS, 2), 10**9, np.int64)
    some = counts.near.compared
    digests = Digests(some, some.astype(np.uint64), some.astype(np.uint64))
    read = ReadAgain(2 * lines, texts, np.ones(2 * lines, np.bool_), lengths, digests)
    sources = Sources(None, [Source(f"{text}/{i}.jsonl", 10, 5) for i in range(files)])
    sources.names = {row: sources.counts[row % files].name for row in range(2 * lines)}
    return page(found, Findings(counts, clusters, bands, Texts(read, {}), sources))


def test_the_random_order_is_that_of_splitmix64():
    assert [scattered(row) for row in range(3)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_a_tally_counts_what_the_lines_say():
    lines = list(audit(500))
    bands = Bands(0.8, None)
    counts = tally(iter(lines), bands, rows=1000, bits=128)
    near = [line for line in lines if not line["exact"]]
    assert (counts.duplicates, counts.exact, counts.unknown) == (500, 100, 0)
    assert counts.clusters == len({line["cluster_id"] for line in lines})
    assert np.flatnonzero(counts.removed).tolist() == [line["row"] for line in lines]
    assert counts.distances.tolist() == [sum(line["distance"] == d for line in near) for d in range(129)]
    assert counts.similarities.sum() == len(near)
    for step in range(80, 100):
        assert counts.similarities[step] == sum(int(line["similarity"] * 100 + 1e-9) == step for line in near)
    sizes = {line["cluster_id"]: 0 for line in lines}
    for line in lines:
        sizes[line["cluster_id"]] += 1
    mixed = {line["cluster_id"] for line in near}
    assert counts.largest[0] == (0, sizes[0])
    assert len(counts.largest) == LARGEST_CLUSTERS
    assert {cluster for cluster, _ in counts.largest} <= mixed
    alike = sorted(sizes.keys() - mixed)
    scattered = sorted(alike, key=lambda cluster: cluster * 2_654_435_769 % 2**32)
    assert counts.equal == [(cluster, 1) for cluster in scattered[:5]]  # of as many, some from all over the rows
    assert max(counts.equal)[0] > alike[len(alike) // 2]
    assert counts.near.row.tolist() == [line["row"] for line in near]
    assert counts.near.survivor.tolist() == [line["survivor_row"] for line in near]
    assert counts.near.strength.tolist() == [line["similarity"] for line in near]
    assert counts.of_band == {band.key: sum(bands.key_of(line) == band.key for line in lines) for band in bands.table}


def test_a_sample_has_of_each_band_what_it_may_and_is_the_same_in_any_order():
    lines = list(audit(3000))
    bands = Bands(0.8, None)
    sample = tally(lines, bands, rows=6000, bits=128).sample
    assert sample == tally(lines[::-1], bands, rows=6000, bits=128).sample
    for band in bands.table:
        assert len(sample[band.key]) in (SAMPLED_LINES, 0)
        rows = [line["row"] for line in lines if bands.key_of(line) == band.key]
        assert [line["row"] for line in sample[band.key]] == sorted(rows, key=scattered)[:SAMPLED_LINES]
    shown = list(bands_of_pairs(tally(lines, bands, rows=6000, bits=128), bands, Texts(None, {})))
    assert [len(band["pairs"]) for band in shown] == [FIRST_PAIRS, *[OTHER_PAIRS] * (len(shown) - 1)]
    rows = [line["row"] for line in sample["s0"]]
    assert max(rows) > 3000 > min(rows)


def test_members_are_those_least_like_their_survivor():
    lines = list(audit(300))
    found = members(lines, [0])[0]
    here = [line for line in lines if line["cluster_id"] == 0]
    alike = sorted(line["similarity"] for line in here)
    assert [line["similarity"] for line in found.lines] == alike[:SHOWN_MEMBERS]
    assert (found.duplicates, found.exact) == (len(here), sum(line["exact"] for line in here))
    assert found.most == max(line["similarity"] for line in here if not line["exact"])
    assert list(found.rows) == [line["row"] for line in here]


@given(least=st.floats(0.01, 1), alike=st.one_of(st.none(), st.floats(0, 1)), exact=st.booleans())
@example(least=1.0, alike=0.5, exact=False)
def test_every_similarity_has_a_band(least, alike, exact):
    bands = Bands(least, None)
    key = bands.key_of({"similarity": alike, "distance": 3, "exact": exact})
    assert key in [band.key for band in bands.table]
    assert (key == "below") == (not exact and alike is not None and alike < least and alike < 1)


@given(most=st.integers(0, 128), distance=st.integers(0, 128))
def test_every_distance_has_a_band(most, distance):
    bands = Bands(0, most)
    key = bands.key_of({"similarity": None, "distance": distance, "exact": False})
    assert key in [band.key for band in bands.table]
    assert (key == "beyond") == (distance > most)


@pytest.mark.parametrize("wrong", [{"row": 20}, {"cluster_id": 20}, {"distance": 129}, {"row": -1}])
def test_lines_of_another_run_are_refused(wrong):
    lines = list(audit(10))
    with pytest.raises(DataError, match="not of this run"):
        tally([*lines[:4], lines[4] | wrong], Bands(0.8, None), rows=20, bits=128)


def test_the_bars_of_a_chart_are_all_that_was_counted():
    counts = tally(audit(700), Bands(0.8, None), rows=1400, bits=128)
    for chart in (similarity_chart(counts, 0.8), similarity_chart(counts, 0.33), distance_chart(counts, 18)):
        assert sum(bar.count for bar in chart.bars) == 700
        drawn = [int(n.replace(",", "")) for n in re.findall(r": ([\d,]+)</title>", chart.svg)]
        assert drawn == [bar.count for bar in chart.bars]


def side(rows, name):
    return [segment for row in rows for segment in getattr(row, name)]


texts = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join),
    st.text("春夏秋冬山川 町のはa。\n", max_size=60),
    st.text(max_size=40).filter(lambda text: text.isprintable()),
)


@given(left=texts, right=texts)
def test_rows_give_either_text_whole_where_nothing_is_left_out(left, right):
    rows = aligned_rows(left, right)
    if not any(row.skipped for row in rows):
        assert "".join(segment.text for segment in side(rows, "left")).rstrip() == left.rstrip()
        assert "".join(segment.text for segment in side(rows, "right")).rstrip() == right.rstrip()


@given(
    left=st.lists(st.sampled_from(WORDS), min_size=1, max_size=40),
    right=st.lists(st.sampled_from(WORDS), min_size=1, max_size=40),
)
def test_what_is_marked_is_in_no_shingle_of_the_other_text_and_only_that_is_left_unmarked_which_it_has(left, right):
    windows = [{tuple(words[i : i + 3]) for i in range(max(1, len(words) - 2))} for words in (left, right)]
    marked, place = set(), 0
    for segment in side(aligned_rows(" ".join(left), " ".join(right)), "left"):
        for _ in segment.text.split():
            marked |= {place} if segment.kind == "only" else set()
            place += 1
    shared = {
        j
        for i in range(max(1, len(left) - 2))
        if tuple(left[i : i + 3]) in windows[1]
        for j in range(i, min(i + 3, len(left)))
    }
    assert marked <= set(range(len(left))) - shared
    assert {word for place, word in enumerate(left) if place not in marked} <= set(right)
    assert marked >= {place for place, word in enumerate(left) if word not in right}


@pytest.mark.parametrize(
    ("left", "right", "marked"),
    [
        ("Version 1.2, November 2002 of it", "Version 1.3, 3 November 2008 of it", (["2", "2002"], ["3, 3", "2008"])),
        ("one two three four five six", "four five six one two three", ([], [])),
        ("the ferry leaves at ten", "the ferry arrives at ten", (["leaves"], ["arrives"])),
        ("第一条 本法自2014年起施行", "第一条 本法自2020年起施行", (["2014"], ["2020"])),
        ("only this", "", (["only this"], [])),
    ],
)
def test_only_differences_are_marked_and_what_moved_is_none(left, right, marked):
    rows = aligned_rows(left, right)
    found = tuple(
        [segment.text for segment in side(rows, name) if segment.kind == "only"] for name in ("left", "right")
    )
    assert found == marked


def test_tokens_of_rows_are_those_of_the_similarity():
    text = "Ｆｕｌｌ　ＷＩＤＴＨ Straße naïve 東京タワー, e\u0301t\u00ade_x 漢字2024年 한국어"
    assert [token.folded.replace("e\u0301", "é") for token in tokens_of(text)] == naive.tokens(text)


def test_no_word_is_cut_in_two_where_a_segment_is_skipped():
    words = [f"word{number:04}" for number in range(400)]
    left, right = " ".join(words), " ".join("other" if number == 200 else word for number, word in enumerate(words))
    rows = aligned_rows(left, right)
    assert sum(row.skipped > 0 for row in rows) == 2
    for side, known in (("left", left), ("right", right)):
        shown = [word for row in rows for word in "".join(each.text for each in getattr(row, side)).split()]
        assert set(shown) <= set(known.split())


def test_long_segments_in_common_are_skipped_on_both_sides_at_once():
    common = [f"word{i}" for i in range(600)]
    left = " ".join(["alpha", *common, "omega"])
    right = " ".join(["beta", *common, "psi chi"])
    rows = aligned_rows(left, right)
    [skipped] = [row.skipped for row in rows if row.skipped]
    shown = sum(segment.characters for segment in side(rows, "left"))
    assert shown + skipped == len(left)
    assert [segment.text.strip() for segment in side(rows, "left") if segment.kind == "only"] == ["alpha", "omega"]
    assert [segment.text.strip() for segment in side(rows, "right") if segment.kind == "only"] == ["beta", "psi chi"]


def test_what_may_be_in_the_rest_of_a_text_that_was_cut_is_not_marked():
    words = [f"word{i}" for i in range(40)]
    left, right = " ".join(words[:20]), " ".join(["new", *words[:12]])
    found = aligned_rows(left, right, cut=(True, True))
    assert [segment.text for segment in side(found, "left") if segment.kind == "only"] == []
    assert [segment.text for segment in side(found, "right") if segment.kind == "only"] == ["new"]
    assert changes_of(left, right, cut=(True, True)).places == 1
    assert changes_of(left, right).places == 2


def test_changes_that_are_near_stand_in_one_excerpt_and_all_are_counted():
    words = [f"word{i}" for i in range(300)]
    other = list(words)
    for place in (20, 23, 150, 280):
        other[place] = f"new{place}"
    found = changes_of(" ".join(words), " ".join(other))
    shown = [
        [(piece.kind, piece.text) for piece in each if piece.kind in ("removed", "added")] for each in found.excerpts
    ]
    assert found.places == 4
    assert shown == [
        [("removed", "word20"), ("added", "new20"), ("removed", "word23"), ("added", "new23")],
        [("removed", "word150"), ("added", "new150")],
    ]


@pytest.mark.parametrize(
    ("survivor", "other", "shown"),
    [
        ("To: https://x.org\nStatus: Draft", "To:\nStatus: Draft", "To: [https://x.org ]Status: Draft"),
        ("paint (red, green, blue) here", "paint (red, blue) here", "paint (red, [green, ]blue) here"),
        ("dogs and cats sleep.", "dogs and cats.", "dogs and cats[ sleep]."),
        ("The end came soon", "end came soon", "[The ]end came soon"),
        ("石桥建于明代，两棵老槐树。", "石桥建于明代。", "石桥建于明代[，两棵老槐树]。"),
    ],
)
def test_what_only_the_survivor_has_stands_between_the_words_that_it_stood_between(survivor, other, shown):
    [excerpt] = changes_of(survivor, other).excerpts
    assert "".join(f"[{each.text}]" if each.kind == "removed" else each.text for each in excerpt) == shown


def test_a_change_keeps_the_words_before_it_where_lines_are_short():
    address = "x" * 30
    [excerpt] = changes_of(f"{address}\n{address}\nStatus: Draft", f"{address}\n{address}\nStatus: Final").excerpts
    assert [each.text for each in excerpt if each.kind == "common"] == ["Status: "]


def test_equal_texts_show_their_beginning_and_say_how_much_is_left_out():
    text = " ".join(f"word{i}" for i in range(900))
    rows = aligned_rows(text, text)
    assert rows[0].left == rows[0].right
    assert len(rows[0].left[0].text) + rows[1].skipped == len(text)


@pytest.mark.parametrize("character", ["x", "&", "\x00", "漢", "😀"])
def test_what_is_shown_of_a_text_takes_bounded_room_and_says_what_it_leaves_out(character):
    left = f"{character}{WORDS[0]} " * 3000
    right = " ".join(f"{character}{word}{i}" for i, word in enumerate(WORDS * 200))
    for name, text in (("left", left), ("right", right)):
        segments = side(aligned_rows(left, right), name)
        room = sum(len(html.escape(plainly(segment.text)).encode()) for segment in segments)
        assert SIDE_BYTES / 2 < room < 1.5 * SIDE_BYTES
        assert segments[-1].kind == "cut"
        assert sum(segment.characters for segment in segments) == len(text)


def test_a_page_is_as_large_whatever_the_number_of_duplicates():
    few, many = (len(made(lines, "a plain text of a few words")) for lines in (2_000, 40_000))
    assert abs(many - few) < 4_000
    assert many < 300_000


@pytest.mark.parametrize("character", [long("&"), "\u202e", long("漢"), long('"')])
def test_a_page_of_the_worst_texts_stays_below_five_megabytes(character):
    beginning = " ".join(character * 20 + WORDS[i % 12] for i in range(2000))
    found = made(
        2000, beginning, text=character * 3000, inputs=[f"{character * 90}{i}" for i in range(5000)], files=5000
    )
    assert len(found) < 5_000_000


def test_files_beyond_those_shown_are_summed_in_a_row():
    found = made(50, "text", files=1234).decode()
    assert "1,224 other files" in found
    assert "<td><bdi>id/9.jsonl</bdi></td>" in found
    assert "<td><bdi>id/10.jsonl</bdi></td>" not in found


def test_pairs_that_differ_only_in_figures_are_shown_even_where_they_are_rare():
    lines = [line | {"exact": False} for line in audit(2000)]
    bands = Bands(0.8, None)
    counts = tally(lines, bands, rows=4000, bits=128)
    rare = {line["row"] for some in counts.sample.values() for line in some[OTHER_PAIRS + 6 : OTHER_PAIRS + 9]}
    texts = {row: Text("a text", 6, str(row), None, digest=row, without_digits=row) for row in range(4000)}
    for some in counts.sample.values():
        for line in some:
            if line["row"] in rare:
                known = texts[line["survivor_row"]].without_digits
                texts[line["row"]] = Text("a text", 6, str(line["row"]), None, digest=line["row"], without_digits=known)
    read = ReadAgain(4000, texts, np.ones(4000, np.bool_), np.zeros((LENGTH_STEPS, 2), np.int64))
    pairs = [pair for band in bands_of_pairs(counts, bands, Texts(read, {})) for pair in band["pairs"]]
    assert sum(pair.figures for pair in pairs) == FIGURE_PAIRS


def ranges_of(lines, rows, **options):
    counts = tally(lines, Bands(options["min_similarity"], options.get("max_distance")), rows=rows, bits=128)
    found = removal_ranges(counts, **{"max_distance": None, "digests": None} | options)
    return {each.threshold: (each.least, each.most, each.exact) for each in found}


def removal(row, cluster, similarity, **more):
    exact = similarity == 1
    return {
        "id": row, "row": row, "survivor_id": cluster, "survivor_row": cluster, "cluster_id": cluster,
        "similarity": similarity, "distance": 0 if exact else 7, "exact": exact,
    } | more  # fmt: skip


def test_a_range_counts_what_falls_short_by_itself_by_text_and_by_cluster():
    lines = [removal(1, 0, 0.9), removal(2, 0, 0.82), removal(3, 0, 0.82), removal(5, 4, 0.81), removal(6, 4, 1.0)]
    found = ranges_of(lines, 7, min_similarity=0.8)
    assert list(found) == [0.8, *(step / 100 for step in range(81, 101))]
    assert (found[0.8], found[0.81]) == ((5, 5, True), (5, 5, True))
    assert found[0.82] == (4, 4, False)
    assert found[0.83] == (2, 3, False)
    assert found[1.0] == (1, 3, False)
    texts = np.array([1, 2, 2, 3], np.uint64)
    assert ranges_of(lines, 7, min_similarity=0.8, digests=texts)[0.83] == (3, 3, False)


def test_a_range_is_of_the_matches_that_connect_a_chain_and_of_distances_where_those_decide():
    chain = [removal(1, 0, 0.85, matched_similarity=0.85), removal(2, 0, 0.7, matched_similarity=0.9)]
    found = ranges_of(chain, 3, min_similarity=0.8)
    assert (found[0.8], found[0.86], found[0.91]) == ((2, 2, True), (1, 1, False), (0, 1, False))
    far = [removal(1, 0, None, exact=False), removal(2, 0, None, exact=False, distance=9)]
    assert ranges_of(far, 3, min_similarity=0, max_distance=12) == {
        12: (2, 2, True), 8: (1, 1, False), 6: (0, 1, False), 0: (0, 1, False),
    }  # fmt: skip
    assert ranges_of(far, 3, min_similarity=0.8) == {}


def test_a_command_that_is_too_long_leaves_inputs_out_and_says_so():
    command, notes = command_of(summary([], inputs=[f"shard-{i:05}.jsonl" for i in range(5000)]))
    assert len(command) < MAX_COMMAND_BYTES
    assert notes[1:] == ["4,980 of 5,000 inputs are left out here; the summary has them all."]
    command, notes = command_of(summary([], inputs=["x" * 2 * MAX_COMMAND_BYTES]))
    assert (command, notes) == ("", ["The command is too long to be shown; the summary has all options."])


def test_options_that_were_functions_make_no_command():
    found = summary([])
    found["options"] |= {"keep": "len()"}
    assert command_of(found) == ("", ["keep was a function, len(): the run was made in Python."])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("plain words", ""), ("北京的春天", "zh"), ("東京の春は桜", "ja"), ("한국어 문장", "ko"), ("カタカナ", "ja")],
)
def test_the_language_decides_which_forms_of_characters_are_shown(text, expected):
    assert language(text) == expected


def test_marks_of_direction_and_control_characters_are_shown_by_number_and_joiners_stay():
    assert plainly("a\u202eb\x00\ud800\r\n\r") == "a⟨U+202E⟩b⟨U+0000⟩⟨U+D800⟩\r\n⟨U+000D⟩"
    assert plainly("क्\u200dष \u200c") == "क्\u200dष \u200c"


def test_templates_count_one_thing_as_one():
    templates = list(Path(reports.__path__[0]).glob("*.html"))
    assert templates
    for each in templates:
        assert not re.search(r"\|number }} (?:document|item|pair|token|character)s\b", each.read_text(encoding="utf-8"))
    assert _environment().from_string('{{ 1|counted("more character") }}').render() == "1 more character"
