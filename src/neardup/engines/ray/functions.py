"""FUNCTIONS for Datasets of Ray, and what they return: those of `neardup.ray`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Unpack

from neardup.engines.flow import Decided
from neardup.engines.frontend import Given, WithinOptions
from neardup.engines.job.plan import Plan
from neardup.engines.ray.engine import RayEngine
from neardup.engines.ray.failures import translated_errors
from neardup.engines.ray.frontend import FRONTEND
from neardup.engines.ray.tasks import FINGERPRINT, PLACE, with_fingerprints
from neardup.engines.ray.told_datasets import told
from neardup.engines.repeats.flow import CutPassages
from neardup.engines.repeats.outcomes import DIVIDE, LOG_COLUMNS
from neardup.engines.repeats.summary import EnginePassageSummary
from neardup.engines.repeats.summary import summary_of as passage_summary
from neardup.engines.repeats.summary import totals_of as totals_of_passages
from neardup.engines.results.labels import survivors_of_clusters
from neardup.engines.results.summary import EngineSummary, summary_of
from neardup.engines.stages import Measured, Setting
from neardup.errors import OptionError
from neardup.options import DedupOptionsDict, refuse_unknown
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.survivors.repeats.options import PassageOptionsDict
from neardup.version import __version__


@dataclass(frozen=True)
class RayResult:
    """What a run on Ray has decided. Datasets are lazy: the input, and `work`, must stay until they are written.

    Attributes:
        survivors: the rows of the input that stay, with all their columns.
        duplicates: a row for each document that is removed: id, survivor_id, cluster_id, exact, similarity, distance, only_digits.
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
            return summary_of(self.engine, self.decided)

    def __str__(self) -> str:
        return str(self.summary)

    def close(self) -> None:
        """Remove the folder that a job without `work=` has: nothing can be read afterwards."""
        self.engine.close()


def deduplicate(
    dataset: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the same name as elsewhere
    order: str | Sequence[str] = (),
    against: Any = None,
    work: str | None = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[DedupOptionsDict],
) -> RayResult:
    """Remove near-duplicates from a Dataset of Ray. Survivors and the audit are those of `neardup dedup`.

    Args:
        dataset: the Dataset. It is read several times: from its files, if all that is done to them is to choose columns and rows
            in a way that Ray lets the files' reader do. Any other, such as one that is mapped, shuffled, sorted or made of rows in
            memory, is copied to `work` first, with all its columns, and the survivors are rows of the copy. A file that has
            changed is refused.
        text: the column of the texts.
        id: the column of the ids, strings or integers, each of which occurs once; in `against`, they may be any.
        order: the columns by which the documents are in order, which says which comes first; equal ones are ordered by id. Without
            it, the order is that of files, by their paths, and rows, and a dataset that would be copied is refused.
        against: a Dataset with the same columns: documents near one of its documents are removed. It is in order by the same
            columns.
        work: a folder, empty or not there, that all nodes can read and write, for what goes from stage to stage: a path, or a URL
            of an object store. By default, one in the system's temporary folder, if the cluster has one node.
        recipe: as in `neardup.deduplicate`.
        **options: those of `neardup.deduplicate`: method (by default exact), min_similarity, keep, cluster …

    Raises:
        OptionError: an option has a value that is not allowed, or cannot be had on Ray; or the job cannot finish, see `plan`.
        InputError: a column is missing, an id is null or occurs twice, or the folder is not empty and none of a job.
        RecipeMismatch: the folder has the work of another job.
        DataError: a text is null, the input changes, or rows in the folder are missing.
        OSError: a disk is full, or no node has room for a task any more.
        MemoryError: workers were killed several times.
    """
    todo = FRONTEND.work_of(text, recipe, options, deduplicate)
    engine, decided = FRONTEND.decided(todo, Given(dataset, text, id, order, against, work))
    from neardup.engines.ray.datasets import rows_in, survivors_of

    with translated_errors():
        survivors = survivors_of(engine, decided.removed)
        names = ("id", "survivor_id", "cluster_id", "exact", "similarity", "distance", "only_digits")
        kind = engine.input.documents.schema.field(id).type
        duplicates = rows_in(engine, decided.results, "neardup: duplicates", dict(zip(names, names, strict=True)), kind)
    return RayResult(told(survivors), told(duplicates), engine.stages, engine, decided)


