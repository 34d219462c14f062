"""An agent's switches: memory as a whole, its own store, its chats', its users'. Off means refused."""

from __future__ import annotations

import pytest
from webagents.agents.skills.local.memory.portal_memory_store import MemoryPortalError

from support import DENIED, failed, run, settled, word


@pytest.fixture
def places(loci, ada):
    """One entry in each of Ada's three stores: her own, a chat's, a user's."""
    user = loci.user()
    chat = loci.chat(ada, user)
    memory = ada.memory(chat=chat, user=user)
    where = {"self": ada.id, "chat": chat, "user": user}
    for store in where.values():
        assert memory("set", store=store, key="note", value="before") == "OK"
    return memory, where


def refused(memory, store):
    assert memory("get", store=store, key="note") == DENIED
    assert memory("set", store=store, key="note", value="after") == DENIED
    assert memory("list", store=store) == failed("list", 403)
    assert memory("delete", store=store, key="note") == failed("delete", 403)
    assert memory.get_internal(store, "note") is None
    assert memory.set_internal(store, "token", 1) is False


def test_all_are_on_at_first(loci, ada):
    shown = loci.admin("GET", f"/v1/principals/{ada.id}/memory")
    assert {name: shown[name] for name in ("enabled", "self", "chat", "user")} == {
        "enabled": True, "self": True, "chat": True, "user": True,
    }  # fmt: skip


def test_memory_off(loci, ada, bob, places):
    memory, where = places
    loci.switch(ada, "enabled")
    for store in where.values():
        refused(memory, store)
    assert memory("search", query="before") == failed("search", 403)
    assert memory("stores") == failed("stores", 403)
    assert memory("share", agent=bob.id) == failed("share", 403)
    loci.switch(ada)
    for store in where.values():
        assert memory.value("note", store=store) == "before"


@pytest.mark.parametrize("off", ["self", "chat", "user"])
def test_one_of_them_off(loci, ada, places, off):
    memory, where = places
    loci.switch(ada, off)
    refused(memory, where[off])
    for name, store in where.items():
        if name != off:
            assert memory.value("note", store=store) == "before", name
            assert memory("set", store=store, key="more", value=1) == "OK"
    assert where[off] not in [store for store, _, _ in memory.stores()]
    loci.switch(ada)
    assert memory.value("note", store=where[off]) == "before"
    assert memory.keys(store=where[off]) == ["note"]


def test_search_leaves_out_what_is_off(loci, ada):
    chat, needle = loci.chat(ada), word()
    memory = ada.memory(chat=chat)
    memory("set", key="own", value=needle)
    memory("set", store=chat, key="chats", value=needle)
    settled(lambda: memory.hits(needle), {(ada.id, "own"), (chat, "chats")})
    loci.switch(ada, "chat")
    assert memory.hits(needle) == {(ada.id, "own")}
    loci.switch(ada, "self")
    assert memory.hits(needle) == {(chat, "chats")}


def test_the_other_routes_are_off_with_it(loci, ada):
    notes = ada.scoped()
    run(notes.put("owner", "note", "before"))
    loci.switch(ada, "enabled")
    with pytest.raises(MemoryPortalError, match="^memory: the platform answered 403"):
        run(notes.get("owner", "note"))
    with pytest.raises(MemoryPortalError, match="^memory: the platform answered 403"):
        run(notes.put("owner", "note", "after"))
    assert loci.call("GET", "/api/kv", ada.key, params={"agentId": ada.id, "key": "note"}).status_code == 403
    assert loci.call("GET", "/api/storage/kv/note", ada.key, params={"agentId": ada.id}).status_code == 403
    loci.switch(ada)
    assert run(notes.get("owner", "note")).content == "before"


def test_others_are_not_touched(loci, ada, bob):
    loci.switch(ada, "enabled")
    assert bob.memory()("set", key="note", value=1) == "OK"
    assert bob.memory().value("note") == 1


def test_an_agent_does_not_switch_itself(loci, ada, bob):
    loci.switch(ada, "enabled")
    for agent in (ada, bob):
        body = {"enabled": True, "self": True, "chat": True, "user": True}
        answer = loci.call("POST", f"/v1/principals/{ada.id}/memory", agent.key, json=body)
        assert answer.status_code in (403, 404), answer.text
    assert ada.memory()("get", key="note") == DENIED
