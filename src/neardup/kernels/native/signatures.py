"""The versions of kernels: the argument types that each is compiled for, as `signatures.json` lists them.

A type is written as `int64`, `const uint64[:,:]` (an array of two dimensions that the kernel only reads), `strided uint8[:]` (its
items need not lie together), `(int64, uint8[:])` (a tuple) or `simhash.FeatureForm(int64, int64)` (a named tuple, whose class
the file gives under `tuples`). An array that is only read may be writable or not; any other must be writable.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PATH = Path(__file__).with_name("signatures.json")

LETTERS = {
    "bool": "b",
    "int8": "y",
    "uint8": "Y",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "l",
    "uint64": "L",
    "float32": "f",
    "float64": "d",
}
"""The scalar types, each with its letter in calls.c."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or a truth value."""

    name: str

    @property
    def letters(self) -> str:
        return LETTERS[self.name]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array of scalars."""

    item: str
    dimensions: int
    constant: bool = False
    strided: bool = False

    @property
    def letters(self) -> str:
        return f"{'&' if self.constant else '*'}{LETTERS[self.item]}{self.dimensions}{'A' if self.strided else 'C'}"

    def __str__(self) -> str:
        words = ["const"] * self.constant + ["strided"] * self.strided
        return " ".join([*words, f"{self.item}[{','.join(':' * self.dimensions)}]"])


@dataclass(frozen=True, slots=True)
class TupleType:
    """A tuple; `name` is empty, or the name of a class of named tuples."""

    name: str
    items: tuple["Type", ...]

    @property
    def letters(self) -> str:
        return f"({''.join(item.letters for item in self.items)})"

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.items))})"


Type = Scalar | ArrayType | TupleType


def _split(text: str) -> Iterator[str]:
    """The parts of a list with commas, those inside brackets left alone."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def parse(text: str) -> Type:
    """The type that `text` stands for; `str` of it is `text` again."""
    if text.endswith(")"):
        name, _, items = text[:-1].partition("(")
        return TupleType(name, tuple(map(parse, _split(items))))
    *words, last = text.split()
    if last.endswith("]"):
        item, _, colons = last[:-1].partition("[")
        if item not in LETTERS or set(words) - {"const", "strided"}:
            raise ValueError(f"not a type of array: {text!r}")
        return ArrayType(item, colons.count(":"), "const" in words, "strided" in words)
    if text not in LETTERS:
        raise ValueError(f"not a type: {text!r}; known are {', '.join(LETTERS)}")
    return Scalar(text)


@dataclass(frozen=True)
class Signatures:
    """What `signatures.json` holds.

    Attributes:
        tuples: the module-qualified class of each name of a named tuple.
        demo: the kernels that `make demo` calls, which it compiles first.
        kernels: of each kernel, as `hamming.distinct.count_digits`, its versions, each written as one type, a tuple; and of each
            version what is called with it: the same types, but for arrays that are writable.
    """

    tuples: dict[str, str]
    demo: list[str]
    kernels: dict[str, dict[str, list[str]]]

    @classmethod
    def read(cls, path: Path = PATH) -> "Signatures":
        return cls(**json.loads(path.read_text()))

    def write(self, path: Path = PATH) -> None:
        kernels = {
            name: {version: sorted(versions[version]) for version in sorted(versions)}
            for name, versions in sorted(self.kernels.items())
        }
        found = {"tuples": dict(sorted(self.tuples.items())), "demo": sorted(self.demo), "kernels": kernels}
        path.write_text(json.dumps(found, indent=1) + "\n")

    @cached_property
    def versions(self) -> list[tuple[str, TupleType]]:
        """Each version of each kernel, a kernel's one after another."""
        return [(name, _arguments(version)) for name, versions in self.kernels.items() for version in versions]

    @cached_property
    def calls(self) -> list[tuple[str, TupleType]]:
        """What each kernel is called with."""
        calls = (
            (name, call) for name, versions in self.kernels.items() for calls in versions.values() for call in calls
        )
        return [(name, _arguments(call)) for name, call in calls]


def _arguments(text: str) -> TupleType:
    arguments = parse(text)
    if not isinstance(arguments, TupleType) or arguments.name:
        raise ValueError(f"the types of a call's arguments are not a tuple: {text!r}")
    return arguments
