"""Recipes with further normalizers on the command line: all commands agree, and work of older versions is not continued."""

import json
from pathlib import Path

import pytest
from cli_corpora import read_lines, survivors, write_lines

import neardup as nd
from neardup.io.resume import run_folder
from neardup.jobs.removal.dedup import deduplicate_files

WORDS = "the ferry to the islands leaves at ten past nine from the old customs pier in winter".split()
NUMBERED = [f"{' '.join(WORDS)} on day {day} of line {day + 3}" for day in (11, 24, 37)]
DOTTED = [text.replace("ferry", "fer-ry") for text in NUMBERED]
EDITED = [text.replace("old customs pier", "new stone pier") for text in NUMBERED]
TEXTS = [*DOTTED, *NUMBERED, *EDITED, "Another text, of other words, that is like none of the texts above it at all."]
ROWS = [{"id": f"d{number}", "text": text} for number, text in enumerate(TEXTS)]
STEPS = ["nfkc_casefold", "digits", "punctuation"]
METHODS = {
    "exact": {"method": "exact", "min_similarity": 0.6},
    "minhash": {"method": "minhash", "min_similarity": 0.6},
    "simhash": {"method": "simhash", "max_distance": 40, "min_similarity": 0.6},
    "containment": {"method": "exact", "min_similarity": 0.7, "similarity": "containment"},
    "cosine": {"method": "exact", "min_similarity": 0.9, "similarity": "cosine"},
    "edit": {"method": "exact", "min_similarity": 0.8, "similarity": "edit"},
    "weighted": {"method": "exact", "min_similarity": 0.6, "similarity": "weighted"},
}


@pytest.fixture
def recipe():
    """The recipe in a file, beside the corpus in a file."""
    Path("r.toml").write_text(f"normalize = {json.dumps(STEPS)}\n", encoding="utf-8")
    write_lines("in.jsonl", ROWS)
    return nd.Recipe(normalize=STEPS)


def flags(options):
    return [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]


@pytest.mark.parametrize("name", METHODS)
def test_pairs_stages_dedup_and_explain_agree(run, recipe, name):
    options = METHODS[name]
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--recipe", "r.toml", *flags(options)).ok()
    assert run("pairs", "in.jsonl", "-o", "pairs.jsonl", "--recipe", "r.toml", *flags(options)).code == 0
    assert run("fingerprint", "in.jsonl", "-o", "prints.parquet", "--recipe", "r.toml").code == 0
    assert run("clusters", "pairs.jsonl", "--documents", "prints.parquet", "-o", "clusters.parquet").code == 0
    assert run("apply", "clusters.parquet", "in.jsonl", "-o", "staged.jsonl").code == 0
    assert Path("staged.jsonl").read_bytes() == Path("out.jsonl").read_bytes()
    assert survivors("out.jsonl") == [
        ROWS[i]["id"] for i in nd.deduplicate(TEXTS, recipe=recipe, **options).kept.nonzero()[0]
    ]

    listed = read_lines("pairs.jsonl")
    kind = options.get("similarity", "jaccard")
    assert [(pair["left_row"], pair["right_row"]) for pair in listed] == sorted(
        {(i, j) for i in range(9) for j in range(i + 1, 9)}
    )
    for pair in listed:
        texts = TEXTS[pair["left_row"]], TEXTS[pair["right_row"]]
        assert pair["similarity"] == nd.similarity(*texts, kind=kind, recipe=recipe)
        assert (pair["similarity"] == 1.0) == (pair["left_row"] // 6 == pair["right_row"] // 6)
    for line in read_lines("out.duplicates.jsonl"):
        assert line["exact"] == (line["row"] < 6)
        assert line["similarity"] == nd.similarity(TEXTS[line["row"]], TEXTS[0], kind=kind, recipe=recipe)

    for neighbor in nd.explain("out.duplicates.jsonl", "d9").neighbors:
        assert neighbor.similarity == nd.similarity(TEXTS[9], TEXTS[neighbor.row], kind=kind, recipe=recipe)
    summary = json.loads(Path("out.summary.json").read_text(encoding="utf-8"))
    assert summary["similarity_of"] == "normalized texts"


def test_the_default_recipe_leaves_no_mark(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    run("pairs", "in.jsonl", "-o", "pairs.jsonl", "--method", "exact")
    for path in ("out.summary.json", "pairs.jsonl.summary.json"):
        assert "similarity_of" not in json.loads(Path(path).read_text(encoding="utf-8"))


def without_mark(path):
    """Remove the mark, as an older version would have written the file."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    del content["similarity_of"]
    Path(path).write_text(json.dumps(content), encoding="utf-8")


def test_pairs_of_an_older_similarity_are_refused(run, recipe):
    """They are of an older format."""
    run("pairs", "in.jsonl", "-o", "pairs.jsonl", "--recipe", "r.toml", "--method", "exact")
    run("fingerprint", "in.jsonl", "-o", "prints.parquet", "--recipe", "r.toml")
    summary = Path("pairs.jsonl.summary.json")
    summary.write_text(json.dumps(json.loads(summary.read_bytes()) | {"format": 1}), encoding="utf-8")
    run("clusters", "pairs.jsonl", "--documents", "prints.parquet", "-o", "clusters.parquet").refused(
        "it is not of format 2. Make the pairs anew", code=1
    )


def test_pairs_by_distance_alone_have_no_similarity_to_be_old(run, recipe):
    run("fingerprint", "in.jsonl", "-o", "prints.parquet", "--recipe", "r.toml")
    assert run("pairs", "prints.parquet", "-o", "pairs.jsonl", "--max-distance", "20").code == 0
    assert run("clusters", "pairs.jsonl", "--documents", "prints.parquet", "-o", "clusters.parquet").code == 0


def test_a_kept_document_of_an_older_run_is_not_explained_by_another_similarity(run, recipe):
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--recipe", "r.toml")
    assert run("explain", "out.duplicates.jsonl", "d9").code == 0
    without_mark("out.summary.json")
    run("explain", "out.duplicates.jsonl", "d9").refused(
        "is of an older version of neardup, whose similarities ignored the recipe's"
    )
    assert run("explain", "out.duplicates.jsonl", "d8").code == 0  # removed: the audit has its similarity


def test_a_run_of_an_older_similarity_is_not_continued(recipe):
    deduplicate_files("in.jsonl", "out.jsonl", recipe="r.toml", resume=True)
    manifest = Path("out.resume/run.json")
    run = json.loads(manifest.read_bytes())["content"]
    assert run.pop("similarity_of") == "normalized texts"
    manifest.write_bytes(run_folder._sealed(run))
    with pytest.raises(nd.RecipeMismatch, match="similarity_of was None, is 'normalized texts'"):
        deduplicate_files("in.jsonl", "out.jsonl", recipe="r.toml", resume=True)
