"""RESULT: what a run on Spark has decided, as frames."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from neardup.engines.results.summary import EngineSummary, summary_of
from neardup.engines.spark.engine import Held, SparkEngine
from neardup.engines.spark.failures import told
from neardup.engines.spark.totals import totals
from neardup.engines.stages import Measured


@dataclass(frozen=True)
class SparkResult:
    """What a run on Spark has decided. Frames are lazy: the input must stay as it is until they are written.

    Attributes:
        survivors: the rows of the input that stay, with all their columns.
        duplicates: a row for each document that is removed: id, survivor_id, cluster_id, exact, similarity, distance.
        stages: what each stage took.
        engine, results: what made the frames, and the duplicates as it holds them.
    """

    survivors: Any
    duplicates: Any
    stages: tuple[Measured, ...]
    engine: SparkEngine
    results: Held

    @cached_property
    def summary(self) -> EngineSummary:
        """The counts of the run, and what its stages took. Spark counts when it is asked for first."""
        with told(self.engine.session):
            return summary_of(totals(self.results), self.engine.seen or {}, self.stages)

    def __str__(self) -> str:
        return str(self.summary)

    def close(self) -> None:
        """Let go of what the executors keep on their disks for the frames."""
        self.engine.close()
