"""JOB on Ray, see `neardup.engines.job.cluster_job`; and the sample of its input: rows are counted, and texts taken of some."""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from neardup.engines.job.checkpoint import Kept
from neardup.engines.job.cluster_job import ClusterJob, Words
from neardup.engines.job.folder import Folder
from neardup.engines.job.inputs import Input
from neardup.engines.job.plan import TEXTS_PER_BATCH, Plan, Remedies
from neardup.engines.job.sample import SAMPLED_BYTES, SAMPLED_DOCUMENTS, Sample, first_texts, most_of_each, spread_over
from neardup.engines.ray import copy_input
from neardup.engines.ray.calls import Calls, nodes
from neardup.engines.ray.engine import RayEngine
from neardup.engines.ray.failures import translated_errors
from neardup.engines.ray.sources import Source
from neardup.engines.ray.tasks import DECODE, PLACE, checked, tables_of, texts_of
from neardup.engines.reading.text_columns import texts_in
from neardup.engines.reading.unique_ids import demand_ids
from neardup.engines.stages import Measured, Setting
from neardup.version import __version__

REMEDIES = Remedies(
    limit="the node with the most memory",
    more_memory="Give nodes more memory (`ray start --memory`), or write long texts to files of their own.",
    fewer_buckets="Give nodes more memory for each CPU",
    smaller_parts="Write the input to more files.",
)
NOT_TAKEN = {
    "prefer": "Join the reference and the documents to one, and take the `duplicates` of that: they name what loses of either.",
    "keep_most": "Take `clusters`, and keep the first rows of each `cluster_id`.",
    "drop_matched": 'Take `clusters` with `cluster="components"`, and keep the rows that are in none.',
    "max_cluster": "Count the rows of each `cluster_id` of `clusters`.",
    "elements": "Only texts are compared there; `neardup.deduplicate` takes lists.",
    "html": "Take the texts out of the pages first, and give a column of these.",
    "source": "It is for `prefer_source`, which is not taken. Give a column that says how good a source is, and `keep`.",
    "progress": "Ray's dashboard shows the tasks, which have the names of the stages.",
    "threads": "The CPUs of the nodes say how many tasks run at a time, see `ray start --num-cpus`.",
    "memory": "The memory of the nodes is that of `ray start --memory`.",
    "temp_dir": "What goes from stage to stage lies in `work=`; Ray's own files, where `ray start --temp-dir` says.",
    "temp_limit": "What goes from stage to stage lies in `work=`, and takes what the stages need.",
    "unit": "Only whole documents are removed there; `neardup.deduplicate_units` removes lines and paragraphs.",
}
"""What `neardup.deduplicate` takes and Ray does not, with what to do instead."""
WORDS = Words(
    engine="Ray",
    rows="dataset",
    argument="dataset",
    join="Join several by `map_batches` first, and name that column.",
    not_taken=NOT_TAKEN,
    unsteady="`random_sample`",
    remedies=REMEDIES,
)


