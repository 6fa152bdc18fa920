"""De-duplicate Datasets of Ray, with the answer of `neardup dedup`. Needs the extra `neardup[ray]`.

`ray job submit -- python -m neardup.ray …` is a command: `cli/engines/on_ray.py`.
"""

import importlib
import secrets
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Unpack

from neardup.engines.flow import Decided
from neardup.engines.flow import deduplicate as _deduplicate
from neardup.engines.job.plan import Plan
from neardup.engines.job.refusals import demand_columns_only, demand_one_column, demand_possible
from neardup.engines.job_options import Work
from neardup.engines.pairs_flow import list_pairs
from neardup.engines.ray.checks import (
    JOIN,
    NOT_TAKEN,
    demand_columns,
    demand_dataset,
    demand_files,
    demand_kinds,
    demand_same_order,
)
from neardup.engines.ray.copy_input import copied_first
from neardup.engines.ray.engine import RayEngine
from neardup.engines.ray.failures import told
from neardup.engines.ray.fingerprints import FINGERPRINT, with_fingerprints
from neardup.engines.ray.job import PLACE, finished, planned, started
from neardup.engines.ray.nodes import nodes
from neardup.engines.ray.result import RayResult
from neardup.engines.ray.sources import Input, Source, schema_of
from neardup.engines.results.clustered import survivors_of_clusters
from neardup.engines.setting import Setting
from neardup.errors import InputError, MissingExtra, OptionError
from neardup.options import DedupOptionsDict, MatchingOptions, options_of, refuse_unknown
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.version import __version__


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
    todo = _work(text, recipe, options, deduplicate)
    engine, decided = _decided(todo, _Given(dataset, text, id, order, against, work))
    from neardup.engines.ray.datasets import rows_in, survivors_of

    with told():
        survivors = survivors_of(engine, decided.removed)
    names = ("id", "survivor_id", "cluster_id", "exact", "similarity", "distance")
    kind = engine.input.documents.schema.field(id).type
    duplicates = rows_in(engine, decided.results, "neardup: duplicates", dict(zip(names, names, strict=True)), kind)
    return RayResult(survivors, duplicates, engine.stages, engine, decided)


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
    todo = _work(text, recipe, options, plan)
    given = _input(todo, _Given(dataset, text, id, order, against, None))
    with told():
        return replace(planned(given, todo, nodes()), copied=copied_first(given))


class FilterOptions(MatchingOptions, total=False):
    """The options of `filter_new`."""

    within: str | None


def filter_new(
    dataset: Any,
    reference: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002
    order: str | Sequence[str] = (),
    work: str | None = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[FilterOptions],
) -> RayResult:
    """Keep the rows that are near no document of a reference, and near no row before them that is kept.

    It is `deduplicate` with `against=reference`, `keep="first"` and `cluster="star"`: what `neardup dedup --against` and `neardup
    filter --store` decide.

    Args:
        dataset: the Dataset, as in `deduplicate`.
        reference: a Dataset of known documents, with the same columns.
        text, id, order, work, recipe: as in `deduplicate`.
        **options: method (by default exact), min_similarity, similarity, max_distance, within of `deduplicate`.

    Raises:
        OptionError, InputError, DataError: as in `deduplicate`; the reference is missing.
    """
    if reference is None:
        raise OptionError("`reference=None`: give a Dataset of known documents, or use `deduplicate`.")
    refuse_unknown(options, filter_new)
    return deduplicate(dataset, text=text, id=id, order=order, against=reference, work=work, recipe=recipe, **options)


