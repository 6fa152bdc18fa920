"""CLUSTER JOB: begin a job on a cluster, or go on with one that failed: its plan, its folder, its copies, and its engine.

A job on another cluster is a subclass that has the methods which are abstract here, see "A third engine" in `docs/architecture.md`.
"""

import contextlib
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

from neardup.engines.candidates.table import METHODS
from neardup.engines.job.checkpoint import Kept, Store, job_of
from neardup.engines.job.inputs import FILES, Given, Input, demand_unchanged, facts_of_files
from neardup.engines.job.plan import Plan, Remedies, plan_of
from neardup.engines.job.sample import Sample, stages_of
from neardup.engines.job_options import Work
from neardup.engines.repeats.work import PassageWork
from neardup.engines.stages import THERE, Measured
from neardup.errors import RecipeMismatch

Engine = TypeVar("Engine")
_log = logging.getLogger("neardup")


@dataclass(frozen=True)
class Words:
    """What a cluster calls things.

    Attributes:
        engine: its name.
        rows: what holds rows; argument: of our functions, that gives them.
        join: how several columns of texts become one.
        not_taken: options that cannot be had, with what to do instead.
        unsteady: steps after which rows differ whenever they are made.
        remedies: what to do about limits.
    """

    engine: str
    rows: str
    argument: str
    join: str
    not_taken: Mapping[str, str]
    unsteady: str
    remedies: Remedies


