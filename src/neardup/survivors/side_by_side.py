"""Clusters as HTML for notebooks: each duplicate beside its survivor, with the differences marked, and all text escaped.

Colors are those of the page around it with a tint, so that they suit a light and a dark theme.
"""

import html
from collections.abc import Iterable

from neardup.display import counted, similarity_text
from neardup.survivors.excerpts import ClusterExcerpt, Excerpt, Excerpts, Removed
from neardup.text.side_by_side.rows import Row, Segment, aligned_rows
from neardup.text.side_by_side.visible import language, name_of, plainly

SHOWN_CHARACTERS = 1_500
"""Characters of each text that a notebook shows."""

STYLE = (
    "<style>.neardup table{border-collapse:collapse;table-layout:fixed;width:100%;max-width:70rem;margin:.4em 0 1em}"
    ".neardup.neardup :is(tr,td,th){background:none}"
    ".neardup.neardup :is(td,th){text-align:left;vertical-align:top;white-space:pre-wrap;overflow-wrap:anywhere;padding:.45em .8em;"
    "border:0;border-top:1px solid rgba(128,128,128,.4);max-width:none}"
    ".neardup.neardup th{font-weight:600;border-top-width:2px}"
    ".neardup.neardup .neardup-all{table-layout:auto;width:auto}"
    ".neardup mark{color:inherit;border-radius:2px;padding:0 1px}"
    ".neardup td:first-child mark{background:rgba(217,119,6,.28)}"
    ".neardup td:last-child mark{background:rgba(13,148,136,.32)}"
    ".neardup small{opacity:.8;font-weight:400}.neardup summary{cursor:pointer;padding:.25em 0}</style>"
)


def clusters_html(excerpts: Excerpts, min_similarity: float) -> str:
    """The clusters, the largest one open; empty if there are none. `min_similarity`: of the run."""
    if not excerpts.largest:
        return ""
    shown = len(excerpts.largest)
    which = f"The {shown} largest of {excerpts.clusters:,} clusters. " if shown < excerpts.clusters else ""
    said = f"<p><small>{which}Words that the other text lacks are marked.</small></p>"
    return said + "".join(
        _cluster(each, excerpts, min_similarity, is_open=not number) for number, each in enumerate(excerpts.largest)
    )


def _cluster(cluster: ClusterExcerpt, excerpts: Excerpts, min_similarity: float, *, is_open: bool) -> str:
    kept = f"<code>{html.escape(name_of(cluster.survivor.id))}</code>"
    where = " of the reference" if cluster.of_reference else ""
    more = cluster.duplicates - len(cluster.removed)
    title = f"{kept}{where} is kept, {counted(cluster.duplicates, 'duplicate')} removed" + (
        f"; the {len(cluster.removed)} least similar:" if more else ""
    )
    rows = "".join(_pair(cluster.survivor, each, excerpts, min_similarity) for each in cluster.removed)
    return f"<details{' open' if is_open else ''}><summary>{title}</summary><table>{rows}</table></details>"


def _pair(survivor: Excerpt, removed: Removed, excerpts: Excerpts, min_similarity: float) -> str:
    rows = aligned_rows(survivor.beginning, removed.excerpt.beginning, excerpts.normalize, version=excerpts.version)
    left, right = (_side(rows, side) for side in (0, 1))
    alike = "equal text" if removed.exact else f"distance {removed.distance}"
    if not removed.exact and removed.similarity == removed.similarity:  # it is known
        alike = f"similarity {similarity_text(removed.similarity, min_similarity)}, {alike}"
    names = [html.escape(name_of(each.id)) for each in (survivor, removed.excerpt)]
    return (
        f"<tr><th scope='col'>kept <code>{names[0]}</code></th>"
        f"<th scope='col'>removed <code>{names[1]}</code> <small>{alike}</small></th></tr>"
        f"<tr>{_cell(left, survivor)}{_cell(right, removed.excerpt)}</tr>"
    )


def _side(rows: Iterable[Row], side: int) -> str:
    """One text, cut where both texts have shown enough: the sides stay at the same place."""
    parts, room = list[str](), SHOWN_CHARACTERS
    for row in rows:
        if row.skipped:
            parts.append(f"<small> [… {counted(row.skipped, 'equal character')} …] </small>")
            continue
        if room <= 0:
            parts.append("<small> […]</small>")
            break
        parts += [_segment(each) for each in (row.left, row.right)[side]]
        room -= max(sum(each.characters for each in segments) for segments in (row.left, row.right))
    return "".join(parts)


def _segment(segment: Segment) -> str:
    if segment.kind == "cut":
        return f"<small> [… {counted(segment.characters, 'more character')}]</small>"
    text = html.escape(plainly(segment.text))
    return f"<mark>{text}</mark>" if segment.kind == "only" else text


def _cell(content: str, excerpt: Excerpt) -> str:
    spoken = language(excerpt.beginning)
    rest = excerpt.characters - len(excerpt.beginning)
    cut = f"<small> [… {counted(rest, 'more character')}]</small>" if rest else ""
    return f"<td{f' lang={spoken!r}' if spoken else ''}>{content}{cut}</td>"
