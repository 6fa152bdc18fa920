"""Object files of kernels: what Numba compiles for one level of processors, and functions that take arguments as words.

Nothing that is compiled here is run here, so the level may be above this processor's, or another machine's.
"""

from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np.arrayobj import populate_array

from neardup.kernels.native.numba_inside import (
    DISPATCHERS,
    argument_types,
    compile_for,
    keep_results_alone,
    kernel_named,
)
from neardup.kernels.native.signatures import LETTERS, Signatures, TupleType

WORD = ir.IntType(64)


def _compile_without_running() -> None:
    """From here on, Numba makes LLVM code and leaves it there."""
    keep_results_alone()

    def executable(*about: Any) -> Any:
        return lambda: about  # what callers are registered by; each is another

    def without_wrappers(_: Any, flags: Any) -> Any:
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return flags

    def nothing(*_: Any) -> None:
        pass

    DISPATCHERS._FunctionCompiler._customize_flags = without_wrappers
    type(cpu_target.target_context).get_executable = executable
    JITCPUCodegen._add_module = nothing
    JITCodeLibrary._finalize_specific = nothing


class _Words:
    """Reads the words of arguments, one after another, as values of a function that is being built."""

    def __init__(self, context: Any, builder: Any, words: Any) -> None:
        self.context, self.builder, self.words, self.read = context, builder, words, 0

    def _next(self) -> Any:
        place = self.builder.gep(self.words, [ir.Constant(WORD, self.read)])
        self.read += 1
        return self.builder.load(place)

    def value(self, type_: Any) -> Any:
        """The next value of this type."""
        if isinstance(type_, types.Array):
            return self._array(type_)
        if isinstance(type_, types.BaseTuple):
            return self.context.make_tuple(self.builder, type_, [self.value(item) for item in type_.types])
        word, wanted = self._next(), self.context.get_value_type(type_)
        if isinstance(type_, types.Float):
            number = self.builder.bitcast(word, ir.DoubleType())
            return number if type_.bitwidth == 64 else self.builder.fptrunc(number, wanted)
        return self.builder.trunc(word, wanted) if wanted.width < 64 else word

    def _array(self, type_: Any) -> Any:
        array = self.context.make_array(type_)(self.context, self.builder)
        data = self.builder.inttoptr(self._next(), array.data.type)
        shape = [self._next() for _ in range(type_.ndim)]
        strides = [self._next() for _ in range(type_.ndim)]
        size = self.context.get_abi_sizeof(self.context.get_data_type(type_.dtype))
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=ir.Constant(WORD, size), meminfo=None)
        return array._getvalue()


def _write_result(builder: Any, results: Any, type_: Any, value: Any, at: int = 0) -> int:
    """Write a result as words; returns the next place."""
    if type_ == types.none:
        return at
    if isinstance(type_, types.BaseTuple):
        for number, item in enumerate(type_.types):
            at = _write_result(builder, results, item, builder.extract_value(value, number), at)
        return at
    if isinstance(type_, types.Float):
        value = builder.bitcast(value if type_.bitwidth == 64 else builder.fpext(value, ir.DoubleType()), WORD)
    elif value.type.width < 64:
        value = builder.sext(value, WORD) if getattr(type_, "signed", False) else builder.zext(value, WORD)
    builder.store(value, builder.gep(results, [ir.Constant(WORD, at)]))
    return at + 1


def _result_letters(type_: Any) -> str:
    if type_ == types.none:
        return ""
    if isinstance(type_, types.BaseTuple):
        return f"({''.join(map(_result_letters, type_.types))})"
    return LETTERS[str(type_)]


class Emitter:
    """Writes the object files of one level to a folder."""

    def __init__(self, triple: str, cpu: str, features: str, folder: Path) -> None:
        _compile_without_running()
        self.folder = folder
        self.context = cpu_target.target_context
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        target = llvm.Target.from_triple(triple)
        self.machine = target.create_target_machine(cpu=cpu, features=features, opt=3, reloc="pic", codemodel="default")
        compile_for(self.machine)

    def emit(
        self, number: int, name: str, arguments: TupleType, signatures: Signatures
    ) -> tuple[str, str, tuple[str, str]]:
        """Compile one version of a kernel; returns its types, the symbol to call and its object files."""
        kernel, wanted = kernel_named(name), argument_types(arguments, signatures)
        with global_compiler_lock:
            kernel.compile(wanted)
            compiled = kernel.overloads[wanted]
            compiled.library._ensure_finalized()
            module, symbol = compiled.library._final_module.clone(), f"neardup_kernel_{number}"
            own = compiled.fndesc.llvm_func_name
            # What other kernels' objects hold as well must not be taken for the same: the names are Numba's counters.
            for function in module.functions:
                if not function.is_declaration and function.name != own:
                    function.linkage = "internal"
            entry = llvm.parse_assembly(str(self._entry(compiled, wanted, symbol)))
            # The kernel's own name is a counter of this process, too.
            module.get_function(own).name = entry.get_function(own).name = f"{symbol}_code"
            entry.verify()
            objects = (f"{number}.o", f"{number}-entry.o")
            for file, each in zip(objects, (module, entry), strict=True):
                (self.folder / file).write_bytes(self.machine.emit_object(each))
        written = arguments.letters[1:-1] + ">" + _result_letters(compiled.signature.return_type)
        return written, symbol, objects

    def _entry(self, compiled: Any, wanted: tuple[Any, ...], symbol: str) -> Any:
        """A module with the function `symbol(words, results)`."""
        module = self.context.create_module(symbol)
        convention, description = self.context.call_conv, compiled.fndesc
        type_ = convention.get_function_type(description.restype, description.argtypes)
        callee = cgutils.get_or_insert_function(module, type_, description.llvm_func_name)
        pointer = WORD.as_pointer()
        function = ir.Function(module, ir.FunctionType(ir.IntType(32), [pointer, pointer]), symbol)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        words = _Words(self.context, builder, function.args[0])
        status, result = convention.call_function(
            builder, callee, description.restype, description.argtypes, [words.value(type_) for type_ in wanted]
        )
        _write_result(builder, function.args[1], description.restype, result)
        builder.ret(status.code)
        return module
