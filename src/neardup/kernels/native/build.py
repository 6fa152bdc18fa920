"""Compile all versions of all kernels ahead of time: `make kernels` for this processor, the wheel for every level.

    python -m neardup.kernels.native.build [--levels v2,v3,v4] [--jobs N] [--folder FOLDER] [--objects FOLDER] [--demo]
    python -m neardup.kernels.native.build --levels a64 --folder FOLDER    for aarch64, on x86-64 as well

Numba makes LLVM code of a kernel just as it does at first use; its optimized module becomes an object file for the level,
instead of running in place. For each version a small function is added that takes the arguments as 64-bit words, as `calls.c`
lays them out, and calls the kernel. A C compiler links the objects of a level with a table of these functions.

With `--objects`, objects are kept, and a later build compiles only what is missing: `make demo` first builds a library of the few
kernels that it calls, shows its results, and then builds the whole.
"""

import argparse
import json
import os
import platform
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from neardup.kernels.native.library import (
    BUILT,
    FOLDER,
    LEVELS,
    PROCESSOR,
    digest_of,
    extension,
    file_of,
    source_digest,
)
from neardup.kernels.native.signatures import Signatures, TupleType

_V2 = "+mmx,+fxsr,+sse,+sse2,+cx8,+cmov,+x87,+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2"
_V3 = f"{_V2},+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
_V4 = f"{_V3},+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+avx512vbmi,+avx512vbmi2,+avx512vpopcntdq,+avx512bitalg"


class Target(NamedTuple):
    """What a level is compiled for, by LLVM's names."""

    triple: str
    cpu: str
    features: str


TARGETS = {
    "v2": Target("x86_64-unknown-linux-gnu", "x86-64-v2", _V2),
    "v3": Target("x86_64-unknown-linux-gnu", "x86-64-v3", _V3),
    "v4": Target("x86_64-unknown-linux-gnu", "x86-64-v4", _V4),
    "a64": Target("aarch64-unknown-linux-gnu", "generic", ""),
}
"""v4 is more than the ABI's: byte compression and popcounts, of processors from 2019 on. Every aarch64 has NEON."""

COMPILERS = {"x86_64": ("CC_X86_64", "x86_64-linux-gnu-gcc"), "aarch64": ("CC_A64", "aarch64-linux-gnu-gcc")}
"""For other machines than this one, the variable that names the C compiler, and Debian's name of it."""


class BuildError(Exception):
    """Kernels cannot be compiled ahead of time here; the message says why."""


class Compiled(NamedTuple):
    """One version of a kernel in an object file."""

    name: str
    types: str
    symbol: str
    objects: tuple[str, str]


def compile_versions(
    level: str, numbered: Sequence[tuple[int, str, TupleType]], signatures: Signatures, folder: Path
) -> list[Compiled]:
    """Write the object files of these versions; runs in a process with the level's `environment`."""
    from neardup.kernels.native.emit import Emitter

    emitter, compiled = Emitter(*TARGETS[level], folder), []
    for number, name, types in numbered:
        compiled.append(Compiled(name, *emitter.emit(number, name, types, signatures)))
        _record(folder, number).write_text(json.dumps(compiled[-1]))
    return compiled


def _record(folder: Path, number: int) -> Path:
    """The file that is written once the object files of a version are complete."""
    return folder / f"{number}.json"


def _compiled_before(folder: Path, number: int) -> Compiled | None:
    try:
        name, types, symbol, objects = json.loads(_record(folder, number).read_bytes())
    except FileNotFoundError:
        return None
    return Compiled(name, types, symbol, tuple(objects))


@contextmanager
def _objects_of(level: str, kept: Path | None) -> Iterator[Path]:
    """The folder for object files: below `kept` one for these sources, where those of others are removed; else a temporary one."""
    if kept is None:
        with tempfile.TemporaryDirectory() as temporary:
            yield Path(temporary)
        return
    now = f"{source_digest()}-numba-{version('numba')}"
    kept.mkdir(parents=True, exist_ok=True)
    for other in kept.iterdir():
        if not other.name.startswith(now):
            shutil.rmtree(other)
    folder = kept / f"{now}-{level}"
    folder.mkdir(exist_ok=True)
    yield folder


def environment(level: str) -> dict[str, str]:
    """What Numba reads when it is loaded: kernels choose their code by the features that are named here."""
    _, cpu, features = TARGETS[level]
    return {"NEARDUP_KERNELS": "jit", "NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": features}


def _in_environment(variables: dict[str, str]) -> None:
    """Begin a process of the pool, before it loads Numba."""
    os.environ.update(variables)


