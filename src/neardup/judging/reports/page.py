"""Build the page of a run, or of a decontamination: its values, and the template that shows them."""

import base64
import hashlib
import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from itertools import islice
from typing import TYPE_CHECKING, Any

from neardup.display import counted, similarity_text, size_text, threshold_text
from neardup.errors import MissingExtra
from neardup.judging.reports.bands import Bands
from neardup.judging.reports.charts import distance_chart, lengths_of, similarity_chart
from neardup.judging.reports.commands import command_of, evaluate_command
from neardup.judging.reports.removal_ranges import RemovalRange, removal_ranges
from neardup.judging.reports.run_facts import facts_of, inputs_of, stages_of, value_in_words
from neardup.judging.reports.shown_clusters import equal_clusters, largest_clusters
from neardup.judging.reports.shown_pairs import bands_of_pairs
from neardup.judging.reports.sources import Sources, shown_sources
from neardup.judging.reports.tally import Members, Tally
from neardup.judging.reports.texts import READ_CHARACTERS, Digests, Texts
from neardup.matching.contamination.options import MANY_ITEMS
from neardup.recipe.tables.parts import FILES
from neardup.survivors.leaks.summary import STRENGTHS
from neardup.text.side_by_side.visible import name_of, plainly

if TYPE_CHECKING:
    import jinja2


SHOWN_ITEMS, SHOWN_MATCHES = 200, 200
"""So many items and so many matched texts are shown; the files have all."""


def check_page() -> None:
    """Raise MissingExtra, before any work, if jinja2 is not installed."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise MissingExtra("A report needs jinja2, which is not installed: pip install 'neardup[report]'") from None


@dataclass(frozen=True, slots=True)
class Findings:
    """What a page shows of a run, besides its summary.

    Attributes:
        counts, bands: of its audit.
        clusters: the largest clusters, with some of their duplicates.
        texts: the texts that are shown.
        sources: where the documents come from; None if that is not known.
    """

    counts: Tally
    clusters: dict[int, Members]
    bands: Bands
    texts: Texts
    sources: Sources | None = None


def page(summary: dict[str, Any], found: Findings, labeled: Sequence[str] | None = None) -> bytes:
    """Return the page as UTF-8.

    Args:
        summary: the run's summary, with its files.
        found: what is shown of its audit and of its inputs.
        labeled: the files that hold the documents of the pairs; the inputs if not given.
    """
    counts, texts = found.counts, found.texts
    bands = list(bands_of_pairs(counts, found.bands, texts))
    ranges = _ranges(summary, found)
    template = _environment().get_template("page.html")
    shown = template.render(
        **_style_and_script(),
        **values_of(summary, summary["files"]["inputs"] if labeled is None else labeled),
        counts=counts,
        similarity=similarity_chart(counts, summary["min_similarity"]),
        distance=distance_chart(counts, summary["max_distance"]),
        ranges=ranges,
        ranges_json=json.dumps([[each.threshold, each.least, each.most, each.exact] for each in ranges]),
        by=found.bands.by,
        figures=_figures(found),
        bands=bands,
        pairs=sum(len(band["pairs"]) for band in bands),
        shown_figures=sum(pair.figures for band in bands for pair in band["pairs"]),
        clusters=list(largest_clusters(counts, found.clusters, texts, found.sources)),
        equal_clusters=list(equal_clusters(counts, found.clusters, texts, found.sources)),
        sources=None if found.sources is None else shown_sources(found.sources),
        lengths=lengths_of(texts),
        texts=texts,
        read_characters=READ_CHARACTERS,
    )
    return shown.encode("utf-8", "replace")


def _digests(texts: Texts) -> Digests | None:
    return None if texts.read is None else texts.read.digests


def _ranges(summary: dict[str, Any], found: Findings) -> Sequence[RemovalRange]:
    digests = _digests(found.texts)
    return removal_ranges(
        found.counts,
        min_similarity=summary["min_similarity"],
        max_distance=summary["max_distance"],
        digests=None if digests is None else digests.of(found.counts.near.row)[0],
    )


def _figures(found: Findings) -> dict[str, int] | None:
    """How many removals differ from their survivors only in digits, and of how many this is known; None if of none."""
    digests, near = _digests(found.texts), found.counts.near
    known = near.survivor >= 0
    if digests is None or not known.any():
        return None
    differ = digests.differ_in_figures(near.row[known], near.survivor[known])
    return {"removals": int(differ.sum()), "of": int(known.sum())}


def _recipe_in_words(recipe: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields of a recipe; of its files, the paths."""
    for name, value in recipe.items():
        yield name, value_in_words([file["path"] for file in value] if name == FILES else value)


