"""Endpoints 12 and 13: the history of a store, who wrote it, and every filter."""

from __future__ import annotations

import pytest

from support import PAGE_KEYS, VERSION_KEYS, attach, invalid, keys, missing, sha256, unknown


@pytest.fixture
def history(client, store):
    """`/a` created, changed, moved, deleted; `/b` created. Five versions, oldest first."""
    memories = client.beta.memory_stores.memories
    a = memories.create(store.id, path="/a", content="one")
    memories.update(a.id, memory_store_id=store.id, content="two!")
    memories.update(a.id, memory_store_id=store.id, path="/moved")
    memories.delete(a.id, memory_store_id=store.id)
    b = memories.create(store.id, path="/b", content="bee")
    return a, b


@pytest.fixture
def listed(client, store):
    return lambda **query: list(client.beta.memory_stores.memory_versions.list(store.id, **query))


def outline(versions):
    return [(version.operation, version.path) for version in versions]


def test_history_is_newest_first(history, listed):
    versions = listed()
    assert outline(versions) == [
        ("created", "/b"),
        ("deleted", "/moved"),
        ("modified", "/moved"),
        ("modified", "/a"),
        ("created", "/a"),
    ]
    order = [(version.created_at, version.id) for version in versions]
    assert order == sorted(order, reverse=True)


def test_every_version_has_every_key(client, store, history, listed):
    raw = client.beta.memory_stores.memory_versions.with_raw_response.list(store.id).http_response.json()
    assert set(raw) == PAGE_KEYS
    for version in raw["data"]:
        assert set(version) == VERSION_KEYS
        assert version["type"] == "memory_version"
        assert version["id"].startswith("memver_")
        assert version["memory_store_id"] == store.id
        assert version["redacted_at"] is None and version["redacted_by"] is None


def test_basic_view_is_the_list_default_and_keeps_hash_and_size(history, listed):
    newest_b, deleted, moved, changed, created = listed()
    assert [version.content for version in (newest_b, deleted, moved, changed, created)] == [None] * 5
    assert (created.content_sha256, created.content_size_bytes) == (sha256("one"), 3)
    assert (changed.content_sha256, changed.content_size_bytes) == (sha256("two!"), 4)
    assert (moved.content_sha256, moved.content_size_bytes) == (sha256("two!"), 4)


def test_full_view_carries_each_versions_own_content_and_none_when_deleted(history, listed):
    assert [version.content for version in listed(view="full")] == ["bee", None, "two!", "two!", "one"]


def test_deleted_version_keeps_path_and_loses_hash_and_size(history, listed):
    deleted = listed(operation="deleted")[0]
    assert deleted.path == "/moved"
    assert (deleted.content, deleted.content_sha256, deleted.content_size_bytes) == (None, None, None)
    assert deleted.created_by is not None


def test_retrieve_is_full_by_default_and_basic_on_request(client, store, history):
    versions = client.beta.memory_stores.memory_versions
    a, _ = history
    full = versions.retrieve(a.memory_version_id, memory_store_id=store.id)
    assert keys(full) == VERSION_KEYS
    assert (full.id, full.memory_id, full.operation, full.content) == (a.memory_version_id, a.id, "created", "one")
    basic = versions.retrieve(a.memory_version_id, memory_store_id=store.id, view="basic")
    assert keys(basic) == VERSION_KEYS
    assert basic.content is None and basic.content_sha256 == sha256("one")


def test_version_is_not_found_when_unknown_or_in_another_store(client, make_store, store, history):
    versions = client.beta.memory_stores.memory_versions
    other = make_store()
    a, _ = history
    for call in (
        lambda: versions.retrieve(unknown("memver"), memory_store_id=store.id),
        lambda: versions.retrieve(a.memory_version_id, memory_store_id=other.id),
        lambda: versions.redact(a.memory_version_id, memory_store_id=other.id),
        lambda: versions.list(unknown("memstore")),
    ):
        with missing():
            call()


def test_filter_by_memory_works_after_the_memory_is_deleted(history, listed):
    a, b = history
    assert [version.operation for version in listed(memory_id=a.id)] == ["deleted", "modified", "modified", "created"]
    assert [version.memory_id for version in listed(memory_id=b.id)] == [b.id]


@pytest.mark.parametrize(("operation", "count"), [("created", 2), ("modified", 2), ("deleted", 1)])
def test_filter_by_operation(history, listed, operation, count):
    found = listed(operation=operation)
    assert len(found) == count
    assert {version.operation for version in found} == {operation}


