"""NORMALIZE: convert texts to their folded form, on which everything else is defined.

`normalize(text)` is toNFKC_Casefold (The Unicode Standard 14.0, section 3.13, R5), which also removes default ignorable characters
such as soft hyphens and zero-width joiners. Each run of white space then becomes one space, and both ends are stripped.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.kernels.digests import digest_without_figures
from neardup.kernels.text.normalization import SPARE, fold_documents, replace_characters
from neardup.kernels.text.utf8 import count_characters
from neardup.kernels.text.variants import Variants, replace_variants
from neardup.recipe.stored_parts import StoredPart, check_installed
from neardup.recipe.tables.parts import FOLDING, NORMALIZER_PACKAGES, folds_last
from neardup.text.normal_forms import normal_form
from neardup.text.unicode_tables import (
    DIGIT,
    PUNCTUATION,
    REMOVED,
    UNICODE_VERSION,
    assigned_ranges,
    changed_characters,
    fold_tables,
    removal_table,
)
from neardup.text.variants import conversion, growth_of, variants_of

CHARACTERS_AT_ONCE = 1 << 16
"""Characters of a text that are folded to count what it becomes."""


@dataclass(frozen=True, slots=True)
class FoldedTexts:
    """Normalized texts, one after another.

    Attributes:
        data: uint8, the UTF-8 bytes, followed by at least 64 spare bytes.
        offsets: int64[n + 1], document d is `data[offsets[d]:offsets[d + 1]]`.
    """

    data: Array
    offsets: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def as_array(self) -> Any:
        """An Arrow `large_string` array over the same memory."""
        return pa.LargeStringArray.from_buffers(len(self), pa.py_buffer(self.offsets), pa.py_buffer(self.data))

    def __getitem__(self, document: int) -> str:
        return self.data[self.offsets[document] : self.offsets[document + 1]].tobytes().decode()


@cache
def _unassigned() -> re.Pattern[str]:
    """Matches runs of code points that the pinned Unicode version does not assign: later versions might compose them."""
    ranges = "".join(f"\\U{first:08x}-\\U{last - 1:08x}" for first, last in assigned_ranges())
    return re.compile(f"([^{ranges}]+)")


def _of_known(change: Callable[[str], str], text: str) -> str:
    """Apply `change` to the runs of code points that the pinned Unicode version assigns; the others stay."""
    if unicodedata.unidata_version == UNICODE_VERSION:
        return change(text)
    parts = _unassigned().split(text)  # assigned and unassigned runs alternate
    parts[::2] = [change(part) for part in parts[::2]]
    return "".join(parts)


_compose = partial(_of_known, partial(normal_form, "NFC"))


def utf8_buffers(texts: Any) -> tuple[Array, Array]:
    """The bytes and int64 offsets of an Arrow `large_string` array; only offsets are copied.

    A null counts as an empty text. The bytes under a null, which need not be UTF-8, are ignored.
    """
    if texts.null_count:
        texts = texts.fill_null("")
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = texts.buffers()[2]
    return np.frombuffer(content if content is not None else b"", np.uint8), offsets


def character_counts(texts: Any) -> Array:
    """The number of characters in each text of an Arrow `large_string` array, int64[n]; 0 for a null."""
    data, offsets = (buffer.view() for buffer in utf8_buffers(texts))
    data.flags.writeable = offsets.flags.writeable = False  # arrays of one kind, so the kernel is compiled once
    counts = np.empty(len(texts), np.int64)
    count_characters(data, offsets, counts)
    return counts


def _compose_flagged(folded: FoldedTexts, flags: Array) -> FoldedTexts:
    pieces: list[bytes] = []
    raw, lengths = folded.data, np.diff(folded.offsets)
    done = 0
    for d in np.flatnonzero(flags).tolist():
        pieces.append(raw[folded.offsets[done] : folded.offsets[d]].tobytes())
        pieces.append(_compose(folded[d]).encode())
        lengths[d] = len(pieces[-1])
        done = d + 1
    pieces.append(raw[folded.offsets[done] : folded.offsets[-1]].tobytes())
    pieces.append(bytes(SPARE))
    return FoldedTexts(np.frombuffer(bytearray().join(pieces), np.uint8), np.concatenate([[0], np.cumsum(lengths)]))


def fold_texts(texts: Any, buffer: Array | None = None) -> FoldedTexts:
    """Normalize an Arrow `large_string` array (valid UTF-8); nulls become empty texts.

    If `buffer`, uint8[], is large enough, the result is stored in it: reused memory costs no fresh pages.
    """
    data, offsets = utf8_buffers(texts)
    size = int(offsets[-1] - offsets[0]) + 2 * SPARE
    out = buffer if buffer is not None and len(buffer) >= size else np.empty(size, np.uint8)
    out_offsets, flags = np.zeros(len(offsets), np.int64), np.zeros(len(texts), np.bool_)
    done = fold_documents(data, offsets, 0, out, out_offsets, flags, fold_tables())
    while done < len(texts):  # a few characters grow; U+FDFA becomes eleven times as long
        rest = 12 * int(offsets[done + 1] - offsets[done]) + int(offsets[-1] - offsets[done + 1])
        larger = np.empty(int(out_offsets[done]) + rest + 2 * SPARE, np.uint8)
        larger[: out_offsets[done]] = out[: out_offsets[done]]
        out = larger
        done = fold_documents(data, offsets, done, out, out_offsets, flags, fold_tables())
    folded = FoldedTexts(out, out_offsets)
    return _compose_flagged(folded, flags) if flags.any() else folded


def _joined(texts: Sequence[bytes]) -> FoldedTexts:
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(text) for text in texts], dtype=np.int64)])
    return FoldedTexts(np.frombuffer(b"".join(texts) + bytes(SPARE), np.uint8), offsets)


def _one_by_one(change: Callable[[str], str], texts: Any) -> FoldedTexts:
    return _joined([change(text).encode() for text in texts.fill_null("").to_pylist()])


def _replaced(digit: int, dropped: int, texts: Any, table: Array | None = None) -> FoldedTexts:
    data, offsets = utf8_buffers(texts)
    out, out_offsets = np.empty(int(offsets[-1] - offsets[0]) + SPARE, np.uint8), np.empty(len(offsets), np.int64)
    replace_characters(data, offsets, removal_table() if table is None else table, digit, dropped, out, out_offsets)
    return FoldedTexts(out, out_offsets)


def digests_without_figures(folded: FoldedTexts) -> Array:
    """uint64[n]: digests of normalized texts in which each run of decimal digits (Nd) is one mark.

    Two texts *differ in digits only* if these are equal and the texts are not.
    """
    longest = int(np.diff(folded.offsets).max(initial=0))
    found = np.empty(len(folded), np.uint64)
    digest_without_figures(
        folded.data, folded.offsets, removal_table(), DIGIT, np.empty(longest + SPARE, np.uint8), found
    )
    return found


def _converted(name: str, config: str, texts: Any) -> FoldedTexts:
    """By a conversion of OpenCC; `name`: of the normalizer."""
    check_installed(f"`normalize={name!r}`", NORMALIZER_PACKAGES[name], "zh")
    found = conversion(config)
    return _one_by_one(found.convert, texts) if found.variants is None else varied(found.variants, found.growth, texts)


def varied(variants: Variants, growth: float, texts: Any) -> FoldedTexts:
    """Texts with what `variants` names replaced. `growth`: no text becomes more than so many times as many bytes."""
    data, offsets = (buffer.view() for buffer in utf8_buffers(texts))
    data.flags.writeable = offsets.flags.writeable = False  # arrays of one kind, so the kernel is compiled once
    room = int(growth * int(offsets[-1] - offsets[0])) + 2 * SPARE
    out, out_offsets = np.empty(room, np.uint8), np.empty(len(offsets), np.int64)
    replace_variants(data, offsets, variants, out, out_offsets)
    return FoldedTexts(out, out_offsets)


def _plainer(name: str, texts: Any) -> FoldedTexts:
    """By the characters that a normalizer changes: some are removed, then the others replaced."""
    dropped, variants, growth = _changes(name)
    kept = _replaced(0, PUNCTUATION, texts, dropped)
    return varied(variants, growth, kept.as_array())


@cache
def _changes(name: str) -> tuple[Array, Variants, float]:
    """What `replace_characters` and then `replace_variants` need for a normalizer."""
    changed = changed_characters(name)
    dropped = np.zeros(0x110000, np.uint8)
    dropped[[code for code, found in changed.items() if found == REMOVED]] = PUNCTUATION
    dropped.flags.writeable = False
    replaced = {chr(code): chr(found) for code, found in changed.items() if found != REMOVED}
    return dropped, variants_of(replaced), max(1.0, growth_of(replaced))


@cache
def _word_breaks() -> Variants:
    return variants_of({"\u200b": " "})


NORMALIZER_TABLE: dict[str, Callable[[Any], FoldedTexts]] = {
    "nfkc_casefold": fold_texts,
    "nfkc": partial(_one_by_one, partial(_of_known, partial(normal_form, "NFKC"))),
    "casefold": partial(_one_by_one, partial(_of_known, str.casefold)),
    "lower": partial(_one_by_one, partial(_of_known, str.lower)),
    "digits": partial(_replaced, DIGIT, 0),
    "punctuation": partial(_replaced, 0, PUNCTUATION),
    "marks": partial(_plainer, "marks"),
    "letters": partial(_plainer, "letters"),
    "word_breaks": lambda texts: varied(_word_breaks(), 1.0, texts),
    "simplified": partial(_converted, "simplified", "t2s"),
    "shinjitai": partial(_converted, "shinjitai", "t2jp"),
}
"""The normalizers, by the names in `neardup.recipe.tables.parts.NORMALIZERS`: from an Arrow `large_string` array to
normalized texts.
"""


def normalized(texts: Any, steps: Sequence[Any]) -> FoldedTexts:
    """Apply steps of NORMALIZER_TABLE to texts (an Arrow `large_string` array), one after another; nulls become empty texts.

    Raises:
        MissingExtra: the package of a step is not installed.
        OptionError: only the identity of a step is known.
    """
    folded: FoldedTexts | None = None
    for step in steps:
        if isinstance(step, StoredPart):
            step.refuse("normalize")
        folded = NORMALIZER_TABLE[step](texts if folded is None else folded.as_array())
    return _as_they_are(texts) if folded is None else folded


def compared_form(texts: Any, steps: Sequence[Any], buffer: Array | None = None) -> FoldedTexts:
    """The form of texts that similarities compare: what a recipe's steps (`normalize`) make of them, folded as `normalize` does.

    Texts that the steps make equal are equal in this form, too: joins may look at one of them in place of all. Without further
    steps, this is `fold_texts` of the texts themselves. Arguments and errors as in `normalized` and `fold_texts`.
    """
    if tuple(steps) in ((), FOLDING):
        return fold_texts(texts, buffer)
    found = normalized(texts, steps)
    return found if folds_last(steps) else fold_texts(found.as_array(), buffer)


def compared_bytes(text: str, steps: Sequence[Any]) -> int:
    """About how many bytes `compared_form` makes of a text, without all of them in memory: it is folded in pieces, at whose ends a
    space or an accent may be counted twice. U+FDFA becomes eleven times as long. Half of a surrogate pair counts as one byte.
    """
    pieces = (
        text[first : first + CHARACTERS_AT_ONCE].encode("utf-8", "replace")
        for first in range(0, len(text), CHARACTERS_AT_ONCE)
    )
    return sum(int(compared_form(pa.array([each], pa.large_string()), steps).offsets[-1]) for each in pieces)


def _as_they_are(texts: Any) -> FoldedTexts:
    data, offsets = utf8_buffers(texts)
    content = np.concatenate([data[offsets[0] : offsets[-1]], np.zeros(SPARE, np.uint8)])
    return FoldedTexts(content, offsets - offsets[0])


def normalize(text: str, steps: Sequence[Any] = FOLDING) -> str:
    r"""The folded form of one text, after the `steps` of a recipe; see `compared_form`.

    >>> normalize("  Ｆｕｌｌ－width,\n\n STRASSE Straße ")
    'full-width, strasse strasse'
    >>> normalize("On 3 May, 1949", ["digits", "punctuation"])
    'on 0 may 0000'
    """
    return compared_form(pa.array([text], pa.large_string()), steps)[0]
