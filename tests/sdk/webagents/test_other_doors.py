"""What is written here is seen through the Memory Stores door and the reverse, with the right author."""

from __future__ import annotations

import json

import pytest

from support import StoreMemory, failed, key_value, run, settled, word


def store_of(loci, agent) -> str:
    """The one store that holds what the agent remembers."""
    (store,) = loci.memory_stores(agent.key)
    return store["id"]


def memories(loci, key, store) -> dict[str, dict]:
    page = loci.through("GET", f"/v1/memory_stores/{store}/memories", key, params={"view": "full", "limit": 100})
    assert page["next_page"] is None
    return {each["path"]: each for each in page["data"]}


def history(loci, key, store, **query) -> list[dict]:
    page = loci.through("GET", f"/v1/memory_stores/{store}/memory_versions", key, params={"view": "full", **query})
    return page["data"]


def test_written_here_read_there(loci, ada):
    memory = ada.memory()
    memory("set", key="note", value="plain text")
    memory("set", key="data", value={"n": 1, "s": "ü"})
    memory("set", key="two words", value="spaces stay")
    seen = memories(loci, ada.key, store_of(loci, ada))
    assert set(seen) == {"/note", "/data", "/two words"}
    assert seen["/note"]["content"] == "plain text"
    assert json.loads(seen["/data"]["content"]) == {"n": 1, "s": "ü"}


def test_one_key_is_one_path(loci, ada):
    """No two keys meet at a path, and the way back gives the key."""
    memory = ada.memory()
    # As the client takes them: the first two are one key, and so are the next two.
    keys = ["a/b", "a%2Fb", "%61", "a", "%2E%2E", "%3Aspace"]
    for key in keys:
        memory("set", key=key, value=key)
    seen = memories(loci, ada.key, store_of(loci, ada))
    assert memory.keys() == ["..", ":space", "a", "a/b"]
    assert set(seen) == {"/a%2Fb", "/a", "/%2E%2E", "/%3Aspace"}


def test_written_there_read_here(loci, ada):
    memory, needle = ada.memory(), word()
    memory("set", key="first", value="makes the store")
    store = store_of(loci, ada)
    for path, content in {"/there": f"from there {needle}", "/notes/deep": "below"}.items():
        loci.through("POST", f"/v1/memory_stores/{store}/memories", ada.key, json={"path": path, "content": content})
    assert memory.value("there") == f"from there {needle}"
    assert memory.value("notes/deep") == "below"
    assert memory.keys() == ["first", "notes/deep", "there"]
    settled(lambda: memory.hits(needle), {(ada.id, "there")})


def test_changed_and_deleted_on_either_side(loci, ada):
    memory = ada.memory()
    memory("set", key="note", value="one")
    store = store_of(loci, ada)
    made = memories(loci, ada.key, store)["/note"]
    where = f"/v1/memory_stores/{store}/memories/{made['id']}"
    loci.through("POST", where, ada.key, json={"content": "two"})
    assert memory.value("note") == "two"
    memory("set", key="note", value="three")
    assert loci.through("GET", where, ada.key)["content"] == "three"
    loci.through("DELETE", where, ada.key)
    assert memory("get", key="note") is None
    memory("set", key="note", value="four")
    assert memory("delete", key="note") == "OK"
    assert memories(loci, ada.key, store) == {}
    operations = [version["operation"] for version in history(loci, ada.key, store)]
    assert operations == ["deleted", "created", "deleted", "modified", "modified", "created"]


def test_every_version_names_its_author(loci, ada, bob):
    ada.memory()("set", key="hers", value="ada's")
    ada.memory()("share", agent=bob.id, level="readwrite")
    bob.memory()("set", store=ada.id, key="his", value="bob's")
    store = store_of(loci, ada)
    authors = {version["path"]: version["created_by"] for version in history(loci, ada.key, store)}
    assert authors == {
        "/hers": {"type": "api_actor", "api_key_id": ada.key_id},
        "/his": {"type": "api_actor", "api_key_id": bob.key_id},
    }


def test_what_a_platform_wrote_is_the_agents_it_acted_for(loci, ada):
    """No key of the agent was used, so the agent itself is named."""
    StoreMemory(ada.id, loci.service_key()["secret"])("set", key="note", value="for ada")
    (version,) = history(loci, ada.key, store_of(loci, ada))
    account = ada.principal.replace("prn_", "svac_")
    assert version["created_by"] == {"type": "service_account_actor", "service_account_id": account}
    assert ada.memory()("get", key="note")["ownerId"] == ada.id


def test_what_one_may_see_is_the_same_on_both_sides(loci, ada, bob, eve):
    ada.memory()("set", key="note", value="ada's")
    store = store_of(loci, ada)
    assert loci.memory_stores(bob.key) == []
    ada.memory()("share", agent=bob.id, level="read")
    assert [each["id"] for each in loci.memory_stores(bob.key)] == [store]
    assert memories(loci, bob.key, store)["/note"]["content"] == "ada's"
    assert loci.memory_stores(eve.key) == []
    ada.memory()("unshare", agent=bob.id)
    assert loci.memory_stores(bob.key) == []


def test_hidden_and_sealed_entries(loci, ada):
    """A host sees what is hidden from models; what is sealed has no text to show."""
    memory = ada.memory()
    memory.set_internal(ada.id, "hidden", "for the program")
    memory.set_internal(ada.id, "sealed", "Y2lwaGVy", encrypted=True)
    memory("set", key="note", value="open")
    seen = memories(loci, ada.key, store_of(loci, ada))
    assert {path: each["content"] for path, each in seen.items()} == {
        "/hidden": "for the program", "/note": "open", "/sealed": None,
    }  # fmt: skip
    assert memory.value("sealed") == "Y2lwaGVy"


def test_a_grant_given_there_counts_here(loci, ada, bob):
    ada.memory()("set", key="note", value="ada's")
    store = store_of(loci, ada)
    body = {"grantee": bob.id, "level": "read"}
    grants = f"/v1/memory_stores/{store}/grants"
    made = loci.call("POST", grants, ada.key, json=body)
    assert made.is_success, made.text
    assert bob.memory().value("note", store=ada.id) == "ada's"
    assert loci.call("DELETE", f"{grants}/{made.json()['id']}", ada.key).is_success
    assert bob.memory()("list", store=ada.id) == failed("list", 403)


def test_notes_and_key_values_are_seen_too(loci, ada):
    run(ada.scoped().put("owner", "preferences", "a note"))
    kv, close = key_value(ada.id, ada.key)
    run(kv.kv_set("token", "a value", "mail"))
    close()
    seen = [
        each["content"]
        for store in loci.memory_stores(ada.key)
        for each in memories(loci, ada.key, store["id"]).values()
    ]
    assert sorted(seen) == ["a note", "a value"]


@pytest.mark.parametrize("kind", ["chat", "user"])
def test_chat_and_user_stores_are_seen_by_those_who_may(loci, ada, bob, kind):
    user = loci.user()
    chat = loci.chat(ada, user)
    where = chat if kind == "chat" else user
    ada.memory()("set", store=where, key="topic", value="boats")
    found = {
        each["content"]
        for store in loci.memory_stores(ada.key)
        for each in memories(loci, ada.key, store["id"]).values()
    }
    assert found == {"boats"}
    assert loci.memory_stores(bob.key) == []
    loci.leave(chat, ada)
    assert loci.memory_stores(ada.key) == []
