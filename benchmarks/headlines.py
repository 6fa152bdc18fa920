"""HEADLINES: the few figures that people quote, kept for each commit and machine, so that a loss is seen when it is made.

`make bench-quick` compares them with those of the last commit that was measured on the same machine. They are ratios to a peer in
the same run, and processor seconds: wall time on shared machines moves by half. Figures of a tree with uncommitted changes are
compared but not kept.
"""

import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import measure
import tables

LOSS = 0.05
"""A figure that is worse by more than this fraction is reported."""


@dataclass(frozen=True)
class Headline:
    """A figure in a result file, at a path of keys and places; `is_cost`: less of it is better."""

    title: str
    benchmark: str
    path: tuple[str | int, ...]
    is_cost: bool = False


_ROWS = ("rows", 0, "ratio")
HEADLINES = (
    Headline("English fingerprints, times ClickHouse", "fingerprints", ("results", "english", *_ROWS)),
    Headline("Chinese fingerprints, times ClickHouse", "fingerprints", ("results", "chinese", *_ROWS)),
    Headline("Japanese fingerprints, times ClickHouse", "fingerprints", ("results", "japanese", *_ROWS)),
    Headline(
        "Hamming join, times as long as the prototype",
        "hamming_join",
        ("side_by_side", "uniform", "times_as_long_as_prototype"),
        is_cost=True,
    ),
    Headline("Hamming queries k=3, times FAISS", "hamming_index", ("uniform", "k=3", "times_the_fastest_faiss")),
    Headline("dedup of shards, processor seconds", "corpus_speed", ("jsonl", "run", "processor_seconds"), is_cost=True),
    Headline(
        "dedup of a large file, processor seconds", "end_to_end", ("large file", "processor_seconds"), is_cost=True
    ),
    Headline(
        "dedup of a small file, processor seconds",
        "end_to_end",
        ("small file, 1,000 documents", "processor_seconds"),
        is_cost=True,
    ),
)


def figures_of(folder: Path) -> dict[str, float]:
    """The headline figures in a folder of result files; what was not measured is missing."""
    found = {}
    for headline in HEADLINES:
        value: Any = tables.load(folder, headline.benchmark)
        for step in headline.path:
            if isinstance(value, Mapping):
                value = value.get(step)
            else:
                value = value[step] if isinstance(value, list) and len(value) > int(step) else None
        if isinstance(value, int | float):
            found[headline.title] = float(value)
    return found


def losses(now: Mapping[str, float], before: Mapping[str, float]) -> Iterator[str]:
    """A line for each figure that is worse than before by more than LOSS."""
    for headline in HEADLINES:
        new, old = now.get(headline.title), before.get(headline.title)
        if new and old and (loss := new / old - 1 if headline.is_cost else old / new - 1) > LOSS:
            yield f"{headline.title}: {new:g}, was {old:g} ({loss:.0%} worse)"


def compared(folder: Path, history: Path) -> list[str]:
    """What to print of the figures in `folder`; they join `history`, a JSON file, unless the tree has uncommitted changes."""
    state, figures = measure.environment(), figures_of(folder)
    machine = state["machine"] | {"name": platform.node()}
    records = json.loads(history.read_text(encoding="utf-8")) if history.is_file() else []
    before = [each for each in records if each["machine"] == machine and each["commit"] != state["commit"]]
    if state["commit"] and not state["uncommitted_changes"] and figures:
        same = [each for each in records if each["machine"] == machine and each["commit"] == state["commit"]]
        record = {name: state[name] for name in ("date", "commit")} | {"machine": machine, "figures": figures}
        measure.write_json(history, [*(each for each in records if each not in same), record])
    if not before:
        return ["headline figures: no other commit was measured on this machine"]
    last = before[-1]
    since = f"since commit {last['commit'][:8]} ({last['date']})"
    worse = list(losses(figures, last["figures"]))
    return [f"WORSE {since}: {line}" for line in worse] or [f"headline figures: none worse by more than 5 % {since}"]
