"""`neardup store judgements` writes labeled pairs, and the texts that they name, from which `evaluate` says where the threshold is."""

import json
from pathlib import Path

import pytest
from cli_corpora import read_lines, write_lines

import neardup as nd

WORDS = [f"word{number}" for number in range(400)]


def text(first, changed=0):
    """60 words, the last of which differ from those of other texts that begin alike."""
    return " ".join([*WORDS[first : first + 60 - changed], *(f"{first}x{changed}y{i}" for i in range(changed))])


def told(done):
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.fixture
def judged(run):
    """A store of families of texts, whose pairs are the same from a similarity of 0.7 on, by people."""
    assert run("store", "create", "seen", "--texts", "--min-similarity", "0.8", "--floor", "0.4").code == 0
    documents = [{"id": f"{first}-{n}", "text": text(first, n)} for first in range(0, 320, 40) for n in range(0, 20, 2)]
    write_lines("in.jsonl", documents)
    assert run("store", "add", "seen", "in.jsonl").code == 0
    with nd.Store("seen") as store:
        while pairs := store.review(limit=50):
            for pair in pairs:
                store.judge(pair, same=pair.similarity >= 0.7)
        return {(each.left.id, each.right.id): each for each in store.judgements()}


def test_evaluate_finds_the_threshold_of_the_people(run, judged):
    done = run("store", "judgements", "seen", "-o", "pairs.jsonl", "--documents", "documents.jsonl")
    assert (done.code, done.err) == (
        0,
        f"found    {len(judged)} judged pairs\noutput   pairs.jsonl\ntexts    documents.jsonl\n",
    )
    lines = read_lines("pairs.jsonl")
    assert {(line["left_id"], line["right_id"]) for line in lines} == set(judged)
    for line in lines:
        pair = judged[line["left_id"], line["right_id"]]
        assert line["label"] == int(pair.same)
        assert (line["similarity"], line["kind"]) == (pair.similarity, pair.kind)
    named = {line["id"]: line["text"] for line in read_lines("documents.jsonl")}
    assert set(named) == {name for pair in judged for name in pair}
    assert all(named[name] == text(*map(int, name.split("-"))) for name in named)
    found = run(
        "evaluate", "documents.jsonl", "--pairs", "pairs.jsonl", "--similarity", "jaccard", "--quiet", "--json"
    ).ok()
    advice = json.loads(found.out)["recommendation"]
    assert advice["reaches_target"]
    least = min(pair.similarity for pair in judged.values() if pair.same)
    most = max(pair.similarity for pair in judged.values() if not pair.same)
    assert most < advice["best"]["min_similarity"] <= least
    run("store", "judgements", "seen", "-o", "pairs.jsonl").refused("pairs.jsonl")
    assert told(run("store", "judgements", "seen")) == lines


def test_texts_that_share_an_id_have_names_of_their_own(run):
    same = "a b c d e f g h i j k l m n o p q r s t u v w x y z"
    with nd.Store("seen", min_similarity=0.6, texts=True) as store:
        store.check_and_add_many([17, "17", "b"], [same, " ".join(WORDS[:30]), f"{same} and more"])
        store.check_and_add_many([18, "b"], [" ".join(WORDS[100:130]), " ".join(WORDS[200:230])])
        store.judge(store.recent()[0], same=True)
        store.judge((17, "17"), same=False)
        store.judge(("b", 18), same=False)
        digests = {each.left.id: each.left.digest for each in store.judgements()} | {
            each.right.id: each.right.digest for each in store.judgements()
        }
    assert run("store", "judgements", "seen", "-o", "p.jsonl", "--documents", "d.jsonl.gz").code == 0
    first, second, third = read_lines("p.jsonl")
    assert (first["left_id"], first["right_id"]) == ("b", "17")
    assert (second["left_id"], second["right_id"]) == ("17", f"text:{digests['17']}")
    assert (third["left_id"], third["right_id"]) == ("18", f"text:{digests['b']}")
    assert run("evaluate", "d.jsonl.gz", "--pairs", "p.jsonl", "--quiet").code == 0


def test_a_store_without_texts_writes_pairs_alone(run):
    same = "a b c d e f g h i j k l m n o p q r s t u v w x y z"
    with nd.Store("seen", min_similarity=0.0, method="simhash", max_distance=60) as store:
        store.check_and_add_many(["a", "b"], [same, f"{same} and more"])
        assert told(run("store", "judgements", "seen")) == []
        store.judge(store.review()[0], same=True)
        digest = store.judgements()[0].left.digest
    assert told(run("store", "judgements", "seen")) == [
        {"left_id": f"text:{digest}", "right_id": "a", "label": 1, "kind": "removed"}
    ]
    run("store", "judgements", "seen", "--documents", "d.jsonl").refused("--documents: seen keeps no texts")
    done = run("store", "judgements", "seen", "-o", "p.jsonl", "--documents", "p.jsonl")
    assert "p.jsonl is the file of the pairs, too" in done.err


def test_texts_are_an_option_of_every_command_that_makes_a_store(run):
    write_lines("in.jsonl", [{"id": "a", "text": text(0)}, {"id": "b", "text": text(0, 2)}])
    assert run("filter", "--create", "--store", "passed", "--texts", "in.jsonl", "-o", "out.jsonl").code == 0
    assert told(run("store", "get", "passed", "a"))[0]["text"] == text(0)
    assert run("dedup", "in.jsonl", "-o", "kept.jsonl", "--method", "exact").code == 0
    assert run("store", "build", "built", "kept.jsonl", "--texts").code == 0
    assert run("store", "build", "plain", "kept.jsonl").code == 0
    assert told(run("store", "get", "built", "a"))[0]["text"] == text(0)
    assert "text" not in told(run("store", "get", "plain", "a"))[0]
    with open("options.toml", "w") as file:
        file.write("texts = true\n")
    assert run("store", "create", "configured", "--config", "options.toml").code == 0
    assert told(run("store", "info", "configured", "--json"))[0]["texts"] is True
    assert "texts           yes" in run("store", "info", "configured").out.decode()
    run("filter", "--create", "--store", "plain", "--texts", "in.jsonl", "-o", "other.jsonl").refused(
        "plain was made otherwise: without --texts. Leave it out, or make another store."
    )


def test_without_judgements_the_files_are_empty_and_told(run):
    run("store", "create", "seen", "--texts")
    done = run("store", "judgements", "seen", "-o", "pairs.jsonl", "--documents", "texts.jsonl")
    assert (done.code, done.err) == (
        0,
        "found    0 judged pairs: nobody has judged a pair yet; pairs are judged on the page of `neardup serve`\n"
        "output   pairs.jsonl\ntexts    texts.jsonl\n",
    )
    assert (Path("pairs.jsonl").read_bytes(), Path("texts.jsonl").read_bytes()) == (b"", b"")
    assert run("store", "judgements", "seen").err.startswith("found    0 judged pairs: nobody has")
