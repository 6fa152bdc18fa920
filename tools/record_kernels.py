"""Take the types that kernels are called with into `signatures.json`, from which `make kernels` compiles them.

Needed after a kernel that Python calls is new, or is called with other types: the error of such a call names them.

    NEARDUP_KERNELS=jit NEARDUP_RECORD_KERNELS=calls.txt pytest …
    NEARDUP_KERNELS=jit python tools/record_kernels.py calls.txt

Each array becomes `const` that the kernel does not write: whether it does, Numba's type inference says. `--replace` forgets
the versions that were not called.
"""

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from numba.core import compiler, errors, typing
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.typed_passes import NopythonTypeInference

from neardup.kernels.native.numba_inside import DISPATCHERS, argument_types, keep_results_alone, kernel_named
from neardup.kernels.native.signatures import ArrayType, Scalar, Signatures, TupleType, Type, parse


@register_pass(mutates_CFG=False, analysis_only=True)
class Typed(AnalysisPass):  # type: ignore[misc]
    """Ends a compilation when the types are known."""

    _name = "typed"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        signature = typing.signature(state.return_type, *state.args)
        state["cr"] = compiler.compile_result(
            typing_context=state.typingctx, target_context=state.targetctx, entry_point=object(), signature=signature
        )
        return True


class TypesAlone(compiler.CompilerBase):  # type: ignore[misc]
    """Infers types, and makes no code."""

    def define_pipelines(self) -> list[Any]:
        passes = PassManager("types alone")
        passes.passes.extend(compiler.DefaultPassBuilder.define_untyped_pipeline(self.state).passes)
        passes.add_pass(NopythonTypeInference, "infer types")
        passes.add_pass(Typed, "stop")
        passes.finalize()
        return [passes]


def infer_types_only() -> None:
    """From here on, kernels are typed and not compiled."""
    keep_results_alone()
    plain = DISPATCHERS._FunctionCompiler.__init__

    def begin(self: Any, *args: Any, **options: Any) -> None:
        plain(self, *args, **options)
        self.pipeline_class = TypesAlone

    DISPATCHERS._FunctionCompiler.__init__ = begin


def arrays_of(type_: Type) -> Iterator[tuple[int, ...]]:
    """Where a type holds arrays: the way to each through tuples."""
    if isinstance(type_, ArrayType):
        yield ()
    elif isinstance(type_, TupleType):
        for number, item in enumerate(type_.items):
            yield from ((number, *way) for way in arrays_of(item))


def with_constant(type_: Type, way: tuple[int, ...], constant: bool) -> Type:
    """The type with the array at `way` made constant, or writable."""
    if isinstance(type_, ArrayType):
        return replace(type_, constant=constant)
    assert not isinstance(type_, Scalar)
    items = list(type_.items)
    items[way[0]] = with_constant(items[way[0]], way[1:], constant)
    return replace(type_, items=tuple(items))


def widened(name: str, version: Type, signatures: Signatures) -> Type:
    """The version with all arrays constant that may be."""
    kernel = kernel_named(name)

    def allowed(candidate: Type) -> bool:
        try:
            kernel.compile(argument_types(candidate, signatures))
        except errors.TypingError:
            return False
        return True

    for way in arrays_of(version):
        version = with_constant(version, way, False)
    if not allowed(version):
        kernel.compile(argument_types(version, signatures))  # shows why
    for way in arrays_of(version):
        candidate = with_constant(version, way, True)
        version = candidate if allowed(candidate) else version
    return version


def is_kernel(name: str) -> bool:
    """Whether the package has the kernel; tests define some of their own."""
    try:
        kernel_named(name)
    except (ImportError, AttributeError):
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", nargs="*", type=Path, help="what was recorded")
    parser.add_argument("--replace", action="store_true", help="forget versions that were not recorded")
    given = parser.parse_args()
    infer_types_only()
    signatures = Signatures.read()
    kernels: dict[str, set[str]] = {}
    if not given.replace:
        for name, version in signatures.calls:
            kernels.setdefault(name, set()).add(str(version))
    for line in itertools.chain.from_iterable(path.read_text().splitlines() for path in given.calls):
        name, version, classes = line.split("\t")
        if name in kernels or is_kernel(name):
            kernels.setdefault(name, set()).add(version)
            signatures.tuples.update(pair.split("=") for pair in classes.split())
    found: dict[str, dict[str, list[str]]] = {}
    for name, calls in sorted(kernels.items()):
        for call in sorted(calls):
            found.setdefault(name, {}).setdefault(str(widened(name, parse(call), signatures)), []).append(call)
    Signatures(signatures.tuples, signatures.demo, found).write()
    print(f"{len(found)} kernels in {sum(map(len, found.values()))} versions")


if __name__ == "__main__":
    main()
