"""FIRST PASS: the minimizers of all windows of a corpus, and what is kept of each document."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.display import size_text
from neardup.errors import DataError
from neardup.fingerprints.documents import Documents, joined_arrays, values_of
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.protocol import Corpus
from neardup.io.resume.checkpoints import Checkpoints
from neardup.io.resume.codecs import codec
from neardup.kernels.repeats.windows import find_minimizers
from neardup.progress import Progress
from neardup.resources.kept_rows import KeptRows
from neardup.resources.shares import BESIDE_BYTES
from neardup.survivors.repeats.options import PassageOptions
from neardup.survivors.repeats.seen import SeenMinimizers
from neardup.survivors.repeats.token_stream import Stream, TokenStream
from neardup.text.columns import in_chunks
from neardup.text.normalizers import character_counts, utf8_buffers
from neardup.text.scripts import ScriptCount

MOST_PLACES = 1 << 40
"""Tokens of a corpus, at most: places are numbers of 40 bits."""
GRAM = 16
BYTES_PER_TEXT_BYTE = 24
"""Memory that a text takes while it is read and cut, for each of its bytes, if it has as many tokens as it can; English takes 8,
and Chinese 14.
"""


def gram_of(size: int) -> int:
    """The k of the k-grams that minimizers are: half a window, at most GRAM tokens."""
    return min(GRAM, (size + 1) // 2)


def _is_sound(found: "Part") -> bool:
    """Whether all is of as many rows, and no count is negative."""
    columns = (found.ids, *found.values)
    are_counts = (found.sizes >= np.maximum(found.tokens, 0)) & (found.tokens >= -1) & (found.lengths >= 0)
    return all(len(each) == len(found.sizes) for each in columns) and bool(are_counts.all())


@codec(
    "passages part",
    1,
    is_sound=_is_sound,
    minimizers="uint64[minimizers]",
    sizes="int64[rows]",
    tokens="int64[rows]",
    lengths="int64[rows]",
    ids="large_string",
    values="value",
)
@dataclass(frozen=True, slots=True)
class Part:
    """What is kept of a batch; `sizes`: places, `tokens`: -1 for a row that was rejected."""

    minimizers: Array
    sizes: Array
    tokens: Array
    lengths: Array
    ids: Any
    values: tuple[Any, ...]


class LongTexts:
    """Says which texts may take more memory than a run is allowed, before they do; from any thread."""

    def __init__(self, memory: int, say: Callable[[str], None]) -> None:
        self._memory, self._say, self._lock = memory, say, Lock()
        self._longest = max(0, memory - BESIDE_BYTES) // BYTES_PER_TEXT_BYTE

    def note(self, texts: Any) -> None:
        """Some texts are read next: an Arrow `large_string` array."""
        _, offsets = utf8_buffers(texts)
        longest = int(np.diff(offsets).max(initial=0))
        with self._lock:
            if longest <= self._longest:
                return
            self._longest = 2 * longest  # not for each of many
        needed = BESIDE_BYTES + BYTES_PER_TEXT_BYTE * longest
        self._say(
            f"a text of {size_text(longest)} may take {size_text(needed)} of memory, of {size_text(self._memory)}: allow "
            "`memory` so much, or leave out such texts with `max_document_bytes`"
        )


def read_part(
    batch: Batch,
    stream: TokenStream,
    size: int,
    functions: Mapping[str, Callable[[str], Any]],
    long: LongTexts,
    scripts: ScriptCount | None,
) -> Part:
    """The minimizers and sizes of a batch; called on any thread."""
    long.note(batch.texts)
    if scripts is not None:
        scripts.look(batch.texts)
    minimizers, sizes, tokens = [np.empty(0, np.uint64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for texts in in_chunks(batch.texts):
        found = stream.of(texts)
        minimizers.append(minimizers_of(found, size))
        sizes.append(found.sizes)
        tokens.append(np.diff(found.pieces[found.firsts]))
    counts = np.concatenate(tokens)
    if batch.texts.null_count:
        counts[batch.texts.is_null().to_numpy(zero_copy_only=False)] = -1
    values = [values_of(batch, name, function) for name, function in functions.items()]
    lengths = character_counts(batch.texts)
    return Part(np.concatenate(minimizers), np.concatenate(sizes), counts, lengths, batch.ids, (*batch.values, *values))


def minimizers_of(stream: Stream, size: int) -> Array:
    """uint64[n]: the minimizers of all windows of some tokens."""
    pieces = stream.pieces
    grams = np.empty(int(np.diff(pieces).max(initial=0)), np.uint64)
    out = np.empty(len(stream.hashes), np.uint64)
    return out[: find_minimizers(stream.hashes, pieces, size, gram_of(size), grams, out)].copy()


@dataclass(frozen=True, slots=True)
class Places:
    """Where the tokens of each row are among those of all rows.

    Attributes:
        starts: int64[rows + 1], the first place of each row.
    """

    starts: Array

    @classmethod
    def of(cls, sizes: Array, scratch: Any) -> "Places":
        starts = scratch.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=starts[1:])
        if starts[-1] >= MOST_PLACES:
            raise DataError(
                f"There are {int(starts[-1]):,} tokens; at most {MOST_PLACES:,} are taken. Divide the corpus."
            )
        return cls(starts)

    def with_any(self, *places: Array) -> Array:
        """bool[rows]: the rows that have some of these places (int64[n] each)."""
        found = np.zeros(len(self.starts) - 1, np.bool_)
        for each in places:
            found[self.rows_of(each)] = True
        return found

    def rows_of(self, places: Array) -> Array:
        """int64[n]: the rows of some places (int64[n])."""
        found: Array = np.searchsorted(self.starts, places, "right") - 1
        return found


class Source(NamedTuple):
    """A corpus to read. `name`: of the pass; `columns`: whose values it supplies."""

    corpus: Corpus
    name: str
    columns: Sequence[str]


def read_sources(
    sources: Sequence[Source],
    stream: TokenStream,
    options: PassageOptions,
    seen: SeenMinimizers,
    progress: Progress,
    checkpoints: Checkpoints,
) -> tuple[Documents, Array, list[int]]:
    """Read all documents once, source after source: what is kept of each, without fingerprints; int64[rows], the places of each;
    and the number of rows of each source.
    """
    resources, functions = options.resources, options.order.functions
    names = (*sources[0].columns, *functions)
    kept = KeptRows(memory=resources.share("rows"), files=resources.files, use=resources.use)
    none = np.empty(0, np.int64)
    kept.append((none, none, none), pa.array([], pa.large_string()))
    gathered: dict[str, list[Any]] = {name: [] for name in names}
    long = LongTexts(resources.memory_bytes, progress.say)
    scripts = ScriptCount.wanted(stream.recipe, stream.similarity)
    work = partial(read_part, stream=stream, size=options.min_tokens, functions=functions, long=long, scripts=scripts)
    rows = list[int]()
    with contextlib.closing(kept):
        for source in sources:
            rows.append(0)
            for _, part in checkpoints.map(source.corpus, work, name=source.name):
                seen.add(part.minimizers)
                kept.append((part.sizes, part.tokens, part.lengths), part.ids)
                values = dict(zip((*source.columns, *functions), part.values, strict=True))
                for name in names:
                    gathered[name].append(values.get(name, pa.nulls(len(part.tokens), pa.large_string())))
                rows[-1] += len(part.tokens)
                progress.advance(len(part.tokens))
        (sizes, tokens, lengths), ids = kept.whole()
    if scripts is not None and (advice := scripts.advice(stream.recipe)):
        progress.say(advice)
    words = np.empty((len(tokens), 0), np.uint64)
    by_name = {name: joined_arrays(found) for name, found in gathered.items()}
    return Documents(words, words, tokens, lengths, ids, by_name), sizes, rows
