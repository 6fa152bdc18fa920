"""CODEC: convert values that a run saves into JSON facts and buffers of numbers, and back.

A class is registered where it is declared, under a name and a version that stay the same when the class is moved or renamed:

    @codec("elements", 1, values="uint64[total]", weights="float64[weights]", offsets="int64[n+1]")
    class Elements(NamedTuple): ...

Decoding can only return objects of registered classes, arrays of the types in KINDS, Arrow strings and plain values. The data
cannot name code, so reading it cannot execute any. docs/resume-format.md is the specification.
"""

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

Class = TypeVar("Class")
Buffer = Any
"""A NumPy array, or an Arrow large_string array."""

KINDS = ("bool", "uint8", "uint16", "uint32", "uint64", "int32", "int64", "float32", "float64")
"""Types of arrays that can be saved."""
TEXTS = pa.large_string()
_FORM = re.compile(r"(?P<kind>\w+)\[(?P<shape>[^\]]*)\]")


class MalformedError(ValueError):
    """The data was not written by a codec."""


class OtherVersionError(ValueError):
    """The data was written by another version of this package."""


class Codec(NamedTuple):
    """How the objects of a class are saved.

    Attributes:
        name, version: identify the saved form. A change of the saved form needs another version.
        kind: the class.
        forms: the form of each field, by name: `uint64[n, 2]` (types and shape of arrays, `|` between several), `large_string`, or
            `value` (anything that can be saved). A letter or word in shapes is one number throughout an object; n+1 is one more.
        is_sound: checks whether an object's numbers are consistent; kernels do not check whether an index lies within an array.
    """

    name: str
    version: int
    kind: type[Any]
    forms: Mapping[str, str]
    is_sound: Callable[[Any], bool] | None = None

    def fields_of(self, value: Any) -> dict[str, Any]:
        """The fields to be saved."""
        fields = {name: getattr(value, name) for name in self.forms}
        self._check(fields)
        return fields

    def made_of(self, fields: Mapping[str, Any]) -> Any:
        """The object that was saved.

        Raises:
            MalformedError: fields are missing, have another form, or are inconsistent.
        """
        if fields.keys() != self.forms.keys():
            raise MalformedError(f"the fields of {self.name} are {', '.join(fields)}")
        self._check(fields)
        value = self.kind(**fields)
        if self.is_sound is not None and not self.is_sound(value):
            raise MalformedError(f"the numbers of {self.name} do not go together")
        return value

    def _check(self, fields: Mapping[str, Any]) -> None:
        sizes: dict[str, int] = {}
        for name, form in self.forms.items():
            if form != "value" and not any(_has_form(fields[name], each, sizes) for each in form.split("|")):
                raise MalformedError(
                    f"{self.name}.{name} is {_described(fields[name])} instead of {form} (sizes {sizes})"
                )


CODECS: dict[str, Codec] = {}
"""All registered codecs, by name."""


def codec(
    name: str, version: int, *, is_sound: Callable[[Any], bool] | None = None, **forms: str
) -> Callable[[type[Class]], type[Class]]:
    """Register a dataclass or NamedTuple under a name; see `Codec`. `forms`: the forms of all its fields."""

    def register(kind: type[Class]) -> type[Class]:
        if name in CODECS and CODECS[name].kind is not kind:
            raise ValueError(f"two classes are registered as {name}: {CODECS[name].kind.__name__} and {kind.__name__}")
        if set(forms) != set(_field_names(kind)):
            raise ValueError(
                f"{kind.__name__} has the fields {_field_names(kind)}, but forms are given of {tuple(forms)}"
            )
        CODECS[name] = Codec(name, version, kind, forms, is_sound)
        return kind

    return register


def _field_names(kind: type[Any]) -> tuple[str, ...]:
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    names: tuple[str, ...] = getattr(kind, "_fields", ())
    return names


