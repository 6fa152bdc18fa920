"""The page: what is shown of a run, and the template that shows it."""

import base64
import hashlib
import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files as package_files
from typing import Any

from neardup.errors import MissingExtra
from neardup.judging.reports.bands import FIRST, OTHERS, Bands
from neardup.judging.reports.charts import distance_chart, length_label, similarity_chart, spread
from neardup.judging.reports.commands import command_of, evaluate_command
from neardup.judging.reports.passages import Row, compare_passages
from neardup.judging.reports.tally import LARGEST, MEMBERS, Tally
from neardup.judging.reports.texts import READ_CHARACTERS, FileCounts, ReadAgain, Text
from neardup.judging.reports.visible import language, name_of, plainly
from neardup.survivors.audit_reader import Line

FILES_SHOWN = 20
SNIPPET = 220
OPTION_CHARACTERS = 400
LABELED_ID = 1000
"""Longer ids are not written into the page whole, so their pairs cannot be labeled in it."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What was read again: of the inputs, and of a reference by file and row; `reason`: why not, if it was not."""

    read: ReadAgain | None
    reference: dict[tuple[str, int], Text]
    reason: str = ""

    def survivor_of(self, line: Line) -> Text | None:
        """The text that a line's document was removed for."""
        if self.read is None:
            return None
        if line["survivor_row"] is None:
            return self.reference.get((line["reference"], line["reference_row"]))
        return self.read.texts.get(line["survivor_row"])

    def removed(self, line: Line) -> Text | None:
        """The text that was removed."""
        return None if self.read is None else self.read.texts.get(line["row"])


