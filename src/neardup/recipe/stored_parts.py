"""Parts of recipes with more than a name: their values in a recipe's digest, and their placeholders in stored recipes."""

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NoReturn, TypeVar

from neardup.errors import MissingExtra, OptionError

Part = TypeVar("Part")


@dataclass(frozen=True)
class StoredPart:
    """The placeholder for a part of a stored recipe that is not available, such as a caller's function or a file's words.

    It has the part's values in the digest only. A recipe with such parts has the digest of the original recipe, so its fingerprints
    can be compared. It cannot make fingerprints.

    Attributes:
        content: the part's values in the digest, as JSON.
        why: why it is not available, and what to do, if more is known than that.
        file: the file that it came from, a `neardup.recipe.files.kept_files.KeptFile`, if it came from one.
    """

    content: str
    why: str = field(default="", compare=False, repr=False)
    file: Any = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The values that enter a recipe's digest."""
        known: dict[str, Any] = json.loads(self.content)
        return known

    def refuse(self, what: str) -> NoReturn:
        """Refuse to make fingerprints with this part.

        Raises:
            OptionError: always.
        """
        if self.why:
            raise OptionError(f"`{what}`: {self.why}.")
        raise OptionError(
            f"`{what}`: only its identity, {self.content}, is stored with the fingerprints, and what is here is not the same. "
            "Give the recipe itself, with the same function, files and versions of packages."
        )


def stored(known: dict[str, Any], why: str = "") -> StoredPart:
    """Make the placeholder of a part from its values in the digest; `why`: see `StoredPart`."""
    return StoredPart(json.dumps(known, sort_keys=True, ensure_ascii=False), why)


def of_other_versions(known: dict[str, Any], distributions: tuple[str, ...]) -> str:
    """Why a part is not available whose packages have other versions here; for `StoredPart.why`."""
    there = " and ".join(f"{each} {known.get(each)}" for each in distributions)
    here = " and ".join(f"{each} {version_of(each)}" if version_of(each) else f"no {each}" for each in distributions)
    install = " ".join(f"{each}=={known.get(each)}" for each in distributions)
    return f"what is stored was made with {there}, and here is {here}. Install what it was made with: pip install {install}"


def available(part: Part | StoredPart, what: str) -> Part:
    """The part of a recipe, if it is available; `what` is its field.

    Raises:
        OptionError: only its placeholder is there.
    """
    if isinstance(part, StoredPart):
        part.refuse(what)
    return part


def plain(value: Any) -> Any:
    """Convert a field's value to plain values as they enter the digest."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.as_dict() if hasattr(value, "as_dict") else value


@cache
def version_of(distribution: str) -> str | None:
    """The version of an installed distribution; None if it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def is_installed(distribution: str) -> bool:
    """Whether a distribution is installed."""
    return version_of(distribution) is not None


def with_versions(name: str, distributions: tuple[str, ...]) -> Any:
    """The name of a part with the versions of its packages, because its results may depend on them."""
    return {"name": name, **{each: version_of(each) for each in distributions}} if distributions else name


def check_installed(what: str, distributions: tuple[str, ...], extra: str) -> None:
    """Check that packages are installed; `what` needs them.

    Raises:
        MissingExtra: a package is missing; the message has the command that installs it.
    """
    missing = [each for each in distributions if not is_installed(each)]
    if missing:
        raise MissingExtra(f"{what} needs {' and '.join(missing)}. Install it: pip install 'neardup[{extra}]'")
