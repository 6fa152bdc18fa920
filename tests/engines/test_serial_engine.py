"""The engine of one process gives the answer of `deduplicate`, whatever the parts, the buckets and the order of files."""

import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from engine_runs import USUAL, batch_of, parts_of, run_of_engine, run_of_library, work_of
from engines.corpus_parts import CorpusParts
from near_copies import edited_copies
from neardup.engines.flow import deduplicate
from neardup.engines.job.local_engine import COUNT_BYTES, SerialEngine
from neardup.engines.job_options import Limits, Work
from neardup.engines.reading import documents
from neardup.engines.results.summary import EngineSummary
from neardup.engines.stages import Part
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.options import DedupOptions

WORDS = "the of and to ferry clock bridge stands in 1 22 ３ 中国 法律 第一条 ひらがな x1 don't".split()
RECIPES = (
    nd.Recipe(),
    nd.Recipe(bits=64, min_tokens=1),
    nd.Recipe(stop_words=["en"]),
    nd.Recipe(segmenter="characters", word_shingle=3, min_tokens=2),
)
SIMILARITIES = (
    *("jaccard", "weighted", "containment", "cosine", "edit"),
    nd.Similarity(word_shingle=1, cjk_shingle=1),
    nd.Similarity(measure="weighted", word_shingle=1, stop_words=["en"]),
    nd.Similarity(measure="jaccard", segmenter="characters", word_shingle=4),
)


@st.composite
def texts_with_copies(draw, most):
    """Texts of few words, most of which are edited copies of one before."""
    found = []
    for _ in range(draw(st.integers(1, most))):
        text = draw(st.lists(st.sampled_from(WORDS), max_size=12))
        if found and draw(st.integers(0, 3)):
            text = list(draw(st.sampled_from(found)))
            for _ in range(draw(st.integers(0, 2))):
                at = draw(st.integers(0, len(text)))
                text[at : at + draw(st.integers(0, 1))] = draw(st.lists(st.sampled_from(WORDS), max_size=1))
            if draw(st.booleans()):
                text = text[::-1]
        found.append(text)
    values = st.tuples(st.sampled_from([None, "a", "b", ""]), st.sampled_from([None, 1, 2, 3.5]))
    forms = st.sampled_from([str, str.upper, "{} .".format])
    return [
        {"text": draw(forms)(" ".join(text)), "group": group, "score": score}
        for text, (group, score) in ((text, draw(values)) for text in found)
    ]


@st.composite
def methods(draw):
    method = draw(st.sampled_from(["exact", "minhash", "simhash", "by distance"]))
    least, distance = draw(st.sampled_from([0.1, 0.5, 0.8, 1.0])), draw(st.sampled_from([0, 3, 25, 64]))
    if method == "by distance":
        return {"method": "simhash", "min_similarity": 0, "max_distance": distance}
    similarity = draw(st.sampled_from([each for each in SIMILARITIES if method != "minhash" or "jaccard" in str(each)]))
    found = {
        "method": method,
        "min_similarity": max(least, 0.3) if method == "minhash" else least,
        "similarity": similarity,
    }
    return found | ({"max_distance": distance} if method == "simhash" else {})


def limits():
    """Small groups, too, are compared in waves, and divided."""
    drawn = {
        "documents_per_group": [1, 3, 64],
        "pairs_per_document": [0, USUAL.pairs_per_document],
        "listed_pairs": [0, 4, USUAL.listed_pairs],
        "documents_per_block": [1, 3, USUAL.documents_per_block],
        "pairs_per_chunk": [1, USUAL.pairs_per_chunk],
        "elements_per_block": [1, USUAL.elements_per_block],
        "elements_held": [0, USUAL.elements_held],
        "elements_per_site": [0, USUAL.elements_per_site],
        "matches_per_task": [0, USUAL.matches_per_task],
        "duplicates_per_share": [0, USUAL.duplicates_per_share],
    }
    values = {name: st.sampled_from(some) for name, some in drawn.items()}
    return st.builds(Limits, first_documents=st.just(1), wave_growth=st.just(2), **values)


