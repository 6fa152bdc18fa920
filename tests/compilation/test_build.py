"""Libraries that are built in steps: the kernels of `make demo` first, and from kept object files the others."""

import json
import subprocess
import sys

import numpy as np
import pytest

from neardup.errors import NeardupError
from neardup.kernels import compilation
from neardup.kernels.native import build, describe, library
from neardup.kernels.native.describe import unknown_version
from neardup.kernels.native.signatures import Signatures
from places import ROOT

NATIVE = pytest.mark.skipif(not compilation.LEVEL, reason="no compiled kernels are loaded: make kernels")

CALLED = """
import json, sys
from neardup.kernels import compilation

called = set()

def noted(name, kernel):
    def call(*arguments):
        called.add(name)
        return kernel(*arguments)
    return call

compilation._COMPILED = {name: noted(name, kernel) for name, kernel in compilation._COMPILED.items()}
from neardup.cli.main import main

main(sys.argv[1:])
print(json.dumps(sorted(called)))
"""


@NATIVE
def test_the_demo_calls_no_kernel_but_those_that_are_compiled_for_it_first(tmp_path):
    command = ["dedup", ROOT / "examples" / "notes.jsonl", "-o", tmp_path / "out.jsonl", "--quiet"]
    done = subprocess.run([sys.executable, "-c", CALLED, *command], check=True, capture_output=True, text=True)
    called = set(json.loads(done.stdout.splitlines()[-1]))
    assert "matching.first_pass.fingerprints_and_elements" in called
    assert called <= set(Signatures.read().demo) <= set(Signatures.read().kernels)


def test_a_kernel_that_is_not_compiled_yet_names_the_command_that_compiles_it(tmp_path, monkeypatch):
    (tmp_path / library.BUILT).write_text('{"kernels": "demo"}')
    monkeypatch.setattr(describe, "FOLDER", tmp_path)
    found = unknown_version("xxh3.xxh3_64", (np.zeros(3, np.uint8), 0, 3))
    assert isinstance(found, NeardupError)
    assert str(found) == "Only the kernels that `make demo` needs are compiled yet: run `make kernels`."


@NATIVE
def test_a_build_takes_the_object_files_that_are_kept_and_compiles_the_rest(tmp_path, monkeypatch):
    whole = Signatures.read()
    names = ["text.utf8.count_byte", "text.utf8.find_byte"]
    some = Signatures({}, names[:1], {name: whole.kernels[name] for name in names})
    monkeypatch.setattr(build.Signatures, "read", lambda: some)
    kept, first, whole_place = (tmp_path / name for name in ("kept", "first", "whole"))
    (kept / "of other sources").mkdir(parents=True)

    def built(place, **options):
        place.mkdir()
        build.build([compilation.LEVEL], place, jobs=1, kept=kept, **options)
        _, kernels = library.load(compilation.LEVEL, library.source_digest(), unknown_version, place)
        return set(kernels), {path: path.stat().st_mtime_ns for path in kept.rglob("*.o")}

    assert not build._up_to_date(first, compilation.LEVEL, demo=True)
    kernels, objects = built(first, demo=True)
    assert kernels == set(names[:1])
    assert [folder.name.endswith(compilation.LEVEL) for folder in kept.iterdir()] == [True]
    assert build._up_to_date(first, compilation.LEVEL, demo=True)
    assert not build._up_to_date(first, compilation.LEVEL, demo=False)
    kernels, all_objects = built(whole_place)
    assert kernels == set(names)
    assert len(objects) < len(all_objects)
    assert objects.items() <= all_objects.items()
    assert build._up_to_date(whole_place, compilation.LEVEL, demo=False)
