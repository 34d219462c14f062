"""The official client for Python: sessions with a handshake over HTTP and over standard input and output, and the newer
client without one. The server is named by LOCI_BASE_URL and LOCI_API_KEY, the binary by LOCI_BIN."""

from __future__ import annotations

import asyncio
import os
import uuid
from pathlib import Path

from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

URL = os.environ["LOCI_BASE_URL"].rstrip("/") + "/mcp"
HEADERS = {"Authorization": f"Bearer {os.environ['LOCI_API_KEY']}"}
TOOLS = {f"memory_{name}" for name in ("context", "search", "read", "write", "edit", "list", "forget")}


async def works(client) -> None:
    tools = await client.list_tools()
    assert {tool.name for tool in tools.tools} == TOOLS

    async def call(name: str, **arguments: object) -> str:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result
        return result.content[0].text

    path = f"/py/{uuid.uuid4().hex}.md"
    assert "version 1" in await call("memory_write", path=path, content="The badger likes tea.")
    assert "version 2" in await call("memory_edit", path=path, append="And cake.")
    assert "The badger likes tea.\nAnd cake." in await call("memory_read", path=path)
    assert path in await call("memory_search", query="badger cake")
    await call("memory_write", path=f"/py/{uuid.uuid4().hex}.md", content="I love green tea.")
    told = await call("memory_context")
    assert "Interests:\n" in told and "User likes green tea" in told and path in told
    missing = await client.call_tool("memory_read", {"path": "/none"})
    assert missing.is_error
    read = await client.read_resource(f"loci://home{path}")
    assert read.contents[0].text == "The badger likes tea.\nAnd cake."
    prompts = await client.list_prompts()
    assert [prompt.name for prompt in prompts.prompts] == ["recall", "remember"]


def stdio(data: Path) -> StdioServerParameters:
    return StdioServerParameters(command=os.environ["LOCI_BIN"], args=["mcp", "--data", str(data)])


async def in_session(streams) -> None:
    async with streams as (read, write, *_), ClientSession(read, write) as session:
        told = await session.initialize()
        assert told.server_info.name == "loci"
        await works(session)


def test_a_session_over_http() -> None:
    async def run() -> None:
        async with create_mcp_http_client(headers=HEADERS) as http:
            await in_session(streamable_http_client(URL, http_client=http))

    asyncio.run(run())


def test_a_session_over_stdio(tmp_path: Path) -> None:
    asyncio.run(in_session(stdio_client(stdio(tmp_path / "data"))))


def test_the_newer_client_over_http() -> None:
    async def run() -> None:
        async with create_mcp_http_client(headers=HEADERS) as http:
            async with Client(streamable_http_client(URL, http_client=http)) as client:
                await works(client)

    asyncio.run(run())


def test_the_newer_client_over_stdio(tmp_path: Path) -> None:
    async def run() -> None:
        async with Client(stdio(tmp_path / "data")) as client:
            await works(client)

    asyncio.run(run())
