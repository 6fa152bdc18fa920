"""ADMISSION: who may ask, and how much at once. What is beyond the limits is refused before it takes memory or time."""

import math
import time
from collections.abc import Collection
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.requests import Request

from neardup.service.limits import Limits
from neardup.service.problems import Problem, later
from neardup.service.tokens import Caller, Role, Tokens

LONGEST_WAIT_SECONDS = 86_400.0
"""Seconds after which a caller that gives too much is told to ask again, at most."""


class Rate:
    """Documents a second of one caller: a bucket that fills at this rate, and has room for a second, a batch or a part of lines."""

    def __init__(self, rate: float, room: float) -> None:
        self._rate, self._room = rate, room
        self._left, self._at = room, time.monotonic()

    def take(self, documents: int) -> float:
        """Take so many, if there are; else the seconds until there will be."""
        now = time.monotonic()
        self._left = min(self._room, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < documents:
            return min((documents - self._left) / self._rate, LONGEST_WAIT_SECONDS)
        self._left -= documents
        return 0.0


class Held:
    """The memory that the body of one request takes."""

    def __init__(self, admission: "Admission") -> None:
        self._admission, self._bytes = admission, 0

    def add(self, size: int) -> None:
        """Take more.

        Raises:
            Problem: all requests together have too much.
        """
        admission = self._admission
        if admission.held + size > admission.limits.max_memory:
            raise later("busy", f"Bodies of {admission.held:,} bytes are being read or answered. Ask again later.")
        admission.held += size
        self._bytes += size

    def release(self, size: int | None = None) -> None:
        """Give up some of it, or all."""
        size = self._bytes if size is None else size
        self._admission.held -= size
        self._bytes -= size


@dataclass
class Asked:
    """A request that was admitted, and what its log line will tell.

    Attributes:
        request, caller: what was asked, and by whom.
        held: the memory of its body.
        documents: how many documents or texts it has had so far.
    """

    request: Request
    caller: Caller
    held: Held
    documents: int = field(default=0, init=False)


class Admission:
    """What all requests share.

    Attributes:
        running: requests that are being answered; held: bytes of their bodies.
    """

    def __init__(self, limits: Limits, tokens: Tokens, hosts: Collection[str] = ()) -> None:
        """`hosts`: names that requests may give as the host; any, if there are none."""
        self.limits, self.tokens = limits, tokens
        self.running, self.held = 0, 0
        self._hosts = frozenset(each.lower() for each in hosts)
        self._rates: dict[str, Rate] = {}

    def demand_host(self, headers: Headers) -> None:
        """Refuse a request that was sent to another name: a page of a stranger whose name leads to this machine.

        Raises:
            Problem: the host is none of those that are served.
        """
        if not self._hosts:
            return
        host = headers.get("host", "").lower()
        name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        if name.strip("[]") not in self._hosts:
            raise Problem(
                "invalid_host",
                f"The host {host!r} is not served without tokens, only {', '.join(sorted(self._hosts))}. Ask one of these, or "
                "start the service with --tokens.",
            )

    def caller(self, headers: Headers) -> Caller:
        """Who asks.

        Raises:
            Problem: there is no such token.
        """
        found = self.tokens.caller(headers.get("authorization"))
        if found is None:
            raise Problem(
                "unauthorized",
                "Give a token of this service: `Authorization: Bearer TOKEN`.",
                {"WWW-Authenticate": 'Bearer realm="neardup"'},
            )
        return found

    def demand_role(self, caller: Caller, role: Role) -> None:
        """Refuse a caller who may not do this.

        Raises:
            Problem: the role of the token is too low.
        """
        if not caller.may(role):
            raise Problem("forbidden", f"The token of {caller.name} has the role {caller.role}. This needs {role}.")

    def enter(self) -> None:
        """Begin with a request; `leave` ends it.

        Raises:
            Problem: there are too many.
        """
        if self.running >= self.limits.max_requests:
            raise later("too_many_requests", f"{self.running:,} requests are being answered. Ask again later.")
        self.running += 1

    def leave(self) -> None:
        self.running -= 1

    def wait_for(self, caller: Caller, documents: int) -> float:
        """Seconds until a caller may give so many documents; 0 if now, and then they count."""
        rate = self.limits.max_rate
        if rate is None:
            return 0.0
        if caller.name not in self._rates:
            self._rates[caller.name] = Rate(rate, max(rate, self.limits.max_batch, self.limits.lines_per_part))
        return self._rates[caller.name].take(documents)

    def demand_rate(self, caller: Caller, documents: int) -> None:
        """Count documents of a caller.

        Raises:
            Problem: they come too fast.
        """
        seconds = self.wait_for(caller, documents)
        if seconds:
            raise later(
                "rate_exceeded",
                f"{caller.name} may give {self.limits.max_rate:,} documents a second. Ask again in {math.ceil(seconds)} s.",
                seconds,
            )
