"""FRONTEND of Spark: checks of frames."""

import contextlib
import secrets
import tempfile
from collections.abc import Iterable
from functools import partial
from typing import Any

from neardup.engines.frontend import Frontend
from neardup.engines.job.own_folder import OwnFolder
from neardup.engines.job.refusals import demand_columns, demand_order
from neardup.engines.spark.engine import SparkEngine
from neardup.engines.spark.failures import stopped, translated_errors
from neardup.engines.spark.folder import removed
from neardup.engines.spark.frames import Frame, Input, types_of
from neardup.engines.spark.job import SparkJob
from neardup.engines.spark.plans import demand_files
from neardup.errors import OptionError

_WITHOUT_ORDER = ("map<", "variant")


class SparkFrontend(Frontend[SparkEngine]):
    """Checks of what Spark is given."""

    documents, input, job = Frame, Input, SparkJob

    def translated_errors(self) -> contextlib.AbstractContextManager[None]:
        return translated_errors()

    def demand_rows(self, rows: Any, called: str) -> None:
        """Refuse frames of Spark Connect as well, whose session does not run here, and streams."""
        if not hasattr(rows, "_jdf"):
            connect = (
                " A session of Spark Connect sends no broadcasts and no plans." if hasattr(rows, "isStreaming") else ""
            )
            raise OptionError(
                f"{called} is a {type(rows).__name__}; give a DataFrame of a classic session of Spark, as `spark-submit` has, or "
                f'`SparkSession.builder.master("…")` on the driver.{connect}'
            )
        if rows.sparkSession.sparkContext._jsc is None:
            raise stopped("The session of this frame has no context any more.")
        if rows.isStreaming:
            raise OptionError(
                f"{called} is a stream, which has no end. Give a frame of the rows that there are, as `spark.read` makes it; in "
                "`foreachBatch`, each batch is one."
            )

    def demand_columns(self, rows: Any, wanted: Iterable[tuple[str, str]]) -> None:
        """Spark takes names that differ in capitals alone for one, unless it is told otherwise."""
        counts = str(rows.sparkSession.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
        advice = "Spark does not tell capitals apart. Drop or rename one, or set `spark.sql.caseSensitive` to true."
        demand_columns(rows.columns, wanted, capitals_count=counts, advice=advice)

    def columns(self, rows: Any) -> dict[str, Any]:
        return types_of(rows)

    def demand_order(self, documents: Frame) -> None:
        for name in documents.order:
            kind = documents.rows.schema[name].dataType.simpleString()
            demand_order(name, kind, has_order=not any(each in kind for each in _WITHOUT_ORDER))

    def demand_files(self, documents: Frame) -> None:
        demand_files(documents.rows)

    def own_folder(self, rows: Any) -> OwnFolder:
        session, name = rows.sparkSession, f"neardup-{secrets.token_hex(8)}"
        shared = session.sparkContext._jsc.sc().getCheckpointDir()
        if shared.isDefined():
            return OwnFolder(f"{shared.get()}/{name}", partial(removed, session))
        if session.sparkContext.master.startswith("local"):
            return OwnFolder(f"{tempfile.gettempdir()}/{name}")
        raise OptionError(
            "This session has no folder that its executors share. Give `work=`, or call `spark.sparkContext.setCheckpointDir`."
        )


FRONTEND = SparkFrontend()
