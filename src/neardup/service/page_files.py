"""PAGE FILES: the page at `/`, as files. They hold no data, so they need no token; the page asks the routes for what it shows."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files

from starlette.responses import Response

from neardup.service.admission import Asked
from neardup.service.problems import Problem
from neardup.service.requests.handlers import Service
from neardup.service.routes import RouteRow

INDEX = "index.html"
TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Nothing inline, nothing from elsewhere, no page around it, and no way from a string to markup or a script."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page: its bytes, its type, and the tag by which browsers ask whether it has changed."""

    content: bytes
    media_type: str
    tag: str


@cache
def page_files() -> dict[str, PageFile]:
    """All files of the page by their names."""
    found = {}
    for each in (package_files("neardup.service") / "page").iterdir():
        kind = TYPES.get(each.name.rpartition(".")[2])
        if kind is not None:
            content = each.read_bytes()
            found[each.name] = PageFile(content, kind, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return found


async def _page_file(_: Service, asked: Asked) -> Response:
    found = page_files().get(asked.request.path_params.get("file", INDEX))
    if found is None:
        raise Problem("not_found", "The page has no such file. The page is at /.")
    headers = {**HEADERS, "ETag": found.tag}
    if asked.request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    return Response(found.content, headers={**headers, "Content-Type": found.media_type})


PAGE_ROWS = (
    RouteRow(name="page", method="GET", path="/", handler=_page_file, role=None),
    RouteRow(name="page", method="GET", path="/page/{file}", handler=_page_file, role=None),
)
"""Where the page is. Its addresses are relative, so a proxy may put a path before all of them."""
