"""Why a document was removed; or what it is near, and why it was kept."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neardup.audit import COLUMNS
from neardup.errors import DataError, InputError
from neardup.fingerprints.simhash import Fingerprints, fingerprint_array
from neardup.io.batch import Batch
from neardup.io.compression import open_for_reading
from neardup.io.corpus import FileCorpus, open_corpus
from neardup.io.places import Place, place_of
from neardup.io.reading import READING, Reading
from neardup.jobs.targets import summary_path
from neardup.recipe import Recipe, check_same
from neardup.similarities import SIMILARITY_TABLE, similarity
from neardup.text.normalizers import normalize
from neardup.threads import thread_count
from neardup.wording import counted

NEAREST = 5
_FILES = ("inputs", "folder", *READING)


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A document near the one asked about, and what came of it."""

    id: Any
    row: int
    distance: int
    similarity: float
    verdict: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of a document.

    Attributes:
        id, row: of the document; the first of those removed, if several have the id.
        removed: its line of the audit, one for each document of that id that was removed; empty if it was kept.
        neighbors: if it was kept, the documents of nearest fingerprint, and why each was no reason to remove it.
        repeated_ids: whether the run found ids that several documents have: others of this id may have been kept.
    """

    id: Any
    row: int
    removed: tuple[dict[str, Any], ...]
    neighbors: tuple[Neighbor, ...]
    repeated_ids: bool


def _audit_lines(path: Place) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise InputError(
            f"There is no audit {str(path)!r}. Give the .duplicates.jsonl file that `neardup dedup` wrote."
        )
    compression = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix, "plain")
    with open_for_reading(path, compression) as lines:
        for number, line in enumerate(lines, 1):
            try:
                found = json.loads(line)
                [found[column] for column in COLUMNS]
            except (ValueError, KeyError, TypeError):
                raise DataError(
                    f"{path}, line {number}: this is no line of an audit. Give the .duplicates.jsonl file of a run."
                ) from None
            yield found


def _same(token: Any, wanted: str) -> bool:
    return token == wanted or (not isinstance(token, str) and str(token) == wanted)


def explain(audit: str | Path, wanted: str) -> Explanation:
    """Look `wanted` up in the audit; if it was not removed, look for its neighbors in the inputs that the summary names.

    Raises:
        InputError: there is no such audit or document, or the inputs are gone.
        DataError: the audit is damaged.
    """
    path = place_of(audit)
    removed = tuple(line for line in _audit_lines(path) if _same(line["id"], wanted))
    if removed:
        return Explanation(removed[0]["id"], removed[0]["row"], removed, (), _has_repeated_ids(path))
    return _why_kept(path, wanted)


def _has_repeated_ids(audit: Place) -> bool:
    try:
        return bool(json.loads(summary_path(audit).read_text(encoding="utf-8"))["repeated_ids"])
    except (OSError, ValueError, LookupError, TypeError):
        return False  # the audit alone answers what was asked


@dataclass(frozen=True, slots=True)
class _Run:
    """What the summary of a run says about it."""

    recipe: Recipe
    method: str
    similarity: str
    min_similarity: float
    min_tokens: int
    rows: int
    files: dict[str, Any]


def _run_of(audit: Place, wanted: str) -> _Run:
    path = summary_path(audit)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if "unit" in found:
            raise InputError(
                f"The audit lists nothing of {wanted!r} as removed: none of its {found['unit']}s was a repeated one. Why a "
                f"{found['unit']} was kept is not told; without --unit, documents as a whole are compared."
            )
        values = {
            name: value for name, value in found["recipe"].items() if name not in ("unicode", "version", "digest")
        }
        recipe = Recipe(**values, max_distance=found["max_distance"])
        digest, files = found["recipe"]["digest"], found["files"]
        least, kind = found["min_similarity"], found["options"]["similarity"]
        if kind not in SIMILARITY_TABLE:
            raise ValueError(kind)
        run = _Run(
            recipe,
            found["method"],
            kind,
            least,
            found["min_tokens"],
            found["rows"],
            {name: files[name] for name in _FILES},
        )
    except FileNotFoundError:
        raise InputError(
            f"The audit does not list {wanted!r} as removed, and {path}, which tells where its text is, is missing. "
            "Put it beside the audit, under this name."
        ) from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise DataError(f"{path} is not the summary of a run. Give the audit of another run, or run again.") from None
    check_same(recipe.digest(), digest, str(audit))
    return run


def _corpus_of(run: _Run, wanted: str) -> FileCorpus:
    files = run.files
    listed = f"The audit does not list {wanted!r} as removed. To say why it was kept, its text is needed"
    if "-" in files["inputs"]:
        raise InputError(f"{listed}, but standard input cannot be read again.")
    try:
        reading = Reading(**{name: files[name] for name in READING})
        return open_corpus(files["inputs"], reading, temporary=Path(), on_error="skip")
    except InputError as problem:
        raise InputError(
            f"{listed}, but: {problem} Run this in {files['folder']}, with the inputs in their places."
        ) from None


_Near = tuple[Any, ...]
"""Distance, row, id, text and tokens of a document."""


def _nearest(batch: Batch, mine: Fingerprints, recipe: Recipe) -> list[_Near]:
    """The documents of a batch of nearest fingerprint, one more than is asked for: place, distance, id, text, tokens."""
    present = batch.texts.is_valid().to_numpy(zero_copy_only=False)
    found = fingerprint_array(batch.texts, recipe)
    distance = np.bitwise_count(found.values ^ mine.values).sum(axis=1, dtype=np.int64)
    distance[~present] = recipe.bits + 1
    return [
        (i, int(distance[i]), json.loads(batch.ids[i].as_py()), batch.texts[i].as_py(), int(found.tokens[i]))
        for i in np.argsort(distance, kind="stable")[: NEAREST + 1].tolist()
        if present[i]
    ]


def _named(batch: Batch, wanted: str) -> tuple[int, Any, str] | None:
    """The first document of a batch with the id: its place, its id and its text."""
    for i, token in enumerate(batch.ids.to_pylist()):
        if token is not None and _same(json.loads(token), wanted):
            return i, json.loads(token), batch.texts[i].as_py()
    return None


def _why_kept(audit: Place, wanted: str) -> Explanation:
    run = _run_of(audit, wanted)
    corpus, recipe = _corpus_of(run, wanted), run.recipe
    row, token, text = _find(corpus, wanted)
    mine = fingerprint_array(_strings([text]), recipe)
    nearest: list[_Near] = []
    for first, found in corpus.map(partial(_nearest, mine=mine, recipe=recipe), threads=thread_count(None)):
        nearest += [(away, first + place, *rest) for place, away, *rest in found if first + place != row]
        nearest = sorted(nearest, key=lambda near: near[:2])[:NEAREST]
    if corpus.starts is None or corpus.starts[-1] != run.rows:
        raise _changed(run)
    rows = {other for _, other, *_ in nearest}
    removed = {line["row"]: line for line in _audit_lines(audit) if line["row"] in rows}
    neighbors = []
    for distance_, other, name, other_text, tokens in nearest:
        alike = similarity(text, other_text, kind=run.similarity, recipe=recipe)
        verdict = ""
        if normalize(text) != normalize(other_text):
            verdict = _why_not(distance_, alike, min(tokens, int(mine.tokens[0])), run)
        if not verdict and other not in removed and run.method == "minhash":
            verdict = "a match that minhash missed: no band of their signatures is equal"
        if not verdict:
            if other not in removed:
                raise _changed(run)
            survivor = removed[other]["survivor_id"], removed[other]["survivor_row"]
            whose = (
                "this one"
                if survivor[1] == row
                else f"{json.dumps(survivor[0], ensure_ascii=False)} (row {survivor[1]})"
            )
            verdict = f"a match; removed as a duplicate of {whose}"
        neighbors.append(Neighbor(name, other, distance_, alike, verdict))
    return Explanation(token, row, (), tuple(neighbors), False)


def _changed(run: _Run) -> InputError:
    return InputError(
        f"The inputs are not what they were when the audit was written ({', '.join(map(str, run.files['inputs']))}). "
        "Put those back, or run again."
    )


def _why_not(distance: int, alike: float, tokens: int, run: _Run) -> str:
    reasons, far = [], run.recipe.max_distance
    if tokens < run.min_tokens:
        reasons.append(f"one of the two has fewer than {counted(run.min_tokens, 'token')}, so only equal texts match")
    if far is not None and distance > far:
        reasons.append(f"distance {distance} is above {far}")
    if alike < run.min_similarity:
        rounded = f"{alike:.4f}" if round(alike, 4) < run.min_similarity else repr(alike)  # 0.79999 is not 0.8
        reasons.append(f"similarity {rounded} is below {run.min_similarity}")
    return "; ".join(reasons)


def _strings(texts: list[str]) -> Any:
    import pyarrow as pa

    return pa.array(texts, pa.large_string())


def _find(corpus: FileCorpus, wanted: str) -> tuple[int, Any, str]:
    for first, found in corpus.map(partial(_named, wanted=wanted), threads=thread_count(None)):
        if found is not None:
            place, name, text = found
            return first + place, name, text
    raise InputError(f"Neither the audit nor the inputs have a document with the id {wanted!r}.")
