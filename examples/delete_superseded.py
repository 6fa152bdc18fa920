"""Delete from the files of a reference what a run with `--prefer best` lists: python delete_superseded.py OUT.superseded.jsonl

Files are JSON lines or Parquet, with a column `id`; if one is not, nothing is deleted. Each is written beside itself and then
renamed, so it is always the old one or the new one. A file whose listed rows have other ids, or none, is left as it is: it has
changed since the run, or was done before.
"""

import json
import os
import sys
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq


def delete(path, ids):
    """Write the file without some of its rows, given with their ids. Whether it has these rows."""
    beside = path.with_name(f".{path.name}.new")
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        found = dict(enumerate(table["id"].to_pylist())) if "id" in table.column_names else {}
    else:
        lines = [line for line in path.read_bytes().split(b"\n") if line.strip()]  # empty lines are no rows
        found = {row: json.loads(lines[row]).get("id") for row in ids if row < len(lines)}
    if any(found.get(row) != name for row, name in ids.items()):
        return False
    if path.suffix == ".parquet":
        pq.write_table(table.take([row for row in range(len(table)) if row not in ids]), beside)
    else:
        beside.write_bytes(b"".join(line + b"\n" for row, line in enumerate(lines) if row not in ids))
    os.replace(beside, path)
    return True


ids_of = defaultdict(dict)
with Path(sys.argv[1]).open(encoding="utf-8") as listing:
    for listed in map(json.loads, listing):
        ids_of[listed["file"]][listed["row"]] = listed["id"]
if others := [name for name in ids_of if Path(name).suffix not in (".jsonl", ".ndjson", ".json", ".parquet")]:
    sys.exit(f"Only JSON lines and Parquet can be edited here, not {', '.join(others)}: nothing was deleted.")
for name, ids in ids_of.items():
    print(f"{name}: {len(ids)} deleted" if delete(Path(name), ids) else f"{name}: left as it is, its rows are others")
