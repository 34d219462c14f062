"""A chat's store is open to whoever is in the chat at that moment, and to nobody else."""

from __future__ import annotations

from support import DENIED, failed, new_id, settled, word


def test_members_share_a_store(loci, ada, bob):
    chat = loci.chat(ada, bob)
    assert ada.memory(chat=chat)("set", store=chat, key="topic", value="boats") == "OK"
    assert bob.memory(chat=chat).value("topic", store=chat) == "boats"
    assert bob.memory(chat=chat).keys(store=chat) == ["topic"]
    answer = bob.memory(chat=chat)("get", store=chat, key="topic")
    assert (answer["storeId"], answer["ownerId"]) == (chat, ada.id)
    # Each makes and deletes its own.
    assert bob.memory(chat=chat)("delete", store=chat, key="topic") == failed("delete", 403)
    assert ada.memory(chat=chat)("delete", store=chat, key="topic") == "OK"


def test_being_in_the_chat_counts_not_naming_it(loci, ada, bob, eve):
    chat = loci.chat(ada, bob)
    ada.memory()("set", store=chat, key="topic", value="boats")
    assert bob.memory().value("topic", store=chat) == "boats"
    for stranger in (eve.memory(), eve.memory(chat=chat), eve.memory(chat=chat, user=chat)):
        assert stranger("get", store=chat, key="topic") == DENIED
        assert stranger("list", store=chat) == failed("list", 403)
        assert stranger("set", store=chat, key="topic", value="mine") == DENIED
        assert stranger("delete", store=chat, key="topic") == failed("delete", 403)
        assert stranger("search", query="boats", store=chat) == failed("search", 403)
        assert stranger("share", store=chat, agent=eve.id, level="read") == failed("share", 403)
        assert stranger("unshare", store=chat, agent=ada.id) == failed("unshare", 403)
        assert stranger.stores() == [(eve.id, "readwrite", "self")]


def test_access_comes_and_goes_with_membership(loci, ada, bob):
    chat, needle = loci.chat(ada), word()
    guest = bob.memory(chat=chat)
    ada.memory()("set", store=chat, key="topic", value=needle)
    assert guest("get", store=chat, key="topic") == DENIED
    loci.join(chat, bob)
    assert guest.value("topic", store=chat) == needle
    assert guest("set", store=chat, key="reply", value="yes") == "OK"
    settled(lambda: guest.hits(needle), {(chat, "topic")})
    assert guest.stores() == [(bob.id, "readwrite", "self"), (chat, "readwrite", "chat")]
    loci.leave(chat, bob)
    assert guest("get", store=chat, key="topic") == DENIED
    assert guest("list", store=chat) == failed("list", 403)
    assert guest("set", store=chat, key="reply", value="no") == DENIED
    assert guest("delete", store=chat, key="reply") == failed("delete", 403)
    assert guest("search", query=needle) == {"entries": []}
    assert guest("search", query=needle, store=chat) == failed("search", 403)
    assert guest.get_internal(chat, "topic") is None
    assert guest.stores() == [(bob.id, "readwrite", "self")]
    assert ada.memory().value("reply", store=chat) == "yes"
    loci.join(chat, bob)
    assert guest.value("topic", store=chat) == needle
    assert guest("delete", store=chat, key="reply") == "OK"


def test_search_and_stores_include_the_chat_that_is_named(loci, ada, bob):
    needle = word()
    this, other = loci.chat(ada, bob), loci.chat(ada, bob)
    ada.memory()("set", store=this, key="here", value=needle)
    ada.memory()("set", store=other, key="there", value=needle)
    guest = bob.memory(chat=this)
    settled(lambda: guest.hits(needle), {(this, "here")})
    assert bob.memory(chat=other).hits(needle) == {(other, "there")}
    assert bob.memory().hits(needle) == set()
    assert bob.memory().stores() == [(bob.id, "readwrite", "self")]
    # A store that is named is searched whichever chat the agent is in at the time.
    assert guest.hits(needle, store=other) == {(other, "there")}


