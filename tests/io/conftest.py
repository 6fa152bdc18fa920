"""Files to read, and what reading them gives."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from io_rows import ReadRows

from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.io.formats.table import FORMATS, open_sink


@pytest.fixture
def shard(tmp_path: Path) -> Callable[..., Shard]:
    """Writes bytes, or an Arrow table, to a file and finds it as a shard."""

    def make(content: Any, name: str = "corpus.jsonl", **options: Any) -> Shard:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            pq.write_table(content, path, **options)
        return find_shards([path])[0]

    return make


@pytest.fixture
def reading() -> type[ReadRows]:
    """Reads a shard."""
    return ReadRows


@pytest.fixture
def copied(tmp_path: Path) -> Callable[..., Path]:
    """Copies rows of shards, given as pairs of shard and mask, to one file."""

    def copy(*shards: tuple[Shard, list[bool]], name: str = "out", compression: str = "plain") -> Path:
        path = tmp_path / name
        with open_sink(path, shards[0][0].format, compression) as sink:
            for shard, keep in shards:
                FORMATS[shard.format].copy(shard, np.array(keep, np.bool_), sink)
        return path

    return copy