class PairOptions(MatchingOptions, total=False):
    """The options of `pairs`."""

    within: str | None


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
    todo = _work(text, recipe, options, clusters)
    engine, decided = _decided(todo, _Given(dataset, text, id, order, against, work))
    from neardup.engines.ray.datasets import rows_in

    kind = engine.input.documents.schema.field(id).type
    with told():
        survivors = survivors_of_clusters(engine, decided.results)
    names = {"id": "id", "cluster_id": "cluster_id", "survivor_id": "survivor_id"}
    removed = rows_in(engine, decided.results, "neardup: clusters", names, kind)
    return removed.union(rows_in(engine, survivors, "neardup: clusters", names | {"id": "survivor_id"}, kind))


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
    **options: Unpack[PairOptions],
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
        **options: method (by default exact), min_similarity, similarity, max_distance, within of `neardup.match`.

    Returns a Dataset of left_id, right_id, distance (of the fingerprints) and similarity (null if distances decide alone), in no
    order; of each pair, the left document is the earlier one. Its rows lie in the folder of `work`: delete that when you have
    written them.

    Raises:
        OptionError, InputError, DataError: as in `deduplicate`.
    """
    todo = _work(text, recipe, options, pairs)
    kind = "pairs of distinct texts" if distinct else "pairs"
    engine = _engine(todo, _Given(dataset, text, id, order, against, work), kind)
    with told():
        found = list_pairs(engine, todo, across=against is not None, distinct=distinct)
        finished(engine)
    from neardup.engines.ray.datasets import rows_in

    names = ("left_id", "right_id", "distance", "similarity")
    type_of_ids = engine.input.documents.schema.field(id).type
    return rows_in(engine, found, "neardup: pairs", dict(zip(names, names, strict=True)), type_of_ids)


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
    demand_one_column(text, "Ray", JOIN)
    _demand_ray()
    demand_dataset(dataset)
    schema = schema_of(dataset)
    demand_columns(schema, [text], text)
    if FINGERPRINT in schema.names:
        raise InputError(f"The dataset has a column {FINGERPRINT!r} already. Drop or rename it.")
    work = partial(with_fingerprints, Setting(__version__, 1, PLACE), recipe_of(recipe), text)
    return dataset.map_batches(work, batch_format="pyarrow", batch_size=1024, zero_copy_batch=True)


class _Given(NamedTuple):
    """What is given, besides options."""

    dataset: Any
    text: str
    id: str
    order: str | Sequence[str]
    against: Any
    folder: str | None


def _demand_ray() -> None:
    """Refuse to go on without Ray.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        importlib.import_module("ray.data")
    except ImportError:
        raise MissingExtra("Ray is not installed: pip install 'neardup[ray]'") from None


def _work(text: Any, recipe: RecipeLike | None, options: Any, function: Callable[..., Any]) -> Work:
    """What is to be done.

    Raises:
        OptionError: an option cannot be had on Ray, or has a value that is not allowed.
        MissingExtra: Ray is not installed.
    """
    demand_one_column(text, "Ray", JOIN)
    demand_possible(options, "Ray", NOT_TAKEN)
    chosen = options_of({"method": "exact", **options}, function)
    todo = Work.of(recipe_of(recipe), chosen)
    demand_columns_only(chosen, "Ray", "dataset")
    _demand_ray()
    return todo


def _input(todo: Work, given: _Given) -> Input:
    """The input, if it has all that is needed."""
    dataset, text, name, options = given.dataset, given.text, given.id, todo.options
    demand_dataset(dataset, given.against)
    order = (given.order,) if isinstance(given.order, str) else tuple(given.order)
    documents = Source(dataset, text, name, order, options.grouped_by, options.preferred_by)
    demand_columns(documents.schema, [text, name, *order, *options.columns], text)
    demand_kinds(documents.schema, id=name, order=order, values=options.columns)
    if not order:
        demand_files(dataset)
    if given.against is None:
        return Input(documents)
    grouped = [options.grouped_by] if options.grouped_by is not None else []
    reference = replace(documents, dataset=given.against, is_reference=True)
    demand_columns(reference.schema, [text, name, *order, *grouped], text, "The dataset of `against`")
    demand_kinds(reference.schema, id=name, order=order, values=options.columns)
    demand_same_order(documents.schema, reference.schema, [*order, name] if order else [])
    if not order:
        demand_files(given.against)
    return Input(documents, reference)


def _engine(todo: Work, given: _Given, kind: str = "deduplicate") -> RayEngine:
    """What runs the stages of a kind of job on a dataset."""
    return started(_input(todo, given), todo, given.folder or _folder(), kind=kind)


def _decided(todo: Work, given: _Given) -> tuple[RayEngine, Decided]:
    engine = _engine(todo, given)
    with told():
        decided = _deduplicate(engine, todo)
        finished(engine)
    return engine, decided


def _folder() -> str:
    """A new folder for what goes from stage to stage.

    Raises:
        OptionError: no folder is known that all nodes share.
    """
    with told():
        if nodes().many > 1:
            raise OptionError("The nodes of this cluster share no folder that is known. Give `work=`.")
    return f"{tempfile.gettempdir()}/neardup-{secrets.token_hex(8)}"


if __name__ == "__main__":
    importlib.import_module("neardup.cli.engines.on_ray").main()
