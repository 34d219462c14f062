"""Claude's memory tool with Loci behind it: each command is executed by the server, whole or not at all."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError


class LociMemoryTool(BetaAbstractMemoryTool):
    """The memory of whoever the key belongs to, or with `store` the store of a chat, a user or another agent."""

    def __init__(self, url: str | None = None, key: str | None = None, store: str | None = None) -> None:
        super().__init__()
        self._url = (url or os.environ["LOCI_URL"]).rstrip("/") + "/v1/tools/memory"
        self._key = key or os.environ["LOCI_KEY"]
        self._store = {"store": store, "dialect": "native"} if store else {}

    def _execute(self, command) -> str:
        body = command.model_dump(exclude_none=True) | self._store
        request = urllib.request.Request(
            self._url,
            data=json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self._key}", "content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as refused:
            raise ToolError(f"the memory server answered {refused.code}") from refused
        except (OSError, ValueError) as broken:
            # No connection, a timeout, half an answer: the model is told, and the run goes on.
            raise ToolError("the memory server cannot be reached") from broken
        if answer["is_error"]:
            raise ToolError(answer["content"])
        return answer["content"]

    view = create = str_replace = insert = delete = rename = _execute
