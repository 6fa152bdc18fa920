"""The command `neardup serve`."""

import shlex
from typing import Any

import click

from neardup.cli.parsing import options, service_options, values
from neardup.errors import InputError


@click.command(context_settings={"allow_extra_args": True})
@click.option(
    "--store",
    "stores",
    multiple=True,
    metavar="[NAME=]STORE",
    type=values.FILE,
    help="A store to serve, that is there: a folder, or postgresql://HOST/DATABASE; repeatable. Without a name, it is `default`.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=int, default=8080, show_default=True, help="Port to listen on; 0 takes a free one.")
@service_options.tokens
@click.option("--tls-certificate", type=click.Path(exists=True, dir_okay=False), help="PEM file of the certificate.")
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False), help="PEM file of its key.")
@click.option("--behind-proxy", is_flag=True, help="A proxy does TLS, and only it reaches the address.")
@click.option("--insecure", is_flag=True, help="Listen on any address without tokens or TLS.")
@service_options.limits
@click.option("--max-batch", type=int, metavar="N", help="Documents in a body (1000).")
@click.option(
    "--keep-answers",
    metavar="DURATION",
    help="Time for which the answer to a request with an Idempotency-Key is kept (1d).",
)
@click.option(
    "--expire-every",
    metavar="DURATION",
    help="Remove documents that have expired at this pace: 90s, 15m, 12h … [default: only when asked]",
)
@options.wait
@options.quiet
def command(
    stores: tuple[str, ...], host: str, port: int, tokens: str | None, tls_certificate: str | None, tls_key: str | None,
    behind_proxy: bool, insecure: bool, wait: float, quiet: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Serve stores over HTTP: POST a document, and learn whether it is new.

    Needs the extra [server]. The routes are described at /v1/openapi.json. Each event is a line of JSON on standard error; with
    `--quiet`, requests are left out. SIGTERM and SIGINT end it: requests that were begun are finished first.
    """
    from neardup.recipe.stored_parts import check_installed
    from neardup.service.stores.named_stores import named_stores

    if others := click.get_current_context().args:
        named_by = shlex.join(word for name in others for word in ("--store", name))
        raise InputError(f"Name the stores with `store`: `neardup serve {named_by}`.")
    named = named_stores(stores)
    check_installed("neardup serve", ("starlette", "uvicorn", "httptools", "prometheus-client"), "server")
    from neardup.service.limits import limits_of
    from neardup.service.logs import Log
    from neardup.service.server import serve

    limits = limits_of(**{name: value for name, value in chosen.items() if value is not None})
    serve(
        named,
        host=host,
        port=port,
        tokens=tokens,
        tls_certificate=tls_certificate,
        tls_key=tls_key,
        behind_proxy=behind_proxy,
        insecure=insecure,
        limits=limits,
        wait=wait,
        log=Log(quiet=quiet),
    )
