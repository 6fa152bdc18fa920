"""Calls tools by the client of the package `mcp`. Standard input: {"url", "token", "server", "calls"}. Prints what it got as JSON."""

import asyncio
import contextlib
import json
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


async def main(given):
    async with contextlib.AsyncExitStack() as opened:
        if "url" in given:
            headers = given.get("headers", {})
            http = await opened.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False))
            transport = streamable_http_client(given["url"], http_client=http)
        else:
            command = ["-m", "neardup", "mcp", *given["server"]]
            transport = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
        client = await opened.enter_async_context(Client(transport, mode=given.get("mode", "auto")))
        tools = (await client.list_tools()).tools
        found = {
            "version": client.protocol_version,
            "tools": {each.name: each.annotations.read_only_hint for each in tools},
            "schemas": {each.name: each.input_schema["type"] for each in tools},
            "results": [],
        }
        for name, arguments in given["calls"]:
            done = await client.call_tool(name, arguments)
            said = done.content[0].text
            if not done.is_error:
                assert json.loads(said) == done.structured_content
            found["results"].append(said if done.is_error else done.structured_content)
        return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
