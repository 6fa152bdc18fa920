"""Batches of HTML."""

from dataclasses import replace

import pyarrow as pa

from neardup.io.corpora.batch import Batch
from neardup.text.html import Extract


def text_of_pages(batch: Batch, extract: Extract) -> Batch:
    """The batch with HTML converted to text; nulls stay."""
    texts = [None if page is None else extract(page) for page in batch.texts.to_pylist()]
    return replace(batch, texts=pa.array(texts, pa.large_string()))
