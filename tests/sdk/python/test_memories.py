"""Endpoints 7, 9 and 11, and the content rules: one document at one path."""

from __future__ import annotations

import anthropic
import pytest

from support import (
    CONTENT_BYTES_MAX, DELETED_KEYS, MEMORY_KEYS, WRONG_SHA, invalid, keys, missing, raw_error, refused,
    sha256, unknown,
)  # fmt: skip


def test_create_answers_every_key_and_no_content_by_default(client, store):
    memory = client.beta.memory_stores.memories.create(store.id, path="/notes/a.md", content="hello")
    assert keys(memory) == MEMORY_KEYS
    assert memory.id.startswith("mem_")
    assert memory.type == "memory"
    assert memory.memory_store_id == store.id
    assert memory.memory_version_id.startswith("memver_")
    assert memory.path == "/notes/a.md"
    assert memory.content is None
    assert memory.content_size_bytes == 5
    assert memory.content_sha256 == sha256("hello")
    assert memory.created_at == memory.updated_at


def test_create_with_full_view_answers_the_content(client, store):
    memory = client.beta.memory_stores.memories.create(store.id, path="/a", content="hello", view="full")
    assert memory.content == "hello"


def test_retrieve_answers_full_by_default_and_basic_on_request(client, store):
    memories = client.beta.memory_stores.memories
    made = memories.create(store.id, path="/a", content="hello")
    full = memories.retrieve(made.id, memory_store_id=store.id)
    assert keys(full) == MEMORY_KEYS
    assert full.content == "hello"
    basic = memories.retrieve(made.id, memory_store_id=store.id, view="basic")
    assert keys(basic) == MEMORY_KEYS
    assert basic.content is None
    assert basic.content_sha256 == sha256("hello") and basic.content_size_bytes == 5
    assert basic == made


def test_unknown_view_is_refused_everywhere(client, store):
    memories, versions = client.beta.memory_stores.memories, client.beta.memory_stores.memory_versions
    memory = memories.create(store.id, path="/a", content="x")
    for call in (
        lambda: memories.create(store.id, path="/b", content="x", view="huge"),
        lambda: memories.retrieve(memory.id, memory_store_id=store.id, view="huge"),
        lambda: memories.update(memory.id, memory_store_id=store.id, content="y", view="huge"),
        lambda: memories.list(store.id, view="huge"),
        lambda: versions.list(store.id, view="huge"),
        lambda: versions.retrieve(memory.memory_version_id, memory_store_id=store.id, view="huge"),
    ):
        with invalid():
            call()
    assert [(found.path, found.content_sha256) for found in memories.list(store.id)] == [("/a", sha256("x"))]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "ascii",
        "naïve café — 日本語 🙂👩‍👩‍👧",
        "e\u0301 stays decomposed",
        "\ufeffbom",
        "crlf\r\nand\ttabs\n\n",
        "\u0001\u001f\u007f control",
        "nul \u0000 inside",
        '"quotes" \\ back\\slash </script>',
        "\u2028 \u2029 separators",
    ],
)
def test_content_comes_back_byte_for_byte_with_its_hash_and_size(client, store, content):
    memories = client.beta.memory_stores.memories
    made = memories.create(store.id, path="/a", content=content, view="full")
    read = memories.retrieve(made.id, memory_store_id=store.id)
    assert made.content == read.content == content
    assert read.content_sha256 == sha256(content)
    assert read.content_size_bytes == len(content.encode())


