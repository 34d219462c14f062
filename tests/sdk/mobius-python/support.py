"""What the tests share: which revision the release speaks, raw requests beside its client, and a
server of one's own that can be killed and started again."""

from __future__ import annotations

import os
import subprocess
import threading
import uuid
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

import httpx
from deepnoodle.mobius import Client, SaveAgentMemoryEntryRequest

RELEASE = version("deepnoodle-mobius")
HAS_USERS = RELEASE != "0.0.61"
# Only in keys of this form the older release looks for a project.
KEY = "mbx_suite-admin-key-0123456789"


class Server:
    """A server, by its address and a key."""

    def __init__(self, base_url: str, key: str) -> None:
        self.base_url, self.key = base_url, key

    def client(self, key: str | None = None, **options: object) -> Client:
        return Client(key or self.key, base_url=self.base_url, **options)

    def raw(self, method: str, path: str, **options: object) -> httpx.Response:
        headers = {
            "Authorization": f"Bearer {self.key}",
            "anthropic-beta": "agent-memory-2026-07-22",
        }
        return httpx.request(method, self.base_url + path, headers=headers, timeout=30, **options)

    def agents(self, rest: str = "") -> str:
        """A path of this release's revision."""
        return ("/v1/agents" if HAS_USERS else "/v1/projects/default/agents") + rest

    def agent(self, name: str, rest: str = "") -> str:
        return self.agents("/" + quote(name, safe="") + rest)

    def remove_home(self, name: str) -> None:
        """Takes an agent's whole memory away, as an operator would."""
        stores = self.raw("GET", "/v1/memory_stores?limit=100").json()["data"]
        store = next(store for store in stores if store["name"] == f"home of {name}")
        assert self.raw("DELETE", f"/v1/memory_stores/{store['id']}").is_success


class OwnServer(Server):
    """A server of one's own, on a data directory of one's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None
        super().__init__("", KEY)
        self.start()

    def start(self) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if name != "LOCI_DATABASE"},
            "LOCI_DATA": str(self.folder),
            "LOCI_ADMIN_KEY": KEY,
        }
        self.process = subprocess.Popen(
            [os.environ["LOCI_BIN"], "serve", "--listen", "127.0.0.1:0"],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("loci listening on "):
                self.base_url = line.removeprefix("loci listening on ").strip()
                break
        else:
            raise AssertionError("the server did not say where it listens")
        rest = self.process.stdout
        threading.Thread(target=lambda: list(rest), daemon=True).start()

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()


class CountingTransport(httpx.HTTPTransport):
    """The wire below a client's retries: how often it really asked."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        return super().handle_request(request)


def new_agent() -> str:
    return f"agent-{uuid.uuid4().hex[:12]}"


def save(client: Client, agent: str, key: str, content: str = "x", **fields: object):
    request = SaveAgentMemoryEntryRequest(content=content, **fields)
    return client.save_agent_memory_entry(agent, key, request)


def rows(changes) -> list[tuple[str, str, int]]:
    return [(change.operation.value, change.memory_key, change.version) for change in changes]
