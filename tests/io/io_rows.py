"""What reading a shard gives."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from neardup.io.corpora.batch import Batch, Columns
from neardup.io.corpora.shard import Shard
from neardup.io.formats.table import FORMATS


def batches_of(shard: Shard, columns: Columns, reasons: dict[int, str], *, wanted: Any = None) -> Iterator[Batch]:
    """The parts of a shard, read one after another; the rows that cannot be read are entered into `reasons`."""
    for part in FORMATS[shard.format].parts(shard, columns, wanted):
        batch, rejections = part()
        reasons.update(rejections)
        yield batch


class ReadRows:
    """All rows of a shard: texts, ids as JSON values, and the reasons of rejected rows by row."""

    def __init__(self, shard: Shard, *text: str, id: str | None = None, wanted: Any = None) -> None:  # noqa: A002
        self.reasons: dict[int, str] = {}
        self.texts: list[str | None] = []
        self.ids: list[str | None] = []
        columns = Columns(text or ("text",), id)
        mask = None if wanted is None else np.array(wanted, np.bool_)
        for batch in batches_of(shard, columns, self.reasons, wanted=mask):
            assert batch.row == len(self.texts)
            batch.texts.validate(full=True)
            batch.ids.validate(full=True)
            self.texts += batch.texts.to_pylist()
            self.ids += batch.ids.to_pylist()
        assert len(self.texts) == len(self.ids)
        assert [text is None for text in self.texts] == [token is None for token in self.ids]
        assert list(self.reasons) == sorted(self.reasons)
        assert all(self.texts[row] is None for row in self.reasons)
