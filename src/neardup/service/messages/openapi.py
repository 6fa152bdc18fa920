"""OPENAPI: the document that describes the routes, made of their table and of the types that travel."""

from collections.abc import Sequence
from typing import Any

import msgspec

from neardup.service.messages import messages
from neardup.service.messages.examples import EXAMPLES
from neardup.service.problems import CODES, MEDIA_TYPE
from neardup.service.requests.bodies import JSON, LINES
from neardup.service.routes import RouteRow
from neardup.version import __version__

_ALWAYS = ("invalid_request", "headers_too_large", "internal")
_ADMITTED = ("invalid_host", "unauthorized", "forbidden", "too_many_requests")
_WITH_STORE = ("unknown_store", "busy", "answer_timeout")
_WITH_BODY = (
    "invalid_json", "request_timeout", "too_large", "unsupported_media_type", "invalid_value",
)  # fmt: skip
_TAKEN = "#/components/schemas/{name}"


def document(rows: Sequence[RouteRow], *, has_tokens: bool) -> bytes:
    """The document as JSON."""
    types = {kind for row in rows for kind in (row.given, row.answer) if kind is not None} | {messages.Problem}
    _, schemas = msgspec.json.schema_components(sorted(types, key=lambda kind: str(kind.__name__)), ref_template=_TAKEN)
    paths: dict[str, Any] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, has_tokens=has_tokens)
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "neardup",
            "version": __version__,
            "description": "Remembers documents, and decides whether new ones are near-duplicates. Errors are problem details "
            f"(RFC 9457) with a `code`: {', '.join(CODES)}.",
        },
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if has_tokens:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return msgspec.json.encode(found)


def _operation(row: RouteRow, *, has_tokens: bool) -> dict[str, Any]:
    words = (row.handler.__doc__ or "").strip()
    found: dict[str, Any] = {"operationId": row.name, "summary": words, "parameters": _parameters(row)}
    if row.role is not None:
        found["description"] = f"Needs the role {row.role}, or one above it."
        if has_tokens:
            found["security"] = [{"token": []}]
    if row.given is not None:
        found["requestBody"] = {"required": True, "content": _content(row, row.given, "given")}
    answers = _content(row, row.answer, "answer") if row.answer is not None else {"text/plain": {}}
    found["responses"] = {"200": {"description": words, "content": answers}, **_refusals(row, has_tokens=has_tokens)}
    if row.name == "ready":
        found["responses"]["503"] = {"description": "A store cannot be used.", "content": answers}
    return found


def _parameters(row: RouteRow) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if "{store}" in row.path:
        found.append(
            {"name": "store", "in": "path", "required": True, "schema": {"type": "string"}, "example": "default"}
        )
    if row.has_key:
        told = "The answer is kept by this key for a time: the same request with the same key gets it again."
        schema = {"type": "string", "minLength": 1, "maxLength": 200}
        found.append(
            {"name": "Idempotency-Key", "in": "header", "required": False, "schema": schema, "description": told}
        )
    return found


def _content(row: RouteRow, kind: Any, side: str) -> dict[str, Any]:
    one = {"$ref": _TAKEN.format(name=kind.__name__)}
    schema: dict[str, Any] = {"anyOf": [one, {"type": "array", "items": one}]} if row.has_many else one
    values = [(each.title, getattr(each, side)) for each in EXAMPLES if each.route == row.name]
    shown = {title: {"summary": title, "value": value} for title, value in values if value is not None}
    found: dict[str, Any] = {JSON: {"schema": schema} | ({"examples": shown} if shown else {})}
    if row.has_many:
        found[LINES] = {"schema": {"type": "string", "description": f"A {kind.__name__} in each line."}}
    return found


def _refusals(row: RouteRow, *, has_tokens: bool) -> dict[str, Any]:
    codes = [*_ALWAYS, *row.refusals]
    if row.role is not None:
        codes += [each for each in _ADMITTED if has_tokens or each not in ("unauthorized", "forbidden")]
    if "{store}" in row.path:
        codes += [*_WITH_STORE, "damaged", "not_granted", "store_unavailable", "shutting_down"]
    if row.given is not None:
        codes += [*_WITH_BODY, "too_many_documents", "rate_exceeded"]
    if row.has_key:
        codes += ["key_reused"]
    by_status: dict[str, list[str]] = {}
    for code in codes:
        by_status.setdefault(str(CODES[code]), []).append(code)
    schema = {"$ref": _TAKEN.format(name="Problem")}
    return {
        status: {"description": ", ".join(some), "content": {MEDIA_TYPE: {"schema": schema}}}
        for status, some in sorted(by_status.items())
    }
