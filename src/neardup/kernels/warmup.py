"""Compile all kernels before they are used, where Numba compiles them."""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from multiprocessing import get_context

from neardup.kernels import compilation
from neardup.kernels.native.signatures import Signatures


def _compile(module: str) -> int:
    """Compile the kernels of one module for all that they are called with; returns how many versions."""
    from neardup.kernels.native.numba_inside import argument_types, kernel_named

    signatures, done = Signatures.read(), 0
    compilation.quiet()
    for name, call in signatures.calls:
        if name.rpartition(".")[0] == module:
            kernel_named(name).compile(argument_types(call, signatures))
            done += 1
    return done


def warm_up(jobs: int | None = None) -> str:
    """Compile all kernels in `jobs` processes (default: as many as processors), and say what was done, in a sentence."""
    if not compilation.JIT:
        return f"Kernels are {compilation.described()}: nothing is left to compile."
    from neardup.kernels.jit import cache_folder

    started, folder = time.monotonic(), cache_folder()
    modules = [name for name, _ in groupby(name.rpartition(".")[0] for name, _ in Signatures.read().calls)]
    with ProcessPoolExecutor(jobs or os.cpu_count(), mp_context=get_context("spawn")) as pool:
        versions = sum(pool.map(_compile, modules))
    return f"{versions} versions of kernels are compiled, in {time.monotonic() - started:.0f} s, and kept in {folder}."