def values_of(summary: dict[str, Any], labeled: Sequence[str]) -> dict[str, Any]:
    """Values from the summary, by the template's names."""
    command, notes = command_of(summary)
    return {
        "summary": summary,
        "facts": list(facts_of(summary)),
        "options": [(name, value_in_words(value)) for name, value in summary["options"].items()],
        "recipe": list(_recipe_in_words(summary["recipe"])),
        "stages": stages_of(summary),
        "command": plainly(command),
        "notes": notes,
        "inputs": inputs_of(summary),
        "evaluate": plainly(evaluate_command(summary, labeled)),
        "folder": plainly(shlex.quote(summary["files"]["folder"])),
        "memory": size_text(summary["peak_memory_bytes"]),
        "temporary": size_text(summary["peak_temporary_bytes"]),
        "written": size_text(summary["written_bytes"]["total"]),
    }


def contamination_page(
    summary: dict[str, Any], items: Iterable[dict[str, Any]], lines: Iterable[dict[str, Any]]
) -> bytes:
    """Return the page of a decontamination as UTF-8.

    Args:
        summary: the run's summary, with its files.
        items: the records of all items.
        lines: the lines of the audit, parsed.
    """
    found = [each for each in items if each["is_contaminated"]]
    found.sort(key=lambda each: (-each["documents"], -each["item_share"]))
    return _rendered(
        "contamination.html",
        summary,
        items=found[:SHOWN_ITEMS],
        all_items=len(found),
        matches=list(islice(lines, SHOWN_MATCHES)),
        many_items=MANY_ITEMS,
        in_items=_in_items,
    )


def _rendered(template: str, summary: dict[str, Any], **values: Any) -> bytes:
    """A page without script, with its style, and the options and costs of the run."""
    options = [(name, value_in_words(value)) for name, value in summary["options"].items()]
    memory = size_text(summary["peak_memory_bytes"])
    return rendered(template, summary=summary, options=options, memory=memory, **values)


def rendered(template: str, **values: Any) -> bytes:
    """A page without script, with its style, as UTF-8."""
    return _environment().get_template(template).render(style=_style(), **values).encode("utf-8", "replace")


def _in_items(items: int) -> str:
    """Mark a passage that many items have."""
    return f"in {items:,} items" if items >= MANY_ITEMS else ""


def leaks_page(summary: dict[str, Any], items: Iterable[dict[str, Any]]) -> bytes:
    """Return the page of leaks as UTF-8.

    Args:
        summary: the summary, with its files.
        items: the lines of the list, parsed.
    """
    return _rendered("leaks.html", summary, strengths=STRENGTHS, items=list(islice(items, SHOWN_ITEMS)))


def passages_page(summary: dict[str, Any], **values: Any) -> bytes:
    """Return the page of a run that cut passages as UTF-8; see `neardup.judging.reports.passages`."""
    return _rendered(
        "passages.html",
        summary,
        inputs=inputs_of(summary),
        temporary=size_text(summary["peak_temporary_bytes"]),
        **values,
    )


def _style_and_script() -> dict[str, Any]:
    """Style and script, which go into the page unescaped, and the digest by which its policy allows the script."""
    from markupsafe import Markup

    script = _source("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return {"style": _style(), "script": Markup(script), "script_digest": digest, "Markup": Markup}


def _style() -> Any:
    """The style of pages, which goes into a page unescaped."""
    from markupsafe import Markup

    return Markup(_source("page.css"))


def _environment() -> "jinja2.Environment":
    """The environment of templates: it escapes all values and treats an unknown name as an error."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_source),
    )
    environment.filters |= {
        "number": lambda value: f"{value:,}",
        "counted": counted,
        "visible": lambda value: plainly(str(value)),
        "name": name_of,
        "similarity": similarity_text,
        "threshold": threshold_text,
    }
    environment.globals["percent"] = _percent
    return environment


def _source(name: str) -> str:
    return package_files("neardup.judging.reports").joinpath(name).read_text(encoding="utf-8")


def _percent(part: float, whole: float) -> str:
    """Format a percentage; never 0 % if there is something, nor 100 % if something is missing."""
    if not whole:
        return "0 %"
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "< 0.1 %"
    if 99.9 < share < 100:
        return "> 99.9 %"
    return f"{share:.1f} %" if 0 < share < 100 else f"{share:.0f} %"
