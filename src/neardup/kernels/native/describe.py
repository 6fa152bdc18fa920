"""The types of a call's arguments, as `signatures.json` writes them: for messages, and to record what kernels are called with."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from neardup.errors import NeardupError
from neardup.kernels.native.library import BUILT, FOLDER
from neardup.kernels.native.signatures import PATH, ArrayType, Scalar, Signatures, TupleType, Type

MOST_SIGNED = 2**63 - 1


def class_name(kind: type) -> str:
    """How `signatures.json` names a class of named tuples: by its module's last part and its own name."""
    return f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"


def type_of(value: Any) -> Type:
    """The type of one argument; an array that cannot be written is `const`."""
    if isinstance(value, np.ndarray):
        return ArrayType(value.dtype.name, value.ndim, not value.flags.writeable, not value.flags.c_contiguous)
    if isinstance(value, tuple):
        return TupleType(class_name(type(value)) if hasattr(value, "_fields") else "", tuple(map(type_of, value)))
    if isinstance(value, bool | np.bool_):
        return Scalar("bool")
    if isinstance(value, float):
        return Scalar("float64")
    if isinstance(value, int):
        return Scalar("int64" if value <= MOST_SIGNED else "uint64")
    return Scalar(value.dtype.name if isinstance(value, np.generic) else type(value).__name__)


def types_of(arguments: tuple[Any, ...]) -> TupleType:
    """The types of a call's arguments."""
    return TupleType("", tuple(map(type_of, arguments)))


def unknown_version(name: str, arguments: tuple[Any, ...]) -> Exception:
    """The exception for a call of a kernel with types that it was not compiled for; those who work on kernels see it.

    In a clone where `make demo` was interrupted, the library has the demo's kernels alone.
    """
    if name not in Signatures.read().demo and _has_only_the_demo(FOLDER / BUILT):
        return NeardupError("Only the kernels that `make demo` needs are compiled yet: run `make kernels`.")
    return TypeError(
        f'the kernel {name} was not compiled for "{types_of(arguments)}". Add this version to {PATH.name} and run `make kernels`; '
        "or set NEARDUP_KERNELS=jit, with Numba installed, to compile at first use"
    )


def _has_only_the_demo(built: Path) -> bool:
    try:
        return bool(json.loads(built.read_bytes()).get("kernels") == "demo")
    except (OSError, ValueError):
        return False


RECORD = "NEARDUP_RECORD_KERNELS"
"""Names the file to which calls from Python are recorded; see tools/record_kernels.py."""


def recorded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A class of Numba's dispatchers that writes each new combination of types that `function` is called with to `RECORD`."""
    path, seen = Path(os.environ[RECORD]), set()

    class Recording(type(function)):  # type: ignore[misc]
        def __call__(self, *arguments: Any) -> Any:
            classes = {}

            def visit(value: Any) -> None:
                if isinstance(value, tuple):
                    if hasattr(value, "_fields"):
                        classes[class_name(type(value))] = f"{type(value).__module__}.{type(value).__qualname__}"
                    for item in value:
                        visit(item)

            visit(arguments)
            line = f"{name}\t{types_of(arguments)}\t{' '.join(f'{k}={v}' for k, v in sorted(classes.items()))}\n"
            if line not in seen:
                seen.add(line)
                with path.open("a") as file:
                    file.write(line)
            return super().__call__(*arguments)

    function.__class__ = Recording
    return function
