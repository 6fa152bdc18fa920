"""Draw cases and compare them with their definition, for so many seconds of processor time.

    python -m fuzz --seconds 3600 --seed 1 [--first 0] [--cases N] [--stop] [--output FILE.json]

A case is its seed and number: `--seed S --first N --cases 1` runs it again. What differs is printed with its options and with the
smallest corpus that still differs. Exits with 1 if anything differs.
"""

import argparse
import json
import pprint
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from fuzz import cases
from fuzz.cases import Case
from fuzz.comparison import Compared, compare
from fuzz.shrinking import shrunk

MISSES = 20
"""So many pairs more than expected may minhash miss, before that is a find."""


class Tally:
    """What was compared, counted."""

    def __init__(self, seed: int) -> None:
        self.seed, self.cases, self.began = seed, 0, time.process_time()
        self.by: dict[str, Counter[str]] = {name: Counter() for name in COUNTED}
        self.amounts: Counter[str] = Counter()
        self.finds: list[dict[str, Any]] = []
        self.expected_missed = 0.0

    @property
    def seconds(self) -> float:
        return time.process_time() - self.began

    def add(self, number: int, case: Case, compared: Compared) -> None:
        """Count a case."""
        self.cases += 1
        for name, value_of in COUNTED.items():
            self.by[name][str(value_of(case, compared))] += 1
        self.amounts.update(
            documents=len(case.documents), removed=compared.removed, pairs=compared.pairs,
            minhash_pairs=compared.promised, minhash_missed=compared.missed,
        )  # fmt: skip
        self.expected_missed += compared.expected_missed
        if compared.differences:
            self.finds.append(
                {"number": number, "first": compared.differences[0][:300], "differences": len(compared.differences)}
            )

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "seed": self.seed,
            "cases": self.cases,
            "processor_seconds": round(self.seconds),
            **dict(self.amounts),
            "minhash_missed_at_most_expected": round(self.expected_missed, 1),
            "by": {name: dict(sorted(counts.items())) for name, counts in self.by.items()},
            "finds": self.finds,
        }


def _tenth(case: Case, _: Compared) -> str:
    least = case.option("min_similarity")
    tenth = int(10 * least)
    return "1" if least == 1 else f"{tenth / 10}-{(tenth + 1) / 10}"


COUNTED = {
    "method": lambda case, compared: compared.method or "none",
    "similarity": lambda case, _: case.option("similarity"),
    "cluster": lambda case, _: "pairs" if case.way == "match" else case.option("cluster"),
    "unit": lambda case, _: case.unit,
    "way": lambda case, _: case.way,
    "format": lambda case, _: "none" if case.way in ("rows", "table", "match") else case.kind,
    "threshold": _tenth,
    "keep": lambda case, _: "none" if case.way == "match" else case.option("keep"),
    "within": lambda case, _: case.option("within") is not None,
    "against": lambda case, _: case.reference is not None,
    "threads": lambda case, _: case.options["threads"],
    "survivors_first": lambda case, _: case.block is not None,
    "share_bytes": lambda case, _: case.share,
    "recipe": lambda case, _: "changed" if case.recipe else "default",
}
"""What cases are counted by."""


def show(seed: int, number: int, case: Case, compared: Compared) -> None:
    """Print a find, and the smallest corpus that shows it."""
    kind = compared.differences[0].split(":")[0].split(" ")[0]
    print(f"== differs: --seed {seed} --first {number} --cases 1")
    print("\n".join(f"   {line[:2000]}" for line in compared.differences[:5]), flush=True)

    def differs(smaller: Case) -> bool:
        found = compare(smaller).differences
        return bool(found) and found[0].split(":")[0].split(" ")[0] == kind

    small = shrunk(case, differs)
    print("   smallest:", pprint.pformat(small, width=150), sep="\n")
    print("\n".join(f"   {line[:2000]}" for line in compare(small).differences[:3]), flush=True)


def main() -> int:
    """The loop."""
    parser = argparse.ArgumentParser(
        prog="fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1 << 62)
    parser.add_argument("--stop", action="store_true", help="at the first difference")
    parser.add_argument("--output", type=Path, help="figures as JSON, written anew every minute")
    given = parser.parse_args()
    warnings.simplefilter("error")
    tally, saved = Tally(given.seed), time.monotonic()
    for number in range(given.first, given.first + given.cases):
        case = cases.draw(given.seed, number)
        compared = compare(case)
        tally.add(number, case, compared)
        if compared.differences:
            show(given.seed, number, case, compared)
        if given.output and time.monotonic() - saved > 60:
            given.output.write_text(json.dumps(tally.as_dict(), indent=1) + "\n")
            saved = time.monotonic()
        if tally.seconds > given.seconds or (given.stop and tally.finds):
            break
    missed, expected = tally.amounts["minhash_missed"], tally.expected_missed
    if missed > 2 * expected + MISSES:
        tally.finds.append({"first": f"minhash missed {missed} pairs, where at most {expected:.0f} are expected"})
    if given.output:
        given.output.write_text(json.dumps(tally.as_dict(), indent=1) + "\n")
    print(json.dumps(tally.as_dict(), indent=1))
    return 1 if tally.finds else 0


if __name__ == "__main__":
    sys.exit(main())
