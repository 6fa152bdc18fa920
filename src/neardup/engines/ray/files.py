"""FILES: what a command on Ray reads and writes: paths, patterns of these, and folders of files in the format of an ending."""

import contextlib
import csv
import io
import json
import os
import posixpath
import secrets
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.engines.job.checkpoint import Notes
from neardup.engines.job.folder import Folder
from neardup.engines.job.paths import Files, demand_flat, demand_one_format, format_of, nothing_in
from neardup.engines.ray.failures import in_a_line, known_errors, translated_errors
from neardup.engines.ray.sources import schema_of
from neardup.engines.ray.tasks import PLACE, bounded, checked
from neardup.engines.stages import Setting
from neardup.errors import InputError, NeardupError, OptionError
from neardup.io.storage.places import place_of
from neardup.io.storage.remote import RemotePath
from neardup.version import __version__

FORMATS = ("parquet", "json", "csv")
_MAGIC = "*?["


class RayFiles(Files):
    """Files of local paths and object stores."""

    def read(self, paths: Sequence[str], otherwise: str) -> Any:
        import ray

        name, shown = demand_one_format(paths, otherwise), ", ".join(paths)
        if name not in FORMATS:
            raise OptionError(f"On Ray, {shown} is not read: its format is {name}. Give {', '.join(FORMATS)}.")
        found = [each for path in paths for each in _matching(path)]
        try:
            with known_errors():
                dataset = getattr(ray.data, f"read_{name}")(found)
                columns = dataset.columns()
        except NeardupError:
            raise
        except Exception as problem:  # of Arrow, of a file system, or of Ray
            raise InputError(
                f"Ray cannot read {shown} as {name}: {in_a_line(problem)}. Give paths that exist, and `format` where no "
                "ending tells it."
            ) from problem
        if not columns:
            raise nothing_in(shown, name)
        return dataset

    def columns(self, rows: Any) -> Sequence[str]:
        found: Sequence[str] = rows.columns()
        return found

    def whole(self, path: str) -> str:
        """Links are followed."""
        place = place_of(path)
        return place.key_url if isinstance(place, RemotePath) else os.path.realpath(place)

    def exists(self, path: str) -> bool:
        place = place_of(path)
        return place.exists() if isinstance(place, Path) else place.is_file() or bool(place.files())

    def remove(self, path: str) -> None:
        place = place_of(path)
        if isinstance(place, RemotePath):
            for each in [*place.files(), place]:
                each.unlink(missing_ok=True)
        elif place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)

    def demand_writable(self, rows: Any, path: str, otherwise: str) -> None:
        name, codec = format_of(path, otherwise)
        if name not in FORMATS or codec is not None:
            raise OptionError(
                f"{path}: on Ray, folders of .parquet, .jsonl and .csv files are written, and these not compressed."
            )
        kinds = {field.name: field.type for field in schema_of(rows)}
        nested = [name for name, kind in kinds.items() if pa.types.is_nested(kind) or pa.types.is_binary(kind)]
        demand_flat(path, otherwise, nested)

    def write(self, rows: Any, path: str, otherwise: str, *, overwrite: bool) -> None:
        """Files of tasks that were cut short and run again are removed in the end."""
        if overwrite:
            self.remove(path)
        name, _ = format_of(path, otherwise)
        folder = Folder(path)
        folder.make("")
        with translated_errors():
            blocks = rows.map_batches(_Write(folder, name), batch_format="pyarrow", batch_size=None).iter_rows()
            files = {row["file"] for row in blocks if row["file"]}
        if not files:
            files.add(_written(folder, name, rows.schema().base_schema.empty_table()))
        for left in set(folder.names()) - files:
            self.remove(posixpath.join(path, left))

    def notes(self, folder: str, name: str) -> Notes:
        return Folder(folder).notes(name)

    def translated_errors(self) -> contextlib.AbstractContextManager[None]:
        return translated_errors()


def _matching(path: str) -> list[str]:
    """The paths that a pattern matches; else the path."""
    place = place_of(path)
    if not any(each in path for each in _MAGIC) or (isinstance(place, Path) and place.exists()):
        return [path]
    if isinstance(place, RemotePath):
        found = [str(each) for each in place.matches()[1]]
    else:
        whole = Path(os.path.abspath(place))
        found = sorted(str(each) for each in Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))))
    if not found:
        raise InputError(f"Nothing matches {path}. Give paths that exist.")
    return found


class _Write:
    """Writes a block to a file of its own."""

    def __init__(self, folder: Folder, name: str) -> None:
        self._folder, self._name, self._setting = folder, name, Setting(__version__, 1, PLACE)

    def __call__(self, block: pa.Table) -> pa.Table:
        found = checked(self._setting, _written, self._folder, self._name, block) if len(block) else ""
        return pa.table({"file": [found]})


def _written(folder: Folder, name: str, block: pa.Table) -> str:
    """Write rows to a new file, which is returned."""
    ending = {"parquet": "parquet", "json": "jsonl", "csv": "csv"}[name]
    path = f"{secrets.token_hex(8)}.{ending}"
    with folder.writing(path) as file:
        if name == "parquet":
            pq.write_table(block, file, compression="zstd")
        elif name == "json":
            _write_lines(block, file)
        else:
            _write_csv(block, file)
    return path


def _write_lines(block: pa.Table, file: IO[bytes]) -> None:
    """JSON, a line for each row; times as in ISO 8601, bytes as hexadecimal digits."""
    for batch in bounded(block):
        lines = (json.dumps(row, ensure_ascii=False, default=_text) for row in batch.to_pylist())
        file.write("".join(f"{line}\n" for line in lines).encode("utf-8"))


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _write_csv(block: pa.Table, file: IO[bytes]) -> None:
    """CSV with a header; quotes in quotes are doubled."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(block.column_names)
    for batch in bounded(block):
        writer.writerows(_cells(batch))
        file.write(text.getvalue().encode("utf-8"))
        text.seek(0)
        text.truncate()
    file.write(text.getvalue().encode("utf-8"))


def _cells(batch: pa.RecordBatch) -> Iterable[Sequence[Any]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)
