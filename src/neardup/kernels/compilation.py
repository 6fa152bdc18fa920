"""Where the machine code of kernels comes from: a library compiled ahead of time, Numba at first use, or nowhere.

The environment variable `NEARDUP_KERNELS` chooses:

    auto         the library for this processor, or Numba where none fits; the default
    v2, v3, v4   the library for that level of x86-64
    a64          the library for aarch64
    jit          Numba, at first use
    interpreted  the Python functions themselves, slowly, with the Python twins of the intrinsics; so does NUMBA_DISABLE_JIT=1
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from neardup.errors import MissingExtra, OptionError
from neardup.kernels.native import library

CHOICES = ("auto", *library.LEVELS, "jit", "interpreted")

_PREFIX = "neardup.kernels."

_FEATURES = {"v4": ("avx512vbmi2", "avx512vpopcntdq")}
"""The features of levels that the package asks for, by LLVM's names; see `native.build` for all."""


def _wanted() -> str:
    wanted = os.environ.get("NEARDUP_KERNELS", "auto")
    if wanted not in CHOICES:
        raise OptionError(f"NEARDUP_KERNELS={wanted!r}: give one of {', '.join(CHOICES)}")
    return "interpreted" if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" else wanted


def _unknown_version(name: str, arguments: tuple[Any, ...]) -> Exception:
    from neardup.kernels.native.describe import unknown_version

    return unknown_version(name, arguments)


LEVEL, JIT = "", False
_COMPILED: dict[str, Callable[..., Any]] = {}
_reason = ""
match _wanted():
    case "interpreted":
        np.seterr(over="ignore")  # arithmetic modulo 2^64 is meant, as in compiled code
    case "jit":
        JIT = True
    case wanted:
        try:
            LEVEL, _COMPILED = library.load(wanted, library.source_digest(), _unknown_version)
        except library.Unusable as problem:
            if wanted != "auto":
                raise OptionError(f"NEARDUP_KERNELS={wanted}: these kernels cannot be used: {problem}") from None
            JIT, _reason = True, str(problem)

if JIT:
    try:
        from neardup.kernels import jit
        from neardup.kernels.native import describe
    except ImportError as problem:
        if problem.name not in ("numba", "llvmlite"):
            raise
        because = "NEARDUP_KERNELS=jit needs Numba, which compiles kernels at first use: "
        if _reason:
            because = f"compiled kernels cannot be used: {_reason}. Reinstall neardup, or let Numba compile them at first use: "
        raise MissingExtra(f"{because}pip install 'neardup[jit]'") from None
    jit.reason = _reason


def has_feature(name: str) -> bool:
    """Whether kernels are compiled for a processor with that feature, by LLVM's name."""
    return jit.has_feature(name) if JIT else name in _FEATURES.get(LEVEL, ())


def quiet() -> None:
    """Do not announce that kernels are being compiled."""
    if JIT:
        jit.quiet()


def described() -> str:
    """Where the machine code comes from, in a few words."""
    if JIT:
        return f"compiled at first use by Numba {jit.numba.__version__}"
    return f"compiled ahead of time for {LEVEL}" if LEVEL else "interpreted"


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """The machine code of a kernel, to be called from Python or by other kernels without the interpreter lock.

    Most kernels are only called by others. A library has them inside these, and a call from Python is refused.
    """
    name = f"{function.__module__.removeprefix(_PREFIX)}.{function.__name__}"
    if JIT:
        compiled = jit.compiled_at_first_use(function)
        return describe.recorded(name, compiled) if describe.RECORD in os.environ else compiled
    if not LEVEL:
        return function

    def unknown(*arguments: Any) -> None:
        raise _unknown_version(name, arguments)

    return _COMPILED.get(name, unknown)
