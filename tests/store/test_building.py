"""A store that is built of a finished run answers as one to which all documents were added."""

import json
from pathlib import Path

import pytest
from sizes import set_sizes
from streams import allowed, duplicates, near_copies

import neardup as nd
from neardup.store.store import Store

WAYS = [
    ("exact", "jaccard", 0.7),
    ("minhash", "jaccard", 0.7),
    ("simhash", "jaccard", 0.6),
    ("exact", "containment", 0.7),
    ("minhash", "containment", 0.7),
    ("exact", "edit", 0.7),
    ("exact", "cosine", 0.8),
    ("simhash", "cosine", 0.8),
    ("exact", "weighted", 0.6),
    ("simhash", "jaccard", 0.0),
    ("auto", "jaccard", 0.8),
    ("exact", nd.Similarity(word_shingle=1), 0.7),
]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, texts, *, with_ids=True):
    rows = [{"id": f"d{i}", "text": text} if with_ids else {"text": text} for i, text in enumerate(texts)]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def audited(name="kept.duplicates.jsonl"):
    lines = map(json.loads, Path(name).read_text().splitlines())
    return {
        line["id"]: tuple(line[each] for each in ("survivor_id", "similarity", "distance", "exact")) for line in lines
    }


def answers(store, texts, first="d"):
    """The answers to documents that are added, by id."""
    ids = [f"{first}{i}" for i in range(len(texts))]
    return duplicates(ids, store.check_and_add_many(ids, texts))


def run(texts, name="in.jsonl", **options):
    write(name, texts, with_ids=options.pop("with_ids", True))
    return nd.deduplicate_files([name], "kept.jsonl", overwrite=True, **options)


@pytest.mark.parametrize(("method", "similarity", "least"), [way for way in WAYS if allowed(*way[:2])])
def test_what_was_built_answers_as_the_audit_says(monkeypatch, method, similarity, least):
    set_sizes(monkeypatch, texts=7)
    texts, later = list(near_copies(80, 3)), list(near_copies(40, 4)) + list(near_copies(30, 3))
    done = run(texts, method=method, similarity=similarity, min_similarity=least)
    how = {"method": done.summary.method, "similarity": similarity, "min_similarity": least}
    expected = audited()
    assert len(expected) > 5
    with Store("added", **how) as store:
        assert answers(store, texts) == expected
        again, of_later = answers(store, texts), answers(store, later, "later")
    with Store.build("built", "kept.jsonl") as store:
        assert (len(store), store.options) == (80 - len(expected), Store("added", mode="r").options)
        assert store.info().removed == len({text.casefold() for text in texts}) - len(store)
        kept = {f"d{i}": (f"d{i}", 1.0, 0, True) for i in range(80) if f"d{i}" not in expected}
        assert answers(store, texts) == expected | kept == again
        assert answers(store, later, "later") == of_later
        assert store.verify().is_sound


def test_rows_without_ids_are_named_as_if_they_had_been_added():
    run(["one text here", "another of them", "one text here", "a third"], with_ids=False)
    with Store.build("built", "kept.duplicates.jsonl") as store:
        assert store.state == {"rows_without_id": 4}
        assert store.check("a third").duplicate_of == "row:3"


def test_shards_in_a_folder_with_their_audits():
    Path("in").mkdir()
    texts = list(near_copies(40, 8))
    write("in/a.jsonl", texts[:20])
    Path("in/b.csv").write_text("id,text\n" + "".join(f'e{i},"{text}"\n' for i, text in enumerate(texts[20:])))
    nd.deduplicate_files(["in"], "kept/", audit="audits/")
    expected = {}
    for file in sorted(Path("audits").rglob("*.duplicates.jsonl")):
        expected |= audited(file)
    with Store.build("built", "audits/" if Path("audits.summary.json").exists() else "kept/") as store:
        assert len(store) == 40 - len(expected)


