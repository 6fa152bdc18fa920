"""Find what is nearest to a kept document, and why none of it was a reason to remove the document."""

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.display import similarity_text
from neardup.errors import InputError
from neardup.fingerprints.numbers import number_digests
from neardup.fingerprints.simhash import Fingerprints, fingerprint_array
from neardup.hamming.near import row_distances
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.storage.places import Place
from neardup.judging.finished_run import FinishedRun, read_finished_run
from neardup.judging.near_ids import NearIds, id_of_row
from neardup.matching.similarities.compare_texts import similarities_to
from neardup.recipe.kinds import few_tokens
from neardup.recipe.presets import RecipeLike
from neardup.recipe.tables.methods import METHODS
from neardup.survivors.records.audit_files import same_id
from neardup.text.preference import groups_of

SHOWN_NEIGHBORS = 5


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A document near the one asked about, and the outcome of comparing the two."""

    id: Any
    row: int
    distance: int
    similarity: float
    verdict: str


@dataclass(frozen=True, slots=True)
class KeptDocument:
    """A document that the audit does not list.

    Attributes:
        id, row: of the document.
        neighbors: the nearest documents.
        nearest_by: `distance` or `similarity`.
        min_similarity: the threshold of the run.
        removed: its audit lines if it was removed after all, from a shard that this audit does not cover.
    """

    id: Any
    row: int
    neighbors: tuple[Neighbor, ...]
    nearest_by: str
    min_similarity: float
    removed: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class _Document:
    """A document of the inputs, with the value of `within` as JSON; None where it has no value."""

    row: int
    id: Any
    text: str
    group: str | None


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A document that may be among the nearest.

    Attributes:
        cost: nearness; a lower cost is nearer.
        document: the candidate.
        distance: Hamming distance between its fingerprint and the asked document's.
        tokens: number of tokens in the shorter of the two texts.
        equal: whether its text is equal to the asked document's, as the recipe normalizes both.
    """

    cost: float
    document: _Document
    distance: int
    tokens: int
    equal: bool


def why_kept(audit: Place, doc_id: str, recipe: RecipeLike | None = None) -> KeptDocument:
    """Find the documents nearest to the one with this id, each with the reason why it is no match, or with its outcome.

    Nearest by fingerprint distance if the run was by distance, else by similarity of the texts. `recipe`: see `explain`.

    Raises:
        InputError: there is no such document, or the inputs are missing or have changed.
        DataError: the audit or the summary is damaged.
    """
    run = read_finished_run(audit, doc_id, recipe)
    corpus = run.open(doc_id)
    mine = _find(corpus, doc_id)
    if removed := run.removal(mine.row):
        return KeptDocument(mine.id, mine.row, (), "similarity", run.min_similarity, removed)
    prints = fingerprint_array(pa.array([mine.text], pa.large_string()), run.recipe)
    by_distance = METHODS[run.method].is_by_distance
    work = partial(_nearest, mine=mine, prints=prints, run=run, by_distance=by_distance)
    nearest: list[_Candidate] = []
    for first, candidates in corpus.map(work):
        placed = [replace(each, document=_placed(each.document, first)) for each in candidates]
        nearest += [each for each in placed if each.document.row != mine.row]
        nearest = sorted(nearest, key=lambda each: (each.cost, each.document.row))[:SHOWN_NEIGHBORS]
    if corpus.starts is None or corpus.starts[-1] != _rows(run):
        raise run.changed()
    survivors = run.survivors(each.document.row for each in nearest)
    neighbors = []
    for each in nearest:
        near = each.document
        text = pa.array([near.text], pa.large_string())
        alike = float(similarities_to(mine.text, text, similarity=run.similarity, recipe=run.recipe)[0])
        verdict = _verdict(mine, each, alike, run, survivors.get(near.row))
        neighbors.append(Neighbor(near.id, near.row, each.distance, alike, verdict))
    nearest_by = "distance" if by_distance else "similarity"
    return KeptDocument(mine.id, mine.row, tuple(neighbors), nearest_by, run.min_similarity)


def _rows(run: FinishedRun) -> int:
    return run.rows if run.clusters is None else len(run.clusters.decisions.survivor)


def _placed(document: _Document, first: int) -> _Document:
    """Return the document with its row counted over all rows; its batch starts at row `first`."""
    return replace(document, row=first + document.row)


