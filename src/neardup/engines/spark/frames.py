"""FRAMES: the input on Spark: what is read of each row, and by which columns rows are in order."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from neardup.engines.job import inputs
from neardup.engines.job.inputs import Documents
from neardup.engines.reading.sorted_runs import Runs
from neardup.errors import InputError


class Frame(Documents):
    """Documents in a frame, whose parts are its partitions."""

    def texts(self) -> Any:
        """The columns that a reading needs: text, id, within and value."""
        names = column(self.text).alias("text"), column(self.id).cast("string").alias("id")
        return self.rows.select(
            *names, self._value(self.within).alias("within"), self._value(self.value).alias("value")
        )

    def _value(self, name: str | None) -> Any:
        """A column as it is; null if there is none."""
        from pyspark.sql import functions as f

        return f.lit(None).cast("string") if name is None or name not in self.rows.columns else column(name)

    def order_columns(self) -> list[Any]:
        """The columns by which rows are in order; rows of files that are equal there are in the order of their partitions."""
        from pyspark.sql import functions as f

        if self.order:
            return [*(column(name) for name in self.order), column(self.id)]
        return [f.col("_metadata.file_path"), f.col("_metadata.file_block_start")]


class Input(inputs.Input[Frame]):
    """All that is given."""

    def readings(self, numbers: Sequence[Runs] | None = None) -> Iterator[tuple[Any, dict[str, Any]]]:
        """The frames to read, one after another, and what tells the numbers of their partitions.

        `numbers`: of each frame, where these tell the order of documents.
        """
        for at, each in enumerate(self.sources):
            # Of a new frame, as one keeps its partitions when settings change.
            before = self.documents.texts().rdd.getNumPartitions() if each.is_reference else 0
            where = {"is_reference": each.is_reference, "first": each.first, "before": before}
            yield each.texts(), where | {"numbers": numbers and numbers[at]}

    def demand_ids(self) -> None:
        """Refuse ids that are null, or occur twice where they are not those of a reference.

        Raises:
            InputError: some are.
        """
        from pyspark.sql import functions as f

        name = self.documents.id
        ids = self.documents.rows.select(column(name).alias("id"))
        if self.reference is not None:
            ids = ids.unionAll(self.reference.rows.select(column(name).alias("id")).where("id is null"))
        several = ids.groupBy("id").count().where(f.expr("count > 1 or id is null")).limit(4).collect()
        missing = sum(row["count"] for row in several if row.id is None)
        if missing:
            raise InputError(
                f"{missing:,} rows have no id: column {name!r} is null. Give each document an id of its own."
            )
        if several:
            shown = ", ".join(repr(row.id) for row in several[:3])
            raise InputError(
                f"Some ids occur several times in column {name!r}, such as {shown}. Give each document an id of its own."
            )


def column(name: str) -> Any:
    """A column of a frame by its name, whatever characters that has."""
    from pyspark.sql import functions as f

    return f.col("`" + name.replace("`", "``") + "`")


def types_of(frame: Any) -> dict[str, pa.DataType]:
    """The types of the columns of a frame as Arrow has them, by their names."""
    return {field.name: _type_of(field.dataType) for field in frame.schema.fields}


def _type_of(kind: Any) -> pa.DataType:
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    try:
        return to_arrow_type(kind, timezone="UTC")
    except PySparkException:  # of intervals
        return pa.month_day_nano_interval()
