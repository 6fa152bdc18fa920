"""RESULT: what a run on Ray has decided, as Datasets."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from neardup.engines.flow import Decided
from neardup.engines.ray.engine import RayEngine
from neardup.engines.ray.failures import translated_errors
from neardup.engines.results.summary import EngineSummary, summary_of, totals_of
from neardup.engines.stages import Measured


@dataclass(frozen=True)
class RayResult:
    """What a run on Ray has decided. Datasets are lazy: the input, and `work`, must stay until they are written.

    Attributes:
        survivors: the rows of the input that stay, with all their columns.
        duplicates: a row for each document that is removed: id, survivor_id, cluster_id, exact, similarity, distance.
        stages: what each stage took.
        engine, decided: what made the datasets.
    """

    survivors: Any
    duplicates: Any
    stages: tuple[Measured, ...]
    engine: RayEngine
    decided: Decided

    @cached_property
    def summary(self) -> EngineSummary:
        """The counts of the run, and what its stages took. They are counted when it is asked for first."""
        with translated_errors():
            totals = totals_of(self.engine, self.decided.results)
        return summary_of(totals, self.engine.seen or {}, self.stages)

    def __str__(self) -> str:
        return str(self.summary)
