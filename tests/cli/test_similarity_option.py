"""`--similarity FILE.toml` and `--elements COLUMN`: all commands agree with the library, and a finished run is read as it was made."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import read_lines, survivors, write_lines

import neardup as nd
from neardup.errors import OptionError

BASE = "the ferry to the islands leaves at ten past nine from the old customs pier".split()
ROWS = [
    {"id": "a", "text": " ".join(BASE), "tags": ["x", "y z", "w"], "of": 1},
    {"id": "b", "text": " ".join([*BASE[:4], "quickly", *BASE[4:]]), "tags": ["w", "y z", "x"], "of": 1},
    {"id": "c", "text": " ".join(sorted(BASE)), "tags": ["x", "y z", "w", "v"], "of": 2},
    {"id": "d", "text": "Nothing of the kind", "tags": [], "of": 1},
    {"id": "e", "text": "!", "tags": [], "of": 1},
    {"id": "f", "text": "the the the", "tags": ["<b>", "é%20"], "of": 1},
    {"id": "g", "text": "the the the the", "tags": ["<B>", "é "], "of": 1},
]
SIMILARITIES = {
    "shingle": "word_shingle = 1\n",
    "characters": 'segmenter = "characters"\nword_shingle = 5\n',
    "edit": 'measure = "edit"\nsegmenter = "whitespace"\n',
    "stop": 'measure = "weighted"\nword_shingle = 2\nstop_words = ["own.txt", "en"]\n',
    "folded": 'measure = "containment"\nnormalize = ["nfkc_casefold", "digits"]\nword_shingle = 1\n',
}
METHODS = [("exact", ()), ("minhash", ()), ("simhash", ("--max-distance", "128"))]


def corpus(rows=ROWS):
    write_lines("in.jsonl", rows)
    Path("own.txt").write_text("quickly\n")
    for name, content in SIMILARITIES.items():
        Path(f"{name}.toml").write_text(content)


def check_all_commands_agree(run, flags, library, reading=()):
    """`dedup`, the stages, `verify`, `explain`, `report` and `--resume` of the same options."""
    run("dedup", "in.jsonl", "-o", "out.jsonl", *flags, *reading, "--report", "page.html").ok()
    assert survivors("out.jsonl") == library
    assert run("pairs", "in.jsonl", "-o", "pairs.jsonl", *flags, *reading).code == 0
    assert run("fingerprint", "in.jsonl", "-o", "prints.parquet", *reading).code == 0
    assert run("clusters", "pairs.jsonl", "--documents", "prints.parquet", "-o", "clusters.parquet").code == 0
    run("apply", "clusters.parquet", "in.jsonl", "-o", "staged.jsonl", *reading).ok()
    assert Path("staged.jsonl").read_bytes() == Path("out.jsonl").read_bytes()
    for output in ("out.jsonl", "staged.jsonl"):
        run("verify", output).ok()
    for row in ROWS:
        run("explain", "out.duplicates.jsonl", row["id"]).ok()
    assert run("report", "out.duplicates.jsonl", "-o", "again.html").code == 0
    assert run("dedup", "in.jsonl", "-o", "resumed.jsonl", *flags, *reading, "--resume").code == 0
    assert Path("resumed.jsonl").read_bytes() == Path("out.jsonl").read_bytes()


@pytest.mark.parametrize("name", SIMILARITIES)
def test_every_command_takes_a_similarity_in_a_file(run, name):
    corpus()
    similarity = Path(f"{name}.toml")
    expected = nd.deduplicate(ROWS, similarity=similarity, min_similarity=0.6, method="exact")
    flags = ("--similarity", f"{name}.toml", "--min-similarity", "0.6", "--method", "exact")
    check_all_commands_agree(run, flags, [row["id"] for row in expected.survivors])
    recorded = json.loads(Path("out.summary.json").read_text())["options"]["similarity"]
    assert recorded["measure"] == (expected.summary.options["similarity"])["measure"]


@pytest.mark.parametrize(("method", "more"), METHODS)
def test_every_method_takes_it(run, method, more):
    corpus()
    flags = ("--similarity", "shingle.toml", "--min-similarity", "0.6", "--method", method, *more)
    options = {"max_distance": 128} if more else {}
    expected = nd.deduplicate(ROWS, similarity="shingle.toml", min_similarity=0.6, method=method, **options)
    check_all_commands_agree(run, flags, [row["id"] for row in expected.survivors])


@pytest.mark.parametrize("similarity", ["jaccard", "weighted", "containment", "cosine", "edit"])
def test_every_command_takes_a_column_of_lists(run, similarity):
    corpus()
    expected = nd.deduplicate(ROWS, elements="tags", similarity=similarity, min_similarity=0.6, method="exact")
    flags = ("--similarity", similarity, "--min-similarity", "0.6", "--method", "exact")
    check_all_commands_agree(run, flags, [row["id"] for row in expected.survivors], ("--elements", "tags"))
    page = Path("page.html").read_text()
    assert "y z" in page
    assert "s:x" not in page
    assert "--elements tags" in page


@pytest.mark.parametrize(("method", "more"), METHODS)
def test_every_method_joins_lists(run, method, more):
    corpus()
    options = {"max_distance": 128} if more else {}
    expected = nd.deduplicate(ROWS, elements="tags", min_similarity=0.6, method=method, **options)
    flags = ("--min-similarity", "0.6", "--method", method, *more)
    check_all_commands_agree(run, flags, [row["id"] for row in expected.survivors], ("--elements", "tags"))


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize("numbers", [False, True])
def test_lists_of_files_are_those_of_memory(run, form, numbers):
    rows = [dict(row, tags=[len(tag) for tag in row["tags"]] if numbers else row["tags"]) for row in ROWS]
    write_lines("in.jsonl", rows)
    if form == "parquet":
        kind = pa.list_(pa.int64() if numbers else pa.string())
        pq.write_table(pa.table({"id": [row["id"] for row in rows], "tags": pa.array([row["tags"] for row in rows], kind)}), "in.parquet")  # fmt: skip
    assert run("fingerprint", f"in.{form}", "-o", "prints.parquet", "--elements", "tags").code == 0
    stored = pq.read_table("prints.parquet")
    words = nd.fingerprint([row["tags"] for row in rows])
    assert stored["fingerprint"].to_pylist() == [
        b"".join(int(word).to_bytes(8, "big") for word in row) for row in words
    ]


def test_an_index_of_lists_answers_lists(run):
    rows = [dict(row, tags=[f"t{number}" for number in range(12)] + row["tags"]) for row in ROWS]
    write_lines("in.jsonl", rows)
    assert run("index", "build", "x", "in.jsonl", "--elements", "tags").code == 0
    done = run("index", "query", "x", "in.jsonl", "--elements", "tags", "--max-distance", "0")
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert {"id": "a", "neighbor_id": "b", "distance": 0} in answers  # order does not count among 8 elements or more
    assert run("index", "add", "x", "in.jsonl", "--elements", "tags").code == 0
    write_lines("other.jsonl", rows)
    assert run("index", "build", "y", "other.jsonl").code == 0
    run("index", "query", "y", "in.jsonl", "--elements", "tags").refused("is of texts")


def test_rows_that_are_no_lists_are_set_aside_with_the_reason(run):
    rows = [["a", 1], ["a", None], None, "a", [1.5], [True], [10**30], ["b", ["c"]], {}]
    lines = [json.dumps({"id": number, "tags": row}) for number, row in enumerate(rows)]
    Path("in.jsonl").write_text("\n".join([*lines, '{"id": 9}', ""]))
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--elements", "tags").code == 1
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--elements", "tags", "--on-error", "skip").code == 0
    assert survivors("out.jsonl") == [0, 6]
    reasons = [line["reason"] for line in read_lines("out.rejects.jsonl")]
    assert [each.split('"tags"')[-1] for each in reasons] == [
        " has null among its elements, not a string or an integer",
        " is null, not an array of strings or integers",
        " is a string, not an array of strings or integers",
        " has a floating-point number among its elements, not a string or an integer",
        " has true or false among its elements, not a string or an integer",
        " has an array among its elements, not a string or an integer",
        " is an object, not an array of strings or integers",
        ", but id, tags",
    ] or reasons[-1].startswith('it has no column "tags"')
    table = pa.table({"tags": pa.array([["a"], None, ["b", None], ["c"]])})
    pq.write_table(table, "in.parquet")
    assert run("dedup", "in.parquet", "-o", "p.parquet", "--elements", "tags", "--on-error", "skip").code == 0
    assert pq.read_table("p.parquet")["tags"].to_pylist() == [["a"], ["c"]]
    assert [line["reason"] for line in read_lines("p.rejects.jsonl")] == [
        'its column "tags" is null, not a list',
        'its column "tags" is a list with a null among its elements',
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["in.csv", "--elements", "tags"],
            "in.csv: --elements tags is a column of lists, and a file of this format has none",
        ),
        (["in.txt", "--elements", "tags"], "a file of this format has none. Give Parquet, or JSON lines with arrays"),
        (["in.jsonl", "--elements", "tags", "--text", "body"], "--text with --elements tags: a document is the list"),
        (["in.jsonl", "--elements", "tags", "--html", "main"], "--html with --elements tags"),
        (["in.jsonl", "--elements", "tags", "--lines"], "--lines with --elements tags"),
        (["in.jsonl", "--elements", "tags", "--unit", "line"], "--unit line with --elements: a list has no lines"),
        (["in.jsonl", "--elements", "tags", "--recipe", "textbook"], "Given elements are features as they are"),
        (["in.jsonl", "--elements", "tags", "--similarity", "shingle.toml"], "given elements are compared as they are"),
        (["in.jsonl", "--elements", "nothing"], 'no column "nothing"'),
        (
            ["numbers.parquet", "--elements", "n"],
            'column "n" is int64, but a column of lists of strings or integers is needed',
        ),
        (["in.jsonl", "--similarity", "jacard"], "--similarity jacard: give one of jaccard"),
        (["in.jsonl", "--similarity", "none.toml"], "There is no similarity file 'none.toml'"),
        (["in.jsonl", "--similarity", "wrong.toml"], "wrong.toml: a similarity has no `shingle`"),
        (
            ["in.jsonl", "--similarity", "cosine.toml"],
            "with `measure='cosine'`, which compares the features of the recipe",
        ),
        (["in.jsonl", "--similarity", "apart.toml"], "texts that the recipe makes equal are one"),
        (["in.jsonl", "--similarity", "edit.toml", "--method", "minhash"], "promises nothing for it"),
    ],
)
def test_what_does_not_go_together_is_refused(run, words, message):
    corpus()
    Path("in.csv").write_text("id,tags\n1,a\n")
    Path("in.txt").write_text("a\n")
    Path("wrong.toml").write_text("shingle = 1\n")
    Path("cosine.toml").write_text('measure = "cosine"\nword_shingle = 2\n')
    Path("apart.toml").write_text("normalize = []\n")
    pq.write_table(pa.table({"n": [1, 2]}), "numbers.parquet")
    done = run("dedup", *words, "-o", "out/").refused()
    assert message in " ".join(done.err.split())


@pytest.mark.parametrize("command", ["filter", "decontaminate", "fit", "passages"])
def test_commands_for_texts_have_no_elements(run, command):
    run(command, "in.jsonl", "--elements", "tags").refused("No such option")


def test_evaluate_recommends_a_command_that_runs(run):
    corpus()
    write_lines("labels.jsonl", [{"left_id": "a", "right_id": "b"}])
    for flags in (("--elements", "tags"), ("--similarity", "shingle.toml")):
        done = run(
            "evaluate",
            "in.jsonl",
            *flags,
            "--pairs",
            "labels.jsonl",
            "--complete",
            "--method",
            "exact",
            "--json",
            "-o",
            "found.json",
            "--overwrite",
        ).ok()
        found = json.loads(done.out)
        commands = found["recommendation"]["commands"]
        assert commands, found["recommendation"]
        assert flags[0] in commands[0].split()
        run(*commands[0].split()[1:]).ok()


@pytest.mark.parametrize(
    "words",
    ["jaccard(word_shingle=1, cjk_shingle=1)", "weighted(segmenter=characters)", "edit(segmenter=whitespace,hmm=True)"],
)
def test_a_similarity_may_be_given_in_words_wherever_a_file_may_be(run, words):
    corpus()
    given = nd.Similarity(**dict(
        [("measure", words.partition("(")[0]), *(
            (name.strip(), int(value) if value.isdigit() else True if value == "True" else value)
            for name, _, value in (part.partition("=") for part in words.partition("(")[2].strip(")").split(","))
        )]
    ))  # fmt: skip
    library, same = (
        [row["id"] for row in nd.deduplicate(ROWS, similarity=each, min_similarity=0.5).survivors]
        for each in (words, given)
    )
    assert library == same
    check_all_commands_agree(run, ("--similarity", words, "--min-similarity", "0.5"), library)
    Path("config.toml").write_text(f'similarity = "{words}"\nmin-similarity = 0.5\n')
    run("dedup", "in.jsonl", "-o", "again.jsonl", "--config", "config.toml").ok()
    assert Path("again.jsonl").read_bytes() == Path("out.jsonl").read_bytes()
    assert nd.similarity("a b", "b a", similarity=str(given)) == nd.similarity("a b", "b a", similarity=given)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("jaccard(word_shingle=x)", "'word_shingle=x' is not possible here. Give measure(field=value, …)"),
        ("jaccard(stop_words=zh)", "'stop_words=zh' is not possible here"),
        ("jaccard(1)", "'1' is not possible here"),
        ("jaccard(word_shingle=0)", "word_shingle"),
        ("jacard(word_shingle=1)", "did you mean jaccard?"),
        ("cosine(word_shingle=1)", "which compares the features of the recipe"),
        ("jaccard(word_shingle=1", "give one of jaccard"),
    ],
)
def test_words_that_are_no_similarity_are_refused(run, words, message):
    corpus()
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--similarity", words).refused()
    assert message in " ".join(done.err.split())


def test_plan_and_the_config_file_take_both(run):
    corpus()
    assert run("plan", "in.jsonl", "--elements", "tags").code == 0
    assert run("plan", "in.jsonl", "--similarity", "shingle.toml").code == 0
    Path("config.toml").write_text('similarity = "shingle.toml"\nmin-similarity = 0.6\n')
    assert run("dedup", "in.jsonl", "-o", "one.jsonl", "--config", "config.toml").code == 0
    run("dedup", "in.jsonl", "-o", "two.jsonl", "--similarity", "shingle.toml", "--min-similarity", "0.6").ok()
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()
    run("plan", "--documents", "1000", "--similarity", "shingle.toml").refused(
        "--similarity 'jaccard(word_shingle=1)': without texts only jaccard is known"
    )


def test_a_run_with_another_similarity_is_not_resumed(run):
    corpus()
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--similarity", "stop.toml", "--resume").code == 0
    Path("own.txt").write_text("slowly\n")
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--similarity", "stop.toml", "--resume", "--overwrite").refused()


def test_pairs_of_two_similarities_do_not_belong_together(run):
    corpus()
    for name in ("shingle", "characters"):
        run("pairs", "in.jsonl", "-o", f"{name}.jsonl", "--similarity", f"{name}.toml", "--method", "exact").ok()
    assert run("fingerprint", "in.jsonl", "-o", "prints.parquet").code == 0
    run("clusters", "shingle.jsonl", "characters.jsonl", "--documents", "prints.parquet", "-o", "c.parquet").refused(
        "they do not belong together"
    )


def test_the_words_of_a_similarity_are_kept_with_the_run(run):
    corpus()
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--similarity", "stop.toml", "--min-similarity", "0.5").code == 0
    Path("own.txt").unlink()
    Path("stop.toml").unlink()
    run("verify", "out.jsonl").ok()
    assert run("explain", "out.duplicates.jsonl", "d").code == 0


def test_a_function_of_a_similarity_is_asked_for_again():
    corpus()
    from neardup.jobs.removal.dedup import deduplicate_files
    from neardup.jobs.verification.verify import verify_files

    own = nd.Similarity(segmenter=nd.Segmenter(str.split, name="split", version="1"), word_shingle=1)
    deduplicate_files("in.jsonl", "out.jsonl", similarity=own, min_similarity=0.6)
    with pytest.raises(OptionError, match="`similarity`: of its `segmenter`, only the identity"):
        verify_files("out.jsonl")
    assert verify_files("out.jsonl", similarity=own).proven
    with pytest.raises(OptionError, match="`similarity`: the summary of the run, .* has it"):
        verify_files("out.jsonl", similarity="jaccard")
