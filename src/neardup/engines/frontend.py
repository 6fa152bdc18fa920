"""FRONTEND: what the functions for clusters have in common: they check what is given, start its job, and run its flow."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from neardup.engines.flow import Decided, list_pairs
from neardup.engines.flow import deduplicate as decide
from neardup.engines.job.cluster_engine import ClusterEngine
from neardup.engines.job.cluster_job import ClusterJob, Words
from neardup.engines.job.inputs import Documents, Input
from neardup.engines.job.plan import Plan
from neardup.engines.job.refusals import demand_columns, demand_columns_only, demand_one_column, demand_possible
from neardup.engines.job_options import Work
from neardup.options import DedupOptions, MatchingOptions, options_of
from neardup.recipe.presets import RecipeLike, recipe_of

Engine = TypeVar("Engine", bound=ClusterEngine[Any])


class WithinOptions(MatchingOptions, total=False):
    """The options of `filter_new` and `pairs`."""

    within: str | None


class Given(NamedTuple):
    """What is given, besides options."""

    rows: Any
    text: str
    id: str
    order: str | Sequence[str]
    against: Any
    folder: str | None = None


class Frontend(ABC, Generic[Engine]):
    """Checks what is given, and runs it.

    Attributes:
        documents, input, job: the classes of these.
    """

    documents: ClassVar[type[Documents]]
    input: ClassVar[type[Input[Any]]] = Input
    job: ClassVar[type[ClusterJob[Any, Any]]]

    @property
    def words(self) -> Words:
        """Of the cluster."""
        return self.job.words

    def demand_installed(self) -> None:
        """Refuse to go on without the packages of the cluster; by default, they are there.

        Raises:
            MissingExtra: they are not installed.
        """

    @abstractmethod
    def demand_rows(self, *given: Any) -> None:
        """Refuse what holds no rows of this cluster; None is nothing.

        Raises:
            OptionError: something is another thing.
        """

    @abstractmethod
    def columns(self, documents: Any) -> dict[str, Any]:
        """The types of columns, by their names."""

    @abstractmethod
    def demand_kinds(self, documents: Any, options: DedupOptions) -> None:
        """Refuse texts that are no strings, ids that are no strings or integers, columns that have no order, and other values.

        Raises:
            InputError: a column has another type.
        """

    @abstractmethod
    def demand_files(self, documents: Any) -> None:
        """Refuse rows that are not those of files, in their order.

        Raises:
            OptionError: they are others.
        """

    def demand_same_order(self, documents: Any, reference: Any) -> None:
        """Refuse a reference whose columns have no common order with others; by default, they have.

        Raises:
            InputError: a column has another type.
        """

    @abstractmethod
    def folder(self, rows: Any) -> str:
        """A new folder for what goes from stage to stage.

        Raises:
            OptionError: no folder is known that all machines share.
        """

    def work_of(self, text: Any, recipe: RecipeLike | None, options: Any, function: Callable[..., Any]) -> Work:
        """What is to be done.

        Raises:
            OptionError: an option cannot be had on a cluster, or has a value that is not allowed.
            MissingExtra: the packages of the cluster are not installed.
        """
        demand_one_column(text, self.words.engine, self.words.join)
        demand_possible(options, self.words.engine, self.words.not_taken)
        chosen = options_of({"method": "exact", **options}, function)
        work = Work.of(recipe_of(recipe), chosen)
        demand_columns_only(chosen, self.words.engine, self.words.rows)
        self.demand_installed()
        return work

    def input_of(self, work: Work, given: Given) -> Input[Any]:
        """The input, if it has all that is needed."""
        options = work.options
        self.demand_rows(given.rows, given.against)
        order = (given.order,) if isinstance(given.order, str) else tuple(given.order)
        documents = self.documents(given.rows, given.text, given.id, order, options.grouped_by, options.preferred_by)
        self._demand(documents, options.columns, options, f"The {self.words.rows}")
        if given.against is None:
            return self.input(documents)
        reference = replace(documents, rows=given.against, is_reference=True)
        grouped = [options.grouped_by] if options.grouped_by is not None else []
        self._demand(reference, grouped, options, f"The {self.words.rows} of `against`")
        self.demand_same_order(documents, reference)
        return self.input(documents, reference)

    def _demand(self, documents: Documents, more: Sequence[str], options: DedupOptions, called: str) -> None:
        wanted = [documents.text, documents.id, *documents.order, *more]
        demand_columns(self.columns(documents), wanted, called)
        self.demand_kinds(documents, options)
        if not documents.order:
            self.demand_files(documents)

    def plan(self, work: Work, given: Given) -> Plan:
        """Estimate what a job takes."""
        job = self.job(self.input_of(work, given), work)
        return replace(job.planned(), copied=job.copied_first)

    def decided(self, work: Work, given: Given) -> tuple[Engine, Decided]:
        """Run a job that decides which documents stay."""
        return self._ran(work, given, "deduplicate", lambda engine: decide(engine, work))

    def listed(self, work: Work, given: Given, *, distinct: bool) -> tuple[Engine, Any]:
        """Run a job that lists pairs."""
        kind, across = "pairs of distinct texts" if distinct else "pairs", given.against is not None
        return self._ran(work, given, kind, lambda engine: list_pairs(engine, work, across=across, distinct=distinct))

    def _ran(self, work: Work, given: Given, kind: str, flow: Callable[[Engine], Any]) -> tuple[Engine, Any]:
        job = self.job(self.input_of(work, given), work)
        engine: Engine = job.started(given.folder or self.folder(given.rows), kind=kind)
        with job.deciding():
            found = flow(engine)
        job.finished(engine.kept)
        return engine, found
