"""Gates before the indexes of LangChain, LlamaIndex and Haystack, each day in a process of its own."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from integrations.pipelines import PIPELINES, missing, python

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).with_name("programs")
FERRY = "The night ferry to the islands leaves at ten past nine from the old customs pier."
LATER = FERRY.replace("night", "evening")
BREAD = "Flour, water, salt and a day of patience make bread."
NEAR = "a near-duplicate of 'ferry' (similarity 0.7500)"
MODULES = {"langchain": "langchain.py", "llama-index": "llama_index.py", "haystack": "haystack.py"}
pytestmark = pytest.mark.long


def day(name, folder, rows, **given):
    """What a day's process prints, by the Python of a framework."""
    if missing(name):
        pytest.skip(missing(name))
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "HAYSTACK_TELEMETRY_ENABLED": "False",
        "LANGCHAIN_TRACING_V2": "false",
        "NLTK_DATA": str(folder),
    }
    command = [python(name), PROGRAMS / f"{name.replace('-', '_')}_gate.py"]
    given = json.dumps({"documents": rows, "options": {}} | given)
    done = subprocess.run(
        command, cwd=folder, input=given, env=environment, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def row(name, text, **more):
    return {"id": name, "text": text, "meta": {"source": name, "file": name, "page": 1}} | more


ROWS = [row("ferry", FERRY), row("late", LATER), row("bread", BREAD), row("empty", "")]


# ------------------------------------------------------------------------------------------------------------- LangChain

FULL = {"options": {"id": "source", "full": True}}


def test_langchain_indexes_what_is_new_and_the_second_day_changes_nothing(tmp_path):
    first = day("langchain", tmp_path, ROWS, **FULL)
    assert first["index"] == {"num_added": 3, "num_updated": 0, "num_skipped": 0, "num_deleted": 0}
    assert (first["dropped"], first["removed"], first["orphans"]) == ([["late", NEAR]], [], [])
    assert first["metadata"] == [each["meta"] for each in ROWS if each["id"] != "late"]
    second = day("langchain", tmp_path, ROWS, **FULL)
    assert second["index"] == {"num_added": 0, "num_updated": 0, "num_skipped": 3, "num_deleted": 0}
    assert second["kept"] == first["kept"]


def test_langchain_indexes_a_duplicate_when_the_document_that_was_kept_is_gone(tmp_path):
    day("langchain", tmp_path, ROWS, **FULL)
    found = day("langchain", tmp_path, ROWS[1:], **FULL)
    assert (found["index"]["num_added"], found["index"]["num_deleted"]) == (1, 1)
    assert (found["removed"], found["dropped"], found["orphans"]) == (["ferry"], [], [])
    assert [name for name, _ in found["kept"]] == ["bread", "empty", "late"]


def test_langchain_replaces_a_document_whose_text_has_changed(tmp_path):
    day("langchain", tmp_path, ROWS, **FULL)
    changed = [row("ferry", "The ferry does not run until the storm has passed."), *ROWS[1:]]
    found = day("langchain", tmp_path, changed, **FULL)
    assert (found["index"]["num_added"], found["index"]["num_deleted"]) == (2, 1)  # the duplicate is none any more
    assert [name for name, _ in found["kept"]] == ["bread", "empty", "ferry", "late"]
    found = day("langchain", tmp_path, [row("ferry", LATER), *ROWS[1:]], **FULL)
    assert found["dropped"] == [["ferry", "the same text as 'late'"]]
    assert found["removed"] == ["ferry"]
    assert [name for name, _ in found["kept"]] == ["bread", "empty", "late"]


def test_langchain_refuses_documents_without_a_name(tmp_path):
    rows = [{"text": FERRY, "meta": {"source": "ferry"}}]
    told = day("langchain", tmp_path, rows)["refused"]
    assert told.startswith("Document 0 has no id: `Document.id` is None. Name what is the same in every run")
    told = day("langchain", tmp_path, rows, options={"id": "url"})["refused"]
    assert "its metadata has no 'url'" in told
    told = day("langchain", tmp_path, rows, options={"id": "source", "keep": "always"})["refused"]
    assert told.startswith("`keep='always'`: such a store drops nothing.")


def test_langchain_repeated_ids_keep_the_last_text(tmp_path):
    found = day("langchain", tmp_path, [row("a", FERRY), row("a", BREAD)], **FULL)
    assert (found["kept"], found["dropped"]) == ([["a", BREAD]], [["a", "a later text of 'a' took its place"]])


# ------------------------------------------------------------------------------------------------------------ LlamaIndex


def test_llama_index_runs_what_is_new_and_the_second_day_changes_nothing(tmp_path):
    first = day("llama-index", tmp_path, ROWS[:3])
    assert (first["ran"], first["kept"], first["dropped"]) == (["bread", "ferry"], ["bread", "ferry"], [["late", NEAR]])
    assert first["metadata"] == [ROWS[0]["meta"], ROWS[2]["meta"]]
    second = day("llama-index", tmp_path, ROWS[:3])
    assert (second["ran"], second["kept"], second["removed"]) == ([], ["bread", "ferry"], [])


def test_llama_index_passes_on_the_duplicate_of_a_document_that_the_pipeline_deletes(tmp_path):
    day("llama-index", tmp_path, ROWS[:3])
    found = day("llama-index", tmp_path, ROWS[1:3])
    assert (found["ran"], found["kept"]) == (["late"], ["bread", "late"])
    assert (found["removed"], found["orphans"]) == (["ferry"], [])
    assert day("llama-index", tmp_path, ROWS[1:3])["ran"] == []
    back = day("llama-index", tmp_path, ROWS[:3])
    assert back["dropped"] == [["ferry", NEAR.replace("ferry", "late")]]


def test_llama_index_updates_a_document_and_its_duplicate(tmp_path):
    day("llama-index", tmp_path, ROWS[:3])
    changed = [row("ferry", "The ferry does not run until the storm has passed."), *ROWS[1:3]]
    found = day("llama-index", tmp_path, changed)
    assert (found["ran"], found["kept"]) == (["ferry", "late"], ["bread", "ferry", "late"])
    assert day("llama-index", tmp_path, changed)["ran"] == []


def test_llama_index_refuses_chunks_and_several_processes(tmp_path):
    told = day("llama-index", tmp_path, [row("chunk", FERRY, of="ferry")])["refused"]
    assert told == "A gate decides whole documents: put it before what splits them."
    told = day("llama-index", tmp_path, ROWS[:3], how={"num_workers": 2})["refused"]
    assert told == "A gate decides documents in one process: run the pipeline without `num_workers`."


# -------------------------------------------------------------------------------------------------------------- Haystack

BY_FILE = {"options": {"id": "file", "full": True}}


def test_haystack_writes_what_is_new_and_passes_what_has_no_text(tmp_path):
    rows = [*ROWS, {"text": None, "meta": {"file": "picture"}}]
    rows = [{name: value for name, value in each.items() if name != "id"} for each in rows]
    first = day("haystack", tmp_path, rows, **BY_FILE)
    assert (first["written"], first["dropped"]) == (4, [["late", 1, NEAR]])
    assert first["metadata"] == [rows[place]["meta"] for place in (0, 2, 3, 4)]
    second = day("haystack", tmp_path, rows, **BY_FILE)
    assert (second["written"], second["kept"], second["removed"]) == (4, first["kept"], [])


def test_haystack_names_what_to_delete_and_what_to_load_again(tmp_path):
    day("haystack", tmp_path, ROWS, options={"id": "file"})
    changed = [row("ferry", "The ferry does not run until the storm has passed.")]
    found = day("haystack", tmp_path, changed, options={"id": "file"})
    assert (found["orphans"], found["removed"]) == (["late"], [])
    again = day("haystack", tmp_path, [ROWS[1]], options={"id": "file"})
    assert (again["orphans"], again["written"]) == ([], 1)
    gone = day("haystack", tmp_path, ROWS[1:], **BY_FILE)
    assert (gone["removed"], [name for name, _ in gone["kept"]]) == (["ferry"], ["bread", "empty", "late"])


def test_haystack_refuses_ids_that_change_with_the_text(tmp_path):
    rows = [{"text": FERRY, "meta": {"file": "ferry"}}]
    told = day("haystack", tmp_path, rows)["refused"]
    assert told.startswith("Document 0 has no id that is the same in every run: its `id` is a hash of its content")
    assert "its meta has no 'url'" in day("haystack", tmp_path, rows, options={"id": "url"})["refused"]
    assert day("haystack", tmp_path, ROWS)["written"] == 3


@pytest.mark.parametrize("name", MODULES)
def test_the_version_that_was_tested_is_stated(name):
    source = (ROOT / "src" / "neardup" / "integrations" / MODULES[name]).read_text(encoding="utf-8")
    (stated,) = re.findall(r'^TESTED = "(.*)"$', source, re.MULTILINE)
    assert PIPELINES[name][0].endswith(f"=={stated}")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_page_give_what_they_show(name, tmp_path):
    if missing(name):
        pytest.skip(missing(name))
    command = [python(name), PROGRAMS / "page.py", ROOT / "docs" / "rag.md", MODULES[name].removesuffix(".py")]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "HAYSTACK_TELEMETRY_ENABLED": "False"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280, check=False
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stdout + done.stderr
