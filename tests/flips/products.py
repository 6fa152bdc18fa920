"""What the program writes and reads again: outputs and audits, files of stages, resume folders, indexes, frequencies."""

import contextlib
import csv
import json
import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

import neardup
from flips.corpus import OPTIONS, ROWS
from flips.form import Form, UnreadableError
from flips.inputs import content_of
from neardup.fingerprints.weights import idf
from neardup.io.outputs.outputs import Outputs
from neardup.jobs.streams import filter as filter_by_index
from neardup.jobs.streams import line_walk
from neardup.judging.evaluation.labels import LabelFile
from neardup.survivors.records.cluster_file import read_cluster_file

NEAR = {name: OPTIONS[name] for name in ("method", "min_similarity", "threads")}


SUMMARY_SAYS = ("out.duplicates.jsonl", "in.jsonl")
"""A summary is plain JSON; what it says wrongly, of inputs or of a recipe, is refused as if the run had been so."""


IN_INDEX = ("ix ", "ix/", "ix:", "ix,", "ix.")
"""A refusal may name the index; by its folder, not by a word that ends so."""


class Interrupted(BaseException):
    """The process ends here."""


def _interrupt(*_: Any, **__: Any) -> None:
    raise Interrupted


def _inputs() -> None:
    Path("in.jsonl").write_bytes(content_of("jsonl", ROWS))


def _below(*folders: str) -> Callable[[], list[str]]:
    return lambda: sorted(
        str(path) for folder in folders for path in Path(folder).rglob("*") if path.is_file() and path.stat().st_size
    )


def _lines(name: str) -> list[Any]:
    return [json.loads(line) for line in Path(name).read_bytes().split(b"\n") if line.strip()]


def _run_of_dedup() -> None:
    _inputs()
    neardup.deduplicate_files("in.jsonl", "out.jsonl", **OPTIONS)
    for name in ("out.jsonl", "out.duplicates.jsonl"):
        shutil.copy(name, f"true-{name}")


def _alike(found: Any, true: Any) -> bool:
    """Similarities are compared to 1e-12, as `verify` does."""
    if isinstance(found, float) and isinstance(true, float):
        return math.isclose(found, true, rel_tol=0, abs_tol=1e-12)
    if isinstance(found, list) and isinstance(true, list):
        return len(found) == len(true) and all(map(_alike, found, true))
    if isinstance(found, dict) and isinstance(true, dict):
        return found.keys() == true.keys() and all(_alike(found[name], true[name]) for name in found)
    return bool(found == true)


def _verified(target: str) -> Form:
    """Flips in a file of a finished run, which `verify` judges."""

    def is_changed() -> bool:
        try:
            return not _alike(_lines(target), _lines(f"true-{target}"))
        except (ValueError, UnicodeError):
            return True

    def use() -> str:
        proven = neardup.verify_files("out.jsonl").proven
        if not proven:
            return "not proven"
        return "proven, though changed" if not target.endswith(".summary.json") and is_changed() else "proven"

    title = f"{target} of dedup, by verify"
    return Form(title, _run_of_dedup, lambda: [target], use, lambda: "not proven", named=SUMMARY_SAYS)


def _reported() -> Form:
    def use() -> str:
        neardup.report("out.duplicates.jsonl", "page.html")
        return "a page"

    names = ["out.duplicates.jsonl", "out.summary.json"]
    return Form("audit and summary of dedup, by report", _run_of_dedup, lambda: names, use)


def _stages(pairs: str) -> Callable[[], None]:
    def make() -> None:
        _inputs()
        neardup.fingerprint_files("in.jsonl", "prints.parquet", value=["id"], threads=1)
        neardup.pair_files("in.jsonl", pairs, **NEAR)
        neardup.cluster_files(pairs, "clusters.parquet", documents="prints.parquet")

    return make


def _clustered(pairs: str) -> Callable[[], Any]:
    def use() -> Any:
        neardup.cluster_files(pairs, "again.parquet", documents="prints.parquet")
        summary = read_cluster_file("again.parquet").summary
        known = {name: value for name, value in summary.items() if name not in TIMES}
        return pq.read_table("again.parquet").to_pylist(), known

    return use


TIMES = (
    "seconds",
    "read_bytes",
    "written_bytes",
    "peak_memory_bytes",
    "peak_temporary_bytes",
    "temporary_limit_bytes",
    "memory",
)


def _applied() -> Any:
    neardup.apply_files("clusters.parquet", "in.jsonl", "kept.jsonl", audit="audit.jsonl", threads=1)
    return Path("kept.jsonl").read_bytes(), Path("audit.jsonl").read_bytes()


def _against() -> Any:
    neardup.deduplicate_files(
        "in.jsonl",
        "kept.jsonl",
        audit="audit.jsonl",
        against="prints.parquet",
        min_similarity=0,
        max_distance=20,
        threads=1,
    )
    return Path("kept.jsonl").read_bytes(), Path("audit.jsonl").read_bytes()


