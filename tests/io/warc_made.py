"""Records of WARC, written by hand."""

import gzip

HTTP = "application/http; msgtype=response"


def record(kind, uri, block, content_type=HTTP, **more):
    """A record; further headers have underscores in their names."""
    headers = {"WARC-Type": kind, "WARC-Date": "2026-01-02T03:04:05Z"}
    headers |= {"WARC-Target-URI": uri} if uri else {}
    headers |= {name.replace("_", "-"): value for name, value in more.items()}
    headers |= {"Content-Type": content_type, "Content-Length": str(len(block))}
    lines = [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(["WARC/1.0", *lines, "", ""]).encode() + block + b"\r\n\r\n"


def response(uri, body, content_type="text/plain; charset=utf-8", *, status=200, http="", **more):
    """A record of an HTTP response; `http`: further lines of its head."""
    body = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status} OK\r\nContent-Type: {content_type}\r\n{http}\r\n"
    return record("response", uri, head.encode() + body, **more)


def members(records):
    """Each record in its own member of gzip."""
    return b"".join(gzip.compress(each, mtime=0) for each in records)