def check_page() -> None:
    """Raise MissingExtra if there is nothing to make a page with; before any work."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise MissingExtra("A report needs jinja2, which is not installed: pip install 'neardup[report]'") from None


def page(
    summary: dict[str, Any],
    counts: Tally,
    clusters: dict[int, list[Line]],
    bands: Bands,
    texts: Texts,
    labeled: Sequence[str] | None = None,
) -> bytes:
    """The page as UTF-8.

    Args:
        summary: of the run, with its files.
        counts, bands: of its audit.
        clusters: the largest, with some of their duplicates.
        texts: of what is shown.
        labeled: the files that have the documents of the pairs; the inputs if not given.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_source),
    )
    environment.filters |= {
        "number": lambda value: f"{value:,}",
        "visible": lambda value: plainly(str(value)),
        "name": name_of,
    }
    environment.globals["percent"] = _percent
    script = _source("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    threshold, max_distance = summary["min_similarity"], summary["max_distance"]
    command, notes = command_of(summary)
    shown = environment.get_template("page.html").render(
        summary=summary,
        counts=counts,
        style=Markup(_source("page.css")),
        script=Markup(script),
        script_digest=digest,
        similarity=similarity_chart(counts, threshold),
        distance=distance_chart(counts, max_distance),
        Markup=Markup,
        bands=list(_bands(counts, bands, texts)),
        clusters=list(_clusters(counts, clusters, texts)),
        most_clusters=LARGEST,
        most_members=MEMBERS,
        first_shown=FIRST,
        others_shown=OTHERS,
        files=_files(texts),
        lengths=_lengths(texts),
        texts=texts,
        read_characters=READ_CHARACTERS,
        facts=list(_facts(summary)),
        options=[(name, _plain(value)) for name, value in summary["options"].items()],
        recipe=[(name, _plain(value)) for name, value in summary["recipe"].items()],
        stages=_stages(summary),
        command=plainly(command),
        notes=notes,
        inputs=_inputs(summary),
        evaluate=plainly(evaluate_command(summary, summary["files"]["inputs"] if labeled is None else labeled)),
        folder=plainly(shlex.quote(summary["files"]["folder"])),
        memory=_bytes(summary["peak_memory_bytes"]),
        temporary=_bytes(summary["peak_temporary_bytes"]),
        written=_bytes(summary["written_bytes"]["total"]),
    )
    return shown.encode("utf-8", "replace")


def _source(name: str) -> str:
    return package_files("neardup.judging.reports").joinpath(name).read_text(encoding="utf-8")


def _percent(part: float, whole: float) -> str:
    """Never 0 % of something, nor 100 % of less than all."""
    if not whole:
        return "0 %"
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "< 0.1 %"
    if 99.9 < share < 100:
        return "> 99.9 %"
    return f"{share:.1f} %" if 0 < share < 100 else f"{share:.0f} %"


def _plain(value: Any) -> str:
    if value is None:
        return "—"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return name_of(text, OPTION_CHARACTERS)


@dataclass(frozen=True, slots=True)
class Side:
    """One text of a pair."""

    role: str
    id: Any
    place: str
    characters: int
    lang: str


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A pair to be judged; `ids`: as JSON, None if they are too long to be labeled."""

    number: int
    similarity: float | None
    distance: int
    exact: bool
    matched: str
    sides: tuple[Side, Side] | None
    rows: list[Row]
    names: tuple[Any, Any]
    ids: str | None


def _bands(counts: Tally, bands: Bands, texts: Texts) -> Iterator[dict[str, Any]]:
    number = 0
    for band in bands.table:
        lines = counts.sample[band.key]
        if not lines:
            continue
        pairs = []
        for line in sorted(lines, key=partial(_doubt, by=bands.by)):
            number += 1
            pairs.append(_pair(number, line, texts))
        yield {"key": band.key, "title": band.title, "of": counts.of_band[band.key], "pairs": pairs}


def _doubt(line: Line, by: str) -> tuple[float, int]:
    """The most doubtful first."""
    return (-line["distance"] if by == "distance" else line["similarity"] or 0.0), line["row"]


def _pair(number: int, line: Line, texts: Texts) -> ShownPair:
    survivor, removed = texts.survivor_of(line), texts.removed(line)
    sides, rows = None, list[Row]()
    if survivor is not None and removed is not None:
        rows = compare_passages(survivor.beginning, removed.beginning)
        place = (
            f"row {line['survivor_row']:,}"
            if line["survivor_row"] is not None
            else name_of(f"row {line['reference_row']:,} of {line['reference']}, in the reference", 200)
        )
        sides = (
            Side("Survivor", line["survivor_id"], place, survivor.characters, language(survivor.beginning)),
            Side("Removed", line["id"], f"row {line['row']:,}", removed.characters, language(removed.beginning)),
        )
    ids = json.dumps([str(line["survivor_id"]), str(line["id"])])
    matched = ""
    if line.get("matched_id") is not None and line["matched_id"] != line["survivor_id"]:
        alike = line["matched_similarity"]
        matched = name_of(line["matched_id"]) + ("" if alike is None else f" (similarity {alike:.4f})")
    names = (line["survivor_id"], line["id"])
    known = ids if max(map(len, map(str, names))) <= LABELED_ID else None
    return ShownPair(number, line["similarity"], line["distance"], line["exact"], matched, sides, rows, names, known)


def _snippet(text: Text | None) -> str | None:
    if text is None:
        return None
    some = " ".join(text.beginning[: 4 * SNIPPET].split())
    is_all = len(some) <= SNIPPET and text.characters <= 4 * SNIPPET
    return plainly(some if is_all else some[:SNIPPET].rstrip() + "…")


def _clusters(counts: Tally, clusters: dict[int, list[Line]], texts: Texts) -> Iterator[dict[str, Any]]:
    for cluster, duplicates in counts.largest:
        lines = clusters[cluster]
        survivor = texts.survivor_of(lines[0])
        yield {
            "size": duplicates + 1,
            "survivor_id": lines[0]["survivor_id"],
            "cluster": cluster,
            "snippet": _snippet(survivor),
            "lang": "" if survivor is None else language(survivor.beginning),
            "characters": None if survivor is None else survivor.characters,
            "members": [
                {"line": line, "snippet": _snippet(texts.removed(line)), "alike": _alike(line)} for line in lines
            ],
            "more": duplicates - len(lines),
        }


def _alike(line: Line) -> str:
    if line["exact"]:
        return "equal text"
    alike = "" if line["similarity"] is None else f"similarity {line['similarity']:.4f}, "
    return f"{alike}distance {line['distance']}"


def _files(texts: Texts) -> dict[str, Any] | None:
    if texts.read is None or not texts.read.files:
        return None
    ordered = sorted(texts.read.files, key=lambda each: -each.removed)
    shown, rest = ordered[:FILES_SHOWN], ordered[FILES_SHOWN:]
    others = None
    if rest:
        others = FileCounts(
            f"{len(rest):,} other files", sum(each.documents for each in rest), sum(each.removed for each in rest)
        )
    return {"shown": shown, "others": others, "most": max(each.documents for each in shown)}


def _lengths(texts: Texts) -> list[dict[str, Any]]:
    if texts.read is None:
        return []
    table = texts.read.lengths
    most = int(table.sum(axis=1).max(initial=1))
    return [
        {"label": length_label(power), "kept": int(table[power, 0]), "removed": int(table[power, 1]), "most": most}
        for power in spread(table)
    ]


def _facts(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What decided, in words."""
    options = summary["options"]
    yield "Method", str(summary["method"])
    if summary["reason"]:
        yield "Why this method", plainly(summary["reason"])
    if summary["min_similarity"] > 0:
        yield "A match is", f"a {options['similarity']} similarity of at least {summary['min_similarity']:g}"
    if summary["max_distance"] is not None:
        yield "Fingerprints", f"at most {summary['max_distance']} bits apart"
    yield "Candidates compared", f"{summary['candidates']:,}, of which {summary['matches']:,} matched"
    yield "Clustering", str(options["cluster"])
    yield "Survivor", f"of two that match: {_plain(options['keep'])}"


def _stages(summary: dict[str, Any]) -> list[dict[str, Any]]:
    seconds = summary["seconds"]
    most = max([value for name, value in seconds.items() if name != "total"], default=0) or 1
    rows = []
    for name, value in seconds.items():
        read = summary["read_bytes"].get(name, 0)
        share = 100 * min(1.0, value / most)
        rows.append({"name": name, "seconds": value, "share": share, "read": _bytes(read) if read else ""})
    return rows


def _bytes(size: float) -> str:
    for letter in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000 or letter == "TB":
            return f"{size:,.0f} {letter}" if letter == "bytes" else f"{size:,.1f} {letter}"
        size /= 1000
    raise AssertionError


def _inputs(summary: dict[str, Any]) -> str:
    given = summary["files"]["inputs"]
    shown = ", ".join(name_of(each, 80) for each in given[:3])
    return shown + (f" and {len(given) - 3:,} more" if len(given) > 3 else "")


Lines = Callable[[], Iterator[Line]]
"""The lines of an audit, from the first, as often as it is called."""


def summed(summaries: list[dict[str, Any]]) -> dict[str, Any]:
    """One summary of several, of parts of one run."""
    first = summaries[0]
    if len(summaries) == 1:
        return first
    names = ("rows", "documents", "rejected", "survivors", "duplicates", "exact_duplicates", "short", "repeated_ids")
    summary = first | {name: sum(each[name] for each in summaries) for name in names}
    for table in ("seconds", "read_bytes", "written_bytes"):
        total: dict[str, Any] = {}
        for each in summaries:
            for name, value in each[table].items():
                total[name] = round(total.get(name, 0) + value, 3)
        summary[table] = total
    summary["peak_memory_bytes"] = max(each["peak_memory_bytes"] for each in summaries)
    inputs = [name for each in summaries for name in each["files"]["inputs"]]
    summary["files"] = first["files"] | {"inputs": inputs}
    return summary
