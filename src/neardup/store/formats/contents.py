"""CONTENTS: what a store knows of its documents besides the record, by their numbers: a row each, elements, and signatures.

A row has, in words of 64 bits: the digest (2), the number of tokens, the fingerprint, of each kind of elements where they begin,
how many there are and their checksum, the checksum of the signature, the digest of the numbers, a bitmap of the
elements by which candidates are found, and the checksum of the row itself and of its number.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.fingerprints.minhash import Signing
from neardup.fingerprints.simhash import Fingerprints
from neardup.kernels.matching.bitmaps import fill_bitmaps
from neardup.kernels.store import rows as kernels
from neardup.kernels.store.postings import MANY
from neardup.matching.similarities.table import Elements
from neardup.matching.text_features import Texts, no_elements
from neardup.resources.threads import in_order
from neardup.store.formats.appended_file import AppendedFile, Header
from neardup.store.formats.segments import Found, TooManyPairsError, joined

DIGEST, TOKENS, FINGERPRINT = 0, 2, 3
"""Columns of a row."""
PAIRS_AT_ONCE = 1 << 16
"""Room for pairs of texts and documents that are found together."""
BITMAP_WORDS = 8
"""Of a bitmap, which tells most unlike texts of up to some 1,000 elements apart without their elements."""


_OURS = re.compile(r"(?:rows|signatures|(?:compared|joined)(?:_weights)?)-(\d+)")


@dataclass(frozen=True)
class Layout:
    """What a store keeps of each document.

    Attributes:
        words: of a fingerprint.
        kinds: the kinds of elements, of `compared` and `joined`; none if distances decide.
        weighted: whether elements have weights.
        signing: how texts are signed, if signatures are kept.
        bounded: whether the number of elements of the last kind that two texts have in common bounds their similarity, so that
            bitmaps of them are kept.
        guarded: whether a guard compares numbers, so that their digest is kept.
    """

    words: int
    kinds: tuple[str, ...]
    weighted: bool
    signing: Signing | None
    bounded: bool
    guarded: bool = False

    @property
    def width(self) -> int:
        """Words of a row."""
        return self.place_of_bitmap + BITMAP_WORDS * self.bounded + 1

    def place_of(self, kind: str) -> int:
        """The column that says where the elements of a kind begin."""
        return FINGERPRINT + self.words + 3 * self.kinds.index(kind)

    @property
    def place_of_signature(self) -> int:
        """The column with the checksum of the signature."""
        return FINGERPRINT + self.words + 3 * len(self.kinds)

    @property
    def place_of_numbers(self) -> int:
        """The column with the digest of the numbers."""
        return self.place_of_signature + (self.signing is not None)

    @property
    def place_of_bitmap(self) -> int:
        """The column where the bitmap begins."""
        return self.place_of_numbers + self.guarded

    @property
    def types(self) -> dict[str, str]:
        """The files, and the types of their items, as NumPy writes them."""
        found = {"rows": "<u8"}
        for kind in self.kinds:
            found[kind] = "<u8"
            if self.weighted:
                found[weights_of(kind)] = "<f8"
        return found if self.signing is None else found | {"signatures": "<u4"}

    def texts(
        self,
        prints: Fingerprints,
        elements: Mapping[str, Elements],
        signatures: Array | None,
        numbers: Array | None = None,
    ) -> Texts:
        """Texts, of what is kept of them: fingerprints, elements by kind, values of signatures (uint32[n, values]), and digests of
        numbers (uint64[n]).
        """
        compared, signed = elements.get("compared", no_elements()), None
        if self.signing is not None:
            assert signatures is not None
            signed = replace(self.signing.none(), values=signatures, sizes=np.diff(compared.offsets))
        return Texts(prints, elements.get("joined", compared), compared, signed, numbers=numbers)

    @property
    def no_ends(self) -> dict[str, int]:
        """What `Contents.ends` tells of no documents."""
        return dict.fromkeys(self.types, 0)


def bitmaps_of(texts: Texts) -> Array:
    """The bitmaps of the elements of texts, uint64[n, BITMAP_WORDS]."""
    out = np.zeros((len(texts), BITMAP_WORDS), np.uint64)
    starts = np.arange(0, out.size + 1, BITMAP_WORDS)
    fill_bitmaps(texts.joined.values, texts.joined.offsets, starts, out.reshape(-1))
    return out


class Against:
    """Texts, whose bitmaps are held against those of others."""

    def __init__(self, texts: Texts, wanted: Array) -> None:
        """`wanted`: int64[k], the places of those that are."""
        self._wanted, self.bitmaps = wanted, bitmaps_of(texts)[wanted]
        sizes = np.diff(texts.joined.offsets)[wanted]
        memory = np.empty((2, len(wanted)), np.int64)
        self.texts = kernels.Held(sizes, np.ascontiguousarray(self.bitmaps.T), memory[0], memory[1])

    def all_pairs(self, meet: Callable[[kernels.Met], bool]) -> Found:
        """The pairs that calls of `meet`, until it says that it is done, have found: of a place in the texts and another number.

        Raises:
            TooManyPairsError: there are more than MANY of several texts.
        """
        n, parts, count = len(self._wanted), [], 0
        room = max(2 * n, PAIRS_AT_ONCE)
        met = kernels.Met(np.empty(room, np.int64), np.empty(room, np.int64), np.zeros(2, np.int64))
        is_done = n == 0
        while not is_done:
            met.state[0] = 0
            is_done = meet(met)
            found = int(met.state[0])
            count += found
            if count > MANY and n > 1:
                raise TooManyPairsError
            parts.append(Found(self._wanted[met.places[:found]], met.others[:found].copy()))
        return joined(parts)

    def among(self, code: int, least: float) -> Found:
        """The pairs of two places of the texts that may reach a similarity, the smaller first."""

        def meet(met: kernels.Met) -> bool:
            kernels.meet_texts(self.bitmaps, self.texts, code, least, met)
            return bool(met.state[1] >= len(self.bitmaps))

        smaller, larger = self.all_pairs(meet)
        return Found(smaller, self._wanted[larger])


def weights_of(kind: str) -> str:
    """The name of the weights of a kind of elements, of files and of columns of an export."""
    return f"{kind}_weights"


def name_of(kind: str, generation: int) -> str:
    """The name of a file, of the store that was compacted so often."""
    return f"{kind}-{generation}"


def other_generations(folder: Path, generation: int) -> list[Path]:
    """The files of other generations, which a crash has left."""
    found = [(path, _OURS.fullmatch(path.name)) for path in folder.iterdir()]
    return [path for path, ours in found if ours and int(ours[1]) != generation]


class Contents:
    """The files, each of which only grows.

    Attributes:
        path: the folder.
        layout: see `Layout`.
        store: the identity of the store.
        generation: how often it was compacted.
    """

    def __init__(
        self,
        folder: Path,
        layout: Layout,
        ends: Mapping[str, int],
        *,
        store: str,
        generation: int,
        readonly: bool = False,
    ) -> None:
        """Open the files in a folder, or create them.

        Args:
            folder: that of the store.
            layout: what they hold.
            ends: the result of `ends` when the record last named them.
            store: the identity of the store.
            generation: how often it was compacted.
            readonly: whether another process may append.

        Raises:
            DataError: a file is missing, another one, or shorter than the record says.
        """
        self.path, self.layout, self.store, self.generation = folder, layout, store, generation
        self._files: dict[str, AppendedFile] = {}
        with ExitStack() as opened:
            for name, kind in layout.types.items():
                header = Header(name, kind, generation, store)
                file = AppendedFile(folder / name_of(name, generation), header, ends[name], readonly=readonly)
                self._files[name] = opened.enter_context(closing(file))
            self._open = opened.pop_all()

    def __len__(self) -> int:
        return self._files["rows"].end // self.layout.width

    @property
    def ends(self) -> dict[str, int]:
        """How many items each file has."""
        return {name: file.end for name, file in self._files.items()}

    def copy_to(self, folder: Path, ends: Mapping[str, int]) -> None:
        """Write the files up to some ends to another folder, durably."""
        for name, file in self._files.items():
            if ends[name]:  # a file without items may be missing
                file.copy_to(folder / file.path.name, ends[name])

    def catch_up(self, ends: Mapping[str, int]) -> None:
        """Read as far as the record says that another process has written."""
        for name, file in self._files.items():
            file.catch_up(ends[name])

    def append(self, texts: Texts) -> None:
        """Write what is kept of texts; durable after `sync`."""
        layout, n = self.layout, len(texts)
        if not n:
            return
        rows = np.zeros((n, layout.width), np.uint64)
        rows[:, DIGEST : DIGEST + 2] = texts.prints.digests
        rows[:, TOKENS] = texts.prints.tokens
        rows[:, FINGERPRINT : FINGERPRINT + layout.words] = texts.prints.values
        for kind in layout.kinds:
            elements: Elements = getattr(texts, kind)
            at, sums = layout.place_of(kind), np.empty(n, np.uint64)
            first = self._files[kind].append(elements.values)
            if layout.weighted:
                self._files[weights_of(kind)].append(elements.weights)
            kernels.fill_checksums(elements.values, elements.offsets, sums)
            if layout.weighted:
                more = np.empty(n, np.uint64)
                kernels.fill_checksums(elements.weights.view(np.uint64), elements.offsets, more)
                sums ^= more
            rows[:, at] = (first + elements.offsets[:-1]).astype(np.uint64)
            rows[:, at + 1] = np.diff(elements.offsets)
            rows[:, at + 2] = sums
        if layout.signing is not None:
            assert texts.signatures is not None
            self._files["signatures"].append(texts.signatures.values)
            sums = np.empty(n, np.uint64)
            kernels.fill_signature_checksums(texts.signatures.values, sums)
            rows[:, layout.place_of_signature] = sums
        if layout.guarded:
            assert texts.numbers is not None
            rows[:, layout.place_of_numbers] = texts.numbers
        if layout.bounded:
            at = layout.place_of_bitmap
            rows[:, at : at + BITMAP_WORDS] = bitmaps_of(texts)
        kernels.seal_rows(rows, len(self))
        self._files["rows"].append(rows)

    def sync(self) -> None:
        """Make all that was appended durable."""
        files = list(self._files.values())
        for _ in in_order(AppendedFile.sync, files, len(files)):  # a disk that is slow may write them at the same time
            pass

    def leave(self) -> None:
        """Let the files be as another writer has made them."""
        for file in self._files.values():
            file.leave()

    def close(self) -> None:
        """Close the files."""
        self._open.close()

    # ------------------------------------------------------------------------------------------------------- reading

    def rows(self, numbers: Array) -> Array:
        """The rows of some documents (int64[k]): uint64[k, width]; a DataError if one is damaged, or not there."""
        rows = self._rows()
        self._demand_sound(int(kernels.damaged_row(rows, numbers)))
        found: Array = rows[numbers]
        return found

    def _demand_sound(self, damaged: int) -> None:
        """Refuse (DataError) a row that is damaged, or not there; -1 for none."""
        if damaged >= len(self):
            raise DataError(
                f"{self.path} has {len(self):,} documents, but a file that is made of others names document {damaged:,}. Repair "
                "the store."
            )
        if damaged >= 0:
            raise self._damage("rows", damaged)

    def sieved(self, texts: Texts, pairs: Found, code: int, least: float) -> Found:
        """Those pairs of a place in texts and a document that may reach a similarity, by their bitmaps.

        Args:
            texts, pairs: see `Found`.
            code: of the similarity, for kernels.
            least: what is to be reached.

        Raises:
            DataError: a row is not what was written, or there is none of a number.
        """
        if not self.layout.bounded or not len(pairs.found):
            return pairs
        asked = kernels.Sieved(np.diff(texts.joined.offsets), bitmaps_of(texts))
        columns = (self.layout.place_of(self.layout.kinds[-1]) + 1, self.layout.place_of_bitmap)
        may: Array = np.empty(len(pairs.found), np.bool_)
        rows = self._rows()
        self._demand_sound(int(kernels.sieve_rows(rows, columns, pairs.found, pairs.asked, asked, code, least, may)))
        return Found(pairs.asked[may], pairs.found[may])

    def met(self, texts: Texts, wanted: Array, gone: Array, code: int, least: float, least_tokens: int) -> Found:
        """All pairs of a place in texts and a document that may reach a similarity, by their bitmaps.

        Args:
            texts: the texts; wanted: int64[k], the places of those that are held against the documents.
            gone: uint8[], bits of documents that are left out.
            code, least: see `sieved`.
            least_tokens: documents with fewer are left out.

        Raises:
            DataError: a row is not what was written.
            TooManyPairsError: there are more than MANY.
        """
        tokens_and_size = TOKENS, self.layout.place_of(self.layout.kinds[-1]) + 1
        columns, rows = (*tokens_and_size, self.layout.place_of_bitmap), self._rows()
        held = Against(texts, wanted)

        def meet(met: kernels.Met) -> bool:
            self._demand_sound(int(kernels.meet_rows(rows, columns, least_tokens, gone, held.texts, code, least, met)))
            return bool(met.state[1] >= len(rows))

        return held.all_pairs(meet)

    def digests(self, rows: Array) -> Array:
        """The digests in rows: uint64[k, 2]."""
        return rows[:, DIGEST : DIGEST + 2]

    def fingerprints(self, rows: Array) -> Array:
        """The fingerprints in rows: uint64[k, words]."""
        return rows[:, FINGERPRINT : FINGERPRINT + self.layout.words]

    def numbers(self, rows: Array) -> Array:
        """The digests of numbers in rows: uint64[k]."""
        return np.ascontiguousarray(rows[:, self.layout.place_of_numbers])

    def signatures(self, numbers: Array, rows: Array) -> Array:
        """The signatures of documents with these rows: uint32[k, values]; a DataError if one is not what was written."""
        assert self.layout.signing is not None
        signatures = self._files["signatures"].items().reshape(-1, self.layout.signing.values)
        found = np.empty((len(numbers), self.layout.signing.values), np.uint32)
        sums = np.ascontiguousarray(rows[:, self.layout.place_of_signature])
        damaged = kernels.gather_signatures(signatures, numbers, sums, found)
        if damaged >= 0:
            raise self._damage("signatures", int(numbers[damaged]))
        return found

    def elements(self, numbers: Array, kind: str, rows: Array | None = None) -> Elements:
        """The elements of some documents, of which `rows` may be known; a DataError if a row or elements are damaged."""
        if not len(numbers):
            return no_elements()
        layout = self.layout
        rows, at = self.rows(numbers) if rows is None else rows, layout.place_of(kind)
        starts = rows[:, at].astype(np.int64)
        offsets = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(rows[:, at + 1].astype(np.int64), out=offsets[1:])
        values = np.empty(offsets[-1], np.uint64)
        sums = np.ascontiguousarray(rows[:, at + 2])
        items = self._files[kind].items()
        weights = np.empty(offsets[-1] if layout.weighted else 0, np.float64)
        if layout.weighted:
            mine = np.empty(len(numbers), np.uint64)
            kernels.gather(
                self._files[weights_of(kind)].items().view(np.uint64), starts, mine, offsets, weights.view(np.uint64)
            )
            kernels.fill_checksums(weights.view(np.uint64), offsets, mine)
            sums ^= mine
        damaged = kernels.gather(items, starts, sums, offsets, values)
        if damaged >= 0:
            raise self._damage(kind, int(numbers[damaged]))
        return Elements(values, weights, offsets)

    def texts(self, numbers: Array) -> Texts:
        """What was appended of some documents (int64[k]).

        Raises:
            DataError: something is not what was written.
        """
        layout, rows = self.layout, self.rows(numbers)
        prints = Fingerprints(
            np.ascontiguousarray(self.fingerprints(rows)),
            np.ascontiguousarray(self.digests(rows)),
            rows[:, TOKENS].astype(np.int64),
        )
        kept = {kind: self.elements(numbers, kind, rows) for kind in layout.kinds}
        signatures = None if layout.signing is None else self.signatures(numbers, rows)
        return layout.texts(prints, kept, signatures, self.numbers(rows) if layout.guarded else None)

    def _rows(self) -> Array:
        return self._files["rows"].items().reshape(-1, self.layout.width)

    def _damage(self, name: str, number: int) -> DataError:
        either = f" or {self._files[weights_of(name)].path.name}" if weights_of(name) in self._files else ""
        return DataError(
            f"{self._files[name].path}{either} is damaged: document {number:,} is not what was written. Restore it from a backup, "
            "or repair the store, which removes the document."
        )
