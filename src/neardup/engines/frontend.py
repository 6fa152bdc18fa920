"""FRONTEND: what the functions for clusters have in common: they check what is given, start its job, and run its flow."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from neardup.engines.flow import Decided, list_pairs
from neardup.engines.flow import deduplicate as decide
from neardup.engines.job.cluster_engine import ClusterEngine
from neardup.engines.job.cluster_job import ClusterJob, Words
from neardup.engines.job.failures import forget_work
from neardup.engines.job.inputs import Documents, Input
from neardup.engines.job.own_folder import OwnFolder
from neardup.engines.job.plan import Plan
from neardup.engines.job.refusals import demand_columns_only, demand_one_column, demand_possible, demand_types
from neardup.engines.job_options import Work
from neardup.engines.repeats.flow import CutPassages, cut_passages
from neardup.engines.repeats.work import PassageWork
from neardup.errors import InputError
from neardup.options import MatchingOptions, options_of, refuse_all_unprinted, refuse_unknown
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.survivors.repeats.options import PassageOptions

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
    def translated_errors(self) -> contextlib.AbstractContextManager[None]:
        """Errors of the cluster in our words, before there is a job and after it."""

    @abstractmethod
    def demand_rows(self, rows: Any, called: str) -> None:
        """Refuse what holds no rows of this cluster. `called`: the name of the argument.

        Raises:
            OptionError: it is another thing, or rows that have no end.
            OSError: the cluster that has them has stopped.
        """

    @abstractmethod
    def demand_columns(self, rows: Any, wanted: Iterable[tuple[str, str]]) -> None:
        """Refuse rows without some columns. `wanted`: their names, and what each is needed for.

        Raises:
            InputError: a column is not there, or there are several of its name.
        """

    @abstractmethod
    def columns(self, rows: Any) -> dict[str, Any]:
        """The types of columns, as Arrow has them, by their names."""

    @abstractmethod
    def demand_order(self, documents: Any) -> None:
        """Refuse columns by which documents cannot be in order.

        Raises:
            InputError: they are such.
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
    def own_folder(self, rows: Any) -> OwnFolder:
        """A new folder for what goes from stage to stage, which does not stay.

        Raises:
            OptionError: no folder is known that all machines share.
        """

    def demand_texts(self, rows: Any, text: Any, added: str) -> None:
        """Refuse rows that have no texts, or a column already that is to be added.

        Raises:
            OptionError: `rows` are none, or texts are no strings.
            InputError: there is no such column, or that column.
        """
        demand_one_column(text, self.words.engine, self.words.join)
        self.demand_installed()
        self.demand_rows(rows, self.words.argument)
        self.demand_columns(rows, [(text, "texts")])
        demand_types(self.columns(rows), text, None, ())
        if added in self.columns(rows):
            raise InputError(f"The {self.words.rows} has a column {added!r} already. Drop or rename it.")

    def work_of(self, text: Any, recipe: RecipeLike | None, options: Any, function: Callable[..., Any]) -> Work:
        """What is to be done.

        Raises:
            OptionError: an option cannot be had on a cluster, or has a value that is not allowed.
            MissingExtra: the packages of the cluster are not installed.
        """
        refuse_all_unprinted([text, recipe, *options.values()])
        demand_one_column(text, self.words.engine, self.words.join)
        demand_possible(options, self.words.engine, self.words.not_taken)
        chosen = options_of({"method": "exact", **options}, function)
        work = Work.of(recipe_of(recipe, chosen.version), chosen)
        demand_columns_only(chosen, self.words.engine, self.words.rows)
        self.demand_installed()
        return work

    def passage_work_of(
        self, text: Any, recipe: RecipeLike | None, options: Any, function: Callable[..., Any]
    ) -> PassageWork:
        """What is to be done where passages are cut; refuses what `work_of` does."""
        refuse_all_unprinted([text, recipe, *options.values()])
        demand_one_column(text, self.words.engine, self.words.join)
        of_documents = ("unit", "elements")
        not_taken = {name: remedy for name, remedy in self.words.not_taken.items() if name not in of_documents}
        demand_possible(options, self.words.engine, not_taken)
        refuse_unknown(options, function)
        chosen = PassageOptions(**options)
        demand_columns_only(chosen.order, self.words.engine, self.words.rows)
        self.demand_installed()
        return PassageWork.of_passages(recipe_of(recipe), chosen)

    def input_of(self, work: Work, given: Given) -> Input[Any]:
        """The input, if it has all that is needed."""
        options = work.options
        refuse_all_unprinted([given.id, given.order, given.folder])
        self.demand_rows(given.rows, self.words.argument)
        order = (given.order,) if isinstance(given.order, str) else tuple(given.order)
        documents = self.documents(given.rows, given.text, given.id, order, options.grouped_by, options.preferred_by)
        self._demand(documents, options.columns)
        if given.against is None:
            return self.input(documents)
        self.demand_rows(given.against, "against")
        reference = replace(documents, rows=given.against, is_reference=True)
        self._demand(reference, [options.grouped_by] if options.grouped_by is not None else [])
        self.demand_same_order(documents, reference)
        return self.input(documents, reference)

    def _demand(self, documents: Documents, values: Sequence[str]) -> None:
        roles = [(documents.text, "texts"), (documents.id, "ids"), *((name, "order") for name in documents.order)]
        self.demand_columns(documents.rows, [*roles, *((name, "values") for name in values)])
        demand_types(self.columns(documents.rows), documents.text, documents.id, values)
        self.demand_order(documents)
        if not documents.order:
            self.demand_files(documents)

    def plan(self, work: Work, given: Given) -> Plan:
        """Estimate what a job takes."""
        with self.translated_errors():
            job = self.job(self.input_of(work, given), work)
            return replace(job.planned(), copied=job.copied_first)

    def decided(self, work: Work, given: Given) -> tuple[Engine, Decided]:
        """Run a job that decides which documents stay."""
        return self._ran(work, given, "deduplicate", lambda engine: decide(engine, work))

    def listed(self, work: Work, given: Given, *, distinct: bool) -> tuple[Engine, Any]:
        """Run a job that lists pairs."""
        kind, across = "pairs of distinct texts" if distinct else "pairs", given.against is not None
        return self._ran(work, given, kind, lambda engine: list_pairs(engine, work, across=across, distinct=distinct))

    def cut(self, work: PassageWork, given: Given) -> tuple[Engine, CutPassages]:
        """Run a job that cuts passages."""
        return self._ran(work, given, "passages", lambda engine: cut_passages(engine, work))

    def _ran(self, work: Work, given: Given, kind: str, flow: Callable[[Engine], Any]) -> tuple[Engine, Any]:
        """Without a folder that is given, the job has one of its own, which an error removes, and else `close` or the end."""
        with self.translated_errors():
            job = self.job(self.input_of(work, given), work)
            own = None if given.folder else self.own_folder(given.rows)
        try:
            with self.translated_errors():
                engine: Engine = job.started(given.folder or (own.path if own else ""), kind=kind)
                with job.deciding():
                    found = flow(engine)
                job.finished(engine.kept)
        except BaseException as problem:
            if own is not None:
                own.remove()
                forget_work(problem)
            raise
        engine.own_folder = own
        return engine, found
