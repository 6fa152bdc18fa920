"""Choose the method of Hamming search, and its options, by their cost. No other module chooses.

The planner considers the methods that fit the memory and take at most TIMES_SLOWER times the shortest time to insert a document
and look one up. Among these, it chooses the one that needs the least memory. docs/planner.md explains the model.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from neardup.errors import OptionError
from neardup.hamming.index.methods.table import METHODS
from neardup.hamming.index.planning.costs import Cost, Options, Setting
from neardup.hamming.index.planning.machine import TYPICAL

TIMES_SLOWER = 2.5
"""A method may be this many times as slow as the fastest if it needs less memory."""


@dataclass(frozen=True)
class Choice:
    """A method with its options and their cost."""

    method: str
    options: dict[str, int]
    cost: Cost


def exact_methods() -> list[str]:
    """The methods among which `auto` chooses."""
    return [name for name, method in METHODS.items() if method.is_exact]


def considered(method: str, setting: Setting, given: Options | None = None) -> list[Choice]:
    """List a method with all options that may be the best; the options in `given` stay as they are.

    Raises:
        OptionError: the method cannot be used for these bits and this distance, or with these options.
    """
    fixed, refused = dict(given or {}), ""  # the words alone: an error that stays here keeps the frames of all callers
    found: dict[tuple[tuple[str, int], ...], Choice] = {}
    code = METHODS[method].code
    for usual in code.considered(setting):
        options = usual | fixed
        key = tuple(sorted(options.items()))
        if key in found:
            continue
        try:
            found[key] = Choice(method, options, code.cost(setting, options))
        except OptionError as problem:
            refused = refused or str(problem)
    if not found:
        raise OptionError(
            refused or f"{method} has no options for {setting.bits} bits at distance {setting.max_distance}."
        )
    return list(found.values())


def best_of(method: str, setting: Setting, *, memory: float = math.inf, given: Options | None = None) -> Choice:
    """Find a method's best options that fit in `memory` (bytes) or, if none fit, those that need the least memory.

    Raises:
        OptionError: see `considered`.
    """
    found = considered(method, setting, given)
    fitting = [choice for choice in found if choice.cost.nbytes <= memory]
    if not fitting:
        return min(found, key=lambda choice: choice.cost.nbytes)
    return _cheapest(fitting, setting.rows)


def _cheapest(choices: Iterable[Choice], rows: int) -> Choice:
    """Choose what needs the least memory among what takes at most TIMES_SLOWER times as long as the fastest."""
    listed = list(choices)
    fastest = min(choice.cost.seconds_a_document(rows) for choice in listed)
    near = [choice for choice in listed if choice.cost.seconds_a_document(rows) <= TIMES_SLOWER * fastest]
    return min(near, key=lambda choice: (choice.cost.nbytes, choice.cost.seconds_a_document(rows)))


def choices_for(
    setting: Setting, methods: Iterable[str], *, memory: float = math.inf
) -> tuple[list[Choice], dict[str, str]]:
    """Return the best options of each method; and, by name, why other methods cannot be used."""
    found, refused = [], {}
    for method in methods:
        try:
            found.append(best_of(method, setting, memory=memory))
        except OptionError as problem:
            refused[method] = str(problem)
    return found, refused


def choose(setting: Setting, *, memory: float = math.inf) -> Choice | None:
    """Choose the best exact method and options that fit the memory; None if none fits."""
    fitting = [choice for choice in _all_of(setting, exact_methods(), {}) if choice.cost.nbytes <= memory]
    return _cheapest(fitting, setting.rows) if fitting else None


def _all_of(setting: Setting, methods: Iterable[str], given: Options) -> list[Choice]:
    found: list[Choice] = []
    refused: list[str] = []
    for method in methods:
        try:
            found += considered(method, setting, given)
        except OptionError as problem:
            refused.append(str(problem))
    if not found:
        fixed = ", ".join(f"`{name}={value}`" for name, value in given.items())
        why = " ".join(refused) or "no exact method has such options; name a `method`."
        raise OptionError(f"`method='auto'` with {fixed}: {why}")
    return found


def usual_options(
    method: str, *, bits: int, max_distance: int, rows: int, given: Options | None = None
) -> dict[str, int]:
    """All options of a method for a segment of `rows` rows: the given ones, and for the others the best by typical constants.

    Raises:
        OptionError: the method cannot be used with these options.
    """
    return best_of(method, _typical(bits, max_distance, rows), given=given).options


def usual_choice(*, bits: int, max_distance: int, rows: int, given: Options | None = None) -> Choice:
    """What `auto` chooses for a segment of `rows` rows. Given options restrict it to the exact methods that have all of them.

    Raises:
        OptionError: no exact method can be used with these options.
    """
    fixed = dict(given or {})
    methods = [name for name in exact_methods() if set(fixed) <= set(METHODS[name].option_names)]
    setting = _typical(bits, max_distance, rows)
    return _cheapest(_all_of(setting, methods, fixed), setting.rows)


def _typical(bits: int, max_distance: int, rows: int) -> Setting:
    return Setting(max(2, rows), bits, max_distance, TYPICAL)
