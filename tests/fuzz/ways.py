"""WAYS: run a case by the library or by commands, and gather what they say in one form."""

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import neardup
from agreement import runners
from agreement.corpora import Corpus
from agreement.layouts import Files, Layout
from fuzz import files
from fuzz.cases import Case

Place = tuple[int, int]
"""A row, the reference's counted on, and the number of a line or paragraph; 0 for documents."""


@dataclass
class Observed:
    """What came out.

    Attributes:
        texts: of all documents, as they were read.
        method: that was taken.
        audit: of each removed place: its survivor, similarity, distance, whether they are equal, and the cluster.
        links: of each removed place, the match that brought it in, with its similarity; only with components, if it is told.
        written: of each input, the text in the output, or None; None if the way has no output.
        pairs: for `match`, with similarity and distance.
        counts: of the summary.
        failures: of a verification.
    """

    texts: list[str]
    method: str
    audit: dict[Place, tuple[Place, float | None, int, bool, Any]] = field(default_factory=dict)
    links: dict[Place, tuple[Place, float | None]] = field(default_factory=dict)
    written: list[str | None] | None = None
    pairs: dict[tuple[int, int], tuple[float | None, int]] | None = None
    counts: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


@contextlib.contextmanager
def squeezed(case: Case) -> Iterator[None]:
    """With the room and the patience of the case."""
    with contextlib.ExitStack() as stack:
        for name, value in (
            ("neardup.resources.resources.share_of", case.share and (lambda memory, use: case.share)),
            ("neardup.survivors.clusters.DOCUMENTS_PER_STEP", case.step),
            ("neardup.dedup.room_for_elements", None if case.keeps_elements else lambda _: 0),
            ("neardup.matching.candidates.auto.PATIENCE_SECONDS", None if case.patient else 0.0),
            ("neardup.matching.candidates.auto.TIMES_SLOWER", None if case.patient else 0.0),
            ("neardup.survivors.families.FEW_PAIRS_PER_DOCUMENT", case.block and -1),
            ("neardup.survivors.families.SMALL_BLOCK_DOCUMENTS", case.block),
            ("neardup.survivors.families.ESTIMATED_DOCUMENTS", case.block and 1 << 60),
        ):
            if value is not None:
                stack.enter_context(mock.patch(name, value))
        yield


def recipe_of(case: Case) -> neardup.Recipe:
    return neardup.Recipe(**case.recipe)


def run(case: Case) -> Observed:
    """Run a case; files are in a folder of their own."""
    with squeezed(case), tempfile.TemporaryDirectory(prefix="neardup-fuzz-") as folder, contextlib.chdir(folder):
        return IN_MEMORY.get(case.way, _by_files)(case)


def _rows(case: Case) -> tuple[list[dict[str, Any]], list[dict[str, Any]] | None]:
    rows = [files.row_of(each, row, each.text) for row, each in enumerate(case.all_documents)]
    n = len(case.documents)
    return rows[:n], None if case.reference is None else rows[n:]


def _deduplicated(case: Case) -> Observed:
    rows, reference = _rows(case)
    data, against = (
        (rows, reference) if case.way == "rows" else (files.table_of(rows), reference and files.table_of(reference))
    )
    found = neardup.deduplicate(data, against=against, recipe=recipe_of(case), **case.options)
    survivors = found.survivors if isinstance(found.survivors, list) else found.survivors.to_pylist()
    written: list[str | None] = [None] * len(rows)
    for row in survivors:
        written[int(row["id"][1:])] = row["text"]
    counts = found.summary.as_dict()
    observed = Observed(case.texts, counts["method"], written=written, counts=counts)
    _gather(observed, found.duplicates.to_pylist(), [f"d{row}" for row in range(len(case.texts))], len(rows))
    clusters = {(row["row"], 0): row["cluster_id"] for row in found.clusters.to_pylist()}
    for place, (_, _, _, _, cluster) in observed.audit.items():
        if clusters.get(place) != cluster:
            observed.failures.append(f"cluster of {place}: {clusters.get(place)} in clusters, {cluster} in duplicates")
    return observed


def _matched(case: Case) -> Observed:
    rows, reference = _rows(case)
    found = neardup.match(rows, reference, recipe=recipe_of(case), **case.options)
    shift = 0 if reference is None else len(rows)
    pairs: dict[tuple[int, int], tuple[float | None, int]] = {}
    failures = []
    for left, right, similarity, distance in zip(
        *(getattr(found, name).tolist() for name in ("left", "right", "similarity", "distance")), strict=True
    ):
        pair = left, right + shift
        if pair in pairs:
            failures.append(f"{pair} is listed twice")
        pairs[pair] = None if similarity != similarity else similarity, distance
    method = (
        "simhash"
        if case.option("method") == "auto" and case.option("max_distance") is not None
        else case.option("method")
    )
    return Observed(case.texts, method, pairs=pairs, failures=failures)


IN_MEMORY = {"rows": _deduplicated, "table": _deduplicated, "match": _matched}


