"""The commands that `neardup evaluate` prints as its advice do, as they stand, what it says of them."""

import csv
import gzip
import itertools
import json
import random
import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import write_lines

from marks import long
from places import DATA

PEPS = DATA / "en_pep_revisions_even"
WORDS = [f"w{number}" for number in range(300)]
FAMILIES, COPIES, ALONE = 6, 3, 8


def texts():
    """Families of a text, one with words exchanged, and an excerpt; and texts that are like no other."""
    chance = random.Random(3)
    found = []
    for _ in range(FAMILIES):
        words = chance.choices(WORDS, k=80)
        edited = [chance.choice(WORDS) if place % 40 == 4 else word for place, word in enumerate(words)]
        found += [" ".join(words), " ".join(edited), " ".join(words[:15])]
    return found + [" ".join(chance.choices(WORDS, k=80)) for _ in range(ALONE)]


ROWS = [{"id": f"t{row}", "text": text} for row, text in enumerate(texts())]
FAMILY = [(COPIES * family + a, COPIES * family + b) for family in range(FAMILIES) for a, b in ((0, 1), (0, 2), (1, 2))]


def write_labels(names, **columns):
    """Label the pairs of families by the names of their rows."""
    write_lines("labels.jsonl", [{"a": names[a], "b": names[b]} | columns for a, b in FAMILY])


def jsonl():
    write_lines("in.jsonl", ROWS)
    write_labels([row["id"] for row in ROWS])
    return ("in.jsonl",)


def several_files_with_spaces():
    write_lines("a folder/it's one.jsonl", ROWS[:10])
    write_lines("$two `x`.jsonl", ROWS[10:])
    write_labels([row["id"] for row in ROWS])
    return ("a folder/it's one.jsonl", "$two `x`.jsonl")


def file_that_looks_like_a_flag():
    write_lines("-in.jsonl", ROWS)
    write_labels([row["id"] for row in ROWS])
    return ("./-in.jsonl",)


def columns_by_flags():
    write_lines("in.jsonl", [{"key": row["id"], "meta": {"body": row["text"]}, "title": "T"} for row in ROWS])
    write_labels([row["id"] for row in ROWS])
    return ("in.jsonl", "--text", "title", "--text", "meta.body", "--id", "key")


def csv_with_a_dialect():
    rows = "".join(f"{row['id']};|{row['text']}|\n" for row in ROWS)
    Path("in.csv").write_text("id;text\n" + rows, encoding="utf-16")
    write_labels([row["id"] for row in ROWS])
    return ("in.csv", "--dialect", ";|", "--encoding", "utf-16", "--max-document-bytes", "1M")


def compressed_tsv():
    rows = "".join(f"{row['id']}\t{row['text']}\n" for row in ROWS)
    Path("in.tsv.gz").write_bytes(gzip.compress(f"id\ttext\n{rows}".encode()))
    write_labels([row["id"] for row in ROWS])
    return ("in.tsv.gz",)


def parquet():
    pq.write_table(pa.Table.from_pylist(ROWS), "in.parquet")
    write_labels([row["id"] for row in ROWS])
    return ("in.parquet",)


def lines_of_text():
    Path("in.txt").write_text("\n".join(row["text"] for row in ROWS))
    write_labels([f"in.txt:{row}" for row in range(len(ROWS))])
    return ("in.txt", "--lines")


def folder_of_texts():
    for row in ROWS:
        Path("in").mkdir(exist_ok=True)
        Path(f"in/{row['id']}.txt").write_text(row["text"])
    write_labels([f"{row['id']}.txt" for row in ROWS])
    return ("in",)


def pages():
    write_lines("in.jsonl", [row | {"text": f"<p>{row['text']}</p>"} for row in ROWS])
    write_labels([row["id"] for row in ROWS])
    return ("in.jsonl", "--html", "whole")


def broken_rows():
    write_lines("in.jsonl", ROWS)
    Path("in.jsonl").write_bytes(b"no JSON\n" + Path("in.jsonl").read_bytes())
    write_labels([row["id"] for row in ROWS])
    return ("in.jsonl", "--on-error", "skip")


def recipe_of_a_file():
    Path("my recipe.toml").write_text('word_shingle = 2\nweights = "tf"\nmax_distance = 20\n')
    return (*jsonl(), "--recipe", "my recipe.toml")


def named_recipe():
    return (*jsonl(), "--recipe", "default-64")


def equal_and_empty_texts():
    more = [{"id": f"more{row}", "text": text} for row, text in enumerate([ROWS[0]["text"].upper(), "", "", "…"])]
    write_lines("in.jsonl", ROWS + more)
    write_labels([row["id"] for row in ROWS])
    return ("in.jsonl",)