def test_unknown_operation_is_refused(client, store):
    with invalid():
        client.beta.memory_stores.memory_versions.list(store.id, operation="renamed")


def test_filter_by_time_is_inclusive_on_both_ends(history, listed):
    oldest_first = list(reversed(listed()))
    second, fourth = oldest_first[1], oldest_first[3]
    found = listed(created_at_gte=second.created_at, created_at_lte=fourth.created_at)
    assert {version.id for version in found} == {version.id for version in oldest_first[1:4]}
    assert len(listed(created_at_gte=second.created_at)) == 4
    assert len(listed(created_at_lte=second.created_at)) == 2


def test_filters_combine_with_and(history, listed):
    a, b = history
    assert outline(listed(memory_id=a.id, operation="created")) == [("created", "/a")]
    assert listed(memory_id=b.id, operation="deleted") == []


def test_writes_with_a_key_are_by_that_key_and_can_be_filtered(server, client, store, history, listed):
    key = server.make_key(level="readwrite", stores=[store.id])
    with server.client(key["secret"]) as writer:
        mine = writer.beta.memory_stores.memories.create(store.id, path="/by-key", content="x")
    found = listed(api_key_id=key["id"])
    assert [version.id for version in found] == [mine.memory_version_id]
    actor = found[0].created_by
    assert keys(actor) == {"type", "api_key_id"}
    assert (actor.type, actor.api_key_id) == ("api_actor", key["id"])
    assert key["secret"] not in found[0].to_json()
    assert listed(api_key_id=unknown("apikey")) == []


def test_the_admin_keys_own_writes_name_an_api_actor(history, listed):
    for version in listed():
        assert version.created_by.type == "api_actor"
        assert version.created_by.api_key_id.startswith("apikey_")


def test_writes_through_a_session_are_by_the_session_and_can_be_filtered(server, store, make_session, history, listed):
    session = make_session(attach(store))
    key = server.make_key(session_id=session.id)
    with server.client(key["secret"]) as agent:
        memories = agent.beta.memory_stores.memories
        memory = memories.create(store.id, path="/by-session", content="x")
        memories.update(memory.id, memory_store_id=store.id, content="y")
        memories.delete(memory.id, memory_store_id=store.id)
    found = listed(session_id=session.id)
    assert [version.operation for version in found] == ["deleted", "modified", "created"]
    for version in found:
        assert keys(version.created_by) == {"type", "session_id"}
        assert (version.created_by.type, version.created_by.session_id) == ("session_actor", session.id)
    assert len(listed()) == 8


@pytest.mark.needs("service_account_filter")
def test_filter_by_service_account_finds_nothing_written_by_others(history, listed):
    assert listed(service_account_id=unknown("svac")) == []


def test_auto_paging_yields_every_version_once_newest_first(client, store, history):
    pages = list(client.beta.memory_stores.memory_versions.list(store.id, limit=2).iter_pages())
    assert [len(page.data) for page in pages] == [2, 2, 1]
    whole = [version.id for page in pages for version in page.data]
    assert whole == [version.id for version in client.beta.memory_stores.memory_versions.list(store.id, limit=100)]


def test_auto_paging_keeps_the_filters(client, store, history):
    a, _ = history
    found = client.beta.memory_stores.memory_versions.list(store.id, memory_id=a.id, limit=1)
    assert len(found.data) == 1
    assert [version.memory_id for version in found] == [a.id] * 4


def test_full_view_holds_at_most_20_per_page_and_basic_up_to_100(client, store):
    memory = client.beta.memory_stores.memories.create(store.id, path="/a", content="0")
    for index in range(1, 25):
        client.beta.memory_stores.memories.update(memory.id, memory_store_id=store.id, content=str(index))
    versions = client.beta.memory_stores.memory_versions
    full = versions.list(store.id, view="full", limit=100)
    assert len(full.data) == 20
    assert [version.content for version in full] == [str(index) for index in range(24, -1, -1)]
    assert len(versions.list(store.id, limit=100).data) == 25
    assert len(versions.list(store.id).data) == 20


@pytest.mark.parametrize("limit", [0, 101])
def test_limit_outside_1_to_100_is_refused(client, store, limit):
    with invalid():
        client.beta.memory_stores.memory_versions.list(store.id, limit=limit)


@pytest.mark.parametrize("cursor", ["garbage", "page_AAAA"])
def test_garbage_cursor_is_refused(client, store, cursor):
    with invalid():
        client.beta.memory_stores.memory_versions.list(store.id, page=cursor)