def _compile(machine: str, *arguments: str) -> None:
    """Run the C compiler for a machine."""
    variable, usual = ("CC", "cc") if machine == platform.machine() else COMPILERS[machine]
    compiler = shlex.split(os.environ.get(variable, usual))
    try:
        subprocess.run([*compiler, *arguments], check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise BuildError(
            f"there is no C compiler: {compiler[0]!r} was not found; install one or set {variable}"
        ) from None
    except subprocess.CalledProcessError as problem:
        raise BuildError(f"{shlex.join(problem.cmd)} failed:\n{problem.stderr}") from None


MOST_RESULTS = 16
"""So many numbers a kernel may return, as in calls.c."""


def _table(compiled: Sequence[Compiled]) -> str:
    """C source of the table that `calls.c` reads."""
    many = [each.name for each in compiled if len(each.types.partition(">")[2].strip("()")) > MOST_RESULTS]
    if many:
        raise BuildError(f"{', '.join(many)}: a kernel may return {MOST_RESULTS} numbers; write more to an array")
    lines = ["#include <stdint.h>", "typedef int call(const int64_t *, int64_t *);"]
    lines += [f"extern call {each.symbol};" for each in compiled]
    lines += ["const struct { const char *name, *types; call *function; } neardup_kernels[] = {"]
    lines += [f'    {{"{each.name}", "{each.types}", {each.symbol}}},' for each in compiled]
    return "\n".join([*lines, "    {0, 0, 0},", "};", ""])


def _preferred(compiled: Compiled) -> tuple[str, int, str]:
    """Of one kernel's versions, those for arrays that lie together come first: others take these as well."""
    return compiled.name, compiled.types.count("A"), compiled.types


def build_library(level: str, target: Path, jobs: int, *, kept: Path | None = None, demo: bool = False) -> None:
    """Compile all kernels, or those of the demo, for one level of processors into the shared library `target`."""
    signatures = Signatures.read()
    versions = enumerate(signatures.versions)
    numbered = [(number, name, types) for number, (name, types) in versions if not demo or name in signatures.demo]
    with _objects_of(level, kept) as folder:
        before = {number: _compiled_before(folder, number) for number, _, _ in numbered}
        missing = [each for each in numbered if before[each[0]] is None]
        # The kernels of a module call the same others, which are then compiled once.
        groups = [list(group) for _, group in groupby(missing, lambda each: each[1].rpartition(".")[0])]
        groups.sort(key=len, reverse=True)
        with ProcessPoolExecutor(jobs, get_context("spawn"), _in_environment, (environment(level),)) as pool:
            tasks = [pool.submit(compile_versions, level, group, signatures, folder) for group in groups]
            compiled = [each for each in before.values() if each] + [each for task in tasks for each in task.result()]
        table = folder / "table.c"
        table.write_text(_table(sorted(compiled, key=_preferred)))
        objects = sorted({str(folder / name) for each in compiled for name in each.objects})
        _link(LEVELS[level], target, str(FOLDER / "calls.c"), str(table), *objects, "-lm")


def _link(machine: str, target: Path, *sources: str) -> None:
    """Compile and link an extension module for Python's stable interface, which exports nothing but its initializer."""
    include = sysconfig.get_path("include")
    if not (Path(include) / "Python.h").exists():
        raise BuildError(f"Python's header files are missing ({include}/Python.h); on Debian they are in python3-dev")
    name = target.name.partition(".")[0]
    target.unlink(missing_ok=True)  # a process may have it open
    with tempfile.NamedTemporaryFile("w", suffix=".map") as exported:
        exported.write(f"{{ global: PyInit_{name}; local: *; }};")
        exported.flush()
        flags = ("-std=c11", "-O2", "-shared", "-fPIC", "-s", f"-Wl,--version-script={exported.name}", "-I", include)
        _compile(machine, *flags, f"-DMODULE={name}", "-o", str(target), *sources)


def build(
    levels: Sequence[str],
    folder: Path = FOLDER,
    *,
    jobs: int | None = None,
    kept: Path | None = None,
    demo: bool = False,
) -> list[Path]:
    """Compile everything for these levels into `folder`; returns the files.

    Args:
        levels: of one machine; none: that of this processor.
        folder: where the libraries go.
        jobs: the number of processes; by default, as many as processors.
        kept: the folder that keeps object files for the next build.
        demo: only the kernels that the demo calls.
    """
    machine, *others = {LEVELS[level] for level in levels} or {platform.machine()}
    if others:
        raise BuildError(f"the levels {', '.join(levels)} are not of one machine; give those of each by themselves")
    processor, built = folder / PROCESSOR, folder / BUILT
    built.unlink(missing_ok=True)
    _link(machine, processor, str(FOLDER / "processor.c"))
    files = [processor]
    for level in levels or [str(extension(processor).level())]:
        files.append(folder / file_of(level))
        build_library(level, files[-1], jobs or len(os.sched_getaffinity(0)), kept=kept, demo=demo)
    digests = {path.name: digest_of(path) for path in files}
    about = {"sources": source_digest(), "files": digests} | ({"kernels": "demo"} if demo else {})
    built.write_text(json.dumps(about, indent=1) + "\n")
    return [*files, built]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", help=f"of {', '.join(LEVELS)}; default: this processor's")
    parser.add_argument("--jobs", type=int, help="processes; default: as many as processors")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the libraries go")
    parser.add_argument("--objects", type=Path, help="where object files are kept for the next build")
    parser.add_argument("--demo", action="store_true", help="only the kernels that `make demo` calls")
    parser.add_argument("--if-changed", action="store_true", help="do nothing if they are up to date")
    given = parser.parse_args()
    try:
        if given.if_changed and _up_to_date(given.folder, given.levels, demo=given.demo):
            return
        levels = given.levels.split(",") if given.levels else ()
        for path in build(levels, given.folder, jobs=given.jobs, kept=given.objects, demo=given.demo):
            print(f"{path.name:>20} {path.stat().st_size:>10,} bytes")
    except BuildError as problem:
        raise SystemExit(f"kernels cannot be compiled ahead of time: {problem}") from None


def _up_to_date(folder: Path, levels: str | None, *, demo: bool) -> bool:
    try:
        built = json.loads((folder / BUILT).read_bytes())
        wanted = levels.split(",") if levels else [str(extension(folder / PROCESSOR).level())]
    except (ImportError, OSError, ValueError):  # an ImportError: it is for another machine
        return False
    if built.get("sources") != source_digest() or (built.get("kernels") == "demo" and not demo):
        return False
    return set(map(file_of, wanted)) <= set(built.get("files", ()))


if __name__ == "__main__":
    main()
