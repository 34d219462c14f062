"""Every action of the store memory skill: what comes back, and what the tool refuses by itself."""

from __future__ import annotations

import pytest

from support import StoreMemory, failed, iso, new_id, settled, word

ENTRY_KEYS = {
    "key", "value", "namespace", "storeId", "ownerId", "inContext", "encrypted", "ttl", "expiresAt",
    "createdAt", "updatedAt",
}  # fmt: skip


def test_a_new_agent_has_an_empty_store_of_its_own(ada):
    memory = ada.memory()
    assert memory("get", key="nothing") is None
    assert memory("list") == {"entries": []}
    assert memory("search", query="nothing") == {"entries": []}
    assert memory("delete", key="nothing") == failed("delete", 404)
    assert memory.get_internal(ada.id, "nothing") is None
    assert memory("stores") == {"stores": [{"storeId": ada.id, "level": "readwrite", "source": "self"}]}


def test_set_and_get(ada):
    memory = ada.memory()
    before = iso()
    assert memory("set", key="colour", value="blue") == "OK"
    answer = memory("get", key="colour")
    assert set(answer) == ENTRY_KEYS
    assert (answer["key"], answer["value"], answer["namespace"]) == ("colour", "blue", "")
    assert (answer["storeId"], answer["ownerId"]) == (ada.id, ada.id)
    assert (answer["inContext"], answer["encrypted"]) == (True, False)
    assert (answer["ttl"], answer["expiresAt"]) == (0, None)
    assert before <= answer["createdAt"] == answer["updatedAt"] <= iso()


def test_set_replaces_and_keeps_when_it_began(ada):
    memory = ada.memory()
    memory("set", key="colour", value="blue")
    first = memory("get", key="colour")
    assert memory("set", key="colour", value={"red": 255}) == "OK"
    second = memory("get", key="colour")
    assert second["value"] == {"red": 255}
    assert second["createdAt"] == first["createdAt"]
    assert second["updatedAt"] > first["updatedAt"]
    assert memory.keys() == ["colour"]


def test_delete(ada):
    memory = ada.memory()
    memory("set", key="colour", value="blue")
    memory("set", key="shape", value="round")
    assert memory("delete", key="colour") == "OK"
    assert memory("get", key="colour") is None
    assert memory.keys() == ["shape"]
    assert memory("delete", key="colour") == failed("delete", 404)
    assert memory("set", key="colour", value="green") == "OK"
    assert memory.value("colour") == "green"


def test_list_shows_whole_entries(ada):
    memory = ada.memory()
    memory("set", key="one", value=1)
    memory("set", key="two", value=[2])
    entries = sorted(memory("list")["entries"], key=lambda entry: entry["key"])
    assert [(entry["key"], entry["value"]) for entry in entries] == [("one", 1), ("two", [2])]
    for entry in entries:
        assert {"key", "value", "namespace", "ownerId", "inContext"} <= set(entry)
        assert (entry["namespace"], entry["ownerId"], entry["inContext"]) == ("", ada.id, True)


def test_search_shows_whole_entries_and_their_store(ada):
    memory, needle = ada.memory(), word("needle")
    memory("set", key="here", value=f"the {needle} is here")
    memory("set", key="there", value="only hay")
    settled(lambda: memory.hits(needle), {(ada.id, "here")})
    entry = memory("search", query=needle)["entries"][0]
    assert {"storeId", "key", "value", "namespace", "ownerId"} <= set(entry)
    assert (entry["value"], entry["ownerId"]) == (f"the {needle} is here", ada.id)


def test_share_unshare_and_stores(ada, bob):
    owner, guest = ada.memory(), bob.memory()
    owner("set", key="colour", value="blue")
    assert owner("share", agent=bob.id, level="readwrite") == "OK"
    assert guest.value("colour", store=ada.id) == "blue"
    assert guest.stores() == [(bob.id, "readwrite", "self"), (ada.id, "readwrite", "grant")]
    assert owner("unshare", agent=bob.id) == "OK"
    assert guest.stores() == [(bob.id, "readwrite", "self")]
    # What nobody was given can be taken back again: nothing is wrong then.
    assert owner("unshare", agent=bob.id) == "OK"


def test_internal_reads_and_writes(ada):
    memory = ada.memory()
    assert memory.set_internal(ada.id, "token", {"secret": "s3"}) is True
    answer = memory.get_internal(ada.id, "token")
    assert set(answer) == ENTRY_KEYS
    assert (answer["value"], answer["inContext"]) == ({"secret": "s3"}, False)


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        ({"action": "get"}, "key is required"),
        ({"action": "set", "value": 1}, "key is required"),
        ({"action": "set", "key": "k"}, "value is required"),
        ({"action": "delete"}, "key is required"),
        ({"action": "search"}, "query is required"),
        ({"action": "share"}, "agent is required"),
        ({"action": "unshare"}, "agent is required"),
        ({"action": "forget"}, "Unknown action: forget"),
    ],
)
def test_the_tool_refuses_by_itself(ada, call, refusal):
    assert ada.memory()(**call) == {"error": refusal}
    assert ada.memory().keys() == []


@pytest.mark.parametrize(
    ("share", "status"),
    [({"level": "everything"}, 400), ({"agent": ""}, None), ({"agent": "x" * 5000}, 400)],
)
def test_a_share_that_means_nothing_is_refused(ada, bob, share, status):
    memory = ada.memory()
    call = {"agent": bob.id, **share}
    expected = failed("share", status) if status else {"error": "agent is required"}
    assert memory("share", **call) == expected
    assert bob.memory().stores() == [(bob.id, "readwrite", "self")]


def test_the_store_can_be_left_out_or_named(ada):
    memory = ada.memory()
    memory("set", key="colour", value="blue")
    for name in (None, "", ada.id, ada.uuid, "self", "default"):
        assert memory.value("colour", store=name) == "blue", name


def test_a_skill_that_does_not_know_its_agent_is_the_one_its_key_belongs_to(loci, ada, bob):
    unknown = StoreMemory(None, ada.key)
    assert unknown("set", key="colour", value="blue") == "OK"
    assert unknown.value("colour") == "blue" == ada.memory().value("colour")
    assert unknown.keys() == ["colour"]
    assert unknown.stores() == [(ada.id, "readwrite", "self")]
    assert unknown("share", agent=bob.id) == "OK"
    assert bob.memory().value("colour", store=ada.id) == "blue"
    assert unknown("unshare", agent=bob.id) == "OK"
    assert unknown("delete", key="colour") == "OK"


def test_an_agent_without_a_key_is_told_so(ada):
    for key in (None, "no-such-key"):
        stranger = StoreMemory(ada.id, key)
        assert stranger("get", key="colour") == failed("get", 401)
        assert stranger("set", key="colour", value="blue") == failed("set", 401)
        assert stranger("delete", key="colour") == failed("delete", 401)
        assert stranger("list") == failed("list", 401)
        assert stranger("search", query="blue") == failed("search", 401)
        assert stranger("share", agent=new_id()) == failed("share", 401)
        assert stranger("unshare", agent=new_id()) == failed("unshare", 401)
        assert stranger("stores") == failed("stores", 401)
        assert stranger.get_internal(ada.id, "colour") is None
        assert stranger.set_internal(ada.id, "colour", "blue") is False
    assert ada.memory().keys() == []
