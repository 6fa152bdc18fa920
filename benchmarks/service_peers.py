"""What `service.py` measures beside: an index of another tool behind the same server, framework and JSON reader.

    python benchmarks/service_peers.py NAME FOLDER PORT DOCUMENTS

The index gets so many documents first. One request is decided after another, in the event loop: neither index has batches.
"""

import argparse
import itertools
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from store_contenders import Datasketch, OneByOne, PyPISimhash


@dataclass(frozen=True)
class Peer:
    """An index of another tool.

    Attributes:
        open: makes it, in a folder.
        durable: what of an answered addition survives a crash of the machine.
    """

    open: Callable[[Path], OneByOne]
    durable: str


PEERS = {
    "datasketch on Redis": Peer(lambda folder: Datasketch(folder, "everysec"), "all but the last second"),
    "PyPI simhash": Peer(PyPISimhash, PyPISimhash.durable),
}


class _Document(msgspec.Struct):
    text: str
    id: str | int | None = None


def app_of(peer: OneByOne) -> Starlette:
    """The two routes that are measured."""
    decode, numbers = msgspec.json.Decoder(_Document).decode, itertools.count(1 << 40)

    async def check(request: Request) -> Response:
        return answer(peer.check(decode(await request.body()).text))

    async def add(request: Request) -> Response:
        return answer(peer.add(next(numbers), [decode(await request.body()).text])[0])

    def answer(is_new: bool) -> Response:
        return Response(msgspec.json.encode({"is_new": is_new}), media_type="application/json")

    at = "/v1/stores/default"
    return Starlette(
        routes=[
            Route(f"{at}/check", check, methods=["POST"]),
            Route(f"{at}/check-and-add", add, methods=["POST"]),
        ]
    )


def main() -> None:
    """Fill, serve, and end with the process."""
    from service_cases import documents

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("documents", type=int)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # which ends Redis, too; uvicorn raises the signal again
    peer = PEERS[given.name].open(given.folder)
    try:
        for number, text in enumerate(documents(given.documents, 1)):
            peer.add(number, [text])
        server = uvicorn.Server(
            uvicorn.Config(
                app_of(peer), port=given.port, log_config=None, access_log=False, loop="uvloop", http="httptools"
            )
        )
        print(json.dumps({"event": "listening", "port": given.port}), file=sys.stderr, flush=True)
        server.run()
    finally:
        peer.close()


if __name__ == "__main__":
    main()
