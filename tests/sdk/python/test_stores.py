"""Endpoints 1 to 5: creating, reading, listing, changing and deleting stores."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from support import DELETED_KEYS, PAGE_KEYS, STORE_KEYS, invalid, keys, missing, unknown


def test_create_answers_every_key_with_empty_defaults(client, make_store):
    store = make_store("Minimal")
    assert keys(store) == STORE_KEYS
    assert store.id.startswith("memstore_")
    assert store.type == "memory_store"
    assert store.name == "Minimal"
    assert store.description == ""
    assert store.metadata == {}
    assert store.archived_at is None
    assert store.created_at == store.updated_at


def test_create_keeps_description_and_metadata(client, make_store):
    store = make_store("Full", description="what is in it", metadata={"owner": "ada", "tier": "1"})
    read = client.beta.memory_stores.retrieve(store.id)
    assert keys(read) == STORE_KEYS
    assert read == store
    assert read.description == "what is in it"
    assert read.metadata == {"owner": "ada", "tier": "1"}


def test_timestamps_are_utc_and_near_now(store):
    assert store.created_at.utcoffset() == timedelta(0)
    assert abs(datetime.now(timezone.utc) - store.created_at) < timedelta(minutes=5)


def test_names_are_not_unique(make_store):
    assert make_store("Twin").id != make_store("Twin").id


@pytest.mark.parametrize("name", ["x", "n" * 255, "ü" * 255, "名前 🙂"])
def test_name_of_1_to_255_characters_is_accepted(make_store, name):
    assert make_store(name).name == name


@pytest.mark.parametrize("name", ["", "n" * 256, "bell\u0007", "line\nbreak"])
def test_name_empty_too_long_or_with_control_characters_is_refused(client, name):
    with invalid():
        client.beta.memory_stores.create(name=name)


def test_name_is_required(client):
    with invalid():
        client.post(
            "/v1/memory_stores",
            cast_to=object,
            body={"description": "no name"},
            options={"headers": {"anthropic-beta": "agent-memory-2026-07-22"}},
        )


def test_description_of_1024_characters_is_accepted_and_1025_refused(client, make_store):
    assert make_store(description="é" * 1024).description == "é" * 1024
    with invalid():
        client.beta.memory_stores.create(name="too long", description="é" * 1025)


def test_metadata_limits_16_pairs_64_character_keys_512_character_values(client, make_store):
    most = {f"{index:02}" + "k" * 62: "v" * 512 for index in range(16)}
    assert make_store(metadata=most).metadata == most
    for bad in (
        {f"k{index}": "v" for index in range(17)},
        {"k" * 65: "v"},
        {"": "v"},
        {"k": "v" * 513},
        {"k": 1},
        {"k": None},
    ):
        with invalid():
            client.beta.memory_stores.create(name="bad metadata", metadata=bad)


@pytest.mark.parametrize("field", ["id", "archived_at", "colour"])
def test_unknown_field_on_create_is_refused(client, field):
    with invalid():
        client.beta.memory_stores.create(name="extra", extra_body={field: "x"})


def test_retrieve_unknown_store_is_not_found(client):
    with missing():
        client.beta.memory_stores.retrieve(unknown("memstore"))


def test_update_changes_only_the_given_fields_and_moves_updated_at(client, make_store):
    store = make_store("Before", description="old", metadata={"a": "1"})
    renamed = client.beta.memory_stores.update(store.id, name="After")
    assert keys(renamed) == STORE_KEYS
    assert (renamed.name, renamed.description, renamed.metadata) == ("After", "old", {"a": "1"})
    assert renamed.created_at == store.created_at
    assert renamed.updated_at > store.updated_at


def test_update_with_empty_description_clears_it(client, make_store):
    store = make_store(description="old")
    assert client.beta.memory_stores.update(store.id, description="").description == ""


def test_update_metadata_is_a_patch_string_upserts_null_removes(client, make_store):
    store = make_store(metadata={"keep": "1", "change": "1", "drop": "1"})
    patched = client.beta.memory_stores.update(store.id, metadata={"change": "2", "drop": None, "new": "3"})
    assert patched.metadata == {"keep": "1", "change": "2", "new": "3"}


def test_metadata_cap_applies_after_the_merge(client, make_store):
    store = make_store(metadata={f"k{index}": "v" for index in range(16)})
    with invalid():
        client.beta.memory_stores.update(store.id, metadata={"one too many": "v"})
    swapped = client.beta.memory_stores.update(store.id, metadata={"k0": None, "fresh": "v"})
    assert len(swapped.metadata) == 16 and "fresh" in swapped.metadata


def test_null_fields_on_update_change_nothing(client, make_store):
    store = make_store("Same", description="kept", metadata={"a": "1"})
    after = client.beta.memory_stores.update(store.id, name=None, description=None, metadata=None)
    assert (after.name, after.description, after.metadata) == ("Same", "kept", {"a": "1"})


def test_update_obeys_the_same_limits_as_create(client, store):
    for bad in ({"name": ""}, {"name": "n" * 256}, {"description": "d" * 1025}, {"metadata": {"k": "v" * 513}}):
        with invalid():
            client.beta.memory_stores.update(store.id, **bad)
    with invalid():
        client.beta.memory_stores.update(store.id, name="x", extra_body={"colour": "red"})
    assert client.beta.memory_stores.retrieve(store.id) == store


def test_update_unknown_store_is_not_found(client):
    with missing():
        client.beta.memory_stores.update(unknown("memstore"), name="x")


def test_updated_at_of_the_store_does_not_move_on_memory_writes(client, store):
    client.beta.memory_stores.memories.create(store.id, path="/a", content="x")
    assert client.beta.memory_stores.retrieve(store.id).updated_at == store.updated_at


def test_delete_answers_the_tombstone_and_everything_below_is_gone(client, make_store):
    store = make_store()
    memory = client.beta.memory_stores.memories.create(store.id, path="/a", content="x")
    deleted = client.beta.memory_stores.delete(store.id)
    assert keys(deleted) == DELETED_KEYS
    assert (deleted.id, deleted.type) == (store.id, "memory_store_deleted")
    memories, versions = client.beta.memory_stores.memories, client.beta.memory_stores.memory_versions
    for call in (
        lambda: client.beta.memory_stores.retrieve(store.id),
        lambda: client.beta.memory_stores.update(store.id, name="x"),
        lambda: client.beta.memory_stores.archive(store.id),
        lambda: client.beta.memory_stores.delete(store.id),
        lambda: memories.create(store.id, path="/b", content="x"),
        lambda: memories.list(store.id),
        lambda: memories.retrieve(memory.id, memory_store_id=store.id),
        lambda: memories.update(memory.id, memory_store_id=store.id, content="y"),
        lambda: memories.delete(memory.id, memory_store_id=store.id),
        lambda: versions.list(store.id),
        lambda: versions.retrieve(memory.memory_version_id, memory_store_id=store.id),
        lambda: versions.redact(memory.memory_version_id, memory_store_id=store.id),
    ):
        with missing():
            call()


def test_list_auto_pages_through_every_store_exactly_once(client, make_store):
    made = [make_store().id for _ in range(5)]
    first = client.beta.memory_stores.retrieve(made[0])
    page = client.beta.memory_stores.list(limit=2, created_at_gte=first.created_at)
    assert len(page.data) == 2 and page.next_page
    seen = [listed.id for listed in page]
    assert len(seen) == len(set(seen))
    assert set(made) <= set(seen)


def test_list_page_has_exactly_data_and_next_page(client, store):
    raw = client.beta.memory_stores.with_raw_response.list(limit=1).http_response.json()
    assert set(raw) == PAGE_KEYS
    assert set(raw["data"][0]) == STORE_KEYS


def test_list_limit_defaults_to_20(client, make_store):
    for _ in range(21):
        make_store()
    assert len(client.beta.memory_stores.list().data) == 20


def test_list_created_at_bounds_are_inclusive(client, make_store):
    stores = [make_store() for _ in range(3)]
    middle = stores[1].created_at
    listed = {found.id for found in client.beta.memory_stores.list(created_at_gte=middle, created_at_lte=middle)}
    assert stores[1].id in listed
    assert stores[0].id not in listed and stores[2].id not in listed


def test_list_accepts_z_suffixed_and_naive_timestamps(client, store):
    stamp = store.created_at.astimezone(timezone.utc)
    for bound in (stamp.strftime("%Y-%m-%dT%H:%M:%SZ"), stamp.replace(tzinfo=None)):
        assert store.id in {found.id for found in client.beta.memory_stores.list(created_at_gte=bound)}


def test_list_refuses_a_timestamp_that_is_none(client):
    with invalid():
        client.beta.memory_stores.list(created_at_gte="yesterday")


def test_list_hides_archived_stores_unless_asked(client, store):
    client.beta.memory_stores.archive(store.id)
    bounds = {"created_at_gte": store.created_at, "created_at_lte": store.created_at}
    assert store.id not in {found.id for found in client.beta.memory_stores.list(**bounds)}
    assert store.id not in {found.id for found in client.beta.memory_stores.list(include_archived=False, **bounds)}
    assert store.id in {found.id for found in client.beta.memory_stores.list(include_archived=True, **bounds)}


@pytest.mark.parametrize("limit", [0, 101, -1])
def test_list_limit_outside_1_to_100_is_refused(client, limit):
    with invalid():
        client.beta.memory_stores.list(limit=limit)


def test_list_limit_that_is_no_number_is_refused(client):
    with invalid():
        client.beta.memory_stores.list(extra_query={"limit": "many"})


@pytest.mark.parametrize("cursor", ["garbage", "page_!!!", "page_AAAA"])
def test_list_garbage_cursor_is_refused(client, cursor):
    with invalid():
        client.beta.memory_stores.list(page=cursor)
