"""Kernels that Numba compiles at first use: where machine code is kept, and when it is made anew.

Each case is a process of its own, with a cache of its own.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from places import ROOT

PACKAGE = ROOT / "src"
HASH = (
    "import numpy as np; from neardup.kernels.xxh3 import xxh3_64;"
    "print(int(xxh3_64(np.arange(20, dtype=np.uint8), 0, 20)))"
)
EXPECTED = "2917394212576059053"  # by the xxhash package
COMPILING = "compiling kernels for this machine"


def start(program=HASH, *, path=PACKAGE, **environment):
    variables = {
        name: value for name, value in os.environ.items() if name not in ("NEARDUP_CACHE_DIR", "NUMBA_BOUNDSCHECK")
    }
    variables |= {"PYTHONPATH": str(path), "NEARDUP_KERNELS": "jit"} | {
        name: str(value) for name, value in environment.items()
    }
    return subprocess.Popen(
        [sys.executable, "-c", program], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(program=HASH, **environment):
    process = start(program, **environment)
    out, err = process.communicate(timeout=280)
    assert process.returncode == 0, err
    return out.strip(), err.strip()


def test_the_second_process_loads_what_the_first_compiled(tmp_path):
    out, err = run(NEARDUP_CACHE_DIR=tmp_path)
    assert out == EXPECTED
    assert err.count("\n") == 0
    assert COMPILING in err
    assert run(NEARDUP_CACHE_DIR=tmp_path) == (EXPECTED, "")


@pytest.mark.long
def test_two_processes_that_compile_at_once_do_not_disturb_each_other(tmp_path):
    processes = [start(NEARDUP_CACHE_DIR=tmp_path) for _ in range(3)]
    for process in processes:
        out, err = process.communicate(timeout=280)
        assert (process.returncode, out.strip()) == (0, EXPECTED), err
    assert run(NEARDUP_CACHE_DIR=tmp_path) == (EXPECTED, "")


def test_a_changed_kernel_source_is_compiled_again_callers_included(tmp_path):
    copy = tmp_path / "src"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "cache"
    assert run(path=copy, NEARDUP_CACHE_DIR=cache)[0] == EXPECTED
    source = copy / "neardup/kernels/llvm/intrinsics.py"
    text = source.read_text()
    changed = text.replace("return builder.trunc(builder.lshr(product, ir.Constant(I128, 64)), I64)", "return args[0]")
    assert changed != text
    source.write_text(changed)
    out, err = run(path=copy, NEARDUP_CACHE_DIR=cache)
    assert out != EXPECTED  # the caller, in another file that did not change, is new as well
    assert COMPILING in err
    source.write_text(text)
    assert run(path=copy, NEARDUP_CACHE_DIR=cache) == (EXPECTED, "")


def test_machine_code_that_nothing_used_for_a_month_is_removed_when_new_code_is_made(tmp_path):
    for name, days in (("0" * 16, 31), ("1" * 16, 29), ("something-else", 400)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kept.nbc").write_bytes(b"code")
        then = time.time() - 86_400 * days
        os.utime(tmp_path / name, (then, then))
    run(NEARDUP_CACHE_DIR=tmp_path)
    assert not (tmp_path / ("0" * 16)).exists()
    assert (tmp_path / ("1" * 16) / "kept.nbc").exists()
    assert (tmp_path / "something-else" / "kept.nbc").exists()


def test_read_only_homes_fall_back_to_a_private_temporary_folder(tmp_path):
    blocked = tmp_path / "home"
    blocked.write_text("a file: no folder can be made below it, not even by root")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    out, err = run(HOME=blocked, XDG_CACHE_HOME=blocked / "cache", TMPDIR=temporary)
    assert out == EXPECTED
    lines = err.splitlines()
    assert "compiled kernels are kept in" in lines[0]
    assert "set NEARDUP_CACHE_DIR to choose" in lines[0]
    assert len(lines) == 2
    [folder] = temporary.glob("neardup-*")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert COMPILING not in run(HOME=blocked, XDG_CACHE_HOME=blocked / "cache", TMPDIR=temporary)[1]


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can make another user's folder")
def test_a_temporary_folder_of_another_user_is_not_trusted(tmp_path):
    blocked = tmp_path / "home"
    blocked.write_text("")
    planted = tmp_path / f"neardup-{os.getuid()}"
    planted.mkdir()
    os.chown(planted, 12345, 12345)
    out, err = run(HOME=blocked, XDG_CACHE_HOME=blocked, TMPDIR=tmp_path)
    assert out == EXPECTED
    assert f"{planted}{os.sep}" not in err
    assert list(planted.iterdir()) == []


@pytest.mark.parametrize("variable", ["NEARDUP_CACHE_DIR", "XDG_CACHE_HOME"])
@pytest.mark.parametrize("which", ["the folder", "its parent", "a link"])
@pytest.mark.parametrize("how", ["others can write it", "another owns it"])
def test_a_cache_that_others_can_have_written_is_neither_run_nor_written(tmp_path, variable, which, how):
    if how == "another owns it" and os.getuid() != 0:
        pytest.skip("only root can make another user's folder")
    program = "from neardup.kernels.jit import DIGEST, cache_folder; print(DIGEST, cache_folder())"
    private, chosen = tmp_path / "tmp", tmp_path / "cache"
    private.mkdir()
    digest, first = run(program, **{variable: chosen})[0].split()
    assert first == str(chosen / ("neardup" if variable == "XDG_CACHE_HOME" else "") / digest)
    planted = Path(first) if which != "its parent" else Path(first).parent
    if which == "a link":
        planted.rename(tmp_path / "theirs")
        planted.symlink_to(tmp_path / "theirs")
    if how == "another owns it":
        os.lchown(planted, 12345, 12345)
    else:
        planted.chmod(0o777)
    out, err = run(program, TMPDIR=private, **{variable: chosen})
    assert out.split()[1].startswith(str(private))
    assert f"others own {first} or its folder, or can write there" in err
    assert list(Path(first).iterdir()) == []


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="modes of folders are POSIX's")
def test_the_cache_is_private_under_any_umask_and_in_a_sticky_folder(tmp_path):
    program = "import os; os.umask(2); from neardup.kernels.jit import DIGEST, cache_folder; print(cache_folder())"
    sticky = tmp_path / "sticky"
    sticky.mkdir()
    sticky.chmod(0o1777)
    for _ in range(2):
        assert run(program, XDG_CACHE_HOME=tmp_path / "home" / ".cache")[1] == ""
        assert run(program, NEARDUP_CACHE_DIR=sticky)[1] == ""


def test_a_damaged_cache_is_compiled_again(tmp_path):
    run(NEARDUP_CACHE_DIR=tmp_path)
    damaged = [path for ending in ("*.nbc", "*.nbi") for path in tmp_path.rglob(ending)]
    assert damaged
    for number, path in enumerate(damaged):
        path.write_bytes(b"" if number % 2 else path.read_bytes()[:40])
    assert run(NEARDUP_CACHE_DIR=tmp_path)[0] == EXPECTED


CANARY = (
    "import numpy as np; from neardup.kernels.xxh3 import xxh3_64;"
    "xxh3_64(np.zeros(3, np.uint8), 0, 3);"
    "xxh3_64(np.zeros(1, np.uint8), 0, 3)"
)


def test_bounds_checks_see_an_index_beyond_the_end_and_have_a_cache_of_their_own(tmp_path):
    """The canary: were code without checks loaded from the cache, the bounds-checked test run would show nothing."""
    run(NEARDUP_CACHE_DIR=tmp_path)
    process = start(CANARY, NEARDUP_CACHE_DIR=tmp_path, NUMBA_BOUNDSCHECK=1)
    _, err = process.communicate(timeout=280)
    assert process.returncode != 0
    assert "IndexError" in err
    assert len(list(tmp_path.iterdir())) == 2


FLOW = """
import neardup as nd, numba.core.dispatcher, sys
texts = ["the ferry leaves at ten past nine from the old pier", "the ferry leaves at ten past nine from the new pier", "", "e\\u0301 x"]
for least in (0.0, 0.8):
    for cluster in ("star", "components"):
        for bits in (64, 128):
            for weights in ("log", "sqrt"):
                nd.deduplicate(texts, cluster=cluster, min_similarity=least, max_distance=20, recipe=nd.Recipe(bits=bits, weights=weights))
nd.match(texts); nd.similarity(*texts[:2]); nd.compare(*texts[:2]); nd.join(nd.fingerprint(texts), max_distance=3)
nd.join(nd.fingerprint(texts, recipe=nd.Recipe(bits=64)), max_distance=3)
import gc
several = {}
for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("neardup.kernels"):
        for name, found in vars(module).items():
            if isinstance(found, numba.core.dispatcher.Dispatcher) and found.py_func.__module__ == module.__name__ and len(found.signatures) > 1:
                several[f"{module.__name__}.{name}"] = len(found.signatures)
print(several)
"""


def test_every_kernel_that_python_calls_is_compiled_for_one_kind_of_arrays(tmp_path):
    """Each signature more costs a second at the first run; helpers inside kernels may have a few."""
    out, _ = run(FLOW)
    several = eval(out)
    called_from_python = {
        "normalization.fold_documents", "simhash.fingerprint_documents", "first_pass.fingerprints_and_elements", "elements.elements",
        "similarities.similarities_of",
        "clusters.star", "clusters.components", "clusters.count_candidates", "clusters.list_candidates",
    }  # fmt: skip
    assert not {f"neardup.kernels.{name}" for name in called_from_python} & set(several)
