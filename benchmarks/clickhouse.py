"""ClickHouse's SimHash functions, run by chdb; and one of them again, on this package's kernels.

`ngramSimHash(text, 3)`: every window of three bytes votes with its raw CRC-32C (register all ones, no final inversion), and a bit
is 1 where more windows have it than not. A CRC has 32 bits, so the upper half of the fingerprint is always 0.
"""

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from neardup.kernels.compilation import JIT
from neardup.kernels.fingerprints.votes import PLANE_SPARE, PLANES, VOTES_BEHIND, majority
from neardup.kernels.intrinsics import load32

Array = np.ndarray[Any, np.dtype[Any]]
u64 = np.uint64

POLYNOMIAL = 0x82F63B78
"""CRC-32C (Castagnoli), bits reversed."""
WINDOW = 3
BLOCKS = {
    "large blocks": "max_threads=1",
    "blocks of 256 rows": "max_threads=1, max_block_size=256, min_insert_block_size_rows=256, min_insert_block_size_bytes=0",
}
"""How ClickHouse holds the table: as inserted, or in blocks that stay in a core's cache."""


class ClickHouse:
    """A session of one thread with one table of texts in memory, `Memory` engine: nothing is parsed while a function is timed."""

    def __init__(self, texts: Any) -> None:
        from chdb import session

        self._session: Any = session.Session()
        self.version = str(self._query("SELECT version()")).strip().strip('"')
        self._query("CREATE DATABASE IF NOT EXISTS bench")
        with tempfile.TemporaryDirectory(prefix="neardup-bench-") as folder:
            path = Path(folder) / "texts.parquet"
            pq.write_table(pa.table({"text": texts}), path)
            for number, settings in enumerate(BLOCKS.values()):
                self._query(f"DROP TABLE IF EXISTS bench.t{number}")
                self._query(f"CREATE TABLE bench.t{number} (text String) ENGINE = Memory")
                self._query(f"INSERT INTO bench.t{number} SELECT text FROM file('{path}') SETTINGS {settings}")

    def __enter__(self) -> "ClickHouse":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):
            self._session.close()

    def _query(self, text: str, form: str = "CSV") -> Any:
        return self._session.query(text, form)

    def reduce(self, expression: str, blocks: str = "large blocks") -> str:
        """One value for all texts: `expression`, by one thread."""
        number = list(BLOCKS).index(blocks)
        return str(self._query(f"SELECT {expression} FROM bench.t{number} SETTINGS max_threads=1")).strip()

    def fingerprints(self, function: str) -> Array:
        """The fingerprint of each text, in order."""
        lines = str(self._query(f"SELECT {function} FROM bench.t0 SETTINGS max_threads=1")).split()
        return np.array([int(line) for line in lines], np.uint64)


def _crc_tables() -> Array:
    """uint64[3, 256]: what each byte of a window contributes to its CRC, the first byte with the starting value."""

    def crc(data: bytes, register: int) -> int:
        for byte in data:
            register ^= byte
            for _ in range(8):
                register = register >> 1 ^ POLYNOMIAL * (register & 1)
        return register

    rest = [[crc(bytes([byte, *[0] * (WINDOW - 1 - place)]), 0) for byte in range(256)] for place in range(WINDOW)]
    start = crc(bytes(WINDOW), 0xFFFFFFFF)
    rest[0] = [value ^ start for value in rest[0]]
    return np.array(rest, np.uint64)


CRC_TABLES = _crc_tables()


def _before_zero_byte() -> int:
    """The register that a byte of 0 turns into all ones: register' = (register >> 8) ^ T[register & 255]."""
    upper = [(low, 0xFFFFFFFF ^ int(CRC_TABLES[-1][low])) for low in range(256)]
    [(low, shifted)] = [(low, shifted) for low, shifted in upper if shifted < 1 << 24]
    return shifted << 8 | low


BEFORE_ZERO = u64(_before_zero_byte())
HAS_CRC = JIT and llvmlite.binding.get_host_cpu_features().get("sse4.2", False)
"""The processor has an instruction for CRC-32C that LLVM can be asked for."""


@intrinsic
def _crc32_of_4(typing: Any, register: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.IntType(32)
        crc32 = ir.FunctionType(kind, [kind, kind])
        function = builder.module.declare_intrinsic("llvm.x86.sse42.crc32.32.32", (), crc32)
        crc = builder.call(function, [builder.trunc(arg, kind) for arg in args])
        return builder.zext(crc, ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


# Not neardup's @kernel: its cache would not see a change of this file.
_compile: Any = numba.njit(nogil=True, error_model="numpy", _nrt=False)


@_compile
def _hash_by_instruction(data, start, n, hashes):
    # A zero byte before the three makes four; the register starts where that byte makes it all ones.
    for i in range(n):
        hashes[i] = _crc32_of_4(BEFORE_ZERO, load32(data, start + i) << u64(8))


@_compile
def _hash_by_table(data, start, n, hashes):
    for i in range(n):
        p = start + i
        hashes[i] = CRC_TABLES[0, data[p]] ^ CRC_TABLES[1, data[p + 1]] ^ CRC_TABLES[2, data[p + 2]]


_hash_windows = _hash_by_instruction if HAS_CRC else _hash_by_table


@_compile
def _crc_of_whole(data, start, end):
    register = u64(0xFFFFFFFF)
    for i in range(start, end):
        register = register >> u64(8) ^ CRC_TABLES[2, np.int64((register ^ u64(data[i])) & u64(255))]
    return register


@_compile
def _fingerprint_windows(data, offsets, hashes, planes, out):
    for d in range(len(offsets) - 1):
        start, end = offsets[d], offsets[d + 1]
        n = end - start - WINDOW + 1
        if n > 0:
            _hash_windows(data, start, n, hashes)
            out[d] = majority(hashes, n, planes)
        else:
            out[d] = _crc_of_whole(data, start, end) if end > start else ~u64(0)


class EqualWork:
    """`ngramSimHash(text, 3)` of an Arrow `large_string` array by this package's vote counting: the same bits."""

    def __init__(self, texts: Any) -> None:
        self._offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
        content = np.frombuffer(texts.buffers()[2], np.uint8)[: self._offsets[-1]]
        # A load of four bytes may read one behind the end.
        self._data = np.concatenate([content, np.zeros(8, np.uint8)])
        self._hashes = np.empty(int(np.diff(self._offsets).max(initial=0)) + VOTES_BEHIND, np.uint64)
        self._planes = np.empty(PLANES + PLANE_SPARE, np.uint64)

    def fingerprints(self) -> Array:
        """uint64[n]."""
        out = np.empty(len(self._offsets) - 1, np.uint64)
        _fingerprint_windows(self._data, self._offsets, self._hashes, self._planes, out)
        return out
