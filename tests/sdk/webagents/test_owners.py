"""Several agents under one key: each has its own entry, the newest is read, only its maker deletes."""

from __future__ import annotations

import pytest

from support import failed, settled, word


@pytest.fixture
def both(ada, bob):
    """Ada's tool and Bob's, both on Ada's store."""
    ada.memory()("share", agent=bob.id, level="readwrite")
    return ada.memory(), bob.memory()


def test_the_newest_is_read_by_everybody(ada, both):
    owner, guest = both
    owner("set", key="plan", value="ada's")
    assert owner.value("plan") == guest.value("plan", store=ada.id) == "ada's"
    guest("set", store=ada.id, key="plan", value="bob's")
    assert owner.value("plan") == guest.value("plan", store=ada.id) == "bob's"
    owner("set", key="plan", value="ada's again")
    assert owner.value("plan") == guest.value("plan", store=ada.id) == "ada's again"


def test_the_list_shows_both(ada, bob, both):
    owner, guest = both
    owner("set", key="plan", value="ada's")
    guest("set", store=ada.id, key="plan", value="bob's")
    shown = {(entry["ownerId"], entry["value"]) for entry in owner("list")["entries"]}
    assert shown == {(ada.id, "ada's"), (bob.id, "bob's")}
    assert owner("get", key="plan")["ownerId"] == bob.id


def test_search_finds_each_row_by_its_own_words(ada, bob, both):
    owner, guest = both
    hers, his = word("hers"), word("his")
    owner("set", key="plan", value=f"meet {hers}")
    guest("set", store=ada.id, key="plan", value=f"meet {his}")
    for query in (hers, his):
        settled(lambda query=query: guest.hits(query, store=ada.id), {(ada.id, "plan")})
    for query, maker in ((hers, ada.id), (his, bob.id)):
        best = owner("search", query=query, store=ada.id)["entries"][0]
        assert (best["ownerId"], query in best["value"]) == (maker, True)


def test_deleting_takes_only_the_own_row(ada, both):
    owner, guest = both
    owner("set", key="plan", value="ada's")
    guest("set", store=ada.id, key="plan", value="bob's")
    assert guest("delete", store=ada.id, key="plan") == "OK"
    assert owner.value("plan") == "ada's"
    # Now only another's row is left.
    assert guest("delete", store=ada.id, key="plan") == failed("delete", 403)
    assert owner.value("plan") == "ada's"
    assert guest("delete", store=ada.id, key="no plan") == failed("delete", 404)


def test_the_owner_of_a_store_does_not_delete_what_others_made(ada, both):
    owner, guest = both
    guest("set", store=ada.id, key="plan", value="bob's")
    assert owner("delete", key="plan") == failed("delete", 403)
    assert owner.value("plan") == "bob's"


def test_writing_over_anothers_key_leaves_it_whole(ada, both):
    owner, guest = both
    owner("set", key="plan", value="ada's")
    guest("set", store=ada.id, key="plan", value="bob's")
    guest("delete", store=ada.id, key="plan")
    assert owner("get", key="plan")["value"] == "ada's"
    assert owner("delete", key="plan") == "OK"
    assert owner("get", key="plan") is None


def test_what_a_guest_made_outlives_its_grant(ada, bob, both):
    owner, guest = both
    guest("set", store=ada.id, key="plan", value="bob's")
    owner("unshare", agent=bob.id)
    assert owner.value("plan") == "bob's"
    assert guest("delete", store=ada.id, key="plan") == failed("delete", 403)
    owner("share", agent=bob.id, level="read")
    assert guest("delete", store=ada.id, key="plan") == failed("delete", 403)


def test_what_a_skill_keeps_for_itself_is_nobody_elses(loci, ada, bob, both):
    owner, guest = both
    assert owner.set_internal(ada.id, "openai_key", "sk-ada") is True
    assert guest.get_internal(ada.id, "openai_key") is None
    assert guest("get", store=ada.id, key="openai_key") is None
    assert guest("list", store=ada.id) == {"entries": []}
    assert guest("delete", store=ada.id, key="openai_key") == failed("delete", 404)
    assert owner.get_internal(ada.id, "openai_key")["value"] == "sk-ada"
    # The guest's own is there for the guest and for whose store it is.
    assert guest.set_internal(ada.id, "guest_key", "sk-bob") is True
    assert guest.get_internal(ada.id, "guest_key")["value"] == "sk-bob"
    assert owner.get_internal(ada.id, "guest_key")["value"] == "sk-bob"
    chat = loci.chat(ada, bob)
    assert owner.set_internal(chat, "token", "of ada") is True
    assert guest.get_internal(chat, "token") is None