def _resumed(**options: Any) -> Form:
    """A run that was interrupted before its outputs got their names; resumed, it reads all that it kept."""
    given = OPTIONS | options | {"resume": True}
    run = neardup.deduplicate_units if "unit" in options else neardup.deduplicate_files

    def make() -> None:
        _inputs()
        with mock.patch.object(Outputs, "commit", _interrupt), contextlib.suppress(Interrupted):
            run("in.jsonl", "out.jsonl", **given)
        for step in ("candidates.done", "decisions.done"):  # or passes are not read
            (Path("out.resume") / step).unlink(missing_ok=True)

    def use() -> Any:
        run("in.jsonl", "out.jsonl", **given)
        return Path("out.jsonl").read_bytes(), Path("out.duplicates.jsonl").read_bytes()

    title = " ".join(["resume folder of", *map(str, options.values())])
    return Form(title, make, _below("out.resume"), use, named=("out.resume",))


def _make_index() -> None:
    _inputs()
    Path("more.jsonl").write_bytes(content_of("jsonl", [row | {"id": f"m{row['id']}"} for row in ROWS]))
    neardup.build_index("ix", "in.jsonl", threads=1, max_distance=20)
    neardup.add_to_index("ix", "more.jsonl", threads=1)
    neardup.remove_from_index("ix", ["d3", "md4"])


def _queried() -> Any:
    neardup.query_index("ix", "in.jsonl", "found.jsonl", threads=1)
    return Path("found.jsonl").read_bytes()


def _index_doubts() -> bool:
    return bool(neardup.Index.open("ix").info(verify=True).damaged)


@contextlib.contextmanager
def _small_steps() -> Iterator[None]:
    with mock.patch.object(filter_by_index, "COMMIT_ROWS", 6), mock.patch.object(line_walk, "BLOCK_BYTES", 1_000):
        yield


def _make_filter() -> None:
    _inputs()
    original, blocks = filter_by_index.FilterWalk.decide, []

    def decide(self: Any, *given: Any) -> Any:
        blocks.append(1)
        if len(blocks) > 3:
            raise Interrupted
        return original(self, *given)

    with (
        _small_steps(),
        mock.patch.object(filter_by_index.FilterWalk, "decide", decide),
        contextlib.suppress(Interrupted),
    ):
        neardup.filter_files("ix", "in.jsonl", "out.jsonl", threads=1, create=True)


def _filtered() -> Any:
    with _small_steps():
        neardup.filter_files("ix", "in.jsonl", "out.jsonl", threads=1, create=True)
    return Path("out.jsonl").read_bytes(), Path("out.duplicates.jsonl").read_bytes()


def _make_frequencies() -> None:
    _inputs()
    neardup.fit_files("in.jsonl", "counts.parquet", threads=1)


def _weighted() -> Any:
    idf._load.cache_clear()  # or the file is not read again in this process
    recipe = neardup.Recipe(weights="tfidf", document_frequencies="counts.parquet")
    return neardup.fingerprint([row["text"] for row in ROWS], recipe=recipe).tolist()


LABELS = [{"left_id": f"d{number}", "right_id": f"d{number + 1}", "label": number % 2} for number in range(12)]


def _labels(ending: str) -> Form:
    """Labels of pairs, for `evaluate`; plain files, of which a flip may make others."""
    name = f"labels.{ending}"

    def make() -> None:
        if ending == "parquet":
            pq.write_table(pa.Table.from_pylist(LABELS), name)
        elif ending == "jsonl":
            Path(name).write_text("".join(json.dumps(label) + "\n" for label in LABELS))
        else:
            Path(name).write_text(
                "".join(f"{','.join(map(str, row))}\n" for row in (LABELS[0], *(each.values() for each in LABELS)))
            )

    def use() -> Any:
        return [dict(row) for row in LabelFile(Path(name)).rows()]

    def reread() -> Any:
        try:
            if ending == "parquet":
                return pq.read_table(name).to_pylist()
            with Path(name).open(encoding="utf-8", newline="") as file:
                return (
                    list(csv.DictReader(file))
                    if ending == "csv"
                    else [json.loads(line) for line in file if line.strip()]
                )
        except (ValueError, OSError, pa.ArrowException, csv.Error) as problem:
            raise UnreadableError(str(problem)) from problem

    return Form(name, make, lambda: [name], use, reread)


PRODUCTS = [
    _verified("out.jsonl"),
    _verified("out.duplicates.jsonl"),
    _verified("out.summary.json"),
    _reported(),
    Form(
        "fingerprint file, by clusters",
        _stages("pairs.parquet"),
        lambda: ["prints.parquet"],
        _clustered("pairs.parquet"),
    ),
    Form("fingerprint file, as a reference", _stages("pairs.parquet"), lambda: ["prints.parquet"], _against),
    *(
        Form(f"pairs in {name}", _stages(name), lambda name=name: [name, f"{name}.summary.json"], _clustered(name))
        for name in ("pairs.parquet", "pairs.jsonl", "pairs.jsonl.gz", "pairs.jsonl.zst")
    ),
    Form("cluster file", _stages("pairs.parquet"), lambda: ["clusters.parquet"], _applied),
    _resumed(),
    _resumed(method="minhash", cluster="components"),
    _resumed(unit="line", similarity="edit"),
    Form("index", _make_index, _below("ix"), _queried, named=IN_INDEX, doubts=_index_doubts),
    Form("index of an interrupted filter", _make_filter, _below("ix"), _filtered, named=IN_INDEX, doubts=_index_doubts),
    *map(_labels, ("jsonl", "csv", "parquet")),
    Form("document frequencies", _make_frequencies, lambda: ["counts.parquet"], _weighted),
]
