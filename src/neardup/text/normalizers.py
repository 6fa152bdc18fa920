"""NORMALIZE: texts to their folded form, on which everything else is defined.

`normalize(text)` is toNFKC_Casefold (The Unicode Standard 14.0, section 3.13, R5; default ignorable characters such as soft
hyphens and zero-width joiners are gone), with each run of white space made one space and none left at the ends.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.kernels.normalization import SPARE, fold_documents
from neardup.text.unicode_tables import UNICODE_VERSION, assigned_ranges, fold_tables

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class FoldedTexts:
    """Normalized texts, one after another.

    Attributes:
        data: uint8, the UTF-8 bytes, and at least 64 spare ones behind them.
        offsets: int64[n + 1], document d is `data[offsets[d]:offsets[d + 1]]`.
    """

    data: Array
    offsets: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def as_array(self) -> Any:
        """An Arrow `large_string` array of the same memory."""
        return pa.LargeStringArray.from_buffers(len(self), pa.py_buffer(self.offsets), pa.py_buffer(self.data))

    def __getitem__(self, document: int) -> str:
        return self.data[self.offsets[document] : self.offsets[document + 1]].tobytes().decode()


@cache
def _unassigned() -> re.Pattern[str]:
    """Runs of code points that the pinned Unicode version does not know: later ones might compose them."""
    ranges = "".join(f"\\U{first:08x}-\\U{last - 1:08x}" for first, last in assigned_ranges())
    return re.compile(f"([^{ranges}]+)")


def _compose(text: str) -> str:
    if unicodedata.unidata_version == UNICODE_VERSION:
        return unicodedata.normalize("NFC", text)
    parts = _unassigned().split(text)  # known and unknown runs in turn
    parts[::2] = [unicodedata.normalize("NFC", part) for part in parts[::2]]
    return "".join(parts)


def utf8_buffers(texts: Any) -> tuple[Array, Array]:
    """The bytes and int64 offsets of an Arrow `large_string` array without nulls' content; nothing is copied but offsets.

    A null counts as an empty text: what may lie under it, which need not be UTF-8, is not looked at.
    """
    if texts.null_count:
        texts = texts.fill_null("")
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = texts.buffers()[2]
    return np.frombuffer(content if content is not None else b"", np.uint8), offsets


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

    If `buffer`, uint8[], is large enough, the result is in it: memory that is used again costs no fresh pages.
    """
    data, offsets = utf8_buffers(texts)
    size = int(offsets[-1] - offsets[0]) + 2 * SPARE
    out = buffer if buffer is not None and len(buffer) >= size else np.empty(size, np.uint8)
    out_offsets, flags = np.zeros(len(offsets), np.int64), np.zeros(len(texts), np.bool_)
    done = fold_documents(data, offsets, 0, out, out_offsets, flags, fold_tables())
    while done < len(texts):  # a few characters grow, U+FDFA elevenfold
        rest = 12 * int(offsets[done + 1] - offsets[done]) + int(offsets[-1] - offsets[done + 1])
        larger = np.empty(int(out_offsets[done]) + rest + 2 * SPARE, np.uint8)
        larger[: out_offsets[done]] = out[: out_offsets[done]]
        out = larger
        done = fold_documents(data, offsets, done, out, out_offsets, flags, fold_tables())
    folded = FoldedTexts(out, out_offsets)
    return _compose_flagged(folded, flags) if flags.any() else folded


def _nfkc_casefold(texts: Any) -> FoldedTexts:
    return fold_texts(texts)


NORMALIZER_TABLE: dict[str, Callable[[Any], FoldedTexts]] = {"nfkc_casefold": _nfkc_casefold}
"""By the names of `neardup.recipe.NORMALIZERS`: from an Arrow `large_string` array to normalized texts."""


def normalized(texts: Any, steps: Sequence[str]) -> FoldedTexts:
    """Texts (an Arrow `large_string` array) after some of NORMALIZER_TABLE, one after another; nulls become empty texts."""
    for step in steps[:-1]:
        texts = NORMALIZER_TABLE[step](texts).as_array()
    return NORMALIZER_TABLE[steps[-1]](texts)


def normalize(text: str) -> str:
    r"""The folded form of one text.

    >>> normalize("  Ｆｕｌｌ－width,\n\n STRASSE Straße ")
    'full-width, strasse strasse'
    """
    return fold_texts(pa.array([text], pa.large_string()))[0]