@pytest.mark.parametrize("unit", ["a", "é", "🙂", "\u0001"])
def test_content_of_102400_bytes_is_accepted_however_json_writes_it(client, store, unit):
    content = unit * (CONTENT_BYTES_MAX // len(unit.encode()))
    memory = client.beta.memory_stores.memories.create(store.id, path="/big", content=content)
    assert memory.content_size_bytes == CONTENT_BYTES_MAX
    assert memory.content_sha256 == sha256(content)


@pytest.mark.parametrize("content", ["a" * 102_401, "a" + "é" * 51_200])
def test_content_of_102401_bytes_is_refused_on_create_and_update(client, store, content):
    assert len(content.encode()) == CONTENT_BYTES_MAX + 1
    memories = client.beta.memory_stores.memories
    with invalid():
        memories.create(store.id, path="/big", content=content)
    memory = memories.create(store.id, path="/small", content="x")
    with invalid():
        memories.update(memory.id, memory_store_id=store.id, content=content)
    assert [found.path for found in memories.list(store.id)] == ["/small"]
    assert memories.retrieve(memory.id, memory_store_id=store.id).content == "x"


def test_content_is_required_and_must_be_text(client, store):
    memories = client.beta.memory_stores.memories
    with invalid():
        memories.create(store.id, path="/a", content=None)
    for body in ({"path": "/a"}, {"path": "/a", "content": 1}, {"path": "/a", "content": ["x"]}, {"content": "x"}):
        with invalid():
            client.post(
                f"/v1/memory_stores/{store.id}/memories",
                cast_to=object,
                body=body,
                options={"headers": {"anthropic-beta": "agent-memory-2026-07-22"}},
            )
    assert memories.list(store.id).data == []


def test_content_with_a_lone_surrogate_is_refused(server, store):
    response = server.raw(
        "POST",
        f"/v1/memory_stores/{store.id}/memories",
        headers={
            "x-api-key": server.api_key,
            "anthropic-beta": "agent-memory-2026-07-22",
            "content-type": "application/json",
        },
        content=b'{"path":"/a","content":"\\ud800"}',
    )
    raw_error(response, 400, "invalid_request_error")


@pytest.mark.parametrize("field", ["id", "metadata", "precondition"])
def test_unknown_field_on_create_is_refused(client, store, field):
    with invalid():
        client.beta.memory_stores.memories.create(store.id, path="/a", content="x", extra_body={field: "x"})


def test_create_never_overwrites_even_with_identical_content(client, store):
    memories = client.beta.memory_stores.memories
    first = memories.create(store.id, path="/a", content="same")
    with refused(anthropic.ConflictError, "memory_path_conflict_error") as caught:
        memories.create(store.id, path="/a", content="same")
    assert caught.value.body["error"]["conflicting_memory_id"] == first.id
    assert caught.value.body["error"]["conflicting_path"] == "/a"
    assert len(client.beta.memory_stores.memory_versions.list(store.id).data) == 1


def test_create_in_unknown_store_is_not_found(client):
    with missing():
        client.beta.memory_stores.memories.create(unknown("memstore"), path="/a", content="x")


def test_a_memory_is_not_found_through_another_store(client, make_store):
    mine, other = make_store(), make_store()
    memories = client.beta.memory_stores.memories
    memory = memories.create(mine.id, path="/a", content="x")
    for call in (
        lambda: memories.retrieve(memory.id, memory_store_id=other.id),
        lambda: memories.update(memory.id, memory_store_id=other.id, content="y"),
        lambda: memories.delete(memory.id, memory_store_id=other.id),
        lambda: memories.retrieve(unknown("mem"), memory_store_id=mine.id),
    ):
        with missing():
            call()
    assert memories.retrieve(memory.id, memory_store_id=mine.id).content == "x"


def test_delete_answers_the_tombstone_and_a_second_delete_is_not_found(client, store):
    memories = client.beta.memory_stores.memories
    memory = memories.create(store.id, path="/a", content="x")
    deleted = memories.delete(memory.id, memory_store_id=store.id)
    assert keys(deleted) == DELETED_KEYS
    assert (deleted.id, deleted.type) == (memory.id, "memory_deleted")
    for call in (
        lambda: memories.retrieve(memory.id, memory_store_id=store.id),
        lambda: memories.update(memory.id, memory_store_id=store.id, content="y"),
        lambda: memories.delete(memory.id, memory_store_id=store.id),
    ):
        with missing():
            call()


def test_delete_with_the_right_hash_succeeds(client, store):
    memories = client.beta.memory_stores.memories
    memory = memories.create(store.id, path="/a", content="x")
    memories.delete(memory.id, memory_store_id=store.id, expected_content_sha256=sha256("x"))
    assert memories.list(store.id).data == []


def test_delete_with_the_wrong_hash_is_a_failed_precondition_and_deletes_nothing(client, store):
    memories = client.beta.memory_stores.memories
    memory = memories.create(store.id, path="/a", content="x")
    with refused(anthropic.ConflictError, "memory_precondition_failed_error"):
        memories.delete(memory.id, memory_store_id=store.id, expected_content_sha256=WRONG_SHA)
    assert memories.retrieve(memory.id, memory_store_id=store.id).content == "x"
    assert len(client.beta.memory_stores.memory_versions.list(store.id).data) == 1


@pytest.mark.parametrize("bad", ["abc", "A" * 64, "g" * 64, "0" * 65])
def test_delete_with_a_hash_that_is_not_64_lowercase_hex_is_refused(client, store, bad):
    memories = client.beta.memory_stores.memories
    memory = memories.create(store.id, path="/a", content="x")
    with invalid():
        memories.delete(memory.id, memory_store_id=store.id, expected_content_sha256=bad)
    assert memories.retrieve(memory.id, memory_store_id=store.id).content == "x"


def test_a_deleted_path_is_free_at_once_for_a_new_memory(client, store):
    memories = client.beta.memory_stores.memories
    old = memories.create(store.id, path="/a", content="x")
    memories.delete(old.id, memory_store_id=store.id)
    new = memories.create(store.id, path="/a", content="y")
    assert new.id != old.id
    with missing():
        memories.retrieve(old.id, memory_store_id=store.id)


def test_rollback_is_reading_an_old_version_and_writing_it_back(client, store):
    memories, versions = client.beta.memory_stores.memories, client.beta.memory_stores.memory_versions
    memory = memories.create(store.id, path="/a", content="good")
    memories.update(memory.id, memory_store_id=store.id, content="bad")
    old = versions.retrieve(memory.memory_version_id, memory_store_id=store.id)
    restored = memories.update(memory.id, memory_store_id=store.id, content=old.content, view="full")
    assert restored.content == "good"
    assert len(versions.list(store.id).data) == 3