class ClusterJob(ABC, Generic[Given, Engine]):
    """A job.

    Attributes:
        words: of the cluster.
        given: what is read; once the job has started, rows that had to be copied are the copies.
        work: what is to be done.
    """

    words: ClassVar[Words]

    def __init__(self, given: Input[Given], work: Work) -> None:
        self.given, self.work = given, work

    @abstractmethod
    def translated_errors(self) -> contextlib.AbstractContextManager[None]:
        """Errors of the cluster in our words."""

    def deciding(self) -> contextlib.AbstractContextManager[None]:
        """While the flow runs; by default, nothing is done, as an engine tells of errors stage by stage."""
        return contextlib.nullcontext()

    @abstractmethod
    def is_steady(self, documents: Given) -> bool:
        """Whether rows are those of files, and the same in the same places whenever they are read."""

    @abstractmethod
    def _described(self, documents: Given) -> dict[str, Any]:
        """The columns of rows, and what is done to make them, without reading any."""

    @abstractmethod
    def _files(self, documents: Given) -> Sequence[tuple[str, int, Any]]:
        """The names, sizes and times of change of the files that rows are read from."""

    @abstractmethod
    def _sample(self) -> Sample:
        """Count all rows, and take some texts."""

    @abstractmethod
    def _limits(self) -> dict[str, Any]:
        """What `plan_of` needs to know of the cluster: `least_buckets`, `limit_bytes` and perhaps `wanted_bytes`."""

    @abstractmethod
    def _store(self, path: str) -> Store:
        """The folder of the job."""

    @abstractmethod
    def _copy(self, documents: Given, path: str) -> dict[str, Any]:
        """Write rows to a new folder. Returns what `_content` does, and what `_copied` needs."""

    @abstractmethod
    def _content(self, documents: Given) -> dict[str, Any]:
        """How many rows there are (`rows`), and a sum over them that is the same in any order (`sum`)."""

    @abstractmethod
    def _copied(self, documents: Given, path: str, known: Mapping[str, Any]) -> Any:
        """The rows of a copy. `known`: what `_copy` returned."""

    @abstractmethod
    def _division(self, plan: Plan) -> dict[str, Any]:
        """How the job is divided: `buckets`, and what else the engine needs to have the same whenever the job goes on."""

    @abstractmethod
    def _engine(self, kept: Kept, before: Sequence[Measured]) -> Engine:
        """What runs the stages. `before`: what was done before them."""

    def _look(self, before: list[Measured]) -> None:
        """Look at the input before a new job is planned; by default, at nothing. `before`: to note how long it takes."""

    def _shown_as(self, name: str) -> contextlib.AbstractContextManager[None]:  # noqa: ARG002
        """While the cluster shows a name; by default, nothing is done."""
        return contextlib.nullcontext()

    @property
    def copied_first(self) -> tuple[str, ...]:
        """The names of the sources that are copied."""
        return tuple(name for name, each in self.given.named.items() if not self.is_steady(each))

    def planned(self) -> Plan:
        """Plan the job: counts the rows of the input, reads some texts, and runs the first stages on these."""
        with self.translated_errors():
            limits, sample = self._limits(), self._sample()
        found, whole = stages_of(sample, self.work), replace(self.work, documents=sum(sample.rows))
        has_one_key = METHODS[self.work.options.method].has_one_key(whole)
        follows = "earliest places" if isinstance(self.work, PassageWork) else "pairs"
        return plan_of(sample, found, self.words.remedies, has_one_key=has_one_key, follows=follows, **limits)

    def started(self, path: str, *, kind: str = "deduplicate") -> Engine:
        """The engine of the job, which goes on with what a run that failed left in the folder. `kind`: what the job is.

        Raises:
            RecipeMismatch: the folder is that of another job.
            InputError: it is none of a job, and not empty; or ids are null or occur twice.
            OptionError: the job cannot finish.
        """
        before: list[Measured] = []
        with self.translated_errors():
            kept = Kept(self._store(path), self._description(kind))
            if self.copied_first:
                with self._timed(before, "copy"):
                    self.given = self._steady(kept)
        if kept.division:
            _log.info("going on with the job in %s", kept.folder)
        else:
            with self.translated_errors():
                self._look(before)
            with self._timed(before, "plan"):
                plan = self.planned()
            _log.info("%s", plan)
            plan.demand()
            with self.translated_errors():
                kept.begin(self._division(plan))
        with self.translated_errors():
            return self._engine(kept, before)

    def finished(self, kept: Kept) -> None:
        """Look, when all has been decided, whether the files of the input are still those that the job began with.

        Raises:
            DataError: they are not.
        """
        with self.translated_errors():
            for name, each in self.given.named.items():
                if FILES in kept.job[name]:
                    demand_unchanged(name, self._files(each), kept.job[name])

    @contextlib.contextmanager
    def _timed(self, measured: list[Measured], name: str) -> Iterator[None]:
        """Note how long something takes that is no stage."""
        begun = time.monotonic()
        with self._shown_as(name):
            yield
        measured.append(Measured(name, time.monotonic() - begun, ran=THERE))

    def _description(self, kind: str) -> dict[str, Any]:
        """All that decides what stages give, as plain values."""
        documents = self.given.documents
        found = job_of(self.work, kind, text=documents.text, id=documents.id, order=documents.order)
        for name, each in self.given.named.items():
            files = facts_of_files(self._files(each)) if self.is_steady(each) else {}
            found[name] = self._described(each) | files
        return found

    def _steady(self, kept: Kept) -> Input[Given]:
        """The input, with rows that are the same in the same places whenever they are read.

        Raises:
            RecipeMismatch: the job was begun with other rows.
        """
        steady = {name: self._steady_source(name, each, kept) for name, each in self.given.named.items()}
        documents, *reference = steady.values()
        return replace(self.given, documents=documents, reference=reference[0] if reference else None)

    def _steady_source(self, name: str, documents: Given, kept: Kept) -> Given:
        if self.is_steady(documents):
            return documents
        engine, rows = self.words.engine, self.words.rows
        if name not in kept.copies:
            _log.info(
                "copying the %s to %s first: %s may make its rows in another order each time", name, kept.folder, engine
            )
            kept.open()
            path = kept.path(0, name)
            kept.copied(name, path, self._copy(documents, path))
        else:
            known, now = kept.copies[name], self._content(documents)
            if any(known[each] != value for each, value in now.items()):
                raise RecipeMismatch(
                    f"{kept.folder} has the work of a job on other rows: the {name} had {known['rows']:,} rows with the sum "
                    f"{known['sum']}, and has {now['rows']:,} with {now['sum']}. Give another folder as `work=`. A {rows} whose "
                    f"rows differ whenever {engine} makes them, as after {self.words.unsteady}, is to be written to files first: "
                    "then a job goes on."
                )
        known = kept.copies[name]
        return replace(documents, rows=self._copied(documents, kept.folder + known["rows_in"], known))
