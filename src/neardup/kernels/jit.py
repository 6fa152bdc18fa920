"""How Numba compiles kernels at first use, and where the machine code is kept: the fallback where no compiled ones fit.

Numba's own cache keeps a caller's machine code when a function that it calls in another file changes, and reuses code
compiled with bounds checks for code without them. So the cache folder here is named by a digest of every kernel source,
of Numba's and LLVM's versions and of the mode: any change is a new folder, and nothing stale can be loaded.

The folder is `NEARDUP_CACHE_DIR` if set, else the user's cache folder, else (read-only homes) a private temporary one.
"""

import contextlib
import hashlib
import pickle
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.codegen import get_host_cpu_features

from neardup.kernels.native.library import source_digest
from neardup.kernels.user_cache import candidate_folders, is_private, private_temporary_folder, say, writable


def has_feature(name: str) -> bool:
    """Whether kernels are compiled for a processor with that feature, by LLVM's name: this one's, or NUMBA_CPU_FEATURES."""
    features = get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
    return f"+{name}" in features.split(",")


KEPT_DAYS = 30
"""Machine code that was not used for so long, by another version of the kernels or in another mode, is removed."""

_announced = False


def quiet() -> None:
    """Do not announce that kernels are being compiled."""
    global _announced
    _announced = True


reason = ""
"""Why kernels are compiled at first use, if nobody asked for that; said once, with the announcement."""


def _digest() -> str:
    """Digest of all that decides a kernel's machine code, but for the processor, which Numba keys by itself."""
    versions = f"numba {numba.__version__} llvmlite {llvmlite.__version__}"
    mode = f"boundscheck {config.BOUNDSCHECK} opt {config.OPT}"
    return hashlib.sha256(f"{source_digest()} {versions} {mode}".encode()).hexdigest()[:16]


DIGEST = _digest()
"""Taken before any kernel is: sources that change later in this process's life are not what it compiles."""


def _forget_unused(folder: Path) -> None:
    """Remove the machine code of other versions; `writable` touches a folder whenever it is used."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for other in folder.glob("[0-9a-f]" * len(DIGEST)):
        with contextlib.suppress(OSError):  # another process removes it as well
            if other.stat().st_mtime < oldest:
                shutil.rmtree(other, ignore_errors=True)


@cache
def cache_folder() -> Path:
    """The folder that holds this version's machine code, made if need be; unused ones of other versions go then."""
    problem = "cannot write a home folder"
    for folder in candidate_folders():
        is_new = not (folder / DIGEST).exists()
        if not is_private(folder / DIGEST):
            problem = (
                f"others own {folder / DIGEST} or its folder, or can write there (chmod go-w): its code is not run"
            )
        elif not writable(folder / DIGEST):
            problem = f"cannot write {folder}"
        else:
            if is_new:
                _forget_unused(folder)
            return folder / DIGEST
    folder = private_temporary_folder() / DIGEST
    folder.mkdir(mode=0o700, exist_ok=True)
    say(f"{problem}: compiled kernels are kept in {folder} (set NEARDUP_CACHE_DIR to choose)")
    return folder


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Tells Numba to keep every kernel in `cache_folder()`; the folder's name is the freshness stamp."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Callable[..., Any], _: str) -> "_Locator":
        return cls(function)

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return cache_folder().name

    def get_disambiguator(self) -> str:
        return str(self._line)


class _CacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache; a damaged entry is compiled again, and a full disk costs only the saving."""

    _impl_class = _CacheImpl

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        global _announced
        try:
            loaded = super().load_overload(signature, target_context)
        except (EOFError, OSError, pickle.UnpicklingError, ValueError, KeyError, TypeError):
            loaded = None
            with contextlib.suppress(OSError):
                self.flush()
        if loaded is None and not _announced:
            _announced = True
            because = f"; compiled ones cannot be used: {reason}" if reason else ""
            say(
                f"compiling kernels for this machine, once, up to a minute a command (`neardup warmup` compiles all){because}"
            )
        return loaded

    def save_overload(self, signature: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(signature, data)


def compiled_at_first_use(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on first use, without the interpreter lock, and keep its machine code between runs.

    Kernels take arrays and fill arrays; they allocate none. So reference counting is off, which otherwise costs locked
    additions for each array at each call (measured: docs/decisions/0001-numba-kernels.md).
    """
    compiled: Any = numba.njit(nogil=True, error_model="numpy", _nrt=False)(function)
    compiled._cache = _KernelCache(function)
    return compiled  # type: ignore[no-any-return]
