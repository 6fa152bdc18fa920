"""The intrinsics of kernels as LLVM code, of which Numba makes machine code; each stands beside its Python twin's module.

In: values and pointers of a function that is being compiled. Out: instructions in it.
Loaded only where Numba compiles. May import: Numba, `kernels.constants`, one another.
"""
