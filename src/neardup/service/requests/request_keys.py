"""REQUEST KEYS: the header `Idempotency-Key`, by which a repeated request gets the answer of the first one."""

import re
from dataclasses import dataclass

from starlette.datastructures import Headers

from neardup.service.problems import Problem
from neardup.service.tokens import Caller

MAX_KEY_CHARACTERS = 200
_KEY = re.compile(r'"(?P<quoted>[\x20-\x21\x23-\x5b\x5d-\x7e]+)"|(?P<bare>[\x21\x23-\x5b\x5d-\x7e]+)')


@dataclass(frozen=True, slots=True)
class RequestKey:
    """A key, which belongs to one caller: others may give the same."""

    caller: str
    key: str

    @property
    def whole(self) -> str:
        """By what the answer to the whole request is kept."""
        return f"{self.caller}\n\n{self.key}"

    def part(self, number: int) -> str:
        """By what the answers to a part of a stream are kept."""
        return f"{self.caller}\n{number}\n{self.key}"


def key_of(headers: Headers, caller: Caller) -> RequestKey | None:
    """The key of a request, in quotation marks (as the draft of the IETF has it) or without; None if there is none.

    Raises:
        Problem: it is no key.
    """
    given = headers.get("idempotency-key")
    if given is None:
        return None
    found = _KEY.fullmatch(given.strip())
    if found is None or len(given) > MAX_KEY_CHARACTERS:
        raise Problem(
            "invalid_value",
            f"Idempotency-Key: {given[:MAX_KEY_CHARACTERS]!r}. Give up to {MAX_KEY_CHARACTERS} printable ASCII characters, "
            "such as a UUID.",
        )
    return RequestKey(caller.name, found["quoted"] or found["bare"])
