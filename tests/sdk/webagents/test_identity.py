"""Who acts: the agent a key is bound to, or, with a platform's key, the agent that the request names."""

from __future__ import annotations

import pytest

from support import DENIED, MEMORY, StoreMemory, failed, new_id


@pytest.mark.parametrize("shared", [False, True])
def test_an_agent_cannot_pass_for_another(ada, eve, shared):
    """Not even for one that gave it everything."""
    victim = ada.memory()
    victim("set", key="note", value="ada's")
    if shared:
        victim("share", agent=eve.id, level="readwrite")
    for name in (ada.id, ada.uuid):
        spoof = StoreMemory(name, eve.key)
        assert spoof("get", key="note") == DENIED
        assert spoof("set", key="note", value="forged") == DENIED
        assert spoof("set", store=eve.id, key="note", value="forged") == DENIED
        assert spoof("delete", key="note") == failed("delete", 403)
        assert spoof("list") == failed("list", 403)
        assert spoof("search", query="ada") == failed("search", 403)
        assert spoof("share", agent=eve.id, level="readwrite") == failed("share", 403)
        assert spoof("unshare", agent=new_id()) == failed("unshare", 403)
        assert spoof("stores") == failed("stores", 403)
        assert spoof.get_internal(ada.id, "note") is None
        assert spoof.set_internal(ada.id, "token", "forged") is False
    entries = victim("list")["entries"]
    assert [(entry["key"], entry["value"], entry["ownerId"]) for entry in entries] == [("note", "ada's", ada.id)]
    assert eve.memory().keys() == []


def test_a_name_that_nobody_has_is_refused_too(eve):
    spoof = StoreMemory(new_id(), eve.key)
    assert spoof("get", key="note") == DENIED
    assert spoof("set", key="note", value="forged") == DENIED
    assert spoof("stores") == failed("stores", 403)


def test_the_other_id_of_an_agent_is_its_own(ada):
    ada.memory()("set", key="note", value=1)
    same = StoreMemory(ada.uuid, ada.key)
    assert same.value("note") == 1
    assert same("set", key="note", value=2) == "OK"
    assert ada.memory().value("note") == 2
    assert same.stores() == [(ada.id, "readwrite", "self")]


def test_a_platform_key_acts_for_the_agent_it_names(loci, ada, bob):
    platform = loci.service_key()["secret"]
    for_ada, for_bob = StoreMemory(ada.id, platform), StoreMemory(bob.id, platform)
    assert for_ada("set", key="note", value="through the platform") == "OK"
    assert ada.memory().value("note") == "through the platform"
    assert for_ada("get", key="note")["ownerId"] == ada.id
    # It is that agent: no more than that agent may.
    assert for_bob("get", store=ada.id, key="note") == DENIED
    assert for_bob("list", store=ada.id) == failed("list", 403)
    assert for_ada("share", agent=bob.id, level="readwrite") == "OK"
    assert for_bob.value("note", store=ada.id) == "through the platform"
    assert for_bob("delete", store=ada.id, key="note") == failed("delete", 403)
    assert for_bob("set", store=ada.id, key="reply", value="bob's") == "OK"
    assert for_bob.stores() == [(bob.id, "readwrite", "self"), (ada.id, "readwrite", "grant")]
    assert for_ada("unshare", agent=bob.id) == "OK"
    assert for_bob("get", store=ada.id, key="note") == DENIED
    assert for_ada("delete", key="note") == "OK"


def test_a_platform_key_brings_agents_that_are_new_here(loci, bob):
    platform, newcomer = loci.service_key()["secret"], new_id()
    memory = StoreMemory(newcomer, platform)
    assert memory("get", key="note") is None
    assert memory("set", key="note", value="first") == "OK"
    assert memory("get", key="note")["ownerId"] == newcomer
    assert bob.memory()("get", store=newcomer, key="note") == DENIED
    assert memory("share", agent=bob.id) == "OK"
    assert bob.memory().value("note", store=newcomer) == "first"


def test_a_platform_key_respects_chats_and_users(loci, ada):
    platform, user = loci.service_key()["secret"], loci.user()
    for_ada = StoreMemory(ada.id, platform, user=user)
    assert for_ada("set", store=user, key="diet", value="vegan") == DENIED
    chat = loci.chat(ada, user)
    assert for_ada("set", store=user, key="diet", value="vegan") == "OK"
    assert for_ada("set", store=chat, key="topic", value="food") == "OK"
    loci.leave(chat, ada)
    assert for_ada("get", store=user, key="diet") == DENIED
    assert for_ada("get", store=chat, key="topic") == DENIED


def test_an_administrators_key_acts_for_the_agent_it_names(loci, ada, bob):
    for_ada = StoreMemory(ada.id, loci.admin_key)
    assert for_ada("set", key="note", value=1) == "OK"
    assert ada.memory()("get", key="note")["ownerId"] == ada.id
    assert StoreMemory(bob.id, loci.admin_key)("get", store=ada.id, key="note") == DENIED


def test_a_key_without_the_right_does_not_act_for_agents(loci, ada):
    service = loci.admin("POST", "/v1/principals", {"name": f"service {new_id()}", "kind": "service"})
    made = loci.admin("POST", "/v1/api_keys", {"name": "plain", "principal": service["name"]})
    plain = StoreMemory(ada.id, made["secret"])
    assert plain("get", key="note") == DENIED
    assert plain("set", key="note", value="forged") == DENIED


def test_an_agent_cannot_make_itself_a_platform(loci, ada):
    body = {"name": "mine", "acts_for_agents": True}
    answer = loci.call("POST", "/v1/api_keys", ada.key, json=body)
    assert answer.status_code in (400, 403, 404), answer.text


def test_both_headers_open_the_door(loci, ada):
    ada.memory()("set", key="note", value=1)
    query = {"agentId": ada.id, "store": ada.id}
    for bearer in (False, True):
        answer = loci.call("GET", f"{MEMORY}/note", ada.key, bearer=bearer, params=query)
        assert (answer.status_code, answer.json()["value"]) == (200, 1)
        assert loci.call("GET", f"{MEMORY}/note", "wrong", bearer=bearer, params=query).status_code == 401
    both = {"authorization": f"Bearer {ada.key}", "x-api-key": ada.key}
    assert loci.call("GET", f"{MEMORY}/note", None, headers=both, params=query).status_code == 200


def test_a_revoked_key_opens_nothing(loci, ada):
    ada.memory()("set", key="note", value=1)
    loci.admin("DELETE", f"/v1/api_keys/{ada.key_id}")
    assert ada.memory()("get", key="note") == failed("get", 401)
    assert ada.memory()("list") == failed("list", 401)
