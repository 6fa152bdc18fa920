"""TOKENS: who may ask what. A token is kept as its digest alone, and compared in constant time."""

import hashlib
import hmac
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from neardup.display import counted
from neardup.errors import InputError

Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Each may do what the ones before it may."""
VARIABLE = "NEARDUP_TOKENS"
"""The environment variable that may have the lines of a file of tokens."""
MIN_TOKEN_CHARACTERS = 20
"""Characters of a token: 20 of 64 have 120 bits."""
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""What may stand behind `Bearer` (RFC 6750)."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the name of the token, and its role."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether the caller has a role, or one above it."""
        return ROLES.index(self.role) >= ROLES.index(role)


ANYBODY = Caller("-", "admin")
"""Who asks where there are no tokens."""


@dataclass(frozen=True)
class Tokens:
    """The tokens of a service: SHA-256 digests with their callers. Without any, anybody may do everything."""

    callers: Sequence[tuple[bytes, Caller]] = ()

    def __bool__(self) -> bool:
        return bool(self.callers)

    def __repr__(self) -> str:
        return f"Tokens({', '.join(f'{caller.name}: {caller.role}' for _, caller in self.callers)})"

    def caller(self, authorization: str | None) -> Caller | None:
        """Who sends this header; None if it is nobody's. Every token is compared, whichever it is."""
        if not self.callers:
            return ANYBODY
        scheme, _, given = (authorization or "").partition(" ")
        digest = hashlib.sha256(given.strip().encode("latin-1", "replace")).digest()
        found = None
        for known, caller in self.callers:
            if hmac.compare_digest(known, digest):
                found = caller
        return found if scheme.lower() == "bearer" else None


def read_tokens(path: str | Path | None) -> Tokens:
    """The tokens of a file, or else of the environment variable `NEARDUP_TOKENS`.

    Each line has the name of a caller, a role and a token: `crawler write 9iXh…`. Empty lines and those after # are comments.

    Raises:
        InputError: the file cannot be read, or a line is none of these. The message quotes no token.
    """
    if path is None:
        given, place = os.environ.get(VARIABLE, ""), f"the environment variable {VARIABLE}"
    else:
        try:
            given, place = Path(path).read_text(encoding="utf-8-sig"), str(path)
        except UnicodeDecodeError as problem:
            raise InputError(f"{path} is not UTF-8 (byte {problem.start}).") from None
        except OSError as problem:
            raise InputError(f"{path} cannot be read: {problem.strerror}.") from None
    found: dict[bytes, Caller] = {}
    for number, line in enumerate(given.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        digest, caller = _parse(line, f"{place}, line {number}")
        if digest in found or caller.name in {each.name for each in found.values()}:
            raise InputError(
                f"{place}, line {number}: the name or the token stands there twice. Give each caller its own."
            )
        found[digest] = caller
    if not found and (path is not None or VARIABLE in os.environ):  # a secret that is missing must not open the service
        raise InputError(f"{place} has no tokens. Give lines such as `crawler write TOKEN`.")
    return Tokens(tuple(found.items()))


def _parse(line: str, place: str) -> tuple[bytes, Caller]:
    words = line.split()
    if len(words) != 3 or words[1] not in ROLES:
        raise InputError(f"{place}: give a name, one of the roles {', '.join(ROLES)}, and a token.")
    name, role, token = words
    if not _TOKEN.fullmatch(token) or len(token) < MIN_TOKEN_CHARACTERS:
        raise InputError(
            f"{place}: the token of {name} has {counted(len(token), 'character')}. Give at least {MIN_TOKEN_CHARACTERS} "
            "letters, digits and - . _ ~ + /, such as `python -c 'import secrets; print(secrets.token_urlsafe(32))'` makes."
        )
    return hashlib.sha256(token.encode()).digest(), Caller(name, next(each for each in ROLES if each == role))


def is_read_by_others(path: str | Path) -> bool:
    """Whether other users may read a file."""
    return bool(os.stat(path).st_mode & 0o077)
