"""Endpoint 6: archiving is one-way; reading and cleaning up go on, writing stops."""

from __future__ import annotations

import pytest

from support import STORE_KEYS, invalid, keys, missing, unknown


@pytest.fixture
def archived(client, store):
    memories = client.beta.memory_stores.memories
    memory = memories.create(store.id, path="/kept", content="one")
    memories.update(memory.id, memory_store_id=store.id, content="two")
    return client.beta.memory_stores.archive(store.id), memory


def test_archive_sets_archived_at_and_moves_updated_at(client, store):
    archived = client.beta.memory_stores.archive(store.id)
    assert keys(archived) == STORE_KEYS
    assert archived.archived_at is not None
    assert archived.updated_at > store.updated_at
    assert client.beta.memory_stores.retrieve(store.id) == archived


def test_archive_twice_answers_the_store_unchanged(client, archived):
    store, _ = archived
    assert client.beta.memory_stores.archive(store.id) == store


def test_archive_unknown_store_is_not_found(client):
    with missing():
        client.beta.memory_stores.archive(unknown("memstore"))


def test_archived_store_refuses_updates_of_itself(client, archived):
    store, _ = archived
    for change in ({"name": "new"}, {"description": "new"}, {"metadata": {"a": "1"}}):
        with invalid():
            client.beta.memory_stores.update(store.id, **change)
    assert client.beta.memory_stores.retrieve(store.id) == store


def test_archived_store_refuses_new_and_changed_memories(client, archived):
    store, memory = archived
    memories = client.beta.memory_stores.memories
    before = memories.retrieve(memory.id, memory_store_id=store.id)
    with invalid():
        memories.create(store.id, path="/new", content="x")
    for change in ({"content": "three"}, {"path": "/moved"}):
        with invalid():
            memories.update(memory.id, memory_store_id=store.id, **change)
    assert memories.retrieve(memory.id, memory_store_id=store.id) == before


def test_archived_store_can_still_be_read(client, archived):
    store, memory = archived
    stores = client.beta.memory_stores
    assert stores.memories.retrieve(memory.id, memory_store_id=store.id).content == "two"
    assert [found.path for found in stores.memories.list(store.id)] == ["/kept"]
    assert [found.operation for found in stores.memory_versions.list(store.id)] == ["modified", "created"]


def test_archived_store_still_deletes_memories_and_redacts_versions(client, archived):
    store, memory = archived
    stores = client.beta.memory_stores
    redacted = stores.memory_versions.redact(memory.memory_version_id, memory_store_id=store.id)
    assert redacted.redacted_at is not None
    stores.memories.delete(memory.id, memory_store_id=store.id)
    assert stores.memories.list(store.id).data == []


def test_archived_store_can_be_deleted(client, archived):
    store, _ = archived
    assert client.beta.memory_stores.delete(store.id).type == "memory_store_deleted"
    with missing():
        client.beta.memory_stores.retrieve(store.id)
