"""Blocks, operators and stages of other pipelines remove what `neardup.deduplicate` removes, in the pipelines themselves."""

import json
import os
import re
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from agreement import corpora
from integrations.pipelines import PIPELINES, missing, python

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).with_name("programs")
ROWS = [{**row, "n": n} for n, row in enumerate(corpora.make("mixture").rows) if row["text"].strip()]
"""Readers of datatrove leave out empty texts."""
SURVIVORS = sorted(row["id"] for row in nd.deduplicate(ROWS, method="exact", min_similarity=0.6).survivors)
MODULES = {"datatrove": "datatrove.py", "data-juicer": "data_juicer.py", "nemo-curator": "curator.py"}
pytestmark = pytest.mark.long


def printed(name, program, folder):
    """What a program prints last, by the Python of a pipeline."""
    if missing(name):
        pytest.skip(missing(name))
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "HF_HUB_OFFLINE": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    command = [python(name), PROGRAMS / program]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_blocks_of_datatrove(tmp_path):
    (tmp_path / "shards").mkdir()
    for number in range(3):
        some = ROWS[number * len(ROWS) // 3 : (number + 1) * len(ROWS) // 3]
        lines(tmp_path / "shards" / f"{number}.jsonl", some)
    assert printed("datatrove", "datatrove_blocks.py", tmp_path) == SURVIVORS


def test_the_operator_of_data_juicer(tmp_path):
    lines(tmp_path / "all.jsonl", ROWS)
    assert printed("data-juicer", "data_juicer_operator.py", tmp_path) == [SURVIVORS, SURVIVORS]


def test_the_workflow_and_the_stage_of_nemo_curator(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(3):
        pq.write_table(pa.Table.from_pylist(ROWS[number::3]), tmp_path / "in" / f"{number}.parquet")
    assert printed("nemo-curator", "curator_workflow.py", tmp_path) == [SURVIVORS, SURVIVORS, len(SURVIVORS)]


@pytest.mark.parametrize("name", MODULES)
def test_the_version_that_was_tested_is_stated(name):
    source = (ROOT / "src" / "neardup" / "integrations" / MODULES[name]).read_text(encoding="utf-8")
    (stated,) = re.findall(r'^TESTED = "(.*)"$', source, re.MULTILINE)
    assert PIPELINES[name][0].endswith(f"=={stated}")
