/* Calls compiled kernels from Python: the part of a library of kernels that knows of Python.
 *
 * The table that it is linked with, `neardup_kernels`, holds for each version of each kernel a name, the types of its arguments and
 * of its result, and a function that takes the arguments as 64-bit words and writes the result as such. A call's arguments are
 * checked against these types and laid out as words; other threads run meanwhile; the result becomes Python values. Only
 * Python's stable interface is used, so that one library serves all versions. MODULE is the library's name.
 *
 * Types, as `signatures.py` writes them, one after another:
 *   b                          a truth value
 *   h H i I l L y Y            integers of 16, 32, 64 and 8 bits; capitals are unsigned
 *   f d                        floating-point numbers of 32 and 64 bits
 *   *tnc                       an array of values t with n dimensions and layout c (C: contiguous, A: any), which the kernel may write
 *   &tnc                       the same, which the kernel only reads
 *   ( ... )                    a tuple
 * A result follows `>`; nothing there means None.
 *
 * The words of an array are its address, its shape and its strides; a tuple has the words of its items.
 */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define MOST_WORDS 512
#define MOST_RESULTS 16 /* build.py holds kernels to it */

typedef int (*Compiled)(const int64_t *words, int64_t *results);

typedef struct {
    const char *name;
    const char *types;
    Compiled call;
} Version;

extern const Version neardup_kernels[]; /* the versions of a kernel one after another; the last has no name */

typedef struct {
    const Version *versions; /* those of one kernel, one after another */
    Py_ssize_t count;
    PyMethodDef method;
} Kernel;

/* The fields of numpy.ndarray and numpy.dtype that NumPy 1.7 and all later versions have at these places. */
typedef struct {
    PyObject_HEAD
    char *data;
    int dimensions;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    PyObject *base;
    PyObject *dtype;
    int flags;
} Array;

typedef struct {
    PyObject_HEAD
    PyTypeObject *type;
    char kind, character, byte_order, former_flags;
    int number;
} DType;

enum { CONTIGUOUS = 0x1, ALIGNED = 0x100, WRITEABLE = 0x400 };

static PyTypeObject *array_type;

/* The scalar types of NumPy, with the letter of each. */
static const char *const scalar_names[] = {"int64", "uint64", "float64", "bool", "uint8", "int32", "uint32",
                                           "int16", "uint16", "int8", "float32"};
static const char scalar_letters[] = "lLdbYiIhHyf";
enum { SCALARS = sizeof(scalar_letters) - 1 };
static PyTypeObject *scalar_types[SCALARS];
static PyObject *explain; /* called with a kernel's name, its types and the arguments that fit none of them */

/* The letter of a dtype by NumPy's number of it; long and long long are both of 64 bits on what this is compiled for. */
static char letter_of(const DType *dtype) {
    static const char letters[] = {'b', 'y', 'Y', 'h', 'H', 'i', 'I', 'l', 'L', 'l', 'L', 'f', 'd'};
    if (dtype->number < 0 || dtype->number >= (int)sizeof(letters) || dtype->byte_order == '>') {
        return 0;
    }
    return letters[dtype->number];
}

static char letter_of_scalar(PyObject *value) {
    if (PyBool_Check(value)) {
        return 'b';
    }
    if (PyLong_Check(value)) {
        return 'l';
    }
    PyTypeObject *type = Py_TYPE(value);
    if ((PyObject *)type == (PyObject *)&PyFloat_Type) {
        return 'd';
    }
    for (int i = 0; i < SCALARS; i++) {
        if (type == scalar_types[i]) {
            return scalar_letters[i];
        }
    }
    return 0;
}

/* Whether an integer lies in the range of a type, and its 64 bits. */
static int integer_words(PyObject *value, char letter, int64_t *word) {
    PyObject *number = PyNumber_Index(value);
    if (number == NULL) {
        PyErr_Clear();
        return 0;
    }
    int overflow = 0;
    long long found = PyLong_AsLongLongAndOverflow(number, &overflow);
    int fits = 0;
    if (overflow > 0 && letter == 'L') {
        unsigned long long large = PyLong_AsUnsignedLongLong(number);
        fits = !PyErr_Occurred();
        PyErr_Clear();
        *word = (int64_t)large;
    } else if (!overflow) {
        *word = found;
        switch (letter) {
        case 'l': fits = 1; break;
        case 'L': fits = found >= 0; break;
        case 'i': fits = found >= INT32_MIN && found <= INT32_MAX; break;
        case 'I': fits = found >= 0 && found <= UINT32_MAX; break;
        case 'h': fits = found >= INT16_MIN && found <= INT16_MAX; break;
        case 'H': fits = found >= 0 && found <= UINT16_MAX; break;
        case 'y': fits = found >= INT8_MIN && found <= INT8_MAX; break;
        case 'Y': fits = found >= 0 && found <= UINT8_MAX; break;
        }
    }
    Py_DECREF(number);
    return fits;
}

