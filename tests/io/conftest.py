"""Files to read, and what reading them gives."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from neardup.io.corpora.batch import Columns
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
        return find_shards([path], temporary=tmp_path)[0]

    return make


class Reading:
    """All rows of a shard: texts, ids as JSON values, and the reasons of rejected rows by row."""

    def __init__(self, shard: Shard, *text: str, id: str | None = None, wanted: Any = None) -> None:  # noqa: A002
        self.reasons: dict[int, str] = {}
        self.texts: list[str | None] = []
        self.ids: list[str | None] = []
        columns = Columns(text or ("text",), id)
        mask = None if wanted is None else np.array(wanted, np.bool_)
        reject = self.reasons.__setitem__
        for batch in FORMATS[shard.format].read(shard, columns, reject=reject, wanted=mask):
            assert batch.row == len(self.texts)
            batch.texts.validate(full=True)
            batch.ids.validate(full=True)
            self.texts += batch.texts.to_pylist()
            self.ids += batch.ids.to_pylist()
        assert len(self.texts) == len(self.ids)
        assert [text is None for text in self.texts] == [token is None for token in self.ids]
        assert list(self.reasons) == sorted(self.reasons)
        assert all(self.texts[row] is None for row in self.reasons)


@pytest.fixture
def reading() -> type[Reading]:
    """Reads a shard."""
    return Reading


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