def _document(batch: Batch, place: int) -> _Document:
    group = batch.values[0][place].as_py() if batch.values else None
    return _Document(place, json.loads(batch.ids[place].as_py()), batch.texts[place].as_py(), group)


def _nearest(
    batch: Batch, mine: _Document, prints: Fingerprints, run: FinishedRun, *, by_distance: bool
) -> list[_Candidate]:
    """Return the nearest documents of a batch, one more than is asked for, with rows counted in the batch."""
    present = batch.texts.is_valid().to_numpy(zero_copy_only=False)
    others = fingerprint_array(batch.texts, run.recipe)
    equal = (others.digests == prints.digests).all(axis=1)
    distance = row_distances(others.values, prints.values)
    if by_distance:
        cost = distance.astype(np.float64)
    else:
        cost = -similarities_to(mine.text, batch.texts, similarity=run.similarity, recipe=run.recipe)
    cost[~present] = np.inf
    tokens = np.minimum(others.tokens, prints.tokens)
    return [
        _Candidate(float(cost[i]), _document(batch, i), int(distance[i]), int(tokens[i]), bool(equal[i]))
        for i in np.argsort(cost, kind="stable")[: SHOWN_NEIGHBORS + 1].tolist()
        if present[i]
    ]


def _find(corpus: FileCorpus, doc_id: str) -> _Document:
    near = NearIds(doc_id)
    for first, (document, others) in corpus.map(partial(_named, doc_id=doc_id)):
        if document is not None:
            return _placed(document, first)
        near.look_at(others)
    raise InputError(
        f"Neither the audit nor the inputs have a document with the id {doc_id!r}."
        f"{id_of_row(corpus, doc_id) or near.question()}"
    )


def _named(batch: Batch, doc_id: str) -> tuple[_Document | None, list[str | None]]:
    """Return the first document in a batch with this id; if there is none, the ids that the others have."""
    tokens = batch.ids.to_pylist()
    for i, token in enumerate(tokens):
        if token is not None and same_id(json.loads(token), doc_id):
            return _document(batch, i), []
    return None, tokens


def _verdict(
    asked: _Document, near: _Candidate, alike: float, run: FinishedRun, survivor: tuple[Any, int | None] | None
) -> str:
    """Say why the two do not match, or what became of the match; `survivor`: that of the near document, if it was removed."""
    reason = _why_apart(asked, near.document, run)
    if not reason and not near.equal:
        reason = _why_not(near, alike, run)
    if reason:
        return reason
    if survivor is not None:
        name, row = survivor
        whose = "this one" if row == asked.row else f"{json.dumps(name, ensure_ascii=False)} ({_place(row)})"
        return f"a match; removed as a duplicate of {whose}"
    if run.within is not None and run.within.endswith("()"):
        return f"a match, unless within={run.within} gave it another value"
    if missed := METHODS[run.method].why_missed:
        return f"a match that {run.method} missed: {missed}"
    raise run.changed()


def _place(row: int | None) -> str:
    return "of the reference" if row is None else f"row {row}"


def _why_apart(asked: _Document, near: _Document, run: FinishedRun) -> str:
    if run.guard is not None:
        texts = pa.array([asked.text, near.text], pa.large_string())
        if len(set(number_digests(texts, run.recipe.normalize).tolist())) > 1:
            return f"it has other numbers, and only documents with the same numbers match (guard {run.guard})"
    if run.within is None or run.within.endswith("()"):
        return ""
    groups = groups_of(pa.array([asked.group, near.group], pa.large_string()))
    if groups[0] == groups[1]:
        return ""
    values = [value or "no value" for value in (near.group, asked.group)]
    return f"{run.within!r} is {values[0]}, here {values[1]}: only documents with equal values match"


def _why_not(near: _Candidate, alike: float, run: FinishedRun) -> str:
    reasons, most = [], run.max_distance
    if near.tokens < run.min_tokens:
        reasons.append(f"one of the two has {few_tokens(run.min_tokens)}, so only equal texts match")
    if most is not None and near.distance > most:
        reasons.append(f"distance {near.distance} is above {most}")
    if alike < run.min_similarity:
        reasons.append(f"similarity {similarity_text(alike, run.min_similarity)} is below {run.min_similarity}")
    return "; ".join(reasons)
