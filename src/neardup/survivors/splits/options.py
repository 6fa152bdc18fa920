"""The options of a split: its sides with their shares, and what stays together."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

from neardup.errors import OptionError, is_integer

Shares = Mapping[str, float] | str
"""Shares by the names of sides; or the same as text: `train=0.8,val=0.1,test=0.1`."""

CONFLICTS = "conflicts"
"""The name of what matches documents of two sides of an earlier split; no side may have it."""
_NAME = re.compile(r"\w[\w-]*(\.[\w-]+)*")
_SUM_TOLERANCE = 1e-6
_EXAMPLE = "such as 'train=0.8,val=0.1,test=0.1'"


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """How documents are dealt to sides.

    Attributes:
        shares: the share of each side, by its name; above 0, and together 1. Also as text, `train=0.8,test=0.2`.
        seed: an integer of 64 bits. Another seed deals differently.
        stratify: a column. Each side gets its share of every value, as well as what stays together allows. Documents without a
            value are one value more.
        group: a column. Documents with equal values stay together, besides those that match. Documents without a value are in no
            group.

    Raises:
        OptionError: a value is not allowed.
    """

    shares: Shares
    seed: int = 0
    stratify: str | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", _shares_of(self.shares))
        if not is_integer(self.seed) or not -(1 << 63) <= self.seed < 1 << 64:
            raise OptionError(f"`seed={self.seed!r}`: give an integer of 64 bits.")
        object.__setattr__(self, "seed", int(self.seed))
        for name in ("stratify", "group"):
            given = getattr(self, name)
            if given is not None and not (isinstance(given, str) and given):
                raise OptionError(f"`{name}={given!r}`: give the name of a column.")

    @property
    def sides(self) -> tuple[str, ...]:
        """The names of the sides, in the order in which they were given."""
        return tuple(self.shares)

    @property
    def fractions(self) -> list[Fraction]:
        """The share of each side, exactly; their sum is 1."""
        given: Any = self.shares
        found = [_fraction(share) for share in given.values()]
        return [each / sum(found) for each in found]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values are needed."""
        return tuple(dict.fromkeys(name for name in (self.stratify, self.group) if name is not None))

    @property
    def columns_asked_by(self) -> dict[str, str]:
        """For each of `columns`, the option that names it; see `neardup.io.corpora.batch.Columns`."""
        return {name: f"{option}=" for option in ("group", "stratify") if (name := getattr(self, option)) is not None}

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dataclasses.asdict(self)


def _fraction(share: Any) -> Fraction:
    return share if isinstance(share, Fraction) else Fraction(repr(float(share)))


def _shares_of(given: Any) -> dict[str, float]:
    """Shares by side, checked."""
    shares = _parsed(given) if isinstance(given, str) else given
    if not isinstance(shares, Mapping):
        raise OptionError(f"`shares={given!r}`: give the share of each side, {_EXAMPLE}, or a dict.")
    found: dict[str, float] = {}
    for name, share in shares.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise OptionError(
                f"`shares={given!r}`: {name!r} cannot name a side and its files. Use letters, digits, - and _, and a point between "
                "them."
            )
        if name.casefold() == CONFLICTS:
            raise OptionError(
                f"`shares={given!r}`: {name!r} is the name of documents that match two sides. Give the side another name."
            )
        if name.casefold() in map(str.casefold, found):
            raise OptionError(f"`shares={given!r}`: two sides are called {name!r}. Give each a name of its own.")
        number: Any = share
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 < number < 1:  # float(10**400) would raise
            raise OptionError(
                f"`shares={given!r}`: the share of {name!r} is {share!r}. Give a number above 0 and below 1."
            )
        found[name] = float(share)
    if len(found) < 2:
        raise OptionError(f"`shares={given!r}`: a split has two sides or more. Give the share of each, {_EXAMPLE}.")
    if abs(sum(found.values()) - 1) > _SUM_TOLERANCE:
        raise OptionError(f"`shares={given!r}`: the shares add up to {sum(found.values()):.6g}. Make it 1.")
    return found


def _parsed(given: str) -> list[tuple[str, float]] | dict[str, float]:
    """Shares that are written as `train=0.8,test=0.2`."""
    found: dict[str, float] = {}
    for part in given.split(","):
        name, equals, number = (each.strip() for each in part.partition("="))
        try:
            share = float(number)
        except ValueError:
            share = None
        if not equals or share is None:
            raise OptionError(
                f"`shares={given!r}`: {part.strip()!r} is not NAME=SHARE. Give the share of each side, {_EXAMPLE}."
            )
        if name in found:
            raise OptionError(f"`shares={given!r}`: two sides are called {name!r}. Give each a name of its own.")
        found[name] = share
    return found