@given(
    rows=texts_with_copies(12),
    reference=st.none() | texts_with_copies(6),
    shared=st.lists(st.integers(0, 5), max_size=4),
    recipe=st.sampled_from(RECIPES),
    method=methods(),
    cluster=st.sampled_from(["star", "components"]),
    keep=st.sampled_from(["first", "last", "longest", "shortest", "max:score", "min:score"]),
    within=st.sampled_from(
        [{}, {"within": "group"}, {"guard": "same-numbers"}, {"within": "group", "guard": "same-numbers"}]
    ),
    size=st.sampled_from([1, 7, 1000]),
    buckets=st.sampled_from([1, 2, 16]),
    limits=limits(),
)
def test_the_answer_is_that_of_deduplicate(
    rows, reference, shared, recipe, method, cluster, keep, within, size, buckets, limits
):
    if reference:
        rows = rows + [reference[at % len(reference)] for at in shared]
        reference = reference + [rows[at % len(rows)] for at in shared]
    options = {"cluster": cluster, "keep": keep, **method, **within}
    matching = []
    expected = run_of_library(rows, reference, recipe, options, matching=matching)
    how = {"size": size, "buckets": buckets, "limits": limits, "matching": matching}
    found = run_of_engine(rows, reference, recipe, options, **how)
    assert matching[0] == matching[1]
    if cluster == "components":  # whether the similarity to a survivor is known depends on the links
        expected, found = (
            [(*row[:5], None if not row[4] else 1.0, *row[6:]) for row in each] for each in (expected, found)
        )
    assert found == expected


@pytest.mark.parametrize("most", [1, 2, 64])
def test_another_text_of_a_class_that_is_out_meets_what_comes_between(most):
    rows = [
        {"text": text} for text in ("a d e b", "b f", "a e f", "a e g f", "f e a")
    ]  # the last is another text of the third
    options = {"method": "exact", "min_similarity": 0.4, "similarity": nd.Similarity(word_shingle=1)}
    limits = Limits(documents_per_group=most, first_documents=1, wave_growth=2)
    found = run_of_engine(rows, None, nd.Recipe(), options, limits=limits)
    assert [row[:2] for row in found] == [(2, 0), (4, 3)]
    assert found == run_of_library(rows, None, nd.Recipe(), options)


TEXTS = [text[:150] for text in edited_copies(12, seed=7)]
ROWS = [
    {"text": text, "group": "ab"[row % 2] if row % 5 else None, "score": row * 7 % 11} for row, text in enumerate(TEXTS)
]
OPTIONS = (
    {"method": "exact", "keep": "longest"},
    {"method": "exact", "keep": "max:score", "within": "group", "cluster": "components"},
    {"method": "minhash", "keep": "min:score"},
    {"method": "simhash", "max_distance": 20, "min_similarity": 0.3, "keep": "last", "within": "group"},
)


def shuffle_files(folder):
    """Put the packed pieces of each bucket in another order."""
    for path in folder.rglob("*"):
        if path.is_file():
            content, pieces = path.read_bytes(), []
            while content:
                size = COUNT_BYTES + int.from_bytes(content[:COUNT_BYTES], "little")
                pieces, content = [*pieces, content[:size]], content[size:]
            random.Random(len(pieces)).shuffle(pieces)
            path.write_bytes(b"".join(pieces))


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(map(str, options.values())))
def test_neither_parts_nor_buckets_nor_the_order_of_files_matter(options):
    rows, reference = ROWS[:-8], ROWS[-8:] + ROWS[:4]
    options = {"min_similarity": 0.5} | options
    matching = []
    expected = run_of_engine(rows, reference, nd.Recipe(), options, size=1000, buckets=1, matching=matching)
    assert len(expected) > 4
    for size, buckets in ((1, 16), (7, 2), (1000, 61)):
        how = {"size": size, "buckets": buckets, "change": shuffle_files, "matching": matching}
        assert run_of_engine(rows, reference, nd.Recipe(), options, **how) == expected
    assert len(set(matching)) == 1


@pytest.mark.parametrize("rows", [[], [{"text": ""}], [{"text": "alone"}], [{"text": ""}, {"text": " "}]])
@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_few_rows(rows, method):
    for keep in ("first", "longest"):
        options = {"method": method, "keep": keep}
        assert run_of_engine(rows, None, nd.Recipe(), options) == run_of_library(rows, None, nd.Recipe(), options)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "`method='auto'`: no engine looks at the corpus first to choose. Give one of exact, minhash, simhash."),
        ({"method": "minhash", "similarity": "edit"}, "promises nothing for it"),
        ({"method": "simhash", "max_distance": 200}, "the recipe has 128 bits"),
        ({"method": "exact", "min_similarity": 0}, "give a `min_similarity` above 0"),
    ],
)
def test_work_that_cannot_be_done_is_refused(options, problem):
    with pytest.raises(nd.OptionError) as refused:
        Work.of(nd.Recipe(), DedupOptions(**options))
    assert problem in str(refused.value)


