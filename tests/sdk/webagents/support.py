"""Words the tests share: the server, its agents, and the real skills started for one of them.

Everything is set up over the native API by plain HTTP. The skills are the published classes,
unchanged; an agent object carries the key exactly as one that runs would.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import httpx
from webagents.agents.core.base_agent import BaseAgent
from webagents.agents.skills.local.memory.portal_memory_store import PortalMemoryStore
from webagents.agents.skills.robutler.kv import MemorySkill
from webagents.agents.skills.robutler.storage.kv.skill import RobutlerKVSkill

MEMORY = "/api/storage/memory"
SCOPED = "/api/storage/memory-scoped"
MEMORY_STORES_BETA = {"anthropic-beta": "managed-agents-2026-04-01"}

DENIED = {"error": "Access denied"}

# One loop for all: a client that keeps its connections is bound to the loop it began in.
_loop = asyncio.new_event_loop()


def run(coroutine):
    return _loop.run_until_complete(coroutine)


def new_id() -> str:
    return str(uuid.uuid4())


def word(stem: str = "word") -> str:
    """A word that no other test writes or searches."""
    return f"{stem}{uuid.uuid4().hex[:12]}"


def failed(action: str, status: int) -> dict[str, str]:
    return {"error": f"{action} failed: {status}"}


def iso(offset: timedelta = timedelta()) -> str:
    """Now, or so much later, the way the clients write a moment."""
    moment = datetime.now(timezone.utc) + offset
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def settled(look: Callable[[], Any], expected: Any, seconds: float = 60.0) -> None:
    """Looks until it sees what is expected, because words are indexed shortly after the write."""
    end = time.monotonic() + seconds
    seen = look()
    while seen != expected and time.monotonic() < end:
        time.sleep(0.05)
        seen = look()
    assert seen == expected


@dataclass(frozen=True)
class Agent:
    """An agent as the server knows it: its own id, and a key that is bound to it."""

    id: str
    uuid: str
    principal: str
    key: str = field(repr=False)
    key_id: str

    def memory(self, **options: Any) -> StoreMemory:
        return StoreMemory(self.id, self.key, **options)

    def scoped(self, agent_id: str | None = None, key: str | None = None) -> PortalMemoryStore:
        return PortalMemoryStore(
            os.environ["ROBUTLER_API_URL"], token=lambda: key or self.key, agent_id=agent_id or self.id
        )


class StoreMemory:
    """The store memory skill of one agent, and the tool it registers.

    `initialize` of the released class forgets to await its base class, which would set the agent;
    setting it first is all it takes to start.
    """

    def __init__(self, agent_id: str | None, key: str | None, chat: str | None = None, user: str | None = None):
        host = BaseAgent(name=f"agent-{uuid.uuid4().hex[:8]}")
        host.api_key = key
        self.skill = MemorySkill(agent_id=agent_id, chat_id=chat, user_id=user)
        self.skill.agent = host
        self.skill.initialize(host)
        (self._tool,) = [each["function"] for each in host.get_all_tools() if each["name"] == "memory"]

    def __call__(self, action: str, **arguments: Any) -> Any:
        return run(self._tool(action=action, **arguments))

    def get_internal(self, store: str, key: str) -> Any:
        return run(self.skill.get_internal(store, key))

    def set_internal(self, store: str, key: str, value: Any, **options: Any) -> bool:
        return run(self.skill.set_internal(store, key, value, **options))

    def value(self, key: str, store: str | None = None) -> Any:
        """The value behind a key, which must be there."""
        answer = self("get", key=key, store=store)
        assert isinstance(answer, dict) and "value" in answer, answer
        return answer["value"]

    def keys(self, store: str | None = None, prefix: str | None = None) -> list[str]:
        """The keys of a store that must be listable, in order."""
        answer = self("list", store=store, prefix=prefix)
        assert set(answer) == {"entries"}, answer
        return sorted(entry["key"] for entry in answer["entries"])

    def hits(self, query: str, store: str | None = None) -> set[tuple[str, str]]:
        """What a search that must be allowed finds, as (store, key).

        Search also finds what is alike in meaning; what holds the word itself is what counts here.
        """
        answer = self("search", query=query, store=store)
        assert set(answer) == {"entries"}, answer
        held = [entry for entry in answer["entries"] if query in json.dumps(entry["value"], ensure_ascii=False)]
        return {(entry["storeId"], entry["key"]) for entry in held}

    def stores(self) -> list[tuple[str, str, str]]:
        answer = self("stores")
        assert set(answer) == {"stores"}, answer
        return [(each["storeId"], each["level"], each["source"]) for each in answer["stores"]]


def key_value(agent_id: str, key: str) -> tuple[RobutlerKVSkill, Callable[[], None]]:
    """The first-generation skill, started, and what closes it."""
    skill = RobutlerKVSkill({"portal_url": os.environ["ROBUTLER_API_URL"], "api_key": key})
    run(skill.initialize(SimpleNamespace(id=agent_id, api_key=key)))
    return skill, lambda: run(skill.cleanup())


class Loci:
    """The server under test and the ways of setting it up."""

    def __init__(self, base_url: str, admin_key: str):
        self.admin_key = admin_key
        self._http = httpx.Client(base_url=base_url, timeout=30)

    def __enter__(self) -> Loci:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def call(self, method: str, path: str, key: str | None, *, bearer: bool = True, **request: Any) -> httpx.Response:
        """One request written by hand. Paths go out as they stand, escapes included."""
        headers = dict(request.pop("headers", {}))
        if key is not None:
            headers.update({"authorization": f"Bearer {key}"} if bearer else {"x-api-key": key})
        return self._http.request(method, path, headers=headers, **request)

    def admin(self, method: str, path: str, body: Any = None) -> Any:
        """A native request by the administrator that must succeed."""
        answer = self.call(method, path, self.admin_key, bearer=False, json=body)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def agent(self, name: str | None = None) -> Agent:
        return self.keyed(self.admin("POST", "/v1/principals", {"name": name or new_id(), "kind": "agent"}))

    def keyed(self, principal: dict, **fields: Any) -> Agent:
        """An agent that is there, with a new key."""
        body = {"name": "suite", "principal": principal["name"], **fields}
        made = self.admin("POST", "/v1/api_keys", body)
        return Agent(principal["name"], principal["uuid"], principal["id"], made["secret"], made["id"])

    def user(self) -> str:
        return self.admin("POST", "/v1/principals", {"name": new_id(), "kind": "user"})["name"]

    def service_key(self) -> dict:
        """A platform's key, which may act for any agent: `{"id", "secret", "principal"}`."""
        service = self.admin("POST", "/v1/principals", {"name": f"platform {new_id()}", "kind": "service"})
        body = {"name": "platform", "principal": service["name"], "acts_for_agents": True}
        return self.admin("POST", "/v1/api_keys", body)

    def chat(self, *members: Agent | str) -> str:
        """A chat with these agents and (as bare ids) users in it."""
        chat = new_id()
        for member in members:
            self.join(chat, member)
        return chat

    def join(self, chat: str, member: Agent | str) -> None:
        kind, name = ("user", member) if isinstance(member, str) else ("agent", member.id)
        self.admin("PUT", f"/v1/chats/{chat}/members/{name}", {"kind": kind})

    def leave(self, chat: str, member: Agent | str) -> None:
        name = member if isinstance(member, str) else member.id
        answer = self.call("DELETE", f"/v1/chats/{chat}/members/{name}", self.admin_key)
        assert answer.is_success, answer.text

    def switch(self, agent: Agent, *off: str) -> None:
        """All of an agent's switches on, but for these."""
        switches = {name: name not in off for name in ("enabled", "self", "chat", "user")}
        self.admin("POST", f"/v1/principals/{agent.id}/memory", switches)

    def events(self, kind: str) -> list[dict]:
        """What the audit log says about one kind of thing."""
        found, after = [], 0
        for _ in range(1000):
            page = self.admin("GET", f"/v1/events?after={after}&limit=1000")["data"]
            if not page:
                return found
            found += [event for event in page if event["kind"] == kind]
            after = page[-1]["seq"]
        raise AssertionError("the audit log has no end")

    def put(self, agent: Agent, key: str, body: dict, store: str | None = None) -> httpx.Response:
        """A write by hand, for fields that the Python skill never sends."""
        whole = {"agentId": agent.id, "store": store or agent.id, **body}
        return self.call("PUT", f"{MEMORY}/{key}", agent.key, json=whole)

    def share(self, agent: Agent, grantee: Agent, **fields: Any) -> httpx.Response:
        body = {"agentId": agent.id, "store": agent.id, "grantee": grantee.id, **fields}
        return self.call("POST", f"{MEMORY}?action=share", agent.key, json=body)

    def memory_stores(self, key: str) -> list[dict]:
        """The stores that this key sees through the Memory Stores door."""
        return self.through("GET", "/v1/memory_stores", key)["data"]

    def through(self, method: str, path: str, key: str, **request: Any) -> Any:
        """A request to the Memory Stores door that must succeed."""
        answer = self.call(method, path, key, bearer=False, headers=MEMORY_STORES_BETA, **request)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()