def test_an_explicit_grant_comes_before_membership(loci, ada, bob):
    chat, needle = loci.chat(ada, bob), word()
    ada.memory()("set", store=chat, key="topic", value=needle)
    guest = bob.memory(chat=chat)
    assert guest.value("topic", store=chat) == needle
    assert ada.memory()("share", store=chat, agent=bob.id, level="search") == "OK"
    assert guest("get", store=chat, key="topic") == DENIED
    assert guest("list", store=chat) == failed("list", 403)
    assert guest("set", store=chat, key="topic", value="mine") == DENIED
    settled(lambda: guest.hits(needle, store=chat), {(chat, "topic")})
    assert [(each[0], each[1]) for each in guest.stores()] == [(bob.id, "readwrite"), (chat, "search")]
    assert ada.memory()("unshare", store=chat, agent=bob.id) == "OK"
    assert guest("set", store=chat, key="reply", value="mine") == "OK"


def test_a_grant_to_an_outsider_lasts_as_long_as_its_giver_stays(loci, ada, bob, eve):
    chat = loci.chat(ada, bob)
    ada.memory()("set", store=chat, key="topic", value="boats")
    assert ada.memory()("share", store=chat, agent=eve.id, level="read") == "OK"
    guest = eve.memory()
    assert guest.value("topic", store=chat) == "boats"
    assert guest.stores() == [(eve.id, "readwrite", "self"), (chat, "read", "grant")]
    loci.leave(chat, bob)
    assert guest.value("topic", store=chat) == "boats"
    loci.leave(chat, ada)
    assert guest("get", store=chat, key="topic") == DENIED
    assert guest.stores() == [(eve.id, "readwrite", "self")]


def test_a_grant_outlives_the_membership_of_the_one_it_was_given_to(loci, ada, bob):
    chat = loci.chat(ada, bob)
    ada.memory()("set", store=chat, key="topic", value="boats")
    ada.memory()("share", store=chat, agent=bob.id, level="read")
    loci.leave(chat, bob)
    assert bob.memory().value("topic", store=chat) == "boats"
    assert bob.memory()("set", store=chat, key="topic", value="mine") == DENIED


def test_agents_in_one_chat_do_not_open_each_others_stores(loci, ada, bob):
    chat = loci.chat(ada, bob)
    ada.memory()("set", key="own", value="ada's")
    for guest in (bob.memory(), bob.memory(chat=chat), bob.memory(chat=chat, user=ada.id)):
        assert guest("get", store=ada.id, key="own") == DENIED
        assert guest("list", store=ada.id) == failed("list", 403)


def test_a_chat_nobody_knows_is_closed(ada):
    nowhere = new_id()
    memory = ada.memory(chat=nowhere)
    assert memory("get", store=nowhere, key="topic") == DENIED
    assert memory("set", store=nowhere, key="topic", value="mine") == DENIED
    assert memory.stores() == [(ada.id, "readwrite", "self")]
    assert memory("search", query="boats") == {"entries": []}


def test_only_an_administrator_or_a_platform_changes_who_is_in_a_chat(loci, ada, bob):
    chat = loci.chat(ada)
    for key in (ada.key, bob.key):
        answer = loci.call("PUT", f"/v1/chats/{chat}/members/{bob.id}", key, json={"kind": "agent"})
        assert answer.status_code in (403, 404), answer.text
    assert bob.memory(chat=chat)("get", store=chat, key="topic") == DENIED
    platform = loci.service_key()["secret"]
    assert loci.call("PUT", f"/v1/chats/{chat}/members/{bob.id}", platform, json={"kind": "agent"}).is_success
    assert bob.memory(chat=chat)("get", store=chat, key="topic") is None
    assert loci.call("DELETE", f"/v1/chats/{chat}/members/{bob.id}", platform).is_success
    assert bob.memory(chat=chat)("get", store=chat, key="topic") == DENIED
