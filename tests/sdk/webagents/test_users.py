"""A user's store opens through a chat that agent and user are in together, never by naming the user."""

from __future__ import annotations

from support import DENIED, failed, settled, word


def test_naming_a_user_opens_nothing(loci, ada, bob):
    user = loci.user()
    chat = loci.chat(bob, user)
    bob.memory(user=user)("set", store=user, key="diet", value="vegan")
    for stranger in (ada.memory(), ada.memory(user=user), ada.memory(user=user, chat=chat)):
        assert stranger("get", store=user, key="diet") == DENIED
        assert stranger("list", store=user) == failed("list", 403)
        assert stranger("set", store=user, key="diet", value="meat") == DENIED
        assert stranger("delete", store=user, key="diet") == failed("delete", 403)
        assert stranger("search", query="vegan", store=user) == failed("search", 403)
        assert stranger("search", query="vegan") == {"entries": []}
        assert stranger("share", store=user, agent=ada.id, level="read") == failed("share", 403)
        assert stranger.stores() == [(ada.id, "readwrite", "self")]
    assert bob.memory().value("diet", store=user) == "vegan"


def test_a_chat_in_common_opens_it(loci, ada, bob):
    user, needle = loci.user(), word()
    loci.chat(ada, bob, user)
    memory = ada.memory(user=user)
    assert memory("set", store=user, key="diet", value=needle) == "OK"
    assert memory.value("diet", store=user) == needle
    # List, search and delete never say which user: the server knows by itself.
    assert memory.keys(store=user) == ["diet"]
    settled(lambda: memory.hits(needle, store=user), {(user, "diet")})
    assert bob.memory().value("diet", store=user) == needle
    assert bob.memory()("delete", store=user, key="diet") == failed("delete", 403)
    assert memory("delete", store=user, key="diet") == "OK"


def test_stores_show_the_user_that_is_named(loci, ada):
    user = loci.user()
    loci.chat(ada, user)
    assert ada.memory(user=user).stores() == [(ada.id, "readwrite", "self"), (user, "readwrite", "user")]
    assert ada.memory().stores() == [(ada.id, "readwrite", "self")]


def test_it_closes_when_either_leaves(loci, ada, bob):
    user = loci.user()
    chat = loci.chat(ada, bob, user)
    memory = ada.memory(user=user)
    memory("set", store=user, key="diet", value="vegan")
    loci.leave(chat, ada)
    assert memory("get", store=user, key="diet") == DENIED
    assert memory("list", store=user) == failed("list", 403)
    assert memory.stores() == [(ada.id, "readwrite", "self")]
    assert bob.memory().value("diet", store=user) == "vegan"
    loci.join(chat, ada)
    assert memory.value("diet", store=user) == "vegan"
    loci.leave(chat, user)
    for agent in (ada, bob):
        assert agent.memory(user=user)("get", store=user, key="diet") == DENIED


def test_one_chat_of_several_is_enough(loci, ada):
    user = loci.user()
    first, second = loci.chat(ada, user), loci.chat(ada, user)
    ada.memory()("set", store=user, key="diet", value="vegan")
    loci.leave(first, ada)
    assert ada.memory().value("diet", store=user) == "vegan"
    loci.leave(second, ada)
    assert ada.memory()("get", store=user, key="diet") == DENIED


def test_a_user_store_is_not_the_chat_store(loci, ada):
    user = loci.user()
    chat = loci.chat(ada, user)
    ada.memory()("set", store=user, key="diet", value="vegan")
    ada.memory()("set", store=chat, key="topic", value="food")
    assert ada.memory().keys(store=user) == ["diet"]
    assert ada.memory().keys(store=chat) == ["topic"]
    assert ada.memory().keys() == []


def test_a_session_with_one_user_keeps_out_of_the_stores_of_others(loci, ada):
    ella, finn = loci.user(), loci.user()
    loci.chat(ada, ella)
    loci.chat(ada, finn)
    with_ella, with_finn = ada.memory(user=ella), ada.memory(user=finn)
    assert with_ella("set", store=ella, key="secret", value="of ella") == "OK"
    assert with_ella.value("secret", store=ella) == "of ella"
    assert with_finn("get", store=ella, key="secret") == DENIED
    assert with_finn("set", store=ella, key="secret", value="of finn") == DENIED
    assert with_finn("set", store=finn, key="secret", value="of finn") == "OK"
    # This client's list and delete never say which user; then the chats decide.
    assert with_finn.keys(store=ella) == ["secret"]
    assert with_ella.value("secret", store=ella) == "of ella"
