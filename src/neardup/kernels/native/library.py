"""Choose and open the library of compiled kernels that fits this processor.

Beside this file lie the libraries, `processor`, which tells the level, and `built.json`: the digest of the kernels' sources that
the libraries were compiled from, and of each library. What does not agree is not loaded: machine code cannot be checked afterwards.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
BUILT = "built.json"
PROCESSOR = "processor.abi3.so"
KERNELS = FOLDER.parent

LEVELS = ("v2", "v3", "v4")
"""The levels of x86-64, ascending: each has what those before it have (System V ABI for AMD64, section 3.1.1)."""


class Unusable(Exception):  # noqa: N818 - not an error: Numba takes over
    """Compiled kernels cannot be used here; the message says why."""


def file_of(level: str) -> str:
    """The name of the library for a level of processors."""
    return f"kernels_{level}.abi3.so"


def _module(path: Path) -> Any:
    """The extension module in a file."""
    name = path.name.partition(".")[0]
    loader = ExtensionFileLoader(f"neardup.kernels.native.{name}", os.fspath(path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def level_of(processor: Path) -> str:
    """The level of this processor, told by the extension module in that file; empty if it is below the lowest."""
    return str(_module(processor).level())


def source_digest(folder: Path = KERNELS) -> str:
    """Digest of all sources of kernels, and of the types that they are compiled for."""
    digest = hashlib.sha256()
    for source in sorted((*folder.rglob("*.py"), *folder.rglob("*.c"), *folder.rglob("*.json"))):
        if source.name != BUILT:
            digest.update(source.relative_to(folder).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _built(folder: Path, sources: str) -> Mapping[str, str]:
    """The digests of the libraries that were compiled from these sources."""
    try:
        built = json.loads((folder / BUILT).read_bytes())
        compiled_from, libraries = built["sources"], dict(built["libraries"])
    except FileNotFoundError:
        raise Unusable("none are installed for this platform") from None
    except (OSError, ValueError, TypeError, KeyError) as problem:
        raise Unusable(f"{folder / BUILT} is damaged ({problem})") from None
    if compiled_from != sources:
        raise Unusable("the sources of kernels have changed since they were compiled")
    return libraries


def _chosen(wanted: str, libraries: Mapping[str, str], level: str) -> str:
    """The level to load: the highest that is installed and that the processor has, or the one that is wanted."""
    if not level:
        raise Unusable("this processor is below the lowest level that they are compiled for, x86-64-v2")
    usable = LEVELS[: LEVELS.index(level) + 1] if level in LEVELS else (level,)
    if wanted != "auto":
        if wanted not in usable:
            raise Unusable(f"this processor has {', '.join(usable)}, not {wanted}")
        usable = (wanted,)
    found = [each for each in usable if each in libraries]
    if not found:
        raise Unusable(f"they are installed for {', '.join(libraries)}, not for {', '.join(usable)}")
    return found[-1]


def load(
    wanted: str, sources: str, explain: Callable[[str, tuple[Any, ...]], Exception], folder: Path = FOLDER
) -> tuple[str, dict[str, Callable[..., Any]]]:
    """The level that was chosen, and its kernels by name.

    Args:
        wanted: one of `LEVELS`, or `auto`.
        sources: `source_digest()`.
        explain: makes the exception for a kernel that is called with types that no version of it has.
        folder: where the libraries are.

    Raises:
        Unusable: none can be loaded; the message says why.
    """
    libraries = _built(folder, sources)
    path = folder / PROCESSOR
    try:
        chosen = _chosen(wanted, libraries, level_of(path))
        path = folder / file_of(chosen)
        if hashlib.sha256(path.read_bytes()).hexdigest() != libraries[chosen]:
            raise Unusable(f"{path} is damaged, or not the one that was built")
        return chosen, _module(path).functions(explain)
    except (ImportError, OSError) as problem:
        raise Unusable(f"{path} cannot be loaded ({problem})") from None
