"""READ → FINGERPRINT: one streaming pass over a corpus that keeps a few dozen bytes per document."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from neardup.arrays import Array, Bools
from neardup.errors import CallableError
from neardup.fingerprints.numbers import number_values
from neardup.fingerprints.simhash import Fingerprints, fingerprint_chunks, join_fingerprints
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.protocol import Corpus
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, Checkpoints
from neardup.io.resume.codecs import codec
from neardup.options import DedupOptions, Guard
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.recipe.short_rule import SHORT_RULE
from neardup.resources.kept_rows import KeptRows
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.scratch import parts_of
from neardup.text.columns import in_chunks
from neardup.text.normalizers import character_counts
from neardup.text.preference import groups_of, token_of
from neardup.text.scripts import ScriptCount


@dataclass(frozen=True, slots=True)
class Documents:
    """What one pass keeps, by row. A rejected row is not a document.

    Attributes:
        fingerprints: uint64[rows, words].
        digests: uint64[rows, 2], equal for equal normalized texts.
        tokens: int64[rows], 0 where no feature votes, -1 where the row was rejected.
        lengths: int64[rows], characters of the text before normalization, or the elements of a given set or list; -1 where the text
            and its tokens are unknown, because another program made the fingerprint.
        ids: Arrow large_string[rows], each a JSON value.
        values: values of further columns, and results of functions of the text, by name: Arrow large_string[rows], each a JSON
            value or null.
        figures: uint64[rows], as in `Fingerprints`; 0 where it is unknown.
    """

    fingerprints: Array
    digests: Array
    tokens: Array
    lengths: Array
    ids: Any
    values: dict[str, Any] = field(default_factory=dict)
    figures: Array = None  # type: ignore[assignment]  # all unknown

    def __post_init__(self) -> None:
        if self.figures is None:
            object.__setattr__(self, "figures", np.zeros(len(self.tokens), np.uint64))

    def __len__(self) -> int:
        return len(self.tokens)

    def only(self, wanted: Bools) -> "Documents":
        """The same rows, of which only those in `wanted` (bool[rows]) are documents."""
        return replace(self, tokens=np.where(wanted, self.tokens, -1))

    @property
    def numbers(self) -> tuple[Array, Array, Array, Array, Array]:
        """The arrays, in the order of the attributes."""
        return self.fingerprints, self.digests, self.tokens, self.lengths, self.figures

    @property
    def valid(self) -> Array:
        """Whether each row is a document: bool[rows]."""
        return self.tokens >= 0

    def groups(self, options: DedupOptions) -> Array | None:
        """int64[rows], equal for documents that may match by `within` and `guard`; None if all may."""
        names = (options.grouped_by, options.guard)
        found: Array | None = None
        for each in (groups_of(self.values[name]) for name in names if name is not None):
            found = each if found is None else np.unique(found * (len(each) + 2) + each, return_inverse=True)[1]
        return found


@codec("part", 1, found="value", lengths="int64[rows]", ids="large_string", values="value", aside="value")
@dataclass(frozen=True, slots=True)
class Part:
    """The results kept from a batch. `aside`: the result of a side pass."""

    found: Fingerprints
    lengths: Array
    ids: Any
    values: tuple[Any, ...]
    aside: Any = None


class SidePass(Protocol):
    """Further work during the pass over the texts."""

    def first_pass(self, batch: Batch, recipe: Recipe) -> tuple[Fingerprints, Any]:
        """The fingerprints of a batch, and a result to keep, which must have a codec; called on any thread."""
        ...

    def take(self, first: int, found: Any) -> None:
        """Receive the result of each batch, in order; `first` is the batch's first row."""
        ...


def read_part(
    batch: Batch,
    recipe: Recipe,
    functions: Mapping[str, Callable[[str], Any]],
    side_pass: SidePass | None = None,
    short_rule: int = SHORT_RULE,
    guard: Guard | None = None,
) -> Part:
    """Fingerprint the documents of a batch. `short_rule`: the version of the rule of short texts; `guard`: see `DedupOptions`.

    Raises:
        CallableError: a function of the recipe or of `functions` raises; the error names the document.
    """
    try:
        if side_pass is None and batch.made is not None:
            found, aside = batch.made.fingerprints, None
        elif side_pass is None:
            found, aside = fingerprint_chunks(in_chunks(batch.texts), recipe), None
        else:
            found, aside = side_pass.first_pass(batch, recipe)
    except CallableError as problem:
        raise _located(problem, batch, recipe) from problem.__cause__
    if short_rule < SHORT_RULE:
        from neardup.fingerprints.silent_texts import count_silent_tokens

        count_silent_tokens(found, batch.texts.to_pylist(), recipe)
    lengths = found.tokens.copy() if batch.of_elements else character_counts(batch.texts)
    if batch.texts.null_count:
        found.tokens[batch.texts.is_null().to_numpy(zero_copy_only=False)] = -1
    if batch.of_elements:
        found.figures[:] = 0  # elements are no text
    values = [values_of(batch, name, function) for name, function in functions.items()]
    if guard is not None:
        values.append(number_values(batch.texts, recipe.normalize) if batch.made is None else batch.made.numbers)
    return Part(found, lengths, batch.ids, (*batch.values, *values), aside)


def _located(problem: CallableError, batch: Batch, recipe: Recipe) -> CallableError:
    """The same error, with the first document of the batch that raises it again."""
    for i in range(len(batch.texts)):
        try:
            fingerprint_chunks(in_chunks(batch.texts.slice(i, 1)), recipe)
        except CallableError as again:
            return CallableError(again.function, again.given, again.__cause__ or again, **_place(batch, i))
    return problem


