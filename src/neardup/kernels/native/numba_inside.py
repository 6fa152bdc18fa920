"""Numba from the inside: its types for those of `signatures.json`, compiling without running, and for other machines.

Loaded only to build.

These are not Numba's public interfaces. pyproject.toml names the versions for building; that they do what they must, every test
shows that runs on compiled kernels.
"""

import importlib
from typing import Any

from numba import types
from numba.core import dispatcher
from numba.core.caching import NullCache
from numba.core.codegen import JITCPUCodegen
from numba.core.registry import cpu_target

from neardup.kernels.native.signatures import ArrayType, Scalar, Signatures, Type

DISPATCHERS: Any = dispatcher


def keep_results_alone() -> None:
    """From here on, what Numba compiles is kept in `overloads` of its dispatcher; nothing is made callable, and nothing cached."""

    def add_overload(kernel: Any, result: Any) -> None:
        kernel.overloads[tuple(result.signature.args)] = result

    DISPATCHERS.Dispatcher.add_overload = add_overload
    DISPATCHERS.Dispatcher._cache = property(lambda _: NullCache(), lambda _, __: None)


def compile_for(machine: Any) -> None:
    """From here on, Numba makes and optimizes LLVM code for this target machine, not for the one that it runs on."""
    codegen, create = cpu_target.target_context.codegen(), JITCPUCodegen._create_empty_module
    codegen._tm, codegen._data_layout = machine, str(machine.target_data)

    def create_for_machine(self: Any, name: str) -> Any:
        module = create(self, name)
        module.triple = machine.triple
        return module

    JITCPUCodegen._create_empty_module = create_for_machine


def kernel_named(name: str) -> Any:
    """The kernel `hamming.distinct.count_digits`, from its module."""
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(f"neardup.kernels.{module}"), function)


def class_named(path: str) -> Any:
    """The class at a module-qualified path."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def numba_type(type_: Type, signatures: Signatures) -> Any:
    """Numba's form of a type."""
    if isinstance(type_, Scalar):
        return types.boolean if type_.name == "bool" else getattr(types, type_.name)
    if isinstance(type_, ArrayType):
        item = types.boolean if type_.item == "bool" else getattr(types, type_.item)
        return types.Array(item, type_.dimensions, "A" if type_.strided else "C", readonly=type_.constant)
    items = [numba_type(item, signatures) for item in type_.items]
    if not type_.name:
        return types.Tuple(items)
    named = class_named(signatures.tuples[type_.name])
    if len(set(items)) == 1:
        return types.NamedUniTuple(items[0], len(items), named)
    return types.NamedTuple(items, named)


def argument_types(arguments: Type, signatures: Signatures) -> tuple[Any, ...]:
    """Numba's types of a version's arguments."""
    return tuple(numba_type(item, signatures) for item in arguments.items)  # type: ignore[union-attr]
