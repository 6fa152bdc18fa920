"""FILTER by an index: fingerprint documents, decide each by the distance to those before it, and save now and then."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.fingerprints.simhash import Fingerprints, fingerprint_chunks
from neardup.hamming.index.files.labels import labels_of
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.jobs.streams.line_walk import Block, LineWalk, Sinks, write_rejects
from neardup.progress import Progress
from neardup.survivors.distance_stream import DistanceStream
from neardup.survivors.outcomes import FilterOutcomes
from neardup.survivors.records.audit import filter_lines
from neardup.text.columns import in_chunks

COMMIT_ROWS = 1 << 17
COMMIT_SECONDS = 10.0
"""Maximum work, in documents and in seconds, that is repeated after a crash."""


class FilterWalk(LineWalk[Fingerprints]):
    """Decides by the fingerprints in an index. It is `is_inside`, too, while the index is half saved."""

    def __init__(
        self,
        stream: DistanceStream,
        shards: Sequence[Shard],
        how: Reading,
        on_error: str,
        threads: int,
        progress: Progress,
    ) -> None:
        super().__init__(shards, how, on_error, threads, progress)
        self.stream = stream
        self._since, self._rows = time.monotonic(), 0

    @property
    def is_time(self) -> bool:
        """Whether it is time to commit."""
        return (
            self.counts.rows - self._rows >= COMMIT_ROWS or time.monotonic() - self._since >= COMMIT_SECONDS
        ) and self.counts.rows > self._rows

    @contextlib.contextmanager
    def saving(self) -> Iterator[None]:
        """Around the work that saves everything up to here; stays `is_inside` if it fails."""
        self.is_inside = True
        yield
        self._since, self._rows = time.monotonic(), self.counts.rows
        self.is_inside = False

    def prepare(self, batch: Batch, present: Any) -> Fingerprints:
        """Fingerprint the texts."""
        return fingerprint_chunks(in_chunks(batch.texts.filter(present)), self.stream.recipe)

    def decide(self, block: Block[Fingerprints], sinks: Sinks) -> None:
        """See `LineWalk`."""
        strings = self.stream.index.has_strings is not False
        tokens = block.batch.ids.take(pa.array(block.rows))
        found = self.stream.add_fingerprints(labels_of(tokens, strings=strings), block.made)
        new = found.distances < 0
        self.pass_on(block, block.rows[new], sinks.out)
        if sinks.audit is not None:
            places = np.flatnonzero(~new)
            outcomes = FilterOutcomes(
                ids=tokens.take(pa.array(places)),
                rows=self.counts.rows + block.rows[places],
                matched=[found.matched[place] for place in places.tolist()],
                distances=found.distances[places],
            )
            sinks.audit.write("".join(filter_lines(outcomes)).encode())
        write_rejects(block.shard, block.rejections, sinks.rejects)
        self.counts.rows += len(block.lines)
        self.counts.passed += int(new.sum())
        self.counts.duplicates += int((~new).sum())
        self.counts.rejected += len(block.rejections)
        self.progress.advance(len(block.lines))
