"""Blocks for datatrove that run the stages of `docs/stages.md`, each as the tasks of an executor: Slurm, Ray, or this machine.

    folder, shards = "dedup/", sorted(glob("shards/*.jsonl"))
    SlurmPipelineExecutor([Fingerprint(shards, folder)], tasks=len(shards), …)
    SlurmPipelineExecutor([Pairs(shards, folder, method="exact")], tasks=100, depends=…)
    SlurmPipelineExecutor([Clusters(shards, folder)], tasks=1, depends=…)
    SlurmPipelineExecutor([Survivors(shards, folder, "kept/")], tasks=len(shards), depends=…)

A block takes no documents and gives none: stages read shards, since they read them several times. `kept/` has a file for each
shard, which readers of datatrove read.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datatrove.pipeline.base import PipelineStep

from neardup.io.storage.places import Place, place_of
from neardup.jobs.removal.apply import apply_files
from neardup.jobs.stages.clusters import cluster_files
from neardup.jobs.stages.fingerprint import fingerprint_files
from neardup.jobs.stages.pairs import pair_files

TESTED = "0.10.1"
"""The version of datatrove that this was tested with."""
PRINTS, PAIRS, CLUSTERS = "prints", "pairs", "clusters.parquet"
"""What lies in the folder."""


class _Stage(PipelineStep):  # type: ignore[misc]
    """A stage: work on shards, which are dealt to tasks in turn. What exists is left as it is, as a task may be run again."""

    type = "DEDUP"

    def __init__(self, shards: Sequence[str], folder: str, **options: Any) -> None:
        """See the stages.

        Args:
            shards: files, the same in all stages and in the same order.
            folder: a path or URL for what goes from stage to stage.
            **options: those of the stage's function.
        """
        super().__init__()
        self.shards, self.folder, self.options = [str(shard) for shard in shards], folder, options

    def _place(self, *names: str) -> Place:
        """Where something of the folder is; folders are made."""
        place = place_of(self.folder)
        for name in names:
            place = place / name
        if isinstance(place, Path):
            place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def _work(self) -> list[tuple[Any, ...]]:
        """What there is to do: the arguments of `_do`."""
        return [(at,) for at in range(len(self.shards))]

    def _do(self, *arguments: Any) -> None:
        raise NotImplementedError

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> Any:
        """Do every `world_size`-th piece of work, from the `rank`-th on; hand on what was given."""
        if data:
            yield from data
        for arguments in self._work()[rank::world_size]:
            with self.track_time():
                self._do(*arguments)
            self.stat_update("pieces")


class Fingerprint(_Stage):
    """`neardup.fingerprint_files` for each shard, with its options (recipe, text, id, value …)."""

    name = "neardup: fingerprints"

    def _do(self, at: int) -> None:
        target = self._place(PRINTS, f"{at:06}.parquet")
        if not target.is_file():
            fingerprint_files(self.shards[at], str(target), progress=False, **self.options)


class Pairs(_Stage):
    """`neardup.pair_files` for each shard, and for every two shards, with its options (method, min_similarity, recipe …)."""

    name = "neardup: pairs"

    def _work(self) -> list[tuple[Any, ...]]:
        return [(left, right) for left in range(len(self.shards)) for right in range(left, len(self.shards))]

    def _do(self, left: int, right: int) -> None:
        target = self._place(PAIRS, f"{left:06}-{right:06}.parquet")
        if not target.is_file():
            against = [] if left == right else [self.shards[right]]
            pair_files(self.shards[left], str(target), against=against, distinct=True, progress=False, **self.options)


class Clusters(_Stage):
    """`neardup.cluster_files`, by one task, with its options (keep, cluster, within …)."""

    name = "neardup: clusters"

    def _work(self) -> list[tuple[Any, ...]]:
        return [()]

    def _do(self) -> None:
        target = self._place(CLUSTERS)
        if not target.is_file():
            prints = [str(self._place(PRINTS, f"{at:06}.parquet")) for at in range(len(self.shards))]
            pairs = str(self._place(PAIRS, ""))
            cluster_files(pairs, str(target), documents=prints, progress=False, **self.options)


class Survivors(_Stage):
    """`neardup.apply_files` for each shard: its survivors and their audit, in a folder."""

    name = "neardup: survivors"

    def __init__(self, shards: Sequence[str], folder: str, output: str, **options: Any) -> None:
        """`output`: the folder of the survivors, whose files have the names of the shards; others as in the other stages."""
        super().__init__(shards, folder, **options)
        self.output = output

    def _do(self, at: int) -> None:
        target = place_of(self.output) / place_of(self.shards[at]).name
        if isinstance(target, Path):
            target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_file():
            apply_files(str(self._place(CLUSTERS)), self.shards[at], str(target), progress=False, **self.options)
