/* Which compiled kernels this processor can run. */

#define Py_LIMITED_API 0x030B0000
#include <Python.h>

/* level() -> "v4", "v3", "v2", "a64" or "": the highest level that the processor and the system have. */
static PyObject *level(PyObject *self, PyObject *none) {
    const char *found = "";
    (void)self;
    (void)none;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v2")) {
        found = "v2";
    }
    if (__builtin_cpu_supports("x86-64-v3")) {
        found = "v3";
    }
    if (__builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
        __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bitalg")) {
        found = "v4";
    }
#elif defined(__aarch64__)
    found = "a64";
#endif
    return PyUnicode_FromString(found);
}

static PyMethodDef methods[] = {
    {"level", level, METH_NOARGS, "level(): the highest level that this processor has; empty if none."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "processor", "The level of this processor.", 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_processor(void) {
    return PyModule_Create(&definition);
}