class RayJob(ClusterJob[Source, RayEngine]):
    """A job on Ray."""

    words = WORDS

    def translated_errors(self) -> contextlib.AbstractContextManager[None]:
        return translated_errors()

    def deciding(self) -> contextlib.AbstractContextManager[None]:
        """Errors of files may come between stages, too."""
        return translated_errors()

    def is_steady(self, documents: Source) -> bool:
        """Whether a dataset is read from files, and nothing else is done to make it."""
        return documents.step is not None

    def _described(self, documents: Source) -> dict[str, Any]:
        found = {"columns": {field.name: str(field.type) for field in documents.schema}}
        if documents.step is None:
            return found | {"steps in Ray": _steps(documents.rows._logical_plan.dag)}
        return found | {"rows": documents.step.filters or "all"}

    def _files(self, documents: Source) -> Sequence[tuple[str, int, Any]]:
        return documents.step.states() if documents.step is not None else []

    def _sample(self) -> Sample:
        return sample_of(self.given, Calls(self._setting(1)))

    def _setting(self, buckets: int) -> Setting:
        return Setting(__version__, buckets, PLACE)

    def _limits(self) -> dict[str, Any]:
        found = nodes()
        return {
            "least_buckets": 4 * found.slots,
            "limit_bytes": found.most_bytes,
            "wanted_bytes": found.bytes_each,
        }

    def _store(self, path: str) -> Folder:
        self._folder, self._nodes = Folder(path), nodes()
        return self._folder

    def _division(self, plan: Plan) -> dict[str, Any]:
        return {"buckets": plan.buckets, "memory": plan.task_bytes}

    def _engine(self, kept: Kept, before: Sequence[Measured]) -> RayEngine:
        calls = Calls(self._setting(kept.division["buckets"]), self._nodes.reserved(kept.division["memory"]))
        engine = RayEngine(self.given, kept, self._folder, calls, before)
        demand_ids(engine, self.given.documents.id)
        return engine

    def _copy(self, documents: Source, path: str) -> dict[str, Any]:
        return copy_input.written(documents, self._folder, self._below(path), self._setting(1))

    def _content(self, documents: Source) -> dict[str, Any]:
        return copy_input.content(documents, self._setting(1))

    def _copied(self, documents: Source, path: str, known: Mapping[str, Any]) -> Any:  # noqa: ARG002
        return copy_input.read(self._folder, self._below(path), known["files"])

    def _below(self, path: str) -> str:
        """A path in the folder, as its names are."""
        return path[len(str(self._folder)) :].lstrip("/")


def _steps(step: Any) -> str:
    """The names of steps, the last one first."""
    before = ", ".join(_steps(each) for each in step.input_dependencies)
    return f"{step.name}({before})"


def sample_of(given: Input[Source], calls: Calls) -> Sample:
    """Count the rows of all files, and take texts of some, spread over them."""
    counted, parts = [], []
    for source in given.sources:
        if source.step is None:
            parts.append(_first_of_any(source, calls.setting))
            counted.append([source.rows.count()])
            continue
        files = source.texts
        counts = calls.run("rows counted", rows_of, ((number, file.read) for number, file in enumerate(source.ids)))
        rows = [count for _, count in sorted(counts)]
        taken = spread_over([number for number, count in enumerate(rows) if count])
        most, size = most_of_each(len(taken))
        some = ((number, files[number].read, source.columns, files[number].path) for number in taken)
        found = sorted(calls.run("sample", first_of, some, most, size), key=lambda each: each[0])
        parts.append([batch for _, batches in found for batch in batches])
        counted.append([count for count in rows if count])
    return Sample(tuple(parts), tuple(count for some in counted for count in some), sum(map(sum, counted[1:])))


def _first_of_any(source: Source, setting: Setting) -> list[pa.RecordBatch]:
    """Texts of a dataset that is not read from files."""
    names = sorted({name for name in source.columns.values() if name is not None and name in source.schema.names})
    work = partial(_as_texts, setting, source.columns)
    some = (
        source.rows.select_columns(names)
        .limit(SAMPLED_DOCUMENTS)
        .map_batches(work, batch_format="pyarrow", batch_size=TEXTS_PER_BATCH)
    )
    tables = (batch for batch in some.iter_batches(batch_format="pyarrow", batch_size=None))
    return [first_texts(SAMPLED_BYTES, batch) for table in tables for batch in table.combine_chunks().to_batches()]


def _as_texts(setting: Setting, columns: Mapping[str, str | None], block: pa.Table) -> pa.Table:
    return pa.Table.from_batches([checked(setting, texts_in, block, columns, "The dataset", DECODE)])


def rows_of(number: int, read: Callable[[], Iterable[Any]]) -> tuple[int, int]:
    """The number of a file, and of its rows."""
    return number, sum(len(table) for table in tables_of(read))


def first_of(
    most: int, size: int, number: int, read: Callable[[], Iterable[Any]], columns: Mapping[str, str | None], path: str
) -> tuple[int, list[pa.RecordBatch]]:
    """The number of a file, and its first texts: of its first batch, so many rows and bytes at most."""
    batch = next(texts_of(read, columns, path))
    return number, [first_texts(size, batch.slice(0, most))]