@dataclass(frozen=True)
class RayPassages:
    """What a run on Ray has cut. Datasets are lazy: the input, and `work`, must stay until they are written.

    Attributes:
        documents: the rows of the input with all their columns; passages are cut from their texts, and documents of which too
            little is left are not there.
        passages: a row for each passage that is cut: id, start, end (characters of the text as it was), tokens; copy_id,
            copy_start, copy_end, copy_is_cut, copy_in_reference: of the copy that it repeats; separator, which was put in its
            place, if one was; document_removed.
        stages: what each stage took.
        engine, found: what made the datasets, and the passages as it holds them.
    """

    documents: Any
    passages: Any
    stages: tuple[Measured, ...]
    engine: RayEngine
    found: CutPassages

    @cached_property
    def summary(self) -> EnginePassageSummary:
        """The counts of the run, and what its stages took. They are counted when it is asked for first."""
        with translated_errors():
            return passage_summary(totals_of_passages(self.engine, self.found), self.engine.seen or {}, self.stages)

    def __str__(self) -> str:
        return str(self.summary)

    def close(self) -> None:
        """Remove the folder that a job without `work=` has: nothing can be read afterwards."""
        self.engine.close()


def passages(
    dataset: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the same name as elsewhere
    order: str | Sequence[str] = (),
    against: Any = None,
    work: str | None = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[PassageOptionsDict],
) -> RayPassages:
    """Cut passages that stood earlier, in another document or the same one. What is cut is what `neardup passages` cuts.

    Args:
        dataset: the Dataset, as in `deduplicate`.
        text, id: the columns of the texts and of the ids.
        order: the columns by which the documents are in order, as in `deduplicate`: the first copy of a passage stays.
        against: a Dataset with the same columns, whose passages all stay: passages of `dataset` that stand in it are cut.
        work: a folder, as in `deduplicate`.
        recipe: as in `neardup.deduplicate`; its normalizers say which texts are equal.
        **options: min_tokens (50), scope, align, min_left, similarity, keep, keep_as and within of `neardup.passages`.

    Raises:
        OptionError, InputError, RecipeMismatch, DataError, OSError, MemoryError: as in `deduplicate`.
    """
    todo = FRONTEND.passage_work_of(text, recipe, options, passages)
    engine, found = FRONTEND.cut(todo, Given(dataset, text, id, order, against, work))
    from neardup.engines.ray.datasets import edited_of, rows_in

    with translated_errors():
        documents = edited_of(engine, engine.run(DIVIDE, found.outcomes)["edits"])
        kind = engine.input.documents.schema.field(id).type
        log = rows_in(engine, found.log, "neardup: passages", {name: name for name in LOG_COLUMNS}, kind)
    return RayPassages(told(documents), told(log), engine.stages, engine, found)


def plan(
    dataset: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the same name as elsewhere
    order: str | Sequence[str] = (),
    against: Any = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[DedupOptionsDict],
) -> Plan:
    """Estimate what `deduplicate` takes: it counts the rows, reads some texts, and runs the first stages on these in this process.

    `deduplicate` makes the same plan, logs it by the logger `neardup`, and refuses a job that cannot finish (`Plan.problems`).
    A dataset that would be copied first is computed for it twice: to count, and to copy.

    Args:
        dataset, text, id, order, against, recipe, **options: as in `deduplicate`.

    Raises:
        OptionError, InputError: as in `deduplicate`.
    """
    todo = FRONTEND.work_of(text, recipe, options, plan)
    return FRONTEND.plan(todo, Given(dataset, text, id, order, against))


def filter_new(
    dataset: Any,
    reference: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002
    order: str | Sequence[str] = (),
    work: str | None = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[WithinOptions],
) -> RayResult:
    """Keep the rows that are near no document of a reference, and near no row before them that is kept.

    It is `deduplicate` with `against=reference`, `keep="first"` and `cluster="star"`: what `neardup dedup --against` and `neardup
    filter --store` decide.

    Args:
        dataset: the Dataset, as in `deduplicate`.
        reference: a Dataset of known documents, with the same columns.
        text, id, order, work, recipe: as in `deduplicate`.
        **options: method (by default exact), min_similarity, similarity, max_distance, guard, within of `deduplicate`.

    Raises:
        OptionError, InputError, DataError: as in `deduplicate`; the reference is missing.
    """
    if reference is None:
        raise OptionError("`reference=None`: give a Dataset of known documents, or use `deduplicate`.")
    refuse_unknown(options, filter_new)
    return deduplicate(dataset, text=text, id=id, order=order, against=reference, work=work, recipe=recipe, **options)


