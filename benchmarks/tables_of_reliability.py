"""Tables of attacks: random cases, flipped bytes and killed runs, from `reliability.json`."""

from cells import Record
from measure import table

SHOWN = {
    "method": "method",
    "similarity": "similarity",
    "cluster": "clusters",
    "unit": "unit",
    "way": "way",
    "format": "format",
    "threshold": "threshold",
    "keep": "`--keep`",
    "threads": "threads",
    "survivors_first": "survivors first, in blocks",
    "share_bytes": "bytes of each share of the memory",
}
"""The counts of random cases, and what they are called."""
OUTCOMES = ("same", "refused by name", "another valid file")


def reliability(record: Record) -> str:
    """How often each option was drawn."""
    by = record["fuzz"]["by"]
    rows = [
        [title, ", ".join(f"{_shown(value)} {count:,}" for value, count in by[name].items())]
        for name, title in SHOWN.items()
        if name in by
    ]
    rows += [
        [flag, f"{by[name].get(given, 0):,}"]
        for flag, name, given in (
            ("`--within`", "within", "True"),
            ("`--against`", "against", "True"),
            ("another recipe", "recipe", "changed"),
        )
    ]
    return table(["", "cases"], rows)


def _shown(value: str) -> str:
    return "the usual" if value == "None" else value


def flips(record: Record) -> str:
    """What came of the flips in each format."""
    forms = record["flips"]["forms"]
    others = sorted({name for counts in forms.values() for name in counts} - set(OUTCOMES))
    names = [*OUTCOMES, *others]
    rows = [[form, *(f"{counts.get(name, 0):,}" for name in names)] for form, counts in forms.items()]
    rows.append(["all", *(f"{sum(counts.get(name, 0) for counts in forms.values()):,}" for name in names)])
    return table(["", *names], rows)


def kills(record: Record) -> str:
    """How many runs were killed, and how many were finished after it."""
    rows = [
        [name, f"{each['kills']:,}", f"{each['finished_runs']:,}"]
        for name, each in record["kills"]["scenarios"].items()
    ]
    rows.append(["all", f"{record['kills']['kills']:,}", f"{record['kills']['finished_runs']:,}"])
    return table(["", "killed", "finished"], rows)
