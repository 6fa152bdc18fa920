"""Kernels that are compiled here for aarch64: an emulated processor gives the bits that this one gives."""

import os
import shutil
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

from neardup.kernels.fingerprints.textrank import rank_features
from neardup.kernels.fingerprints.vectors import planes_rows
from neardup.kernels.native import build, library
from neardup.kernels.native.signatures import Signatures
from neardup.kernels.text.utf8 import valid_utf8
from neardup.kernels.xxh3 import xxh3_64

COMPILER = shutil.which("aarch64-linux-gnu-gcc")
EMULATOR = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")


class Call(NamedTuple):
    """A kernel and what it is called with: `name` and `types` as in signatures.json."""

    kernel: Any
    name: str
    types: str
    arguments: tuple[Any, ...]


def calls():
    random = np.random.default_rng(1)
    data = random.integers(0, 256, 3000, np.uint8)
    text = np.frombuffer(("Ünïcode, 全角ＡＢＣ and ASCII. " * 9).encode() + b"\xed\xa0\x80", np.uint8)
    rows = np.arange(0, 300, 20), np.tile(np.arange(20, dtype=np.int32), 14), random.normal(size=280)
    planes, sums, bits = random.normal(size=(64, 20)).astype(np.float32), np.zeros(64), np.zeros((14, 1), np.uint64)
    degrees = random.integers(1, 6, 30)
    ends = degrees.cumsum()
    neighbors = random.integers(0, 30, ends[-1])
    return [
        Call(xxh3_64, "xxh3.xxh3_64", "(const uint8[:], int64, int64)", (data, 3, 2999)),
        Call(
            valid_utf8,
            "text.utf8.valid_utf8",
            "(const uint8[:], const int64[:], uint8[:])",
            (text, np.array([0, text.size - 3]), np.zeros(256, np.uint8)),
        ),
        Call(
            planes_rows,
            "fingerprints.vectors.planes_rows",
            "(const int64[:], const int32[:], const float64[:], const float32[:,:], float64[:], uint64[:,:])",
            (*rows, planes, sums, bits),
        ),
        Call(
            rank_features,
            "fingerprints.textrank.rank_features",
            "(const int64[:], const int64[:], const int64[:], float64, int64, float64[:], float64[:])",
            (neighbors, ends, degrees, 0.85, 20, np.zeros(30), np.zeros(30)),
        ),
    ]


def c_source(call, number):
    """A function `call_NUMBER` that calls the kernel as calls.c does, and shows the result's word and all arrays."""
    arrays, words, shown = [], [], ["show(&result, 8);"]
    for place, argument in enumerate(call.arguments):
        if isinstance(argument, np.ndarray):
            values = ",".join(map(str, argument.tobytes()))
            arrays.append(f"static _Alignas(64) unsigned char a{number}_{place}[] = {{{values}}};")
            words += [f"(int64_t)a{number}_{place}", *argument.shape, *argument.strides]
            shown.append(f"show(a{number}_{place}, {argument.nbytes});")
        else:
            words.append(np.array(argument).view(np.int64)[()])
    return f"""
{" ".join(arrays)}
int neardup_kernel_{number}(const int64_t *, int64_t *);
static int call_{number}(void) {{
    int64_t words[] = {{{", ".join(map(str, words))}}}, result = 0;
    int status = neardup_kernel_{number}(words, &result);
    {" ".join(shown)}
    return status;
}}
"""


C_PROGRAM = """
#include <stdint.h>
#include <stdio.h>

static void show(const void *bytes, int size) {{
    for (int i = 0; i < size; i++) {{
        printf("%02x", ((const unsigned char *)bytes)[i]);
    }}
    putchar('\\n');
}}
{functions}
int main(void) {{
    return {calls};
}}
"""

COMPILE = """
import sys
from pathlib import Path
from neardup.kernels.native.build import compile_versions
from neardup.kernels.native.signatures import Signatures
listed = Signatures.read()
compile_versions("a64", [(int(n), *listed.versions[int(n)]) for n in sys.argv[2:]], listed, Path(sys.argv[1]))
"""


def here(call):
    """What the C program shows of a call, from this machine's kernel."""
    result = call.kernel(*call.arguments)
    arrays = [each for each in call.arguments if isinstance(each, np.ndarray)]
    return [np.array(result or 0).astype(np.uint64).tobytes().hex(), *(array.tobytes().hex() for array in arrays)]


@pytest.mark.skipif(
    not COMPILER or not EMULATOR,
    reason="Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user-static are not all installed",
)
def test_an_emulated_aarch64_gives_the_same_bits(tmp_path):
    versions = [(name, str(types)) for name, types in Signatures.read().versions]
    numbered = {versions.index((call.name, call.types)): call for call in calls()}
    command = [sys.executable, "-c", COMPILE, tmp_path, *map(str, numbered)]
    subprocess.run(command, check=True, env=os.environ | build.environment("a64"))
    program, source = tmp_path / "program", tmp_path / "program.c"
    functions = "".join(c_source(call, number) for number, call in numbered.items())
    source.write_text(C_PROGRAM.format(functions=functions, calls=" || ".join(f"call_{n}()" for n in numbered)))
    subprocess.run([COMPILER, "-static", "-o", program, source, *tmp_path.glob("*.o")], check=True)
    shown = subprocess.run([EMULATOR, program], check=True, capture_output=True, text=True).stdout
    assert shown.split() == [line for call in calls() for line in here(call)]


def test_levels_of_two_machines_are_refused_together(tmp_path):
    with pytest.raises(build.BuildError, match="the levels v3, a64 are not of one machine; give those of each"):
        build.build(["v3", "a64"], tmp_path)


@pytest.mark.parametrize("level", library.LEVELS)
def test_a_compiler_that_is_missing_is_named_with_its_variable(tmp_path, monkeypatch, level):
    machine = library.LEVELS[level]
    variable = "CC" if machine == build.platform.machine() else build.COMPILERS[machine][0]
    monkeypatch.setenv(variable, "no-such-compiler -O2")
    with pytest.raises(build.BuildError, match=f"'no-such-compiler' was not found; install one or set {variable}"):
        build.build([level], tmp_path)