def clusters(
    dataset: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002
    order: str | Sequence[str] = (),
    against: Any = None,
    work: str | None = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[DedupOptionsDict],
) -> Any:
    """The clusters, as `clusters` of what `neardup.deduplicate` returns: a row for each document in a cluster of two or more.

    Returns a Dataset of id, cluster_id (of the first document of the cluster), survivor_id. Documents of a reference are no
    rows, but may be survivors. Its rows lie in the folder of `work`: delete that when you have written them. Arguments and errors
    are those of `deduplicate`.
    """
    todo = FRONTEND.work_of(text, recipe, options, clusters)
    engine, decided = FRONTEND.decided(todo, Given(dataset, text, id, order, against, work))
    from neardup.engines.ray.datasets import rows_in

    kind = engine.input.documents.schema.field(id).type
    with translated_errors():
        survivors = survivors_of_clusters(engine, decided.results)
    names = {"id": "id", "cluster_id": "cluster_id", "survivor_id": "survivor_id"}
    removed = rows_in(engine, decided.results, "neardup: clusters", names, kind)
    return told(removed.union(rows_in(engine, survivors, "neardup: clusters", names | {"id": "survivor_id"}, kind)))


def pairs(
    dataset: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002
    order: str | Sequence[str] = (),
    against: Any = None,
    distinct: bool = False,
    work: str | None = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[WithinOptions],
) -> Any:
    """Every pair of near-duplicates, as `neardup pairs` and `neardup.match` list them.

    Pairs are many by nature: n documents that are all alike have n (n - 1) / 2, and equal ones as well. No task holds all pairs
    of a class of equal ones. `deduplicate` and `clusters` need no list of pairs. Of equal texts without any word, each is listed
    with the first of them only.

    Args:
        dataset: the Dataset, as in `deduplicate`.
        text, id, order, work, recipe: as in `deduplicate`.
        against: a Dataset with the same columns. Then each pair has a document of `dataset`, on the left, and one of this.
        distinct: of documents with equal normalized texts, list pairs only for the first one in `dataset`, and in `against`.
        **options: method (by default exact), min_similarity, similarity, max_distance, guard, within of `neardup.match`.

    Returns a Dataset of left_id, right_id, distance (of the fingerprints) and similarity (null if distances decide alone), in no
    order; of each pair, the left document is the earlier one. Its rows lie in the folder of `work`: delete that when you have
    written them.

    Raises:
        OptionError, InputError, DataError: as in `deduplicate`.
    """
    todo = FRONTEND.work_of(text, recipe, options, pairs)
    engine, found = FRONTEND.listed(todo, Given(dataset, text, id, order, against, work), distinct=distinct)
    from neardup.engines.ray.datasets import rows_in

    names = ("left_id", "right_id", "distance", "similarity")
    type_of_ids = engine.input.documents.schema.field(id).type
    return told(rows_in(engine, found, "neardup: pairs", dict(zip(names, names, strict=True)), type_of_ids))


def fingerprint(dataset: Any, *, text: str = "text", recipe: RecipeLike | None = None) -> Any:
    """The Dataset with a column `fingerprint` more: the SimHash of each text, that of `neardup.fingerprint`. It is lazy.

    Fingerprints of up to 64 bits are signed 64-bit integers with the same bits, as on Spark, so that other tools read them: 2^63
    and more are negative. Wider ones are binary, the highest byte first, 8 bytes for each 64 bits. As in `neardup.fingerprint`, a
    null text is refused: by the task that meets it, when the Dataset is computed.

    Args:
        dataset: the Dataset.
        text: the column of the texts.
        recipe: as in `neardup.fingerprint`.

    Raises:
        InputError: a column is missing, or the Dataset has a column `fingerprint`.
    """
    with translated_errors():
        FRONTEND.demand_texts(dataset, text, FINGERPRINT)
    work = partial(with_fingerprints, Setting(__version__, 1, PLACE), recipe_of(recipe), text)
    return told(dataset.map_batches(work, batch_format="pyarrow", batch_size=1024, zero_copy_batch=True))
