"""What an entry carries beside its value: an end, being hidden, being encrypted; and that what a write
does not mention stays as it was."""

from __future__ import annotations

import time

import pytest

from support import failed, settled, word


def test_an_entry_ends_by_itself(loci, ada, bob):
    memory, needle = ada.memory(), word()
    memory("share", agent=bob.id, level="search")
    begun = time.monotonic()
    memory("set", key="gone", value=f"gone {needle}", ttl=5)
    memory("set", key="freed", value=f"freed {needle}", ttl=5)
    memory("set", key="longer", value=f"longer {needle}", ttl=5)
    memory("set", key="edited", value=f"draft {needle}", ttl=5)
    memory.set_internal(ada.id, "hidden", "gone too", ttl=5)
    memory("set", key="lasting", value=f"lasting {needle}", ttl=3600)
    shown = memory("get", key="gone")
    # Measured after the answer: on a busy machine it may have ended before it was read.
    if time.monotonic() - begun < 4:
        assert shown["ttl"] == 5 and shown["expiresAt"] > shown["updatedAt"]
    # No ttl in the call is null on the wire: it ends no more.
    memory("set", key="freed", value=f"freed {needle}")
    memory("set", key="longer", value=f"longer {needle}", ttl=3600)
    # A write that says nothing at all about it, as the TypeScript client edits, changes nothing about it.
    assert loci.put(ada, "edited", {"value": f"edited {needle}"}).status_code == 200
    if time.monotonic() - begun >= 4:
        # Perhaps it came too late and is an entry of its own now, which has no end.
        memory("delete", key="edited")
    assert memory("get", key="freed")["expiresAt"] is None
    listed = memory.keys()
    if time.monotonic() - begun < 4:
        assert listed == ["edited", "freed", "gone", "lasting", "longer"]
    for key in ("gone", "edited", "hidden"):
        settled(lambda: memory("get", key=key), None)
    assert memory.get_internal(ada.id, "hidden") is None
    assert memory.keys() == ["freed", "lasting", "longer"]
    left = {(ada.id, key) for key in ("freed", "lasting", "longer")}
    settled(lambda: memory.hits(needle), left)
    assert bob.memory().hits(needle) == left
    assert memory("delete", key="gone") == failed("delete", 404)
    # The key is free again.
    assert memory("set", key="gone", value="back") == "OK"
    assert memory.value("gone") == "back"


@pytest.mark.parametrize("ttl", [0, -5])
def test_no_end_at_all(ada, ttl):
    memory = ada.memory()
    memory("set", key="note", value=1, ttl=ttl)
    assert (memory("get", key="note")["ttl"], memory("get", key="note")["expiresAt"]) == (0, None)


def test_whole_seconds_may_be_written_as_a_float(ada):
    """The tool's schema says `number`, and models write 60.0."""
    memory = ada.memory()
    assert memory("set", key="note", value=1, ttl=60.0) == "OK"
    assert memory("get", key="note")["ttl"] == 60


@pytest.mark.parametrize("ttl", ["60", [60], 10**30])
def test_an_end_that_means_nothing_is_refused(ada, ttl):
    memory = ada.memory()
    assert memory("set", key="note", value=1, ttl=ttl) == failed("set", 400)
    assert memory("get", key="note") is None


def test_hidden_entries_are_read_by_their_exact_key_only(ada):
    memory, needle = ada.memory(), word()
    assert memory.set_internal(ada.id, "token", f"token {needle}") is True
    memory("set", key="note", value=f"note {needle}")
    assert memory.keys() == ["note"]
    assert memory.keys(prefix="tok") == []
    settled(lambda: memory.hits(needle), {(ada.id, "note")})
    assert memory.hits(needle, store=ada.uuid) == {(ada.id, "note")}
    assert memory.value("token") == f"token {needle}"
    assert memory.get_internal(ada.id, "token")["inContext"] is False


def test_a_hidden_entry_stays_hidden_when_the_tool_writes_it(ada):
    memory = ada.memory()
    memory.set_internal(ada.id, "token", "first")
    assert memory("set", key="token", value="second") == "OK"
    assert memory("get", key="token")["inContext"] is False
    assert memory.value("token") == "second"
    assert memory.keys() == []


def test_an_entry_can_be_hidden_and_shown_again(loci, ada):
    memory, needle = ada.memory(), word()
    memory("set", key="note", value=needle)
    settled(lambda: memory.hits(needle), {(ada.id, "note")})
    assert memory.set_internal(ada.id, "note", needle) is True
    assert memory.keys() == []
    settled(lambda: memory.hits(needle), set())
    assert loci.put(ada, "note", {"value": needle, "inContext": True}).status_code == 200
    assert memory.keys() == ["note"]
    settled(lambda: memory.hits(needle), {(ada.id, "note")})


def test_hidden_entries_of_others_are_hidden_too(ada, bob):
    memory, needle = ada.memory(), word()
    memory("share", agent=bob.id, level="read")
    memory.set_internal(ada.id, "token", needle)
    memory("set", key="note", value=needle)
    guest = bob.memory()
    settled(lambda: guest.hits(needle), {(ada.id, "note")})
    assert guest.keys(store=ada.id) == ["note"]


@pytest.mark.parametrize(
    "sealed",
    ["YWdlLWVuY3J5cHRpb24ub3JnL3Yx+/==", {"ciphertext": "8f0c", "tag": [1, 2.5, None]}, "", 7],
    ids=["text", "object", "empty", "number"],
)
def test_encrypted_values_come_back_as_they_were_sent(loci, ada, sealed):
    memory = ada.memory()
    assert memory.set_internal(ada.id, "hidden", sealed, encrypted=True) is True
    assert loci.put(ada, "shown", {"value": sealed, "encrypted": True}).status_code == 200
    for key in ("hidden", "shown"):
        answer = memory("get", key=key)
        assert (answer["value"], answer["encrypted"]) == (sealed, True)
    (entry,) = memory("list")["entries"]
    assert (entry["key"], entry["value"]) == ("shown", sealed)


def test_encrypted_values_are_not_searched(loci, ada):
    memory, needle = ada.memory(), word()
    assert loci.put(ada, "sealed", {"value": f"cipher {needle}", "encrypted": True}).status_code == 200
    memory("set", key="plain", value=f"plain {needle}")
    settled(lambda: memory.hits(needle), {(ada.id, "plain")})
    # An edit that does not mention it does not open it.
    assert loci.put(ada, "sealed", {"value": f"other cipher {needle}"}).status_code == 200
    memory("set", key="second", value=f"plain too {needle}")
    settled(lambda: memory.hits(needle), {(ada.id, "plain"), (ada.id, "second")})
    answer = memory("get", key="sealed")
    assert (answer["value"], answer["encrypted"]) == (f"other cipher {needle}", True)
    # Saying so does.
    assert loci.put(ada, "sealed", {"value": f"open {needle}", "encrypted": False}).status_code == 200
    settled(lambda: memory.hits(needle), {(ada.id, "plain"), (ada.id, "second"), (ada.id, "sealed")})


def test_namespaces_keep_equal_keys_apart(loci, ada):
    memory = ada.memory()
    memory("set", key="note", value="plain")
    assert loci.put(ada, "note", {"value": "spaced", "namespace": "billing", "inContext": False}).status_code == 200
    assert memory.value("note") == "plain"
    read = loci.call(
        "GET", "/api/storage/memory/note", ada.key, params={"agentId": ada.id, "store": ada.id, "namespace": "billing"}
    ).json()
    assert (read["value"], read["namespace"], read["inContext"]) == ("spaced", "billing", False)
    assert memory.keys() == ["note"]
