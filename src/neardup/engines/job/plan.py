"""PLAN: what a job will take as far as a sample tells, into how many buckets it is divided, and whether it can finish."""

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any

from neardup.display import counted, size_text
from neardup.engines.job.sample import PAIRS, Sample, Stages
from neardup.engines.reading.documents import MAX_ROWS_PER_PART
from neardup.engines.reading.row_selection import MAX_MARK_BYTES
from neardup.engines.repeats.minimizers import MOST_BYTES, REPEATED
from neardup.errors import OptionError

TEXTS_PER_BATCH, BYTES_PER_BATCH = 1 << 10, 1 << 24
"""Texts in a batch at most, and bytes of any batch, besides its last row."""
BUCKET_BYTES = 1 << 28
"""Rows of a bucket, unpacked, that a task is meant to have at most."""
MIN_BUCKET_BYTES = 1 << 24
MAX_BUCKETS = 1 << 16
"""Beyond it, what is packed for a bucket at a time (32 MB for all) is smaller than its header."""
COPIES_OF_ROWS = 4
"""Of the rows of a bucket, in a task: packed, unpacked, by key, and what comes of them."""
WORKER_BYTES, TEXT_FACTOR = 300 << 20, 10
"""A Python worker with the package loaded and what it packs; bytes for one of the texts that it has at a time."""
MAX_TASK_BYTES = 1 << 34
"""Of a task that gets all documents, where it is not known what an executor has for it."""
SETS_OF_MARKS = 2
"""Of documents whose names are read, and of those whose fingerprints are."""
ORIENTATION = {
    "pairs": "unknown before the keys meet; 49,152 documents of 2.8 KB with few duplicates gave 10.6 pairs each, of which 0.09 "
    "were compared, with 182 bytes of texts a document",
    "earliest places": "unknown before windows meet; fewer than the windows above",
}


@dataclass(frozen=True)
class Remedies:
    """What an engine says of limits, and what to do about them.

    Attributes:
        limit: whose memory bounds that of a task.
        more_memory: how to give a task more; `fewer_buckets`: how to need fewer buckets; `smaller_parts`: how to divide the input.
    """

    limit: str
    more_memory: str
    fewer_buckets: str
    smaller_parts: str


