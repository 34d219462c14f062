"""Endpoint 14: a redacted version keeps who and when, and loses what and where, for good."""

from __future__ import annotations

import anthropic
import pytest

from support import VERSION_KEYS, attach, invalid, keys, missing, unknown

SECRET = "canary-5f1d the card number"


@pytest.fixture
def memory(client, store):
    """A memory whose first version holds the secret and whose head does not."""
    memories = client.beta.memory_stores.memories
    made = memories.create(store.id, path="/secret-place", content=SECRET)
    memories.update(made.id, memory_store_id=store.id, content="clean", path="/clean")
    return made


@pytest.fixture
def redact(client, store):
    def call(version_id: str):
        return client.beta.memory_stores.memory_versions.redact(version_id, memory_store_id=store.id)

    return call


def test_redacting_an_older_version_scrubs_content_hash_size_and_path(client, store, memory, redact):
    versions = client.beta.memory_stores.memory_versions
    before = versions.retrieve(memory.memory_version_id, memory_store_id=store.id)
    after = redact(memory.memory_version_id)
    assert keys(after) == VERSION_KEYS
    assert (after.content, after.content_sha256, after.content_size_bytes, after.path) == (None, None, None, None)
    assert after.redacted_at is not None
    for kept in ("id", "memory_id", "memory_store_id", "operation", "created_at", "created_by"):
        assert getattr(after, kept) == getattr(before, kept)
    assert versions.retrieve(memory.memory_version_id, memory_store_id=store.id) == after


def test_redacted_by_names_the_key_that_asked(memory, redact):
    actor = redact(memory.memory_version_id).redacted_by
    assert keys(actor) == {"type", "api_key_id"}
    assert actor.type == "api_actor"


def test_redaction_adds_no_version_and_touches_no_head(client, store, memory, redact):
    stores = client.beta.memory_stores
    head = stores.memories.retrieve(memory.id, memory_store_id=store.id)
    redact(memory.memory_version_id)
    assert len(stores.memory_versions.list(store.id).data) == 2
    assert stores.memories.retrieve(memory.id, memory_store_id=store.id) == head


def test_redacted_version_is_still_listed_without_its_secret(client, store, memory, redact):
    redact(memory.memory_version_id)
    versions = client.beta.memory_stores.memory_versions
    raw = versions.with_raw_response.list(store.id, view="full", memory_id=memory.id).http_response.text
    assert memory.memory_version_id in raw
    assert "canary" not in raw and "secret-place" not in raw
    assert [version.operation for version in versions.list(store.id, operation="created")] == ["created"]


def test_the_head_of_a_live_memory_is_refused(client, store, memory, redact):
    head = client.beta.memory_stores.memories.retrieve(memory.id, memory_store_id=store.id)
    with invalid():
        redact(head.memory_version_id)
    assert client.beta.memory_stores.memories.retrieve(memory.id, memory_store_id=store.id) == head


def test_after_the_memory_is_deleted_every_version_may_be_redacted(client, store, memory, redact):
    client.beta.memory_stores.memories.delete(memory.id, memory_store_id=store.id)
    versions = list(client.beta.memory_stores.memory_versions.list(store.id))
    assert [version.operation for version in versions] == ["deleted", "modified", "created"]
    for version in versions:
        after = redact(version.id)
        assert after.redacted_at is not None
        assert after.path is None


def test_redacting_again_answers_the_same_object(memory, redact):
    assert redact(memory.memory_version_id) == redact(memory.memory_version_id)


def test_unknown_version_is_not_found(redact):
    with missing():
        redact(unknown("memver"))


def test_filters_by_actor_and_time_still_find_a_redacted_version(client, store, memory, redact):
    after = redact(memory.memory_version_id)
    found = client.beta.memory_stores.memory_versions.list(
        store.id,
        api_key_id=after.created_by.api_key_id,
        created_at_gte=after.created_at,
        created_at_lte=after.created_at,
    )
    assert [version.id for version in found] == [after.id]


def test_a_session_never_appears_as_the_redactor(server, client, store, memory, make_session):
    session = make_session(attach(store))
    key = server.make_key(session_id=session.id)
    with server.client(key["secret"]) as agent:
        try:
            agent.beta.memory_stores.memory_versions.redact(memory.memory_version_id, memory_store_id=store.id)
        except anthropic.PermissionDeniedError:
            pass
    version = client.beta.memory_stores.memory_versions.retrieve(memory.memory_version_id, memory_store_id=store.id)
    assert version.redacted_by is None or version.redacted_by.type != "session_actor"