def names_with_slips():
    """Names of one word each, in which letters are exchanged: shingles of words have nothing in common."""
    chance = random.Random(5)
    rows = []
    for family in range(FAMILIES):
        name = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=24))
        rows += [{"id": f"t{COPIES * family + copy}", "text": name[:20] + "xyz"[copy] + name[21:]} for copy in range(3)]
    rows += [{"id": f"o{n}", "text": "".join(chance.choices("abcdefghij", k=24))} for n in range(ALONE)]
    write_lines("in.jsonl", rows)
    write_labels([f"t{row}" for row in range(len(ROWS))])
    return ("in.jsonl",)


CORPORA = (
    names_with_slips, jsonl, several_files_with_spaces, file_that_looks_like_a_flag, columns_by_flags, csv_with_a_dialect, compressed_tsv,
    parquet, lines_of_text, folder_of_texts, pages, broken_rows, recipe_of_a_file, named_recipe, equal_and_empty_texts,
)  # fmt: skip


def with_a_far_pair():
    """Labels with a pair of texts that have nothing in common."""
    jsonl()
    with Path("labels.jsonl").open("a") as file:
        file.write(json.dumps({"a": ROWS[-1]["id"], "b": ROWS[-2]["id"]}) + "\n")
    return ("in.jsonl",)


LABELS = ("--pairs", "labels.jsonl", "--complete")


def labeled():
    return {
        frozenset((line["a"], line["b"])) for line in map(json.loads, Path("labels.jsonl").read_text().splitlines())
    }


def follow(run, *arguments):
    """Evaluate, do both commands that are printed, and return the result, the pairs, and the number of documents removed."""
    done = run("evaluate", *arguments, "--quiet", leaves_nothing=False)
    assert (done.code, done.err) == (0, "")
    printed = re.findall(r"^(?:next|pairs) +(neardup .*)$", done.out.decode(), re.MULTILINE)[::-1]
    result = json.loads(run("evaluate", *arguments, "--json", "--quiet", leaves_nothing=False).out)
    assert printed == result["recommendation"]["commands"]
    list_pairs, remove = (shlex.split(command)[1:] for command in printed)
    run(*list_pairs, "--quiet", leaves_nothing=False).ok()
    lines = [json.loads(line) for line in Path(list_pairs[list_pairs.index("-o") + 1]).read_text().splitlines()]
    pairs = [frozenset((line["left_id"], line["right_id"])) for line in lines]
    done = run(*remove, "--json", "--quiet", leaves_nothing=False).ok()
    return result, pairs, json.loads(done.out)["duplicates"]


def check_with_labels(result, pairs, removed):
    best, true = result["recommendation"]["best"], labeled()
    found = set(pairs)
    assert len(pairs) == len(found) == best["found"]
    assert (best["recall"]["count"], best["recall"]["of"]) == (len(found & true), len(true))
    if result["complete"]:
        assert (best["precision"]["count"], best["precision"]["of"]) == (len(found & true), len(found))
    assert result["recommendation"]["removed"] == removed


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.__name__)
def test_what_is_recommended_with_labels_finds_what_was_said(run, place, corpus):
    result, pairs, removed = follow(run, *corpus(), *LABELS)
    assert result["recommendation"]["reaches_target"] == (corpus is not equal_and_empty_texts)  # equals are not labeled
    check_with_labels(result, pairs, removed)


@pytest.mark.parametrize(
    "asked",
    [
        ("--method", "simhash"),
        ("--method", "minhash", "--similarity", "jaccard"),
        long(("--method", "exact", "--similarity", "edit", "--target-recall", "0.5")),
        long(("--similarity", "cosine", "--min-precision", "1")),
        ("--similarity", "weighted", "--min-precision", "0"),
        long(("--method", "simhash", "--recipe", "textbook")),
    ],
    ids=" ".join,
)
def test_what_is_recommended_of_what_was_asked_for_finds_what_was_said(run, place, asked):
    result, pairs, removed = follow(run, *jsonl(), *LABELS, *asked)
    check_with_labels(result, pairs, removed)


def test_false_pairs_are_capped_by_the_command_line_and_by_a_file(run, place):
    with_a_far_pair()
    call = ("evaluate", "in.jsonl", *LABELS, "--method", "simhash", "--quiet", "--json")
    Path("all.toml").write_text("min-precision = 0.0\n")
    capped = json.loads(run(*call).out)
    assert (capped["min_precision"], capped["recommendation"]["reaches_target"]) == (0.9, False)
    for flags in (("--min-precision", "0"), ("--config", "all.toml")):
        free = json.loads(run(*call, *flags).out)
        assert (free["min_precision"], free["recommendation"]["reaches_target"]) == (0, True)
        assert free["recommendation"]["best"]["found"] > capped["recommendation"]["best"]["found"]


def test_other_shingles_are_given_by_a_flag_that_is_whole(run, place):
    done = run("evaluate", *names_with_slips(), *LABELS, "--quiet").ok()
    flag = r"--similarity '\w+\(word_shingle=\d, segmenter=characters\)'"
    assert re.match(rf"use +--method exact, --min-similarity 0\.\d+, {flag} finds", " ".join(done.out.decode().split()))
    assert len(re.findall(rf"^(?:next|pairs) +neardup .* {flag}", done.out.decode(), re.MULTILINE)) == 2


