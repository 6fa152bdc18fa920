"""The command `neardup mcp`."""

import os
from typing import Any

import click

from neardup.cli.parsing import options, service_options, values
from neardup.cli.shown.interruption import EXIT_INTERRUPTED


@click.command()
@click.option(
    "--store",
    required=True,
    metavar="STORE",
    type=values.FILE,
    help="The store: a folder that exists, or postgresql://HOST/DATABASE.",
)
@click.option("--write", is_flag=True, help="Also serve the tools that change the store: remember, forget.")
@click.option("--texts", is_flag=True, help="Show stored texts to the agent, if the store keeps texts.")
@click.option("--port", type=int, help="Serve streamable HTTP on this port of 127.0.0.1; 0 takes a free one.")
@service_options.tokens
@service_options.limits
@options.wait
@options.quiet
def command(
    store: str, write: bool, texts: bool, port: int | None, tokens: str | None, wait: float, quiet: bool, **chosen: Any
) -> None:
    """Serve a store to agents over MCP (Model Context Protocol).

    Needs the extra [mcp]. An agent starts this command and talks to it on standard input and output, or asks
    http://127.0.0.1:PORT/mcp if you give `--port`. Its tools: check, neighbors, explain; with `--write` also remember, forget.
    Stored texts come from strangers, so tools return ids and numbers only, unless you give `--texts`.
    """
    from neardup.recipe.stored_parts import check_installed
    from neardup.service.limits import limits_of

    limits = limits_of(**{name: value for name, value in chosen.items() if value is not None})
    check_installed("neardup mcp", ("mcp", "starlette", "uvicorn", "httptools", "prometheus-client"), "mcp")
    from neardup.service.agents.mcp_server import serve_tools
    from neardup.service.logs import Log

    how: dict[str, Any] = {
        "write": write,
        "texts": texts,
        "port": port,
        "tokens": tokens,
        "limits": limits,
        "wait": wait,
    }
    try:
        serve_tools(store, **how, log=Log(quiet=quiet))
    except KeyboardInterrupt:  # the store is closed
        if port is None:
            os._exit(
                EXIT_INTERRUPTED
            )  # a thread still reads standard input, and would keep the process until that ends
        raise
