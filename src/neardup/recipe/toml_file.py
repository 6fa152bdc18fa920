"""The values of a TOML file that a person names, or what is wrong with it."""

import tomllib
from pathlib import Path
from typing import Any

from neardup.errors import InputError


def toml_values(name: str, kind: str, instead: str) -> dict[str, Any]:
    """The values of a TOML file.

    Args:
        name: its path, as it was given.
        kind: what messages call it: `recipe file`.
        instead: what may be given where there is no such file, as a sentence.

    Raises:
        InputError: there is no such file, or it is no TOML.
    """
    try:
        content = Path(name).read_bytes()
        return tomllib.loads(content.decode())
    except FileNotFoundError:
        raise InputError(f"There is no {kind} {name!r}. {instead}") from None
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise InputError(f"The {kind} {name!r}, line {line}: this is not UTF-8. Store the file as UTF-8.") from None
    except OSError as problem:
        raise InputError(f"The {kind} {name!r} cannot be read: {problem.strerror}. Give a file.") from None
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"The {kind} {name!r} cannot be read as TOML: {problem}. Mend it.") from None
