"""FRONTEND of Spark: checks of frames."""

import secrets
import tempfile
from typing import Any

from neardup.engines.frontend import Frontend
from neardup.engines.job.refusals import demand_kind
from neardup.engines.spark.engine import SparkEngine
from neardup.engines.spark.frames import Frame, Input
from neardup.engines.spark.job import SparkJob
from neardup.engines.spark.plans import demand_files
from neardup.errors import OptionError
from neardup.options import DedupOptions

_INTEGERS = ("byte", "short", "integer", "long")
_VALUES = (*_INTEGERS, "string", "float", "double", "decimal", "date", "timestamp", "timestamp_ntz", "boolean")
_WITHOUT_ORDER = ("map<", "variant")


class SparkFrontend(Frontend[SparkEngine]):
    """Checks of what Spark is given."""

    documents, input, job = Frame, Input, SparkJob

    def demand_rows(self, *given: Any) -> None:
        """Refuse frames of Spark Connect as well, whose session does not run here."""
        if any(frame is not None and not hasattr(frame, "_jdf") for frame in given):
            raise OptionError(
                "This frame is of Spark Connect, or none of Spark. Give a DataFrame of a classic session, as `spark-submit` has, "
                'or `SparkSession.builder.master("…")` on the driver; a session of Connect sends no broadcasts and no plans.'
            )

    def columns(self, documents: Frame) -> dict[str, Any]:
        return {field.name: field.dataType for field in documents.rows.schema.fields}

    def demand_kinds(self, documents: Frame, options: DedupOptions) -> None:
        kinds = self.columns(documents)
        shown = {name: kind.simpleString() for name, kind in kinds.items()}
        text, name, value = documents.text, documents.id, options.preferred_by
        demand_kind(text, shown[text], is_right=shown[text] == "string", role="text")
        demand_kind(name, shown[name], is_right=kinds[name].typeName() in ("string", *_INTEGERS), role="id")
        for each in documents.order:
            has_order = not any(kind in shown[each] for kind in _WITHOUT_ORDER)
            demand_kind(each, shown[each], is_right=has_order, role="order")
        if value in kinds:
            demand_kind(value, shown[value], is_right=kinds[value].typeName() in _VALUES, role="preferred")

    def demand_files(self, documents: Frame) -> None:
        demand_files(documents.rows)

    def folder(self, rows: Any) -> str:
        context = rows.sparkSession.sparkContext
        shared = context._jsc.sc().getCheckpointDir()
        if shared.isDefined():
            return f"{shared.get()}/neardup-{secrets.token_hex(8)}"
        if context.master.startswith("local"):
            return f"{tempfile.gettempdir()}/neardup-{secrets.token_hex(8)}"
        raise OptionError(
            "This session has no folder that its executors share. Give `work=`, or call `spark.sparkContext.setCheckpointDir`."
        )


FRONTEND = SparkFrontend()
