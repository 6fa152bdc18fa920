"""Read a TOML file that the user names, with messages that say what is wrong with it."""

import re
from pathlib import Path
from typing import Any

from neardup.errors import DECODER_ERRORS, InputError


def toml_values(name: str, kind: str, instead: str) -> dict[str, Any]:
    """Read the values of a TOML file.

    Args:
        name: the path as given.
        kind: the kind of file in messages, such as `recipe file`.
        instead: a sentence with the alternatives, for the message about a missing file.

    Raises:
        InputError: the file does not exist or is not TOML.
    """
    import tomllib

    try:
        content = Path(name).read_bytes()
        return tomllib.loads(content.decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"There is no {kind} {name!r}. {instead}") from None
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise InputError(f"The {kind} {name!r}, line {line}: this is not UTF-8. Store the file as UTF-8.") from None
    except OSError as problem:
        raise InputError(f"The {kind} {name!r} cannot be read: {problem.strerror}. Give a file.") from None
    except tomllib.TOMLDecodeError as problem:
        if "overwrite a value" in str(problem):
            lines = content.decode().rstrip().splitlines()
            found = re.search(r"at line (\d+)", str(problem))
            number = int(found[1]) if found else len(lines)
            key = lines[number - 1].partition("=")[0].strip()
            raise InputError(
                f"The {kind} {name!r}, line {number}: {key} has a value already. Keep one of the two."
            ) from None
        raise InputError(f"The {kind} {name!r} is not valid TOML: {problem}.") from None
    except RecursionError:
        raise InputError(f"The {kind} {name!r} is nested too deeply. Give a flatter file.") from None
    except DECODER_ERRORS as problem:
        raise InputError(f"The {kind} {name!r} is not valid TOML: {problem}.") from None