/* A scalar as a word. Exactly: its type is the one asked for; otherwise any integer that fits, and integers as floats. */
static int scalar_word(PyObject *value, char letter, int exactly, int64_t *word) {
    char given = letter_of_scalar(value);
    if (given == 0 || (exactly && given != letter)) {
        return 0;
    }
    if (letter == 'b') {
        int truth = given == 'b' ? PyObject_IsTrue(value) : -1;
        *word = truth;
        return truth >= 0;
    }
    if (letter == 'd' || letter == 'f') {
        if (given == 'b') {
            return 0;
        }
        double number = PyFloat_AsDouble(value);
        if (number == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
        memcpy(word, &number, sizeof number);
        return 1;
    }
    if (given == 'd' || given == 'f' || given == 'b') {
        return 0;
    }
    return integer_words(value, letter, word);
}

static int array_words(PyObject *value, const char *type, int64_t **words, const int64_t *end) {
    if (Py_TYPE(value) != array_type && !PyType_IsSubtype(Py_TYPE(value), array_type)) {
        return 0;
    }
    const Array *array = (const Array *)value;
    int dimensions = type[2] - '0', needed = ALIGNED;
    needed |= type[0] == '*' ? WRITEABLE : 0;
    needed |= type[3] == 'C' ? CONTIGUOUS : 0;
    if (array->dimensions != dimensions || (array->flags & needed) != needed) {
        return 0;
    }
    if (letter_of((const DType *)array->dtype) != type[1] || *words + 1 + 2 * dimensions > end) {
        return 0;
    }
    *(*words)++ = (int64_t)(intptr_t)array->data;
    for (int d = 0; d < dimensions; d++) {
        *(*words)++ = array->shape[d];
    }
    for (int d = 0; d < dimensions; d++) {
        *(*words)++ = array->strides[d];
    }
    return 1;
}

/* Lays out one argument; moves `types` behind its type and `words` behind its words. */
static int lay_out(PyObject *value, const char **types, int exactly, int64_t **words, const int64_t *end) {
    const char *type = *types;
    if (*type == '*' || *type == '&') {
        *types += 4;
        return array_words(value, type, words, end);
    }
    if (*type != '(') {
        *types += 1;
        return *words < end && scalar_word(value, *type, exactly, (*words)++);
    }
    if (!PyTuple_Check(value)) {
        return 0;
    }
    Py_ssize_t size = PyTuple_Size(value), i = 0;
    for (*types += 1; **types != ')'; i++) {
        if (i == size || !lay_out(PyTuple_GetItem(value, i), types, exactly, words, end)) {
            return 0;
        }
    }
    *types += 1;
    return i == size;
}

static PyObject *result_of(const char **types, const int64_t **words) {
    char letter = *(*types)++;
    if (letter == '(') {
        PyObject *items[MOST_RESULTS];
        Py_ssize_t count = 0;
        while (**types != ')') {
            if ((items[count] = result_of(types, words)) == NULL) {
                while (count > 0) {
                    Py_DECREF(items[--count]);
                }
                return NULL;
            }
            count++;
        }
        *types += 1;
        PyObject *tuple = PyTuple_New(count);
        for (Py_ssize_t i = 0; i < count; i++) {
            if (tuple == NULL) {
                Py_DECREF(items[i]);
            } else {
                PyTuple_SetItem(tuple, i, items[i]);
            }
        }
        return tuple;
    }
    int64_t word = *(*words)++;
    if (letter == 'b') {
        return PyBool_FromLong(word != 0);
    }
    if (letter == 'd' || letter == 'f') {
        double number;
        memcpy(&number, &word, sizeof number);
        return PyFloat_FromDouble(number);
    }
    return letter == 'L' ? PyLong_FromUnsignedLongLong((uint64_t)word) : PyLong_FromLongLong(word);
}

static PyObject *call_version(const Version *version, const char *result, const int64_t *words) {
    int64_t results[MOST_RESULTS];
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = version->call(words, results);
    Py_END_ALLOW_THREADS
    if (status != 0) {
        return PyErr_Format(PyExc_SystemError, "the kernel %s failed with status %d", version->name, status);
    }
    if (*result == 0) {
        Py_RETURN_NONE;
    }
    const int64_t *first = results;
    return result_of(&result, &first);
}

static PyObject *refuse(const Kernel *kernel, PyObject *const *arguments, Py_ssize_t given) {
    PyObject *values = PyTuple_New(given);
    if (values == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < given; i++) {
        Py_INCREF(arguments[i]);
        PyTuple_SetItem(values, i, arguments[i]);
    }
    PyObject *error = PyObject_CallFunction(explain, "sO", kernel->versions[0].name, values);
    Py_DECREF(values);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

static PyObject *call(PyObject *self, PyObject *const *arguments, Py_ssize_t given) {
    const Kernel *kernel = PyCapsule_GetPointer(self, "neardup.kernel");
    int64_t words[MOST_WORDS];
    if (kernel == NULL) {
        return NULL;
    }
    for (int exactly = 1; exactly >= 0; exactly--) {
        for (Py_ssize_t v = 0; v < kernel->count; v++) {
            const char *types = kernel->versions[v].types;
            int64_t *next = words;
            Py_ssize_t i = 0;
            while (i < given && *types != '>' && lay_out(arguments[i], &types, exactly, &next, words + MOST_WORDS)) {
                i++;
            }
            if (i == given && *types == '>') {
                return call_version(&kernel->versions[v], types + 1, words);
            }
        }
    }
    return refuse(kernel, arguments, given);
}

static void forget(PyObject *capsule) {
    PyMem_Free(PyCapsule_GetPointer(capsule, "neardup.kernel"));
}

static PyObject *function_of(const Version *versions, Py_ssize_t count) {
    Kernel *kernel = PyMem_Malloc(sizeof *kernel);
    if (kernel == NULL) {
        return PyErr_NoMemory();
    }
    *kernel = (Kernel){versions, count, {versions->name, (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL}};
    PyObject *capsule = PyCapsule_New(kernel, "neardup.kernel", forget);
    if (capsule == NULL) {
        PyMem_Free(kernel);
        return NULL;
    }
    PyObject *function = PyCFunction_NewEx(&kernel->method, capsule, NULL);
    Py_DECREF(capsule);
    return function;
}

/* functions(explain) -> {name: function} */
static PyObject *functions(PyObject *self, PyObject *explaining) {
    (void)self;
    Py_INCREF(explaining);
    Py_XDECREF(explain);
    explain = explaining;
    PyObject *found = PyDict_New();
    const Version *versions = neardup_kernels;
    while (found != NULL && versions->name != NULL) {
        Py_ssize_t count = 1;
        while (versions[count].name != NULL && strcmp(versions[count].name, versions->name) == 0) {
            count++;
        }
        PyObject *function = function_of(versions, count);
        if (function == NULL || PyDict_SetItemString(found, versions->name, function) < 0) {
            Py_CLEAR(found);
        }
        Py_XDECREF(function);
        versions += count;
    }
    return found;
}

static PyMethodDef methods[] = {
    {"functions", functions, METH_O, "functions(explain): the kernels, by name."},
    {NULL, NULL, 0, NULL},
};

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)
#define JOINED(first, second) first##second
#define INITIALIZER(name) JOINED(PyInit_, name)

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, NAME_OF(MODULE), "Compiled kernels.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC INITIALIZER(MODULE)(void) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) {
        return NULL;
    }
    array_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "ndarray");
    int complete = array_type != NULL;
    for (int i = 0; i < SCALARS && complete; i++) {
        scalar_types[i] = (PyTypeObject *)PyObject_GetAttrString(numpy, scalar_names[i]);
        complete = scalar_types[i] != NULL;
    }
    Py_DECREF(numpy);
    return complete ? PyModule_Create(&definition) : NULL;
}