@dataclass(frozen=True)
class PlannedStage:
    """A stage that a sample tells about.

    Attributes:
        name: of the stage.
        bytes: that it gives, packed: what later stages shuffle.
        unless: when it is not run; empty if it is in any case.
    """

    name: str
    bytes: int
    unless: str = ""

    def __str__(self) -> str:
        return f"{self.name}, unless {self.unless}" if self.unless else self.name


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a job will take. Bytes are estimates from a sample; rows are counted.

    Attributes:
        documents, reference_documents: how many there are.
        partitions: of the input; largest_partition: the rows of the largest.
        sampled_documents: how many were looked at; sampled_bytes: of text.
        text_bytes: of all texts.
        stages: those up to the pairs, with what they give.
        buckets: into how many rows are divided; bucket_bytes: of rows in one, unpacked.
        task_bytes: memory of a Python worker; task_limit_bytes: what there is for one, or None if that is not known.
        limit: what has it: an executor, or a node.
        follows: what comes after these stages, which a sample does not tell: a key of ORIENTATION.
        marks_bytes: a bit for each row, at most, which travels to every task.
        problems: why the job cannot finish; empty if it can, as far as is known.
        copied: the frames that are copied to `work` first: "input", "reference".
    """

    documents: int
    reference_documents: int
    partitions: int
    largest_partition: int
    sampled_documents: int
    sampled_bytes: int
    text_bytes: int
    stages: tuple[PlannedStage, ...]
    buckets: int
    bucket_bytes: int
    task_bytes: int
    task_limit_bytes: int | None
    marks_bytes: int
    problems: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    limit: str = "an executor"
    follows: str = "pairs"

    def demand(self) -> None:
        """Refuse a job that cannot finish.

        Raises:
            OptionError: why.
        """
        if self.problems:
            raise OptionError("This job cannot finish. " + " ".join(self.problems))

    def __str__(self) -> str:
        known = self.task_limit_bytes
        limit = "" if known is None else f", of {size_text(known)} that {self.limit} has for it"
        reference = f", {self.reference_documents:,} of them of the reference" if self.reference_documents else ""
        lines = [
            f"{counted(self.documents + self.reference_documents, 'document')}{reference}, about {size_text(self.text_bytes)} of "
            f"text, in {counted(self.partitions, 'partition')} of at most {counted(self.largest_partition, 'row')}",
            *(f"the {name} is copied to `work` first, with all its columns" for name in self.copied),
            f"{counted(self.buckets, 'bucket')} of about {size_text(self.bucket_bytes)} of rows",
            f"about {size_text(self.task_bytes)} of memory for the Python worker of a task{limit}",
            f"at most {size_text(self.marks_bytes)} of marks, sent to every task",
            "shuffled, about:",
            *(f"  {stage!s:<26}{size_text(stage.bytes):>12}" for stage in self.stages),
            f"  {f'{self.follows} and after':<26}{ORIENTATION[self.follows]}",
            f"estimated from {counted(self.sampled_documents, 'document')} of {size_text(self.sampled_bytes)}",
            *(f"cannot finish: {problem}" for problem in self.problems),
        ]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return json.dumps(self.as_dict(), ensure_ascii=False)


def plan_of(
    sample: Sample,
    found: Stages,
    remedies: Remedies,
    *,
    least_buckets: int,
    limit_bytes: int | None,
    wanted_bytes: int | None = None,
    has_one_key: bool = False,
    follows: str = "pairs",
) -> Plan:
    """Extrapolate what stages made of a sample.

    Args:
        sample, found: of the input.
        remedies: what the engine says of limits.
        least_buckets: how many there are at least.
        limit_bytes: memory that there is for a task at most, if that is known.
        wanted_bytes: memory that a task should take, so that all processors have one, if that is less.
        has_one_key: whether all documents have the same key, so that one task gets them all.
        follows: see `Plan`.
    """
    documents = sum(sample.rows)
    growth = documents / found.documents if found.documents else 0.0
    stages = tuple(
        PlannedStage(each.name, round(growth * each.packed), each.unless) for each in found.stages if each.name != PAIRS
    )
    widest = growth * max((each.unpacked for each in found.stages), default=0)
    text_bytes = growth * found.text_bytes
    mean = found.text_bytes / found.documents if found.documents else 0.0
    marks = -(-documents // 8)
    fixed = WORKER_BYTES + round(TEXT_FACTOR * max(min(TEXTS_PER_BATCH * mean, BYTES_PER_BATCH), found.longest_bytes))
    fixed += SETS_OF_MARKS * min(marks, MAX_MARK_BYTES)
    minimizers = (growth * each.unpacked for each in found.stages if each.name == REPEATED.name)
    fixed += round(min(MOST_BYTES, sum(minimizers)))  # a row of 9 bytes for each, and cells of 8 if it is repeated
    wanted, problems = BUCKET_BYTES, []
    if wanted_bytes is not None:
        wanted = max(MIN_BUCKET_BYTES, min(wanted, (wanted_bytes - fixed) // COPIES_OF_ROWS))
    if limit_bytes is not None:
        wanted = min(wanted, (limit_bytes - fixed) // COPIES_OF_ROWS)
        if wanted < MIN_BUCKET_BYTES:
            problems.append(
                f"A task needs at least {size_text(fixed + COPIES_OF_ROWS * MIN_BUCKET_BYTES)} for its Python worker, and "
                f"{remedies.limit} has {size_text(limit_bytes)}. {remedies.more_memory}"
            )
            wanted = MIN_BUCKET_BYTES
    buckets = max(1, least_buckets, math.ceil(widest / wanted))
    if buckets > MAX_BUCKETS:
        problems.append(
            f"Rows would need {buckets:,} buckets; at most {MAX_BUCKETS:,} can be. {remedies.fewer_buckets}, or divide the "
            "documents and use `against=`."
        )
    undivided = (growth * each.unpacked for each in found.stages if has_one_key and each.name == PAIRS)
    task_bytes = round(fixed + COPIES_OF_ROWS * max(widest / buckets, *undivided, 0))
    most_bytes = limit_bytes or MAX_TASK_BYTES
    if has_one_key and task_bytes > most_bytes:
        problems.append(
            "All documents are one group, since large distances decide alone, and the task that gets a row for each needs about "
            f"{size_text(task_bytes)} of memory; it may have {size_text(most_bytes)}. "
            "Give a smaller `max_distance`, or `min_similarity`, which divides them."
        )
    largest = max(sample.rows, default=0)
    if largest > MAX_ROWS_PER_PART:
        problems.append(
            f"A partition has {largest:,} rows; at most {MAX_ROWS_PER_PART:,} can be. {remedies.smaller_parts}"
        )
    if marks > MAX_MARK_BYTES:
        problems.append(
            f"{documents:,} documents may need {size_text(marks)} of marks, a bit for each, which every task gets; at "
            f"most {size_text(MAX_MARK_BYTES)} can be, for {8 * MAX_MARK_BYTES:,} documents. Divide them, and use `against=`."
        )
    return Plan(
        documents=documents - sample.reference_rows,
        reference_documents=sample.reference_rows,
        partitions=len(sample.rows),
        largest_partition=largest,
        sampled_documents=found.documents,
        sampled_bytes=found.text_bytes,
        text_bytes=round(text_bytes),
        stages=stages,
        buckets=buckets,
        bucket_bytes=round(widest / buckets),
        task_bytes=task_bytes,
        task_limit_bytes=limit_bytes,
        marks_bytes=marks,
        problems=tuple(problems),
        limit=remedies.limit,
        follows=follows,
    )