def test_the_method_that_options_determine_is_taken():
    assert Work.of(nd.Recipe(), DedupOptions(max_distance=3)).options.method == "simhash"
    assert Work.of(nd.Recipe(bits=64, max_distance=5), DedupOptions()).max_distance == 5
    assert work_of(threads=7).options.threads == 1


@pytest.mark.parametrize("options", [{"keep": len}, {"within": len}, {"prefer_source": "a"}])
def test_functions_and_sources_are_refused(options):
    with pytest.raises(nd.OptionError, match="An engine has columns alone"):
        CorpusParts(TableCorpus(["a"]), DedupOptions(**options), size=7)


def test_a_part_with_too_many_rows_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(documents, "MAX_ROWS_PER_PART", 4)
    four, one = batch_of(["a b"] * 4), batch_of(["c"])
    deduplicate(SerialEngine(tmp_path / "few", parts_of(four, one, size=1)), work_of())
    with pytest.raises(nd.DataError, match="A part of the input has more than 4 rows. Divide it into more parts."):
        deduplicate(SerialEngine(tmp_path / "many", parts_of(four, one, size=2)), work_of())


CHANGES = {
    "a text": [["a b c", "a b d"], ["a b c", "x"]],
    "an order": [["a b d", "a b c"], ["a b c", "a b"]],
    "a row more": [["a b c", "a b d"], ["a b c", "a b", "a"]],
    "a row less": [["a b c"], ["a b c", "a b"]],
    "no text": [["a b c", None], ["a b c", "a b"]],
    "a part less": [["a b c", "a b d"]],
    "a part more": [["a b c", "a b d"], ["a b c", "a b"], ["a b c"]],
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("reading", [1, 2, 3])
def test_an_input_that_changes_is_noticed_at_each_reading(change, reading, tmp_path):
    readings = []

    def parts():
        readings.append(len(readings))
        changed = readings[-1] == reading
        texts = CHANGES[change] if changed else [["a b c", "a b d"], ["a b c", "a b"]]
        return (Part(number, iter([batch_of(each)])) for number, each in enumerate(texts))

    with pytest.raises(nd.DataError, match=r"Part \d of the input has changed since it was first read"):
        deduplicate(SerialEngine(tmp_path, parts), work_of())
    assert len(readings) == reading + 1


def test_what_stages_took_is_told(tmp_path):
    engine = SerialEngine(Path(tmp_path), parts_of(batch_of(["a b c", "a b c d", "x"])))
    decided = deduplicate(engine, work_of())
    assert engine.measured[0].name == "documents"
    assert engine.measured[0].rows["documents"] == 3
    assert all(sum(each.bytes.values()) > 0 for each in engine.measured if sum(each.rows.values()))
    assert decided.results.count == 1
    assert not decided.results.is_empty
    assert decided.removed.of(0, pa.array([0, 1, 2]).to_numpy()).tolist() == [False, True, False]


def test_the_summary_says_how_many_differ_in_digits_only_and_how_values_were_compared():
    counts = {"documents": 9, "survivors": 5, "duplicates": 4, "exact_duplicates": 1, "clusters": 3}
    counts |= {"reference_documents": 0, "against_reference": 0, "matching_reference": 0, "stages": ()}
    first = "9 documents → 5 survivors, 4 duplicates (1 exact) in 3 clusters; 0.0 s"
    for digits, compared_as, expected in (
        (
            2,
            "numbers",
            [
                "2 duplicates differ from the kept document in digits only (guard same-numbers keeps such documents)",
                "keep compares numbers",
            ],
        ),
        (
            1,
            None,
            ["1 duplicate differs from the kept document in digits only (guard same-numbers keeps such documents)"],
        ),
        (0, None, []),
    ):
        said = str(EngineSummary(**counts, only_digits=digits, compared_as=compared_as)).splitlines()
        assert said[0] == first
        assert said[1 : len(expected) + 1] == expected
        assert said[len(expected) + 1].startswith("stage ")
