"""Endpoint 10: changing content, moving, preconditions, and updates that change nothing."""

from __future__ import annotations

import anthropic
import pytest

from support import MEMORY_KEYS, WRONG_SHA, invalid, keys, missing, precondition, refused, sha256, unknown


@pytest.fixture
def memory(client, store):
    return client.beta.memory_stores.memories.create(store.id, path="/a", content="one")


@pytest.fixture
def update(client, store, memory):
    def call(**fields):
        return client.beta.memory_stores.memories.update(memory.id, memory_store_id=store.id, **fields)

    return call


@pytest.fixture
def read(client, store, memory):
    return lambda: client.beta.memory_stores.memories.retrieve(memory.id, memory_store_id=store.id)


@pytest.fixture
def versions(client, store):
    return lambda: list(client.beta.memory_stores.memory_versions.list(store.id))


def lost():
    return refused(anthropic.ConflictError, "memory_precondition_failed_error")


def taken():
    return refused(anthropic.ConflictError, "memory_path_conflict_error")


def test_new_content_makes_a_new_version_and_keeps_id_and_path(update, memory, versions):
    after = update(content="two")
    assert keys(after) == MEMORY_KEYS
    assert (after.id, after.path, after.created_at) == (memory.id, memory.path, memory.created_at)
    assert after.content is None
    assert after.content_sha256 == sha256("two") and after.content_size_bytes == 3
    assert after.memory_version_id != memory.memory_version_id
    assert after.updated_at > memory.updated_at
    newest = versions()[0]
    assert (newest.id, newest.operation) == (after.memory_version_id, "modified")
    assert newest.created_at == after.updated_at


def test_full_view_answers_the_new_content(update):
    assert update(content="two", view="full").content == "two"


def test_content_may_become_empty(update, read):
    update(content="")
    assert read().content == ""
    assert read().content_size_bytes == 0


def test_rename_keeps_id_and_content_and_makes_one_modified_version(update, memory, read, versions):
    after = update(path="/moved/here")
    assert after.id == memory.id
    assert after.path == "/moved/here"
    assert after.content_sha256 == memory.content_sha256
    assert read().content == "one"
    newest, oldest = versions()
    assert (newest.operation, newest.path) == ("modified", "/moved/here")
    assert (oldest.operation, oldest.path) == ("created", "/a")


def test_rename_and_content_together_are_one_version(update, versions):
    after = update(path="/b", content="two", view="full")
    assert (after.path, after.content) == ("/b", "two")
    assert len(versions()) == 2


def test_the_old_path_is_free_after_a_rename(client, store, update):
    update(path="/b")
    again = client.beta.memory_stores.memories.create(store.id, path="/a", content="new")
    assert again.path == "/a"


def test_matching_precondition_lets_the_update_through(update, read):
    update(content="two", precondition=precondition(sha256("one")))
    assert read().content == "two"


def test_stale_precondition_is_refused_and_changes_nothing(update, read, versions):
    before = read()
    with lost() as caught:
        update(content="two", precondition=precondition(sha256("stale")))
    assert set(caught.value.body["error"]) == {"type", "message"}
    assert read() == before
    assert len(versions()) == 1


def test_precondition_of_a_pure_rename_is_about_the_current_content(update, read):
    with lost():
        update(path="/b", precondition=precondition(WRONG_SHA))
    assert read().path == "/a"
    assert update(path="/b", precondition=precondition(sha256("one"))).path == "/b"


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"type": "content_sha256"},
        {"type": "content_sha256", "content_sha256": "short"},
        {"type": "content_sha256", "content_sha256": "A" * 64},
        {"type": "etag", "content_sha256": WRONG_SHA},
        {"content_sha256": WRONG_SHA},
        {"type": "content_sha256", "content_sha256": WRONG_SHA, "extra": 1},
    ],
)
def test_malformed_precondition_is_refused(update, read, bad):
    with invalid():
        update(content="two", precondition=bad)
    assert read().content == "one"


@pytest.mark.parametrize("fields", [{"content": "one"}, {"path": "/a"}, {"content": "one", "path": "/a"}])
@pytest.mark.parametrize("guard", [None, "right", "wrong"])
def test_update_that_changes_nothing_answers_the_same_object_whatever_the_precondition(
    update, memory, read, versions, fields, guard
):
    before = read()
    if guard:
        fields = {**fields, "precondition": precondition(sha256("one") if guard == "right" else WRONG_SHA)}
    after = update(**fields)
    assert after == memory
    assert read() == before
    assert len(versions()) == 1


@pytest.mark.parametrize("fields", [{}, {"content": None}, {"path": None}, {"content": None, "path": None}])
def test_update_with_neither_content_nor_path_is_refused(update, fields):
    with invalid():
        update(**fields)


def test_null_content_or_path_beside_the_other_means_unchanged(update, read):
    update(content="two", path=None)
    update(content=None, path="/b")
    assert (read().content, read().path) == ("two", "/b")


def test_precondition_alone_is_refused(update):
    with invalid():
        update(precondition=precondition(sha256("one")))


@pytest.mark.parametrize("extra", [{"id": "mem_x"}, {"view": "full"}, {"metadata": {}}])
def test_unknown_field_is_refused(update, read, extra):
    with invalid():
        update(content="two", extra_body=extra)
    assert read().content == "one"


def test_rename_onto_a_taken_path_applies_nothing_of_the_request(client, store, update, read, versions):
    other = client.beta.memory_stores.memories.create(store.id, path="/taken", content="x")
    before = read()
    with taken() as caught:
        update(path="/taken", content="two")
    assert set(caught.value.body["error"]) == {"type", "message", "conflicting_memory_id", "conflicting_path"}
    assert caught.value.body["error"]["conflicting_memory_id"] == other.id
    assert caught.value.body["error"]["conflicting_path"] == "/taken"
    assert read() == before
    assert len(versions()) == 2


@pytest.mark.parametrize("target", ["/dir", "/dir/file/below"])
def test_rename_above_or_below_another_memory_is_a_path_conflict(client, store, update, read, target):
    other = client.beta.memory_stores.memories.create(store.id, path="/dir/file", content="x")
    with taken() as caught:
        update(path=target)
    assert caught.value.body["error"]["conflicting_memory_id"] == other.id
    assert caught.value.body["error"]["conflicting_path"] == "/dir/file"
    assert read().path == "/a"


def test_failed_precondition_is_reported_before_a_taken_path(client, store, update):
    client.beta.memory_stores.memories.create(store.id, path="/taken", content="x")
    with lost():
        update(path="/taken", precondition=precondition(WRONG_SHA))


def test_a_memory_may_move_below_and_above_itself(update):
    assert update(path="/a/b").path == "/a/b"
    assert update(path="/a").path == "/a"


@pytest.mark.parametrize("path", ["", "relative", "/a/", "/a/../b", "/e\u0301"])
def test_rename_obeys_the_path_rules(update, read, path):
    with invalid():
        update(path=path)
    assert read().path == "/a"


def test_unknown_memory_is_not_found(client, store):
    with missing():
        client.beta.memory_stores.memories.update(unknown("mem"), memory_store_id=store.id, content="x")
