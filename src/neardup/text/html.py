"""Convert HTML to text: everything that a page shows, or its main text. The parsers are optional: the extra `html`.

The text depends on the versions of the parsers, and so do fingerprints of HTML; the recipe's digest does not include those
versions.
"""

import importlib
import logging
import re
from collections.abc import Callable
from typing import Any

from neardup.errors import MissingExtra

Extract = Callable[[str], str]
"""Maps a page to its text; never raises, and several threads may call it."""

PACKAGES = {"main": "trafilatura", "whole": "selectolax"}
"""Functions that make the text, by mode; the keys are those of `neardup.io.corpora.reading.HTML`."""

_INVISIBLE = frozenset(("head", "script", "style", "template", "noscript", "iframe", "object", "svg", "datalist"))
_BLOCKS = frozenset(
    (  # noqa: SIM905 - a page is easier to read than a column
        "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer "
        "form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav noframes ol optgroup option p pre search "
        "section select summary table tbody tfoot thead tr ul textarea"
    ).split()
)
_CELLS = frozenset(("td", "th"))
_BREAKS = frozenset(("br", "body", "img", "input", "link", "meta"))
_VERBATIM = frozenset(("pre", "textarea", "listing"))

_SPACE = re.compile(r"[ \t\n\r\f]+")  # a no-break space stays
_AROUND_BREAKS = re.compile(r"[ \t]*\n\s*")


def is_block(name: str) -> bool:
    """Whether elements of this name (in lower case) stand on lines of their own, or end a word at least."""
    return name in _BLOCKS or name in _CELLS or name in _INVISIBLE or name in _BREAKS


def extractor(html: str) -> Extract:
    """The function that turns pages into text, for one of `neardup.io.corpora.reading.HTML`.

    Raises:
        MissingExtra: its parser is not installed.
    """
    what = f"`html={html!r}`"
    module, whole = _parser(html, what), _whole_text(_parser("whole", what))
    return whole if html == "whole" else _main_text(module, whole)


def _parser(html: str, what: str) -> Any:
    package = PACKAGES[html]
    try:
        return importlib.import_module("selectolax.lexbor" if html == "whole" else package)
    except ImportError as problem:
        raise MissingExtra(f"{what} needs {package} ({problem}). Install it: pip install 'neardup[html]'") from None


def page_text(page: str) -> str:
    """All text of a page, including its title and hidden text, but not scripts and styles; each tag becomes a space.

    Raises:
        MissingExtra: the parser is not installed.
    """
    tree = _parser("whole", "`profile='wayback'`").LexborHTMLParser(page)
    tree.strip_tags(["script", "style"])
    return str(tree.root.text(separator=" ")) if tree.root is not None else ""


def html_versions(html: str | None) -> dict[str, str]:
    """The packages that make the text, and their versions; empty for None."""
    if html is None:
        return {}
    from importlib.metadata import version

    return {PACKAGES[each]: version(PACKAGES[each]) for each in PACKAGES if html == "main" or each == html}


def _whole_text(module: Any) -> Extract:
    """Everything that a page shows. A block begins a line, a run of white space is one space, and table cells stay separate."""

    def extract(page: str) -> str:
        root = module.LexborHTMLParser(page).root
        return _AROUND_BREAKS.sub("\n", "".join(_pieces(root))).strip() if root is not None else ""

    return extract


def _pieces(root: Any) -> list[str]:
    """The texts below a node in order, with line breaks where blocks begin and end; not recursive, because pages may be deep."""
    pieces: list[str] = []
    node, verbatim = root, 0
    while True:
        tag = node.tag
        child = None
        if tag == "-text":
            text = node.text_content or ""
            pieces.append(text if verbatim else _SPACE.sub(" ", text))
        elif tag == "br":
            pieces.append("\n")
        elif tag in _CELLS:
            pieces.append(" ")
        elif tag in _BLOCKS:
            pieces.append("\n")
        if tag not in _INVISIBLE:
            child = node.first_child
        if child is not None:
            verbatim += tag in _VERBATIM
            node = child
            continue
        while True:
            if node.tag in _BLOCKS:
                pieces.append("\n")
            if node.mem_id == root.mem_id:
                return pieces
            following = node.next
            if following is not None:
                node = following
                break
            node = node.parent
            verbatim -= node.tag in _VERBATIM


def _main_text(module: Any, whole: Extract) -> Extract:
    """The main text of a page, without navigation, comments and advertisements; where none is found, what `whole` makes of it.

    Pages without a main text are common, and without a text they would all be equal.
    """
    logging.getLogger(module.__name__).addHandler(
        logging.NullHandler()
    )  # which would tell of each page without a main text

    def extract(page: str) -> str:
        try:
            found = module.extract(page, include_comments=False, include_tables=True)
        except Exception:  # a page that breaks the parser has no main text
            found = None
        text: str = (found or "").encode("utf-8", "replace").decode()
        return text if text.strip() else whole(page)

    return extract
