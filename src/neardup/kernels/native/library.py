"""Choose and open the library of compiled kernels that fits this processor.

Beside this file lie the libraries, `processor`, which tells the level, and `built.json`: the digest of the kernels' sources that
they were compiled from, and of each file. What does not agree is not loaded: machine code cannot be checked afterwards.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
BUILT = "built.json"
PROCESSOR = "processor.abi3.so"
KERNELS = FOLDER.parent

LEVELS = {"v2": "x86_64", "v3": "x86_64", "v4": "x86_64", "a64": "aarch64"}
"""Each level, and the machines that it is of; those of one machine ascend: each has what those before it have.

For x86-64 they are the ABI's (System V ABI for AMD64, section 3.1.1). `a64` is what every processor for aarch64 has.
"""


class Unusable(Exception):  # noqa: N818 - not an error: Numba takes over
    """Compiled kernels cannot be used here; the message says why."""


def file_of(level: str) -> str:
    """The name of the library for a level of processors."""
    return f"kernels_{level}.abi3.so"


def extension(path: Path) -> Any:
    """The extension module in a file."""
    name = path.name.partition(".")[0]
    loader = ExtensionFileLoader(f"neardup.kernels.native.{name}", os.fspath(path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def source_digest(folder: Path = KERNELS) -> str:
    """Digest of all sources of kernels, and of the types that they are compiled for."""
    digest = hashlib.sha256()
    for source in sorted((*folder.rglob("*.py"), *folder.rglob("*.c"), *folder.rglob("*.json"))):
        if source.name != BUILT:
            digest.update(source.relative_to(folder).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _built(folder: Path, sources: str) -> Mapping[str, str]:
    """The digests of the files that were compiled from these sources, by name."""
    try:
        built = json.loads((folder / BUILT).read_bytes())
        compiled_from, files = built["sources"], dict(built["files"])
    except FileNotFoundError:
        raise Unusable("none are installed for this platform") from None
    except (OSError, ValueError, TypeError, KeyError):
        raise Unusable(f"{folder / BUILT} is damaged") from None
    if compiled_from != sources:
        raise Unusable("the sources of kernels have changed since they were compiled")
    return files


def levels_up_to(level: str) -> list[str]:
    """What a processor of this level has, ascending."""
    levels = [each for each, machine in LEVELS.items() if machine == LEVELS[level]]
    return levels[: levels.index(level) + 1]


def _chosen(wanted: str, installed: Sequence[str], level: str) -> str:
    """The level to load: the highest that is installed and that the processor has, or the one that is wanted."""
    if not level:
        raise Unusable("this processor is below the lowest level that they are compiled for, x86-64-v2")
    usable = levels_up_to(level)
    if wanted != "auto":
        if wanted not in usable:
            raise Unusable(f"this processor has {', '.join(usable)}, not {wanted}")
        usable = [wanted]
    found = [each for each in usable if each in installed]
    if not found:
        raise Unusable(f"they are installed for {', '.join(installed)}, not for {', '.join(usable)}")
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
    files = _built(folder, sources)
    installed = [level for level in LEVELS if file_of(level) in files]
    chosen = _chosen(wanted, installed, str(_opened(folder / PROCESSOR, files).level()))
    return chosen, _opened(folder / file_of(chosen), files).functions(explain)


def _opened(path: Path, files: Mapping[str, str]) -> Any:
    """The extension module in a file, if that is the one that was built."""
    try:
        if digest_of(path) != files.get(path.name):
            raise Unusable(f"{path} is damaged, or not the one that was built")
        return extension(path)
    except (ImportError, OSError) as problem:
        raise Unusable(f"{path} cannot be loaded ({problem})") from None


def digest_of(path: Path) -> str:
    """Digest of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