def test_what_nobody_judged_is_not_to_be_used_and_nothing_that_can_be_run_is_printed(run, place):
    chance = random.Random(2)
    common = chance.choices(WORDS, k=60)
    rows = [{"id": f"d{n}", "text": " ".join([*common, f"no{n}"])} for n in range(45)]
    rows += [{"id": f"o{n}", "text": " ".join(chance.choices(WORDS, k=60))} for n in range(5)]
    write_lines("in.jsonl", rows)
    write_lines(
        "labels.jsonl",
        [{"a": f"d{n}", "b": f"d{n + 1}", "label": 1} for n in range(19)] + [{"a": "o0", "b": "o1", "label": 0}],
    )
    shown = " ".join(run("evaluate", "in.jsonl", "--pairs", "labels.jsonl", "--quiet").ok().out.decode().split())
    assert "warning Only 19 of 540 pairs found are labeled" in shown
    assert "warning These options remove 44 of 50 documents." in shown
    assert "give --complete if the labels list every near-duplicate" in shown
    assert "precision 1.000 [0.832, 1.000] (19 of 540 pairs found are labeled)" in shown
    assert not re.search(r"\b(use|next|pairs) +(neardup|--)", shown)
    assert " tried --method" in shown
    result = json.loads(run("evaluate", "in.jsonl", "--pairs", "labels.jsonl", "--json", "--quiet").ok().out)
    assert (result["recommendation"]["commands"], len(result["recommendation"]["withheld"])) == ([], 2)


def test_the_options_that_a_warning_names_decide_what_it_says(run, place):
    write_lines("in.jsonl", [{"id": 1, "text": "red green"}, {"id": 2, "text": "green red"}, {"id": 3, "text": "blue"}])
    shown = " ".join(run("evaluate", "in.jsonl", "--quiet").ok().out.decode().split())
    assert "recipe" not in shown
    [flag] = re.findall(r"smaller shingles, such as (--similarity '[^']*')", shown)
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", *shlex.split(flag), "--quiet", "--json").ok()
    assert json.loads(done.out)["duplicates"] == 1


def test_where_nothing_reaches_the_target_it_is_said_first_and_the_nearest_can_be_done(run, place):
    asked = (*with_a_far_pair(), *LABELS, "--method", "simhash")
    done = run("evaluate", *asked, "--quiet").ok()
    shown = done.out.decode()
    first = "warning  Nothing that was tried reaches recall 0.99 with a precision of 0.9 or\n         more.\nnearest  --method simhash"
    assert shown.startswith(first)
    assert "\nuse " not in shown
    check_with_labels(*follow(run, *asked))


def test_reasons_name_options_as_flags(run, place):
    done = run("evaluate", *jsonl(), "--pairs", "labels.jsonl", "--quiet").out.decode()
    assert "give --complete if the labels list every near-duplicate" in " ".join(done.split())
    assert "`" not in done


@pytest.mark.parametrize("corpus", [jsonl, equal_and_empty_texts, lines_of_text, recipe_of_a_file, broken_rows])
def test_what_is_recommended_without_labels_finds_what_was_said(run, place, corpus):
    result, pairs, removed = follow(run, *corpus())
    best = result["recommendation"]["best"]
    assert len(set(pairs)) == len(pairs) == best["found"] == result["near_duplicates"] > 0
    assert result["recommendation"]["removed"] == removed


def test_the_names_of_outputs_are_of_none_that_exist(run, place):
    jsonl()
    write_lines("pairs.jsonl", ROWS[:1])
    Path("deduplicated").mkdir()
    result = json.loads(run("evaluate", "in.jsonl", "--json", "--quiet", leaves_nothing=False).out)
    list_pairs, remove = result["recommendation"]["commands"]
    assert " -o pairs2.jsonl " in list_pairs
    assert " -o deduplicated2/ " in remove


@pytest.mark.skipif(not PEPS.is_dir(), reason=f"the evaluation corpora are not in {DATA}; set NEARDUP_DATA")
def test_revisions_of_one_document_are_not_joined_with_those_of_others(run, place):
    with Path("labels.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["a", "b"])
        for line in (PEPS / "revision_groups.jsonl").read_text().splitlines():
            rows.writerows(itertools.combinations(json.loads(line)["ids"], 2))
    with Path("labels.csv").open() as file:
        write_lines("labels.jsonl", list(csv.DictReader(file)))
    asked = (str(PEPS / "docs.jsonl.gz"), *LABELS, "--similarity", "containment", "--method", "exact")
    result, pairs, removed = follow(run, *asked)
    check_with_labels(result, pairs, removed)
    best = result["recommendation"]["best"]
    assert not result["recommendation"]["reaches_target"]
    assert best["f1"]["value"] > 0.96
    assert best["precision"]["value"] > 0.99
    assert 340 / 2 < removed < 280  # of 340 documents, which are of 60 families: labels say that most are to go
