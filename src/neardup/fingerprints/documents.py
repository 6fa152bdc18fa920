"""READ → FINGERPRINT: one streaming pass over a corpus; what is kept of each document is a few dozen bytes."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import CallableError
from neardup.fingerprints.simhash import Fingerprints, fingerprint_chunks, join_fingerprints
from neardup.io.batch import Batch
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.resources.kept_rows import KeptRows
from neardup.resources.resources import DEFAULTS, Resources
from neardup.text.columns import in_chunks
from neardup.text.normalizers import character_counts
from neardup.text.preference import token_of

Result = TypeVar("Result")


class Corpus(Protocol):
    """Documents that can be read more than once, always in the same order."""

    def map(
        self,
        work: Callable[[Batch], Result],
        *,
        wanted: Array | None = None,
        name: str = "",
        state: Array | None = None,
    ) -> Iterator[tuple[int, Result]]:
        """work(batch) of every batch of rows, on several threads, but in order; with the batch's first row in the corpus.

        Rows where `wanted` (bool[rows]; only once the corpus has been read) is False have null texts. A pass that has a `name` is
        saved where the run is to be resumable; `state`: an array that `work` gathers into besides.
        """
        ...

    def once(self, name: str, compute: Callable[[], Result]) -> Result:
        """What `compute` gives; saved where the run is to be resumable."""
        ...


class SourcedCorpus(Corpus, Protocol):
    """Documents of which it is known where they come from."""

    def check_sources(self, sources: Sequence[str]) -> None:
        """Raise InputError if nothing is of one of the `sources`; before any work."""
        ...

    def source_ranks(self, sources: Sequence[str]) -> Array | None:
        """int64[rows]: which of the `sources` each row is of, their number for none; once the corpus has been read.

        None if no sources are given.
        """
        ...


@dataclass(frozen=True, slots=True)
class Documents:
    """What one pass keeps, by row; a row that was rejected is no document.

    Attributes:
        fingerprints: uint64[rows, words].
        digests: uint64[rows, 2], equal for equal normalized texts.
        tokens: int64[rows], -1 where the row was rejected.
        lengths: int64[rows], characters of the text as it came.
        ids: Arrow large_string[rows], each a JSON value.
        values: of more columns, by name, and of functions of the text: Arrow large_string[rows], each a JSON value or null.
    """

    fingerprints: Array
    digests: Array
    tokens: Array
    lengths: Array
    ids: Any
    values: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def valid(self) -> Array:
        """bool[rows]: the row is a document."""
        return self.tokens >= 0


@dataclass(frozen=True, slots=True)
class Part:
    """What is kept of a batch."""

    found: Fingerprints
    lengths: Array
    ids: Any
    values: tuple[Any, ...]
    besides: Any = None


class Besides(Protocol):
    """What else a pass over the texts is good for."""

    def first_pass(self, batch: Batch, recipe: Recipe) -> tuple[Fingerprints, Any]:
        """The fingerprints of a batch, and what else is to be kept of it; on any thread."""
        ...

    def take(self, first: int, found: Any) -> None:
        """Keep it; of each batch in order, `first` being its first row."""
        ...


def read_part(
    batch: Batch, recipe: Recipe, functions: Mapping[str, Callable[[str], Any]], besides: Besides | None = None
) -> Part:
    """Fingerprint the documents of a batch.

    Raises:
        CallableError: a function of the recipe or of `functions` raises; it names the document.
    """
    try:
        if besides is None:
            found, also = fingerprint_chunks(in_chunks(batch.texts), recipe), None
        else:
            found, also = besides.first_pass(batch, recipe)
    except CallableError as problem:
        raise _located(problem, batch, recipe) from problem.__cause__
    lengths = character_counts(batch.texts)
    if batch.texts.null_count:
        found.tokens[batch.texts.is_null().to_numpy(zero_copy_only=False)] = -1
    values = [_values_of(batch, name, function) for name, function in functions.items()]
    return Part(found, lengths, batch.ids, (*batch.values, *values), also)


def _located(problem: CallableError, batch: Batch, recipe: Recipe) -> CallableError:
    """The error with the first document of a batch that it comes of again."""
    for i in range(len(batch.texts)):
        try:
            fingerprint_chunks(in_chunks(batch.texts.slice(i, 1)), recipe)
        except CallableError as again:
            return CallableError(again.function, again.given, again.__cause__ or again, **_place(batch, i))
    return problem


def _place(batch: Batch, i: int) -> dict[str, Any]:
    """What errors say of row i."""
    return {"id": batch.ids[i].as_py(), "row": batch.row + i}


def _values_of(batch: Batch, name: str, function: Callable[[str], Any]) -> Any:
    option, called = name.removesuffix("()"), getattr(function, "__qualname__", type(function).__qualname__)
    given: list[str | None] = []
    for i, text in enumerate(batch.texts.to_pylist()):
        try:
            found = None if text is None else function(text)
        except Exception as problem:
            raise CallableError(f"{option}={called}", text, problem, **_place(batch, i)) from problem
        given.append(None if text is None else token_of(found, option))
    return pa.array(given, pa.large_string())


def read_documents(
    corpus: Corpus,
    recipe: Recipe,
    *,
    progress: Progress,
    resources: Resources = DEFAULTS,
    columns: Sequence[str] = (),
    functions: Mapping[str, Callable[[str], Any]] | None = None,
    besides: Besides | None = None,
    first_row: int = 0,
) -> Documents:
    """Fingerprint every document of `corpus`; what takes more than its share of the memory lies in temporary files, mapped.

    `columns`: those whose values the corpus gives with each batch. `functions`: of a text, whose values are kept likewise.
    `besides`: what else is made of the batches, whose rows are counted from `first_row` there.
    """
    functions = functions or {}
    names = (*columns, *functions)
    values: list[list[Any]] = [[] for _ in names]
    kept = KeptRows(memory=resources.share("rows"), temp_dir=resources.temp_dir, use=resources.use)
    none = join_fingerprints([], recipe)
    kept.append((none.values, none.digests, none.tokens, np.empty(0, np.int64)), pa.array([], pa.large_string()))
    with contextlib.closing(kept):
        work = partial(read_part, recipe=recipe, functions=functions, besides=besides)
        for row, part in corpus.map(work, name="fingerprint"):
            kept.append((part.found.values, part.found.digests, part.found.tokens, part.lengths), part.ids)
            for each, found in zip(values, part.values, strict=True):
                each.append(found)
            if besides is not None:
                besides.take(first_row + row, part.besides)
            progress.advance(len(part.lengths))
        (fingerprints, digests, tokens, lengths), ids = kept.whole()
    by_name = {name: _joined(found) for name, found in zip(names, values, strict=True)}
    return Documents(fingerprints, digests, tokens, lengths, ids, by_name)


def _joined(arrays: Sequence[Any]) -> Any:
    return pa.chunked_array([pa.array([], pa.large_string()), *arrays]).combine_chunks()


def join_documents(*parts: Documents) -> Documents:
    """The rows of all, one after another; values that the first has and another has not are null there."""
    fingerprints, digests, tokens, lengths = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("fingerprints", "digests", "tokens", "lengths")
    )
    values = {
        name: _joined([part.values.get(name, pa.nulls(len(part), pa.large_string())) for part in parts])
        for name in parts[0].values
    }
    return Documents(fingerprints, digests, tokens, lengths, _joined([part.ids for part in parts]), values)


class CorpusPair:
    """Two corpora as one: the rows of the second follow those of the first, of which there are `rows`."""

    def __init__(self, first: Corpus, rows: int, second: Corpus) -> None:
        self._first, self._rows, self._second = first, rows, second

    def map(
        self,
        work: Callable[[Batch], Result],
        *,
        wanted: Array | None = None,
        name: str = "",
        state: Array | None = None,
    ) -> Iterator[tuple[int, Result]]:
        """See `Corpus`."""
        before, after = (None, None) if wanted is None else (wanted[: self._rows], wanted[self._rows :])
        yield from self._first.map(work, wanted=before, name=name, state=state)
        for row, result in self._second.map(work, wanted=after, name=name, state=state):
            yield self._rows + row, result

    def once(self, name: str, compute: Callable[[], Result]) -> Result:
        """See `Corpus`."""
        return self._first.once(name, compute)
