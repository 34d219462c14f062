"""The example backend of Claude's memory tool, driven by the SDK's own helper class."""

from __future__ import annotations

import json
import sys
import urllib.request
import uuid
from pathlib import Path

import pytest
from anthropic.lib.tools import ToolError

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "memory-tool"))

from loci_memory_tool import LociMemoryTool  # noqa: E402

MISSING = "Error: The path /memories/none.md does not exist"


def ask(server, method: str, path: str, key: str | None = None, body: object = None) -> dict:
    request = urllib.request.Request(
        server.base_url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "authorization": f"Bearer {key or server.api_key}",
            "content-type": "application/json",
            "anthropic-beta": "agent-memory-2026-07-22",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


@pytest.fixture
def agent(server) -> tuple[str, str]:
    name = f"agent-{uuid.uuid4()}"
    ask(server, "POST", "/v1/principals", body={"name": name, "kind": "agent"})
    key = ask(server, "POST", "/v1/api_keys", body={"name": name, "principal": name})
    return name, key["secret"]


@pytest.fixture
def tool(server, agent) -> LociMemoryTool:
    return LociMemoryTool(url=server.base_url, key=agent[1])


def test_the_tool_presents_itself(tool: LociMemoryTool) -> None:
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}


def test_every_command_answers_with_the_documented_string(tool: LociMemoryTool) -> None:
    def call(command: str, **arguments: object) -> object:
        return tool.call({"command": command, **arguments})

    path, moved = "/memories/notes/tea.md", "/memories/notes/coffee.md"
    assert call("create", path=path, file_text="one\ntwo\n") == f"File created successfully at: {path}"
    with pytest.raises(ToolError) as refused:
        call("create", path=path, file_text="again")
    assert str(refused.value) == f"Error: File {path} already exists"
    assert call("view", path=path) == (
        f"Here's the content of {path} with line numbers:\n     1\tone\n     2\ttwo\n     3\t"
    )
    assert call("view", path=path, view_range=[2, 2]) == (
        f"Here's the content of {path} with line numbers:\n     2\ttwo"
    )
    edited = call("str_replace", path=path, old_str="two", new_str="three")
    assert isinstance(edited, str) and edited.startswith("The memory file has been edited.")
    assert "\tthree" in edited
    assert call("insert", path=path, insert_line=0, insert_text="zero") == f"The file {path} has been edited."
    assert call("rename", old_path=path, new_path=moved) == f"Successfully renamed {path} to {moved}"
    listed = call("view", path="/memories")
    assert isinstance(listed, str) and listed.splitlines()[-1].endswith("\t" + moved)
    assert call("delete", path="/memories/notes") == "Successfully deleted /memories/notes"
    with pytest.raises(ToolError) as gone:
        call("delete", path="/memories/none.md")
    assert str(gone.value) == MISSING


def test_what_the_tool_writes_is_a_memory_with_its_author(server, agent, tool: LociMemoryTool) -> None:
    tool.call({"command": "create", "path": "/memories/seen.md", "file_text": "seen by all"})
    stores = ask(server, "GET", "/v1/memory_stores", key=agent[1])["data"]
    assert [store["name"] for store in stores] == [f"home of {agent[0]}"]
    base = f"/v1/memory_stores/{stores[0]['id']}"
    memory = ask(server, "GET", f"{base}/memories?view=full", key=agent[1])["data"][0]
    assert (memory["path"], memory["content"]) == ("/seen.md", "seen by all")
    version = ask(server, "GET", f"{base}/memory_versions", key=agent[1])["data"][0]
    assert version["created_by"]["type"] == "api_actor"
    ask(server, "POST", f"{base}/memories", key=agent[1], body={"path": "/back.md", "content": "and back"})
    assert "\tand back" in str(tool.call({"command": "view", "path": "/memories/back.md"}))


def test_the_store_of_a_chat(server, agent) -> None:
    chat = f"chat-{uuid.uuid4()}"
    ask(server, "PUT", f"/v1/chats/{chat}/members/{agent[0]}")
    tool = LociMemoryTool(url=server.base_url, key=agent[1], store=chat)
    tool.call({"command": "create", "path": "/memories/minutes.md", "file_text": "agreed"})
    assert "\tagreed" in str(tool.call({"command": "view", "path": "/memories/minutes.md"}))
    ask(server, "DELETE", f"/v1/chats/{chat}/members/{agent[0]}")
    with pytest.raises(ToolError):
        tool.call({"command": "view", "path": "/memories/minutes.md"})
