"""SCENARIOS: what is run and killed, and what must be there afterwards."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

import neardup
from neardup.hamming.index.files.folder import read_manifest
from neardup.jobs.stores.store_add import add_to_store
from neardup.jobs.streams import filter as filter_by_index
from neardup.jobs.streams import filter_store_walk, line_walk, store_rows
from neardup.jobs.streams.filter_store import filter_with_store
from neardup.store.candidates import exact
from neardup.store.formats import derived
from neardup.store.session.folder import is_store

WORDS = [f"w{i}" for i in range(400)]
SHARDS, ROWS = 8, 60
SHARES = {"train": 0.7, "test": 0.3}
NOT_COMPARED = (".resume", ".partial", ".summary.json")
"""What is unfinished, and summaries, which tell times."""


@dataclass(frozen=True)
class Scenario:
    """A run that may be killed.

    Attributes:
        name: for figures.
        make: write what it reads, below the current folder.
        run: do it; after a kill, the same call goes on.
        result: what it leaves, to be compared.
        wrong: what is wrong right after a kill, in words; empty if nothing is. It is given the results before and after the run.
        strays: files that a finished run should not leave.
        is_done: whether the run has been done, although it was killed, and must not be called again.
        tidy: a next run, which removes what is left by one that was killed after it was done.
    """

    name: str
    make: Callable[[], None]
    run: Callable[[], object]
    result: Callable[[], Any]
    strays: Callable[[], list[str]]
    wrong: Callable[[Any], str] = lambda _: ""
    is_done: Callable[[Any], bool] = lambda _: False
    tidy: Callable[[], object] = lambda: None


def _rows(seed: int, shards: int = SHARDS, words_in_a_line: int = 9) -> list[list[dict[str, Any]]]:
    """Texts of several lines, many of them edited copies, in shards."""
    rng = random.Random(seed)
    texts = [rng.choices(WORDS, k=rng.randint(5, 60)) for _ in range(shards * ROWS // 3)]
    found = []
    for shard in range(shards):
        rows = []
        for number in range(ROWS):
            words = list(rng.choice(texts))
            for _ in range(rng.randint(0, 2)):
                words[rng.randrange(len(words))] = rng.choice(WORDS)
            text = "\n".join(" ".join(words[at : at + words_in_a_line]) for at in range(0, len(words), words_in_a_line))
            rows.append({"id": f"{seed}-{shard}-{number}", "text": text})
        found.append(rows)
    return found


def _write(path: str, rows: list[dict[str, Any]]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    if path.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=20)
    else:
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))


def _bytes(*beginnings: str) -> dict[str, bytes]:
    """The files that begin so."""
    found = {}
    for path in sorted(Path().rglob("*")):
        if path.is_file() and str(path).startswith(beginnings) and not any(part in str(path) for part in NOT_COMPARED):
            found[str(path)] = path.read_bytes()
    return found


def _hidden() -> list[str]:
    return [str(path) for path in Path().rglob("*") if ".partial" in path.name]


def _half_written(known: Any) -> str:
    """Files appear under their names whole, or not at all."""
    _, whole = known
    wholes = whole[0] if isinstance(whole, tuple) else whole
    found = _bytes("out", "removed")
    return " ".join(f"{name} is not whole" for name, content in found.items() if content != wholes.get(name))


def _dedup(name: str, inputs: str, output: str, **options: Any) -> Scenario:
    """A run with `--resume` from shards to shards, or to a file."""
    ending = "parquet" if "parquet" in name else "jsonl"
    run: Any = neardup.deduplicate_units if "unit" in options else neardup.deduplicate_files
    run = neardup.passages_files if "min_tokens" in options else run

    def make() -> None:
        for number, rows in enumerate(_rows(7)):
            _write(f"in/{number}.{ending}", rows)
        _write("ref.jsonl", _rows(7)[3][:5])

    def strays() -> list[str]:
        kept = {path.name for path in Path("out.resume").iterdir()}
        return _hidden() + sorted(kept - {"run.json", "result.json"})

    return Scenario(
        f"dedup --resume, {name}", make, lambda: run(inputs, output, resume=True, threads=1, **options),
        lambda: _bytes("out", "removed"), strays, _half_written,
    )  # fmt: skip


def _split(name: str, output: str, **options: Any) -> Scenario:
    """A split with `--resume`, after an earlier one in which nothing moves."""

    def make() -> None:
        for number, rows in enumerate(_rows(7)):
            _write(f"in/{number}.jsonl", [row | {"label": f"l{place % 3}"} for place, row in enumerate(rows)])
        neardup.split_files("in/0.jsonl", "earlier", shares=SHARES, threads=1)

    def run() -> None:
        neardup.split_files("in", output, shares=SHARES, resume=True, threads=1, **options)

    def strays() -> list[str]:
        kept = {path.name for path in Path(f"{output}.resume").iterdir()}
        return _hidden() + sorted(kept - {"run.json", "result.json"})

    return Scenario(f"split --resume, {name}", make, run, lambda: _bytes("out"), strays, _half_written)


def _index_state() -> Any:
    """What a query finds, and how many there are."""
    neardup.query_index("ix", "query.jsonl", "found.jsonl", threads=1, overwrite=True)
    info = neardup.Index.open("ix").info(verify=True)
    assert not info.damaged, info.damaged
    return Path("found.jsonl").read_bytes(), info.documents, info.short


def _index_strays() -> list[str]:
    named = {"lock", "index.json", *read_manifest(Path("ix")).files}
    return sorted({path.name for path in Path("ix").iterdir()} - named) + _hidden()


def _index(name: str, change: Callable[[], object]) -> Scenario:
    """A change of an index, which is the old one or the new one after a kill."""

    def make() -> None:
        shards = _rows(11, 8)
        _write("old.jsonl", [row for rows in shards[:4] for row in rows])
        _write("new.jsonl", [row for rows in shards[4:] for row in rows])
        _write("query.jsonl", [row | {"id": f"q{row['id']}"} for row in shards[2] + shards[6]])
        neardup.build_index("ix", "old.jsonl", max_distance=12, method="block-tables", threads=1)

    def wrong(known: Any) -> str:
        return "" if _index_state() in known else "the index is neither the old nor the new one"

    return Scenario(
        f"index {name}",
        make,
        change,
        _index_state,
        _index_strays,
        wrong,
        is_done=lambda new: _index_state() == new,
        tidy=lambda: neardup.Index.open("ix").save(),
    )


def _filter(name: str, **options: Any) -> Scenario:
    def make() -> None:
        rows = [row for shard in _rows(13, 6) for row in shard]
        _write("a.jsonl", rows[:200])
        _write("b.jsonl", rows[200:])

    def run() -> None:
        with mock.patch.object(filter_by_index, "COMMIT_ROWS", 40), mock.patch.object(line_walk, "BLOCK_BYTES", 8_000):
            neardup.filter_files("ix", ["a.jsonl", "b.jsonl"], "out.jsonl", threads=1, **options, create=True)

    def result() -> Any:
        return _bytes("out"), len(neardup.Index.open("ix"))

    return Scenario(f"filter{name}", make, run, result, _hidden, _half_written)


def _filter_store(name: str, **options: Any) -> Scenario:
    """Half of the rows have ids, which are repeated in the other half."""

    def make() -> None:
        rows = [row for shard in _rows(13, 6) for row in shard]
        _write("a.jsonl", rows[:200])
        _write("b.jsonl", [{"text": row["text"]} for row in rows[200:]])
        _write("c.jsonl", rows[:100])

    def run() -> None:
        with (
            mock.patch.object(filter_store_walk, "DOCUMENTS_AT_ONCE", 20),
            mock.patch.object(line_walk, "BLOCK_BYTES", 8_000),
        ):
            filter_with_store("seen", ["a.jsonl", "b.jsonl", "c.jsonl"], "out.jsonl", threads=1, **options, create=True)

    def result() -> Any:
        with neardup.Store("seen") as store:
            return _bytes("out"), len(store), store.state["rows_without_id"]

    return Scenario(f"filter --store{name}", make, run, result, _hidden, _half_written)


def _store_add(name: str, output: str | None) -> Scenario:
    """Parquet and JSON lines, half of them without ids."""

    def make() -> None:
        rows = [row for shard in _rows(13, 6) for row in shard]
        _write("a.parquet", rows[:200])
        _write("b.jsonl", [{"text": row["text"]} for row in rows[200:]])
        with neardup.Store("seen"):
            pass

    def run() -> None:
        with mock.patch.object(store_rows, "DOCUMENTS_AT_ONCE", 20):
            add_to_store("seen", ["a.parquet", "b.jsonl"], output, threads=1)

    def state() -> Any:
        with neardup.Store("seen", mode="r") as store:
            return len(store), store.state

    def is_done(new: Any) -> bool:
        """Also whether its last step was done."""
        return state() == new[1]

    return Scenario(f"store add{name}", make, run, lambda: (_bytes("out"), state()), _hidden, _half_written, is_done)


def _store(name: str, **options: Any) -> Scenario:
    """Documents are added, removed and replaced, and the store is compacted, from the position on that it has saved."""
    rows = [row for shard in _rows(17, 6) for row in shard]
    texts = [row["text"] for row in rows]

    def run() -> None:
        with (
            mock.patch.object(derived, "MAX_ENTRIES_IN_MEMORY", 500),
            mock.patch.object(exact, "MIN_DOCUMENTS_LEARNED", 30),
            mock.patch.object(exact, "GROWTH_FACTOR", 3),
            neardup.Store("st", threads=1, **options) as store,
        ):
            for at in range((store.state or {"at": 0})["at"], len(rows), 20):
                if at % 100 == 80:
                    store.remove([row["id"] for row in rows[at - 60 : at - 50]])
                    store.compact()
                ids = [row["id"] for row in rows[at : at + 20]]
                ids[:2] = [row["id"] for row in rows[at // 2 : at // 2 + 2]]  # updates, or copies
                store.check_and_add_many(ids, texts[at : at + 20], state={"at": at + 20})
                Path("said").write_text(str(at + 20))

    def result() -> Any:
        with neardup.Store("st") as store:
            return store.check_many(texts), [store.get(row["id"]) is not None for row in rows], store.state

    def wrong(_: Any) -> str:
        if not is_store("st"):
            return "what was acknowledged is not there" if Path("said").exists() else ""
        with neardup.Store("st", mode="r") as store:
            if not store.verify().is_sound:
                return f"the store is damaged: {store.verify()}"
            at = (store.state or {"at": 0})["at"]
            said = Path("said").read_text() if Path("said").exists() else ""
            return "what was acknowledged is not there" if at < int(said or 0) else ""

    def strays() -> list[str]:
        with neardup.Store("st"):
            pass
        kinds = ("record.sqlite", "lock", "rows", "compared", "signatures", "segment", "order", "distances")
        names = sorted(path.name for path in Path("st").iterdir())
        unknown = [each for each in names if each.split("-")[0] not in kinds]
        generations = [each for each in names if each.startswith("rows-")]
        return unknown + (generations if len(generations) > 1 else [])

    return Scenario(f"store{name}", lambda: None, run, result, strays, wrong)


SCENARIOS = [
    _dedup("exact", "in", "out/", method="exact"),
    _dedup("minhash, longest", "in", "out/", method="minhash", keep="longest"),
    _dedup("simhash, components", "in", "out.jsonl.gz", method="simhash", cluster="components"),
    _dedup("annotated, with a reference", "in", "out.jsonl.zst", annotate=True, against="ref.jsonl"),
    _dedup("the best of both sides", "in", "out/", against="ref.jsonl", prefer="best", keep="longest"),
    _dedup("parquet, audits by shard", "in", "out/", audit="removed/", method="exact", similarity="edit"),
    _dedup("lines", "in", "out/", unit="line", method="exact", on_error="skip"),
    _dedup("passages", "in", "out/", min_tokens=8),
    _dedup("passages of lines, with a reference", "in", "out.jsonl", min_tokens=5, align="line", against="ref.jsonl"),
    _dedup("passages, listed", "in", "out.jsonl", min_tokens=8, list=True),
    _dedup("paragraphs, parquet", "in", "out/", unit="paragraph", cluster="components"),
    _split("in shards", "out"),
    _split("after an earlier one", "out", previous="earlier", stratify="label"),
    _index("add", lambda: neardup.add_to_index("ix", "new.jsonl", threads=1)),
    _index(
        "remove", lambda: neardup.remove_from_index("ix", [f"11-{shard}-{i}" for shard in range(3) for i in range(50)])
    ),
    _filter(""),
    _filter(", skipping", on_error="skip"),
    _filter_store(""),
    _store(""),
    _store(", minhash", method="minhash", min_similarity=0.6),
    _store(", simhash", method="simhash", min_similarity=0.5),
    _filter_store(", skipping, minhash", on_error="skip", method="minhash", min_similarity=0.6),
    _filter_store(", longest", keep="longest"),
    _store_add("", "out.jsonl"),
    _store_add(", without answers", None),
]
