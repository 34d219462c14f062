"""The three levels of a grant, and none: what each allows, and the exact answer to everything else."""

from __future__ import annotations

import pytest

from support import DENIED, failed, new_id, settled, word


@pytest.fixture
def open_to(ada, bob):
    """Ada's store with one entry in it, opened to Bob at a level; Bob's tool and the word in it."""

    def opened(level: str | None):
        needle = word()
        owner = ada.memory()
        owner("set", key="note", value=f"about {needle}")
        if level is not None:
            assert owner("share", agent=bob.id, level=level) == "OK"
        settled(lambda: owner.hits(needle), {(ada.id, "note")})
        return bob.memory(), needle

    return opened


def refuses_reading(guest, store):
    assert guest("get", store=store, key="note") == DENIED
    # A key that is not there is no different: the answer tells nothing about what is.
    assert guest("get", store=store, key="no such note") == DENIED
    assert guest("list", store=store) == failed("list", 403)
    assert guest("list", store=store, prefix="no") == failed("list", 403)
    assert guest.get_internal(store, "note") is None


def refuses_writing(owner, guest, store):
    assert guest("set", store=store, key="note", value="mine now") == DENIED
    assert guest("set", store=store, key="new", value="mine") == DENIED
    assert guest.set_internal(store, "new", "mine") is False
    assert guest("delete", store=store, key="note") == failed("delete", 403)
    assert guest("delete", store=store, key="no such note") == failed("delete", 403)
    assert guest("share", store=store, agent=new_id(), level="search") == failed("share", 403)
    assert guest("unshare", store=store, agent=new_id()) == failed("unshare", 403)
    assert owner.keys() == ["note"]


def test_search_level(ada, bob, open_to):
    guest, needle = open_to("search")
    assert guest.hits(needle, store=ada.id) == {(ada.id, "note")}
    (entry,) = guest("search", query=needle)["entries"]
    assert (entry["storeId"], entry["value"]) == (ada.id, f"about {needle}")
    refuses_reading(guest, ada.id)
    refuses_writing(ada.memory(), guest, ada.id)
    assert (ada.id, "search", "grant") in guest.stores()


def test_read_level(ada, bob, open_to):
    guest, needle = open_to("read")
    assert guest.hits(needle, store=ada.id) == guest.hits(needle) == {(ada.id, "note")}
    assert guest.value("note", store=ada.id) == f"about {needle}"
    assert guest("get", store=ada.id, key="no such note") is None
    assert guest.keys(store=ada.id) == ["note"]
    assert guest.get_internal(ada.id, "note")["value"] == f"about {needle}"
    refuses_writing(ada.memory(), guest, ada.id)
    assert (ada.id, "read", "grant") in guest.stores()


def test_readwrite_level(ada, bob, eve, open_to):
    guest, needle = open_to("readwrite")
    owner = ada.memory()
    assert guest.hits(needle, store=ada.id) == {(ada.id, "note")}
    assert guest.value("note", store=ada.id) == f"about {needle}"
    assert guest("set", store=ada.id, key="new", value="from bob") == "OK"
    assert guest.set_internal(ada.id, "hidden", "from bob") is True
    assert owner.value("new") == "from bob"
    assert owner.keys() == guest.keys(store=ada.id) == ["new", "note"]
    assert guest("delete", store=ada.id, key="new") == "OK"
    assert guest("share", store=ada.id, agent=eve.id) == "OK"
    assert eve.memory().value("note", store=ada.id) == f"about {needle}"
    assert guest("unshare", store=ada.id, agent=eve.id) == "OK"
    assert eve.memory()("get", store=ada.id, key="note") == DENIED
    assert (ada.id, "readwrite", "grant") in guest.stores()


def test_a_stranger_is_refused_everything(ada, bob, open_to):
    guest, needle = open_to(None)
    refuses_reading(guest, ada.id)
    refuses_writing(ada.memory(), guest, ada.id)
    assert guest("search", query=needle, store=ada.id) == failed("search", 403)
    assert guest("search", query=needle) == {"entries": []}
    assert guest.stores() == [(bob.id, "readwrite", "self")]


def test_a_store_that_is_not_there_looks_like_one_that_is_closed(bob):
    guest, nowhere = bob.memory(), new_id()
    refuses_reading(guest, nowhere)
    assert guest("set", store=nowhere, key="new", value="mine") == DENIED
    assert guest("delete", store=nowhere, key="note") == failed("delete", 403)
    assert guest("share", store=nowhere, agent=bob.id, level="readwrite") == failed("share", 403)
    assert guest("unshare", store=nowhere, agent=bob.id) == failed("unshare", 403)
    assert guest("search", query="anything", store=nowhere) == failed("search", 403)


def test_a_grant_does_not_open_the_way_back(ada, bob, open_to):
    open_to("readwrite")
    bob.memory()("set", key="own", value="bob's")
    assert ada.memory()("get", store=bob.id, key="own") == DENIED
    assert ada.memory()("list", store=bob.id) == failed("list", 403)


def test_a_key_gives_no_more_than_its_own_level(loci, ada):
    """The same agent through a key that may only read, and one that may only search."""
    needle = word()
    ada.memory()("set", key="note", value=needle)
    settled(lambda: ada.memory().hits(needle), {(ada.id, "note")})
    principal = {"name": ada.id, "uuid": ada.uuid, "id": ada.principal}
    reader = loci.keyed(principal, level="read").memory()
    assert reader.value("note") == needle
    assert reader("set", key="note", value="changed") == DENIED
    assert reader("delete", key="note") == failed("delete", 403)
    searcher = loci.keyed(principal, level="search").memory()
    assert searcher.hits(needle) == {(ada.id, "note")}
    assert searcher("get", key="note") == DENIED
    assert searcher("list") == failed("list", 403)
    assert ada.memory().value("note") == needle