def test_a_run_that_removed_nothing_and_one_of_pages():
    run(["one text here", "another of them"])
    with Store.build("built", "kept.jsonl") as store:
        assert (len(store), store.info().removed) == (2, 0)
    run(["<p>One text here, and more of it.</p>", "<b>another</b> of them"], html="whole")
    with Store.build("pages", "kept.jsonl") as store:
        assert store.check("One text here, and more of it.").duplicate_of == "d0"


def built(message, kind=nd.OptionError, **options):
    with pytest.raises(kind, match=message):
        Store.build("built", options.pop("of", "kept.jsonl"))
    assert [path.name for path in Path().iterdir() if "built" in path.name] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cluster": "components"}, "`cluster='components'`, not 'star'"),
        ({"keep": "longest"}, "`keep='longest'`, not 'first'"),
        ({"within": "id"}, "`within='id'`, which a store does not have"),
        ({"prefer_source": "in.jsonl"}, "`prefer_source="),
        ({"against": "other.jsonl"}, "and the reference is not in the store"),
        ({"keep": "last", "cluster": "components"}, "'star'; `keep='last'`.*Add the inputs with `neardup store add`"),
    ],
)
def test_a_run_that_decided_otherwise_is_refused(options, message):
    texts = list(near_copies(20, 1))
    write("other.jsonl", ["something else"])
    run(texts, **options)
    built(message)


def test_a_run_of_given_elements_is_refused():
    Path("in.jsonl").write_text('{"id": 1, "tags": ["a", "b"]}\n{"id": 2, "tags": ["c"]}\n')
    nd.deduplicate_files(["in.jsonl"], "kept.jsonl", elements="tags")
    built("`elements='tags'`, a store takes texts")


def test_a_run_of_lines_is_refused():
    write("in.jsonl", ["a line\nanother", "a line\na third"])
    nd.deduplicate_units(["in.jsonl"], "kept.jsonl", unit="line")
    built("it removed lines")


def test_what_is_missing_or_has_changed_is_refused():
    texts = list(near_copies(30, 5))
    built("There is no audit", nd.InputError)
    run(texts)
    summary = Path("kept.summary.json").read_text()
    Path("kept.summary.json").rename("elsewhere")
    built("kept.summary.json.*is missing. Name the output", nd.InputError)
    Path("kept.summary.json").write_text("{}")
    built("is not the summary of a run", nd.DataError)
    Path("kept.summary.json").write_text(summary)
    audit = Path("kept.duplicates.jsonl").read_text()
    Path("kept.duplicates.jsonl").write_text("".join(audit.splitlines(keepends=True)[1:]))
    built("is not the audit of the run", nd.DataError)
    Path("kept.duplicates.jsonl").write_text(audit)
    content = Path("in.jsonl").read_text()
    Path("in.jsonl").write_text(content.replace("w1", "w2"))
    built("are not what they were", nd.InputError)
    Path("in.jsonl").unlink()
    built("Run this in .*, with the inputs in their places", nd.InputError)
    Path("in.jsonl").write_text(content)
    Path("built").mkdir()
    Path("built/file").write_text("x")
    with pytest.raises(nd.InputError, match="Name a folder that is empty"):
        Store.build("built", "kept.jsonl")
    Path("built/file").unlink()
    Store.build("built", "kept.jsonl").close()


def test_inputs_that_changed_unnoticed_are_refused_by_their_distances():
    texts = list(near_copies(30, 5))
    run(texts)
    summary = json.loads(Path("kept.summary.json").read_text())
    summary["files"]["content"] = None  # as of an older version
    Path("kept.summary.json").write_text(json.dumps(summary))
    for changed in ([*texts[1:], texts[0]], texts[:-1], [*texts, "more"]):
        write("in.jsonl", changed)
        built("are not what they were", nd.InputError)


def test_two_kept_documents_of_one_id_are_refused():
    Path("in.jsonl").write_text('{"id": "a", "text": "one text here"}\n{"id": "a", "text": "another of them"}\n')
    nd.deduplicate_files(["in.jsonl"], "kept.jsonl")
    built('two documents with the id "a"')
