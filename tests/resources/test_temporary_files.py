"""Temporary files are counted, and take no more than their limit."""

import pickle
import shutil

import numpy as np
import pytest

import neardup as nd
from neardup.resources.resources import Resources
from neardup.resources.spool import Spool, mapped_array
from neardup.resources.temporary_files import TemporaryFiles
from neardup.resources.unfinished import temporary_folder


def test_the_default_is_nine_tenths_of_what_is_free_before_the_first_file(monkeypatch, tmp_path):
    free = [1000]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(0, 0, free[0]))
    files = TemporaryFiles(str(tmp_path))
    assert files.limit == 900
    free[0] = 10_000
    with Spool(np.uint8, files=files) as spool:
        spool.write(np.zeros(8000, np.uint8))
        free[0] = 2000
        assert (files.limit, files.free_bytes) == (9000, 1000)
        with pytest.raises(nd.OptionError, match=f"need at least 8.8 KiB, and 8.8 KiB are free for them in {tmp_path}"):
            spool.write(np.zeros(1001, np.uint8))
        spool.write(np.zeros(1000, np.uint8))
    assert (files.peak, files.free_bytes) == (9000, 1800)


def test_a_file_is_refused_before_it_is_written(tmp_path):
    files = TemporaryFiles(str(tmp_path), 1000)
    with pytest.raises(nd.OptionError, match=r"need at least 2\.0 KiB, and `temp_limit=1000` allows 1,000 B"):
        mapped_array(2000, np.uint8, files=files)
    with temporary_folder(files) as folder, pytest.raises(nd.OptionError, match="Give a larger `temp_limit`"):
        folder.write("copy", [b"1" * 600, b"2" * 600])
    kept = mapped_array(1000, np.uint8, files=files)
    assert (len(kept), files.free_bytes, files.peak, list(tmp_path.iterdir())) == (1000, 0, 1000, [])
    del kept
    assert files.free_bytes == 1000


def test_processes_count_their_own_files():
    resources = Resources(temp_limit="1K")
    kept = mapped_array(1000, np.uint8, files=resources.files)
    there = pickle.loads(pickle.dumps(resources))
    assert (there.files.limit, there.files.free_bytes) == (1024, 1024)
    del kept


def test_a_run_counts_its_files_also_where_the_recipe_brings_the_method(tmp_path):
    texts = [f"a text that has the number {i}" for i in range(40_000)]
    summary = nd.deduplicate(texts, recipe="textbook", memory="16M", temp_dir=str(tmp_path)).summary
    assert summary.method == "simhash"
    assert summary.peak_temporary_bytes > 0
    assert summary.memory["shares"]["rows"]["used"] > 0
    with pytest.raises(nd.OptionError, match="Give a larger `temp_limit`, or"):
        nd.deduplicate(texts, recipe="textbook", memory="16M", temp_limit=1000)
