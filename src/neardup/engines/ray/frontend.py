"""FRONTEND of Ray: checks of datasets."""

import contextlib
import importlib
import secrets
import tempfile
from collections.abc import Iterable
from typing import Any

from neardup.engines.frontend import Frontend
from neardup.engines.job.own_folder import OwnFolder
from neardup.engines.job.refusals import demand_columns, demand_order
from neardup.engines.ray.calls import nodes
from neardup.engines.ray.engine import RayEngine
from neardup.engines.ray.failures import translated_errors
from neardup.engines.ray.input_files import step_of
from neardup.engines.ray.job import RayJob
from neardup.engines.ray.sort_columns import normal
from neardup.engines.ray.sources import Source, schema_of
from neardup.errors import InputError, MissingExtra, OptionError


class RayFrontend(Frontend[RayEngine]):
    """Checks of what Ray is given."""

    documents, job = Source, RayJob

    def demand_installed(self) -> None:
        try:
            importlib.import_module("ray.data")
        except ImportError:
            raise MissingExtra("Ray is not installed: pip install 'neardup[ray]'") from None

    def translated_errors(self) -> contextlib.AbstractContextManager[None]:
        return translated_errors()

    def demand_rows(self, rows: Any, called: str) -> None:
        from ray.data import Dataset

        if not isinstance(rows, Dataset):
            raise OptionError(
                f"{called} is a {type(rows).__name__}; give a Dataset of Ray, as `ray.data.read_parquet(…)` returns, or call "
                "`neardup.deduplicate` for rows in memory."
            )

    def demand_columns(self, rows: Any, wanted: Iterable[tuple[str, str]]) -> None:
        demand_columns(schema_of(rows).names, wanted)

    def columns(self, rows: Any) -> dict[str, Any]:
        return {field.name: field.type for field in schema_of(rows)}

    def demand_order(self, documents: Source) -> None:
        for name in documents.order:
            kind = documents.schema.field(name).type
            demand_order(name, kind, has_order=normal(kind) is not None)

    def demand_files(self, documents: Source) -> None:
        if step_of(documents.rows) is None:
            raise OptionError(
                "This dataset has no order: give `order=`, a column or several by which the documents are in order. Only datasets "
                "that are read from files, and not mapped, shuffled, sorted, united or limited, have that of their files and rows."
            )

    def demand_same_order(self, documents: Source, reference: Source) -> None:
        for name in [*documents.order, documents.id] if documents.order else []:
            kinds = [normal(each.schema.field(name).type) for each in (documents, reference)]
            if kinds[0] != kinds[1]:
                raise InputError(
                    f"The column {name!r} holds {documents.schema.field(name).type}, and {reference.schema.field(name).type} in "
                    "`against`: these have no common order. Cast one of them."
                )

    def own_folder(self, rows: Any) -> OwnFolder:  # noqa: ARG002
        if nodes().many > 1:
            raise OptionError("The nodes of this cluster share no folder that is known. Give `work=`.")
        return OwnFolder(f"{tempfile.gettempdir()}/neardup-{secrets.token_hex(8)}")


FRONTEND = RayFrontend()
