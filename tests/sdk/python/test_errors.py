"""Every error class the SDK raises for this API, the envelope behind it, and no hidden retries."""

from __future__ import annotations

import anthropic
import pytest

from capabilities import RequestTooLargeError
from support import WRONG_SHA, invalid, missing, precondition, refused, unknown


@pytest.fixture
def memory(client, store):
    return client.beta.memory_stores.memories.create(store.id, path="/a", content="x")


def test_wrong_key_is_an_authentication_error(server):
    with server.client("loci_wrong") as stranger, refused(anthropic.AuthenticationError, "authentication_error"):
        stranger.beta.memory_stores.list()


def test_wrong_key_is_not_echoed(server):
    with server.client("loci_wrong_and_secret") as stranger:
        with refused(anthropic.AuthenticationError, "authentication_error") as caught:
            stranger.beta.memory_stores.list()
    assert "loci_wrong_and_secret" not in caught.value.response.text


def test_missing_key_is_an_authentication_error(server):
    nameless = {"Authorization": anthropic.Omit(), "X-Api-Key": anthropic.Omit()}
    with server.client() as client, refused(anthropic.AuthenticationError, "authentication_error"):
        client.beta.memory_stores.list(extra_headers=nameless)


def test_authentication_is_checked_before_anything_else_about_the_request(server):
    with server.client("loci_wrong") as stranger, refused(anthropic.AuthenticationError, "authentication_error"):
        stranger.beta.memory_stores.memories.create(unknown("memstore"), path="bad", content="x")


def test_read_only_key_reads_but_every_write_is_a_permission_error(server, client, store, memory):
    client.beta.memory_stores.memories.update(memory.id, memory_store_id=store.id, content="y")
    key = server.make_key(level="read", stores=[store.id])
    with server.client(key["secret"]) as reader:
        stores = reader.beta.memory_stores
        assert stores.retrieve(store.id).id == store.id
        assert stores.memories.retrieve(memory.id, memory_store_id=store.id).content == "y"
        assert len(stores.memories.list(store.id).data) == 1
        assert len(stores.memory_versions.list(store.id).data) == 2
        for call in (
            lambda: stores.create(name="mine"),
            lambda: stores.update(store.id, name="mine"),
            lambda: stores.archive(store.id),
            lambda: stores.delete(store.id),
            lambda: stores.memories.create(store.id, path="/b", content="x"),
            lambda: stores.memories.update(memory.id, memory_store_id=store.id, content="z"),
            lambda: stores.memories.delete(memory.id, memory_store_id=store.id),
            lambda: stores.memory_versions.redact(memory.memory_version_id, memory_store_id=store.id),
        ):
            with refused(anthropic.PermissionDeniedError, "permission_error"):
                call()
    assert client.beta.memory_stores.retrieve(store.id) == store
    assert client.beta.memory_stores.memories.retrieve(memory.id, memory_store_id=store.id).content == "y"
    assert len(client.beta.memory_stores.memory_versions.list(store.id).data) == 2


def test_key_for_one_store_does_not_see_another(server, make_store):
    mine, other = make_store(), make_store()
    key = server.make_key(level="readwrite", stores=[mine.id])
    with server.client(key["secret"]) as scoped:
        assert scoped.beta.memory_stores.retrieve(mine.id).id == mine.id
        with pytest.raises((anthropic.NotFoundError, anthropic.PermissionDeniedError)):
            scoped.beta.memory_stores.retrieve(other.id)
        with pytest.raises((anthropic.NotFoundError, anthropic.PermissionDeniedError)):
            scoped.beta.memory_stores.memories.create(other.id, path="/a", content="x")
        assert {found.id for found in scoped.beta.memory_stores.list(limit=100)} == {mine.id}


def test_ordinary_key_may_not_make_keys(server, store):
    key = server.make_key(level="readwrite", stores=[store.id])
    with server.client(key["secret"]) as scoped, refused(anthropic.PermissionDeniedError, "permission_error"):
        scoped.post("/v1/api_keys", cast_to=object, body={"name": "more"})


def test_revoked_key_is_an_authentication_error(server, client, store):
    key = server.make_key(level="read", stores=[store.id])
    client.delete(f"/v1/api_keys/{key['id']}", cast_to=object)
    with server.client(key["secret"]) as revoked, refused(anthropic.AuthenticationError, "authentication_error"):
        revoked.beta.memory_stores.retrieve(store.id)


def test_body_over_the_transport_limit_is_request_too_large(client, store):
    with refused(RequestTooLargeError, "request_too_large"):
        client.beta.memory_stores.memories.create(store.id, path="/a", content="x" * (33 * 1024 * 1024))
    assert client.beta.memory_stores.memories.list(store.id).data == []


def test_validation_and_missing_things_are_bad_request_and_not_found(client, store):
    with invalid():
        client.beta.memory_stores.create(name="")
    with missing():
        client.beta.memory_stores.retrieve(unknown("memstore"))
    with missing():
        client.beta.memory_stores.retrieve("not-even-an-id")


def test_unknown_route_is_not_found_in_the_same_envelope(client):
    with missing():
        client.get("/v1/no_such_thing", cast_to=object)


def test_every_error_has_its_own_request_id(client):
    seen = set()
    for _ in range(3):
        with missing() as caught:
            client.beta.memory_stores.retrieve(unknown("memstore"))
        seen.add(caught.value.request_id)
    assert len(seen) == 3


def test_successes_carry_a_request_id_too(client, store):
    assert client.beta.memory_stores.retrieve(store.id)._request_id.startswith("req_")


@pytest.mark.needs("error_type")
def test_the_sdk_reads_the_error_type_of_both_conflicts(client, store, memory):
    memories = client.beta.memory_stores.memories
    with pytest.raises(anthropic.ConflictError) as path:
        memories.create(store.id, path="/a", content="x")
    with pytest.raises(anthropic.ConflictError) as stale:
        memories.update(memory.id, memory_store_id=store.id, content="y", precondition=precondition(WRONG_SHA))
    assert path.value.type == "memory_path_conflict_error"
    assert stale.value.type == "memory_precondition_failed_error"


def test_conflicts_are_sent_once_although_the_sdk_would_retry_a_409(server, store, memory):
    client, recorder = server.recorded_client()
    memories = client.beta.memory_stores.memories
    assert client.max_retries == 2
    for call in (
        lambda: memories.create(store.id, path="/a", content="x"),
        lambda: memories.create(store.id, path="/a/below", content="x"),
        lambda: memories.update(memory.id, memory_store_id=store.id, content="y", precondition=precondition(WRONG_SHA)),
        lambda: memories.delete(memory.id, memory_store_id=store.id, expected_content_sha256=WRONG_SHA),
    ):
        recorder.requests.clear()
        with pytest.raises(anthropic.ConflictError) as caught:
            call()
        assert len(recorder.requests) == 1
        assert caught.value.response.headers["x-should-retry"] == "false"
    client.close()


def test_other_refusals_are_sent_once(server):
    client, recorder = server.recorded_client()
    for error, call in (
        (anthropic.BadRequestError, lambda: client.beta.memory_stores.create(name="")),
        (anthropic.NotFoundError, lambda: client.beta.memory_stores.retrieve(unknown("memstore"))),
    ):
        recorder.requests.clear()
        with pytest.raises(error):
            call()
        assert len(recorder.requests) == 1
    client.close()