def _place(batch: Batch, i: int) -> dict[str, Any]:
    """The place of row i, for error messages."""
    return {"id": batch.ids[i].as_py(), "row": batch.row + i}


def values_of(batch: Batch, name: str, function: Callable[[str], Any]) -> Any:
    """What a function says of each text of a batch, as JSON values; `name`: of the option, with brackets."""
    option, called = name.removesuffix("()"), getattr(function, "__qualname__", type(function).__qualname__)
    given: list[str | None] = []
    for i, text in enumerate(batch.texts.to_pylist()):
        try:
            found = None if text is None else function(text)
        except Exception as problem:
            raise CallableError(f"`{option}={called}`", text, problem, **_place(batch, i)) from problem
        given.append(None if text is None else token_of(found, option))
    return pa.array(given, pa.large_string())


class KeptValues(NamedTuple):
    """Values of documents that only some runs keep.

    Attributes:
        columns: the columns whose values the corpus supplies with each batch.
        functions: functions of a text, by the names of their values.
        guard: the guard whose values of texts are kept, under its name.
    """

    columns: Sequence[str] = ()
    functions: Mapping[str, Callable[[str], Any]] = MappingProxyType({})
    guard: Guard | None = None

    @classmethod
    def of(cls, options: DedupOptions) -> "KeptValues":
        """Those that a run with these options needs."""
        return cls(options.columns, options.functions, options.guard)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all values."""
        return (*self.columns, *self.functions, *(() if self.guard is None else (self.guard,)))


class FirstPass(NamedTuple):
    """How the first pass reads documents.

    Attributes:
        checkpoints: the run's checkpoints; `name`: the name of the pass in them.
        side_pass: receives the batches as well; it counts their rows from `first_row`.
        scripts: counts the scripts of the texts, if somebody asks for them.
    """

    checkpoints: Checkpoints = NO_CHECKPOINTS
    name: str = "fingerprint"
    side_pass: SidePass | None = None
    first_row: int = 0
    scripts: ScriptCount | None = None


def read_documents(
    corpus: Corpus,
    recipe: Recipe,
    *,
    progress: Progress,
    resources: Resources = DEFAULTS,
    values: KeptValues = KeptValues(),  # noqa: B008 - it cannot be changed
    how: FirstPass = FirstPass(),  # noqa: B008
) -> Documents:
    """Fingerprint every document of `corpus`. Arrays beyond their share of the memory are mapped from temporary files."""
    names = values.names
    columns: list[list[Any]] = [[] for _ in names]
    kept = KeptRows(memory=resources.share("rows"), files=resources.files, use=resources.use)
    none = join_fingerprints([], recipe)
    kept.append(
        (none.values, none.digests, none.tokens, np.empty(0, np.int64), none.figures), pa.array([], pa.large_string())
    )
    with contextlib.closing(kept):
        read = partial(
            read_part,
            recipe=recipe,
            functions=values.functions,
            side_pass=how.side_pass,
            short_rule=how.checkpoints.short_rule,
            guard=values.guard,
        )

        def work(batch: Batch) -> Part:
            if how.scripts is not None and not batch.of_elements:
                how.scripts.look(batch.texts)
            return read(batch)

        for row, part in how.checkpoints.map(corpus, work, name=how.name):
            found = part.found
            kept.append((found.values, found.digests, found.tokens, part.lengths, found.figures), part.ids)
            for column, values_of_part in zip(columns, part.values, strict=True):
                column.append(values_of_part)
            if how.side_pass is not None:
                how.side_pass.take(how.first_row + row, part.aside)
            progress.advance(len(part.lengths))
        (fingerprints, digests, tokens, lengths, figures), ids = kept.whole()
    by_name = {name: joined_arrays(found) for name, found in zip(names, columns, strict=True)}
    return Documents(fingerprints, digests, tokens, lengths, ids, by_name, figures)


def joined_arrays(arrays: Sequence[Any]) -> Any:
    """Arrow `large_string` arrays as one."""
    return pa.chunked_array([pa.array([], pa.large_string()), *arrays]).combine_chunks()


def join_documents(*parts: Documents, resources: Resources = DEFAULTS) -> Documents:
    """The rows of all parts, one after another; values that the first part has and another lacks are null there.

    The joined arrays are mapped from temporary files if they do not fit their share of the memory beside the parts.
    """
    if len(parts) == 1:
        return parts[0]
    size = sum(array.nbytes for part in parts for array in (*part.numbers, part.ids))
    memory = size if 2 * size <= resources.share("rows") else 0
    kept = KeptRows(memory=memory, files=resources.files)
    if memory:
        resources.use.record("rows", 2 * size)
    with contextlib.closing(kept):
        for part in parts:
            kept.append(tuple(array[:0] for array in part.numbers), part.ids[:0])  # also of a part without rows
            for rows in parts_of(len(part)):
                kept.append(tuple(array[rows] for array in part.numbers), part.ids[rows.start : rows.stop])
        (fingerprints, digests, tokens, lengths, figures), ids = kept.whole()
    values = {
        name: joined_arrays([part.values.get(name, pa.nulls(len(part), pa.large_string())) for part in parts])
        for name in parts[0].values
    }
    return Documents(fingerprints, digests, tokens, lengths, ids, values, figures)
