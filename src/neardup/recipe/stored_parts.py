"""Parts of recipes that are more than a name: what a recipe's digest knows of them, and what is left of them in a stored file."""

import importlib.metadata
import json
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from neardup.errors import MissingExtra, OptionError


@dataclass(frozen=True)
class StoredPart:
    """A part of a stored recipe of which only what the digest knows is at hand: a caller's function, a file's words.

    A recipe with such parts has the digest of the one that was stored, so that fingerprints can be compared; it cannot make any.

    Attributes:
        content: what the digest knows of it, as JSON.
    """

    content: str

    def as_dict(self) -> dict[str, Any]:
        """What a recipe's digest knows of it."""
        known: dict[str, Any] = json.loads(self.content)
        return known

    def refuse(self, what: str) -> NoReturn:
        """Say that no fingerprint can be made with it.

        Raises:
            OptionError: always.
        """
        raise OptionError(
            f"{what}: only its identity, {self.content}, is stored with the fingerprints, and what is here is not the same. "
            "Give the recipe itself, with the same function, files and versions of packages."
        )


def stored(known: dict[str, Any]) -> StoredPart:
    """The placeholder of what is known so."""
    return StoredPart(json.dumps(known, sort_keys=True, ensure_ascii=False))


def plain(value: Any) -> Any:
    """A field's value as JSON has it, as far as the digest knows it."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.as_dict() if hasattr(value, "as_dict") else value


@cache
def version_of(distribution: str) -> str | None:
    """The version of an installed distribution; None if there is none."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def with_versions(name: str, distributions: tuple[str, ...]) -> Any:
    """The name of a part that packages decide, with their versions: what other versions give may differ."""
    return {"name": name, **{each: version_of(each) for each in distributions}} if distributions else name


def check_installed(what: str, distributions: tuple[str, ...], extra: str) -> None:
    """Refuse what needs packages that are not installed.

    Raises:
        MissingExtra: with the command that installs them.
    """
    missing = [each for each in distributions if version_of(each) is None]
    if missing:
        raise MissingExtra(f"{what} needs {' and '.join(missing)}. Install it: pip install 'neardup[{extra}]'")
