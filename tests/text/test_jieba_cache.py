"""The tables of jieba's dictionary in the user's cache folder: kept by digest, and not used if damaged or of somebody else."""

import os
import shutil
import time

import numpy as np
import pytest

from neardup.kernels.text.jieba_routes import WordTables
from neardup.text.segmenters import jieba_cache
from neardup.text.segmenters.jieba_cache import KEPT_DAYS, kept_tables, tables_digest
from neardup.text.segmenters.jieba_counts import WordCounts
from neardup.text.segmenters.jieba_tables import build_tables

WORDS = (("国家", 3), ("法律", 5))
BUILT = build_tables(WordCounts(dict(WORDS), 8))


@pytest.fixture
def built(monkeypatch, tmp_path):
    """What was built; a small dictionary stands for jieba's."""
    found = []

    def build(dictionary):
        found.append(dictionary)
        return BUILT

    monkeypatch.setenv("NEARDUP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(jieba_cache, "counted", lambda dictionary: dictionary)
    monkeypatch.setattr(jieba_cache, "build_tables", build)
    return found


def folder(tmp_path):
    return tmp_path / "cache" / "dictionaries"


def same(one, other):
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(one, other, strict=True))


def test_tables_are_built_once_and_kept_by_the_digest_of_what_decides_them(built, tmp_path, capsys):
    for _ in range(2):
        assert same(kept_tables(WORDS), BUILT)
    assert same(kept_tables(()), BUILT)
    assert built == [WORDS, ()]
    assert {each.name for each in folder(tmp_path).iterdir()} == {
        f"jieba-{tables_digest(each)}.tables" for each in (WORDS, ())
    }
    assert capsys.readouterr().err == ""


def test_the_digest_is_of_the_words_their_order_the_package_and_the_format(monkeypatch):
    digests = {tables_digest(each) for each in ((), WORDS, WORDS[::-1], (("国家", 4), ("法律", 5)), (("国家", None),))}
    assert len(digests) == 5
    monkeypatch.setattr(jieba_cache, "words_digest", lambda: "0" * 16)
    digests.add(tables_digest(()))
    monkeypatch.setattr(jieba_cache, "FORMAT", 0)
    digests.add(tables_digest(()))
    assert len(digests) == 7


@pytest.mark.parametrize("place", [0, 30, 130, 0.3, 0.5, 0.9, -1, -40])
def test_damaged_tables_are_built_again_and_said_so(built, tmp_path, capsys, place):
    kept_tables(WORDS)
    [path] = folder(tmp_path).iterdir()
    content = bytearray(path.read_bytes())
    content[int(place * len(content)) if isinstance(place, float) else place] ^= 1
    path.write_bytes(content)
    assert same(kept_tables(WORDS), BUILT)
    assert f"neardup: {path} is damaged: it is built again" in capsys.readouterr().err
    assert same(kept_tables(WORDS), BUILT)
    assert (len(built), capsys.readouterr().err) == (2, "")


def test_cut_off_and_empty_files_are_built_again(built, tmp_path, capsys):
    kept_tables(WORDS)
    [path] = folder(tmp_path).iterdir()
    whole = path.read_bytes()
    for size in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert same(kept_tables(WORDS), BUILT)
        assert f"neardup: {path} is damaged" in capsys.readouterr().err


def test_tables_of_another_dictionary_and_other_files_are_not_used(built, tmp_path, capsys):
    kept_tables(WORDS)
    kept_tables(())
    [mine, other] = [folder(tmp_path) / f"jieba-{tables_digest(each)}.tables" for each in (WORDS, ())]
    shutil.copy(other, mine)
    kept_tables(WORDS)
    assert f"is of another dictionary, {tables_digest(())}: it is built again" in capsys.readouterr().err
    jieba_cache._write(mine, tables_digest(WORDS), {"numbers": np.arange(3)})
    kept_tables(WORDS)
    assert "is no dictionary of this version: it is built again" in capsys.readouterr().err
    wrong = BUILT._asdict() | {"weights": BUILT.weights.astype(np.float32)}
    jieba_cache._write(mine, tables_digest(WORDS), wrong)
    kept_tables(WORDS)
    assert "is no dictionary of this version: it is built again" in capsys.readouterr().err
    np.savez(mine.with_suffix(".npz"), **BUILT._asdict())
    mine.with_suffix(".npz").rename(mine)
    kept_tables(WORDS)
    assert "is damaged" in capsys.readouterr().err
    assert len(built) == 6


def test_what_others_may_have_written_is_not_read(built, tmp_path, capsys):
    kept_tables(WORDS)
    folder(tmp_path).chmod(0o777)
    assert same(kept_tables(WORDS), BUILT)
    assert "can write there (chmod go-w): dictionaries are not kept there" in capsys.readouterr().err
    assert len(built) == 2


def test_a_folder_that_cannot_be_written_costs_only_the_keeping(built, tmp_path):
    (tmp_path / "cache").write_text("a file")
    for _ in range(2):
        assert same(kept_tables(WORDS), BUILT)
    assert len(built) == 2


def test_tables_that_nobody_used_for_long_are_removed(built, tmp_path):
    kept_tables(())
    [old] = folder(tmp_path).iterdir()
    long_ago = time.time() - (KEPT_DAYS + 1) * 86_400
    os.utime(old, (long_ago, long_ago))
    kept_tables(())
    assert old.stat().st_mtime > long_ago + 86_400
    os.utime(old, (long_ago, long_ago))
    kept_tables(WORDS)
    assert [each.name for each in folder(tmp_path).iterdir()] == [f"jieba-{tables_digest(WORDS)}.tables"]


def test_every_table_has_its_type():
    assert tuple(jieba_cache.TYPES) == WordTables._fields
    assert {name: (str(table.dtype), table.ndim) for name, table in BUILT._asdict().items()} == jieba_cache.TYPES