def _has_form(value: Any, form: str, sizes: dict[str, int]) -> bool:
    """Whether a value has a form. `sizes`: the numbers that the words in shapes stand for so far; new ones are added."""
    if form == "large_string":
        return isinstance(value, pa.Array) and value.type == TEXTS
    found = _FORM.fullmatch(form)
    if found is None:
        raise ValueError(f"{form!r} is no form of a field")
    if not isinstance(value, np.ndarray) or value.dtype.name != found["kind"]:
        return False
    shape = [each.strip() for each in found["shape"].split(",")]
    return len(shape) == value.ndim and all(map(_has_size, value.shape, shape, [sizes] * len(shape)))


def _has_size(size: int, word: str, sizes: dict[str, int]) -> bool:
    if word.isdigit():
        return size == int(word)
    if word.endswith("+1"):
        word, size = word.removesuffix("+1"), size - 1
    return size >= 0 and sizes.setdefault(word, size) == size


def _described(value: Any) -> str:
    return f"{value.dtype.name}{list(value.shape)}" if isinstance(value, np.ndarray) else type(value).__name__


def ascend(offsets: Any, total: int) -> bool:
    """Whether `offsets` (int64[n + 1]) cut `total` numbers into n runs."""
    if not len(offsets):
        return False
    return bool(offsets[0] >= 0 and offsets[-1] == total and (offsets[1:] >= offsets[:-1]).all())


def are_below(places: Any, end: int) -> bool:
    """Whether all of `places` (integers) lie in 0 … end - 1."""
    return len(places) == 0 or bool(places.min() >= 0 and places.max() < end)


def encode(value: Any) -> tuple[Any, list[Buffer]]:
    """Convert a value to JSON facts, and the buffers that the facts refer to by number.

    Raises:
        TypeError: the value, or a part of it, has no codec.
    """
    buffers: list[Buffer] = []
    return _facts_of(value, buffers), buffers


def _facts_of(value: Any, buffers: list[Buffer]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.name in KINDS:
        buffers.append(value)
        return {"buffer": len(buffers) - 1}
    if isinstance(value, pa.Array) and value.type == TEXTS:
        buffers.append(value)
        return {"buffer": len(buffers) - 1}
    for known in CODECS.values():
        if type(value) is known.kind:
            fields = {name: _facts_of(each, buffers) for name, each in known.fields_of(value).items()}
            return {"codec": known.name, "version": known.version, "fields": fields}
    if type(value) in (list, tuple):
        return {type(value).__name__: [_facts_of(each, buffers) for each in value]}
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return {"map": {key: _facts_of(each, buffers) for key, each in value.items()}}
    raise TypeError(f"{_described(value)} has no codec: it cannot be saved")


def decode(facts: Any, buffers: list[Buffer]) -> Any:
    """Restore the value that was passed to `encode`.

    Raises:
        MalformedError: the arguments cannot come from `encode`.
        OtherVersionError: a codec is unknown, or has another version.
    """
    if not isinstance(facts, dict):
        if isinstance(facts, list):
            raise MalformedError("a list stands where a value should")
        return facts
    if facts.keys() == {"codec", "version", "fields"}:
        known = _known(facts["codec"], facts["version"])
        return known.made_of({name: decode(each, buffers) for name, each in _items(facts["fields"])})
    if len(facts) == 1:
        [(form, content)] = facts.items()
        if form == "buffer" and type(content) is int and 0 <= content < len(buffers):
            return buffers[content]
        if form in ("list", "tuple") and isinstance(content, list):
            found = [decode(each, buffers) for each in content]
            return found if form == "list" else tuple(found)
        if form == "map":
            return {name: decode(each, buffers) for name, each in _items(content)}
    raise MalformedError(f"{', '.join(facts) or 'nothing'} stands where a value should")


def _items(facts: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(facts, dict):
        raise MalformedError("fields are missing")
    yield from facts.items()


def _known(name: Any, version: Any) -> Codec:
    known = CODECS.get(name) if isinstance(name, str) else None
    if known is None:
        raise OtherVersionError(f"it has something called {name!r}, which this version does not know")
    if version != known.version:
        raise OtherVersionError(f"it has {name} of version {version}, and this version reads {known.version}")
    return known
