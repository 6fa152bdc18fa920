"""Peers that run as their users run them: text-dedup and datatrove from files on the disk, in environments of their own; semhash.

The first two are measured by themselves; preparing their input and reading their output is not timed.
"""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from commands import launch
from contender import AT_LEAST, CHARACTERS, MEASURED, PERMUTATIONS, Found, UnavailableError

IDEOGRAPH = re.compile("([\u3400-\u9fff])")
TEXT_DEDUP = {
    "minhash": ("--num_perm", str(PERMUTATIONS), "--threshold", str(AT_LEAST), "--hash_func", "xxh3"),
    "simhash": (),
}
"""The options of text-dedup's commands; SimHash's are its defaults: runs of 3 characters, 64 bits, distance 3."""
MAKE_DATASET = """
import sys, datasets
_, source, cache, output = sys.argv
datasets.load_dataset("json", data_files=source, split="train", cache_dir=cache).select_columns("text").save_to_disk(output)
"""
LIST_CLUSTERS = """
import json, pickle, sys
forest = pickle.load(open(sys.argv[1], "rb"))
print(json.dumps([[row, forest.find(row)] for row in list(forest.parent)]))
"""
DATATROVE_LANGUAGES = {"english": "eng", "chinese": "cmn"}


def _launched(command: list[str], folder: Path) -> Found:
    """What the command took, by the names of MEASURED; raises if it fails."""
    run = launch(command, cwd=folder)
    return {name: np.array(getattr(run, name)) for name in MEASURED}


def text_dedup(command: str, python: str, language: str) -> Callable[[], Callable[[list[str]], Found]]:
    """text-dedup's command line from a data set on the disk to its union-find, with as many processes as it takes by itself.

    Its MinHash splits at what is no letter: Chinese gets a space around every ideograph, and runs of five.
    """
    options: tuple[str, ...] = TEXT_DEDUP[command]
    spaced = command == "minhash" and language == "chinese"
    if command == "minhash":
        options = (*options, "--ngram", str(CHARACTERS) if spaced else "3")

    def prepare() -> Callable[[list[str]], Found]:
        folder = tempfile.TemporaryDirectory()
        source, cache, data, output = (Path(folder.name) / name for name in ("in.jsonl", "cache", "data", "out"))

        def work(texts: list[str]) -> Found:
            given = [IDEOGRAPH.sub(r" \1 ", text) if spaced else text for text in texts]
            source.write_text("".join(json.dumps({"text": text}) + "\n" for text in given), encoding="utf-8")
            subprocess.run([python, "-c", MAKE_DATASET, str(source), str(cache), str(data)], check=True)
            places = ["--local", "--path", str(data), "--output", str(output), "--column", "text", "--debug"]
            took = _launched([python, "-m", f"text_dedup.{command}", *places, *options], Path(folder.name))
            listed = subprocess.run(
                [python, "-c", LIST_CLUSTERS, str(output / "uf.pkl")], check=True, stdout=subprocess.PIPE
            )
            cluster = np.arange(len(texts))
            for row, root in json.loads(listed.stdout):
                cluster[row] = root
            folder.cleanup()
            return {"cluster": cluster} | took

        return work

    return prepare


def datatrove(shingle: int, python: str, language: str) -> Callable[[], Callable[[list[str]], Found]]:
    """The four stages of datatrove's MinHash by its local executor, with as many tasks and files as there are processors."""
    tasks = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    def prepare() -> Callable[[list[str]], Found]:
        def work(texts: list[str]) -> Found:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                (folder / "in").mkdir()
                for task in range(tasks):
                    lines = (
                        json.dumps({"id": str(row), "text": texts[row]}) + "\n"
                        for row in range(task, len(texts), tasks)
                    )
                    (folder / "in" / f"{task:03}.jsonl").write_text("".join(lines), encoding="utf-8")
                recipe = str(Path(__file__).with_name("datatrove_recipe.py"))
                settings = [DATATROVE_LANGUAGES[language], str(shingle), str(tasks)]
                took = _launched([python, recipe, str(folder), *settings], folder)
                cluster, removed = -1 - np.arange(len(texts)), np.ones(len(texts), bool)
                for part in ("kept", "removed"):
                    for file in (folder / part).glob("*.jsonl"):
                        for line in file.read_text(encoding="utf-8").splitlines():
                            record = json.loads(line)
                            removed[int(record["id"])] = part == "removed"
                            number = record["metadata"].get("minhash_cluster_id", -1)
                            if number >= 0:
                                cluster[int(record["id"])] = number
            return {"cluster": cluster, "removed": removed} | took

        return work

    return prepare


def semhash() -> Callable[[list[str]], Found]:
    """SemHash with its own model, backend and threshold (cosine 0.9 of embeddings): which texts it drops, no pairs."""
    from model2vec import StaticModel
    from semhash import SemHash

    try:
        model = StaticModel.from_pretrained("minishlab/potion-base-8M")
    except Exception as problem:
        said = " ".join(str(problem).split())
        raise UnavailableError(f"its model cannot be had: {type(problem).__name__}: {said}") from problem

    def work(texts: list[str]) -> Found:
        records = [{"row": str(row), "text": text} for row, text in enumerate(texts)]
        result = SemHash.from_records(records, columns=["text"], model=model).self_deduplicate()
        removed = np.ones(len(texts), bool)
        removed[[int(record["row"]) for record in result.selected]] = False
        return {"removed": removed}

    return work
