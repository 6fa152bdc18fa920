"""FRONTEND of Ray: checks of datasets."""

import importlib
import secrets
import tempfile
from typing import Any

import pyarrow as pa

from neardup.engines.frontend import Frontend
from neardup.engines.job.refusals import demand_kind
from neardup.engines.ray.calls import nodes
from neardup.engines.ray.engine import RayEngine
from neardup.engines.ray.failures import translated_errors
from neardup.engines.ray.input_files import step_of
from neardup.engines.ray.job import RayJob
from neardup.engines.ray.sort_columns import normal
from neardup.engines.ray.sources import Source
from neardup.errors import InputError, MissingExtra, OptionError
from neardup.io.formats.columnar.parquet_values import is_value
from neardup.options import DedupOptions


class RayFrontend(Frontend[RayEngine]):
    """Checks of what Ray is given."""

    documents, job = Source, RayJob

    def demand_installed(self) -> None:
        try:
            importlib.import_module("ray.data")
        except ImportError:
            raise MissingExtra("Ray is not installed: pip install 'neardup[ray]'") from None

    def demand_rows(self, *given: Any) -> None:
        from ray.data import Dataset

        for each in given:
            if each is not None and not isinstance(each, Dataset):
                raise OptionError(
                    f"{type(each).__name__} is no Dataset of Ray. Give one, as `ray.data.read_parquet(…)` returns, or call "
                    "`neardup.deduplicate` for rows in memory."
                )

    def columns(self, documents: Source) -> dict[str, Any]:
        return {field.name: field.type for field in documents.schema}

    def demand_kinds(self, documents: Source, options: DedupOptions) -> None:
        kinds, text, name = self.columns(documents), documents.text, documents.id
        is_text = {each: normal(kind) == pa.large_string() for each, kind in kinds.items()}
        demand_kind(text, kinds[text], is_right=is_text[text], role="text")
        demand_kind(name, kinds[name], is_right=is_text[name] or pa.types.is_integer(kinds[name]), role="id")
        for each in documents.order:
            demand_kind(each, kinds[each], is_right=normal(kinds[each]) is not None, role="order")
        for each in options.columns:
            if each in kinds:
                demand_kind(each, kinds[each], is_right=is_value(kinds[each]), role="value")

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

    def folder(self, rows: Any) -> str:  # noqa: ARG002
        with translated_errors():
            if nodes().many > 1:
                raise OptionError("The nodes of this cluster share no folder that is known. Give `work=`.")
        return f"{tempfile.gettempdir()}/neardup-{secrets.token_hex(8)}"


FRONTEND = RayFrontend()
