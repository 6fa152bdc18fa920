"""DOCUMENTS of unstructured and docling, from the JSON that these write, as ids and texts for a gate. Neither package is needed.

Page headers, footers and page numbers are left out: they repeat, and would make different documents similar.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from neardup.errors import DataError

FURNITURE = {"Header", "Footer", "PageNumber", "PageBreak", "page_header", "page_footer"}
"""Types of elements of unstructured, and labels of items of docling, that are no text of the document."""


def of_unstructured(elements: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The documents of elements, as `elements_to_json` writes them: the file name of each, and its texts in order.

    The id is `metadata.filename`, with `metadata.file_directory` before it if there is one; or else `metadata.url`.

    Raises:
        DataError: an element has no text, or no name of a document.
    """
    texts: dict[str, list[str]] = {}
    for place, element in enumerate(elements):
        metadata = element.get("metadata") or {}
        name = metadata.get("filename") or metadata.get("url")
        if not isinstance(name, str):
            raise DataError(f"Element {place}: `metadata` has no `filename` and no `url` that would name its document.")
        if metadata.get("filename") and metadata.get("file_directory"):
            name = f"{metadata['file_directory']}/{name}"
        text = element.get("text")
        if not isinstance(text, str):
            raise DataError(f"Element {place}: `text` is a {type(text).__name__}; give elements with texts.")
        found = texts.setdefault(name, [])
        if element.get("type") not in FURNITURE and text:
            found.append(text)
    return [(name, "\n\n".join(some)) for name, some in texts.items()]


def of_docling(document: Mapping[str, Any]) -> tuple[str, str]:
    """The file name and the text of a `DoclingDocument`, as `export_to_dict` writes it: texts, and cells of tables, in order.

    The id is `origin.filename`, or else `name`.

    Raises:
        DataError: it is no such document, or names an item that it does not have.
    """
    origin = document.get("origin") or {}
    name = origin.get("filename") or document.get("name")
    if document.get("schema_name") != "DoclingDocument" or not isinstance(name, str):
        raise DataError("This is no DoclingDocument with a name. Give what `export_to_dict` returns.")
    parts: list[str] = []
    waiting, seen = [document.get("body") or {}], set[str]()
    while waiting:
        item = waiting.pop()
        if item.get("label") in FURNITURE or item.get("content_layer") == "furniture":
            continue
        if item.get("text"):
            parts.append(item["text"])
        grid = (item.get("data") or {}).get("grid") or []
        parts += ["\t".join(str(cell.get("text", "")) for cell in row) for row in grid]
        for child in reversed(item.get("children") or []):
            reference = str(child.get("$ref"))
            if reference not in seen:
                seen.add(reference)
                waiting.append(_item(document, reference))
    return name, "\n\n".join(parts)


def _item(document: Mapping[str, Any], reference: str) -> Any:
    """What a reference such as `#/texts/3` names."""
    try:
        _, kind, place = reference.split("/")
        return document[kind][int(place)]
    except (ValueError, KeyError, IndexError, TypeError):
        raise DataError(f"The document names {reference!r}, and does not have it.") from None