def _gather(observed: Observed, audit: list[dict[str, Any]], ids: list[str], inputs: int) -> None:
    """Read the lines of an audit."""
    row_of = {id_: row for row, id_ in enumerate(ids)}
    for line in audit:
        place = line["row"], line.get("unit", 0)
        survivor = line["survivor_row"]
        survivor = inputs + line["reference_row"] if survivor is None else survivor
        if place in observed.audit:
            observed.failures.append(f"{place} is removed twice")
        if line["id"] != ids[place[0]] or line["survivor_id"] != ids[survivor]:
            observed.failures.append(
                f"{place}: the ids {line['id']!r} and {line['survivor_id']!r} are not those of the rows"
            )
        stays = survivor, line.get("survivor_unit", 0)
        observed.audit[place] = stays, line["similarity"], line["distance"], line["exact"], line["cluster_id"]
        if "matched_similarity" in line:
            match = (
                (line["matched_row"], line["matched_unit"])
                if "matched_unit" in line
                else (row_of[line["matched_id"]], 0)
            )
            observed.links[place] = match, line["matched_similarity"]
    if list(observed.audit) != sorted(observed.audit):
        observed.failures.append("the audit is not in the order of the rows")


def _by_files(case: Case) -> Observed:
    texts = [files.as_read(case, text) for text in case.texts[: len(case.documents)]]
    n, reference = len(case.documents), case.texts[len(case.documents) :]
    texts += [files.as_read(case, text) for text in reference] if case.kind == "lines" else reference
    names, ids = files.write(case, texts)
    if case.kind == "lines":
        ids[n:] = [f"ref.jsonl:{number}" for number in range(len(reference))]
    with _silence():
        if case.unit != "document":
            audit, output, counts = _of_units(case, names)
        elif case.way == "stages":
            done = runners.stages(_agreement_case(case), Files(names, names, []))
            audit, output, counts = done.audit, done.output, done.counts
        elif case.way == "files":
            audit, output, counts = _by_library(case, names)
        else:
            flags = [*_flags(case), *(["--resume"] if case.way == "resume" else [])]
            done = runners.batch(_agreement_case(case), Files(names, names, []), *flags)
            audit, output, counts = done.audit, done.output, done.counts
        observed = Observed(texts, counts["method"], counts=counts)
        _gather(observed, audit, ids, len(case.documents))
        if case.kind == "lines" or output is None:
            observed.written = None
        else:
            observed.written = files.texts_of(case, output, len(case.documents))
        if case.unit == "document" and case.way != "stages" and len(texts) % 2:
            verified = neardup.verify_files("kept/", audit="audit.jsonl")
            failures = [f"verify: {check.claim} {check.first}" for check in verified.checks if check.failures]
            observed.failures += failures or ([] if verified.proven else ["verify: not proven"])
    return observed


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Commands say nothing, but for why they failed."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            yield
    except AssertionError as failure:
        raise AssertionError(f"{failure}\n{said.getvalue()}") from failure


def _agreement_case(case: Case) -> runners.Case:
    """As the runners of `agreement` take it."""
    reference = [] if case.reference is None else [{}]
    layout = Layout("lines" if case.kind == "lines" else "jsonl")
    return runners.Case(Corpus("fuzz", [], reference), case.options, layout)


def _flags(case: Case) -> list[str]:
    """Of the recipe, the dialect and the lines."""
    flags = list(files.FLAGS.get(case.kind, [])) if case.kind != "lines" else []
    if case.recipe:
        lines = [f"{name} = {json.dumps(value)}\n" for name, value in case.recipe.items()]
        Path("recipe.toml").write_text("".join(lines), encoding="utf-8")
        flags += ["--recipe", "recipe.toml"]
    return flags


def _read(audit: str) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    lines = Path(audit).read_bytes().splitlines()  # of a string, they would end at U+2028, too
    return [json.loads(line) for line in lines], runners.tree("kept") if os.path.isdir("kept") else {}


def _by_library(case: Case, names: list[str]) -> tuple[list[dict[str, Any]], dict[str, bytes], dict[str, Any]]:
    against = {} if case.reference is None else {"against": "ref.jsonl"}
    found = neardup.deduplicate_files(
        names,
        "kept/",
        audit="audit.jsonl",
        recipe=recipe_of(case),
        **against,
        **case.options,
        **files.READING.get(case.kind, {}),
    )
    return *_read("audit.jsonl"), found.summary.as_dict()


def _of_units(case: Case, names: list[str]) -> tuple[list[dict[str, Any]], dict[str, bytes], dict[str, Any]]:
    if case.way == "files":
        found = neardup.deduplicate_units(
            names, "kept/", unit=case.unit, audit="audit.jsonl", recipe=recipe_of(case), **case.options,
            **files.READING.get(case.kind, {}),
        )  # fmt: skip
        return *_read("audit.jsonl"), found.summary.as_dict()
    given = _agreement_case(case).flags
    runners.call("dedup", *names, "-o", "kept/", "--audit", "audit.jsonl", "--unit", case.unit, *given, *_flags(case))
    return *_read("audit.jsonl"), json.loads(Path("audit.summary.json").read_bytes())
