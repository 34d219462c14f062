"""Headers, versions, methods and bodies: what every SDK release and a plain curl send."""

from __future__ import annotations

import json

import anthropic
import pytest

from capabilities import AGENT_MEMORY, MANAGED_AGENTS, OTHER_BETA, OWN_BETA
from support import MEMORY_KEYS, STORE_KEYS, Server, invalid, raw_error, sha256


def headers(server: Server, **more: str) -> dict[str, str]:
    return {"x-api-key": server.api_key, "anthropic-beta": AGENT_MEMORY, **more}


@pytest.fixture
def memory(client, store):
    return client.beta.memory_stores.memories.create(store.id, path="/a", content="one")


def test_the_sdk_sends_what_this_suite_believes_it_sends(server, store):
    client, recorder = server.recorded_client()
    client.beta.memory_stores.retrieve(store.id)
    client.close()
    assert recorder.requests[0].headers["anthropic-beta"] == OWN_BETA


@pytest.mark.needs("bearer_api_key")
def test_this_sdk_sends_the_key_as_bearer(server, store):
    client, recorder = server.recorded_client()
    client.beta.memory_stores.retrieve(store.id)
    client.close()
    sent = recorder.requests[0].headers
    assert sent["authorization"].startswith("Bearer ") and "x-api-key" not in sent
    assert sent["anthropic-version"] == "2026-10-21"


@pytest.mark.needs("x_api_key")
def test_this_sdk_sends_the_key_as_x_api_key(server, store):
    client, recorder = server.recorded_client()
    client.beta.memory_stores.retrieve(store.id)
    client.close()
    sent = recorder.requests[0].headers
    assert "x-api-key" in sent and "authorization" not in sent
    assert sent["anthropic-version"] == "2023-06-01"


@pytest.mark.needs("beta_query")
def test_this_sdk_sends_beta_true_and_is_served(server, store):
    client, recorder = server.recorded_client()
    assert client.beta.memory_stores.retrieve(store.id).id == store.id
    client.close()
    assert recorder.requests[0].url.params["beta"] == "true"


def test_beta_true_in_the_url_is_ignored(client, store):
    assert client.beta.memory_stores.retrieve(store.id, extra_query={"beta": "true"}).id == store.id
    client.beta.memory_stores.memories.create(store.id, path="/a", content="x", extra_query={"beta": "true"})
    assert len(client.beta.memory_stores.memories.list(store.id, extra_query={"beta": "true"}).data) == 1


@pytest.mark.parametrize("value", [MANAGED_AGENTS, AGENT_MEMORY])
def test_either_beta_value_is_accepted(client, store, value):
    assert client.beta.memory_stores.retrieve(store.id, extra_headers={"anthropic-beta": value}).id == store.id


@pytest.mark.parametrize("value", [f"{OWN_BETA},other-2025-01-01", f"other-2025-01-01, {OWN_BETA}"])
def test_unrelated_beta_values_beside_it_are_ignored(client, store, value):
    assert client.beta.memory_stores.retrieve(store.id, extra_headers={"anthropic-beta": value}).id == store.id


def test_both_beta_values_at_once_are_refused(client, store):
    with invalid():
        client.beta.memory_stores.retrieve(store.id, betas=[OTHER_BETA])
    with invalid():
        client.beta.memory_stores.create(name="both", betas=[OTHER_BETA])


def test_no_beta_value_is_refused_on_all_14_endpoints(client, store, memory):
    stores = client.beta.memory_stores
    off = {"extra_headers": {"anthropic-beta": anthropic.Omit()}}
    inside = {"memory_store_id": store.id, **off}
    for call in (
        lambda: stores.create(name="x", **off),
        lambda: stores.list(**off),
        lambda: stores.retrieve(store.id, **off),
        lambda: stores.update(store.id, name="x", **off),
        lambda: stores.delete(store.id, **off),
        lambda: stores.archive(store.id, **off),
        lambda: stores.memories.create(store.id, path="/b", content="x", **off),
        lambda: stores.memories.list(store.id, **off),
        lambda: stores.memories.retrieve(memory.id, **inside),
        lambda: stores.memories.update(memory.id, content="x", **inside),
        lambda: stores.memories.delete(memory.id, **inside),
        lambda: stores.memory_versions.list(store.id, **off),
        lambda: stores.memory_versions.retrieve(memory.memory_version_id, **inside),
        lambda: stores.memory_versions.redact(memory.memory_version_id, **inside),
    ):
        with invalid():
            call()
    assert stores.retrieve(store.id) == store


@pytest.mark.parametrize("scheme", ["x-api-key", "authorization"])
@pytest.mark.parametrize("version", ["2023-06-01", "2026-10-21", None])
def test_both_key_headers_and_both_api_versions_are_accepted(server, store, scheme, version):
    sent = {"anthropic-beta": AGENT_MEMORY}
    sent[scheme] = server.api_key if scheme == "x-api-key" else f"Bearer {server.api_key}"
    if version:
        sent["anthropic-version"] = version
    response = server.raw("GET", f"/v1/memory_stores/{store.id}", headers=sent)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/json")
    assert set(response.json()) == STORE_KEYS


@pytest.mark.parametrize("sent", [{"authorization": "Basic YTpi"}, {"authorization": "Bearer"}, {"x-api-key": ""}])
def test_other_credentials_are_an_authentication_error(server, store, sent):
    response = server.raw("GET", f"/v1/memory_stores/{store.id}", headers={"anthropic-beta": AGENT_MEMORY, **sent})
    raw_error(response, 401, "authentication_error")


def test_workspace_header_is_ignored(server, store):
    sent = headers(server, **{"anthropic-workspace-id": "wrkspc_011CZkZaBF1tNoB5wlCeusgy"})
    assert server.raw("GET", f"/v1/memory_stores/{store.id}", headers=sent).status_code == 200


@pytest.mark.needs("workspace_id")
def test_workspace_parameter_of_the_sdk_is_ignored(client, store):
    assert client.beta.memory_stores.retrieve(store.id, workspace_id="wrkspc_011CZkZaBF1tNoB5wlCeusgy") == store


def test_update_is_served_on_patch_as_well_as_post(server, store, memory):
    path = f"/v1/memory_stores/{store.id}/memories/{memory.id}?view=full"
    response = server.raw("PATCH", path, headers=headers(server), json={"content": "two"})
    assert response.status_code == 200
    assert set(response.json()) == MEMORY_KEYS
    assert response.json()["content"] == "two"
    assert response.json()["content_sha256"] == sha256("two")


@pytest.mark.parametrize(
    "request_body",
    [
        {"headers": {"content-type": "application/json"}, "content": b""},
        {"headers": {}, "content": b""},
        {"headers": {"content-type": "application/json"}, "content": b"{}"},
    ],
    ids=["empty with content type", "empty without content type", "empty object"],
)
def test_archive_and_redact_accept_every_kind_of_empty_body(server, client, store, memory, request_body):
    client.beta.memory_stores.memories.update(memory.id, memory_store_id=store.id, content="two")
    sent = {**request_body, "headers": headers(server, **request_body["headers"])}
    version = f"/v1/memory_stores/{store.id}/memory_versions/{memory.memory_version_id}/redact"
    for path in (version, f"/v1/memory_stores/{store.id}/archive"):
        assert server.raw("POST", path, **sent).status_code == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"text"', b'{"name":"x"', b'{"name":"x"}{}', b"{'name':'x'}", b"\xff\xfe"],
)
def test_malformed_json_is_refused(server, body):
    sent = headers(server, **{"content-type": "application/json"})
    raw_error(server.raw("POST", "/v1/memory_stores", headers=sent, content=body), 400, "invalid_request_error")


def test_deeply_nested_json_is_refused(server):
    sent = headers(server, **{"content-type": "application/json"})
    body = b'{"name":"x","metadata":' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    raw_error(server.raw("POST", "/v1/memory_stores", headers=sent, content=body), 400, "invalid_request_error")


def test_wrong_types_are_refused(server):
    for body in ({"name": 1}, {"name": ["x"]}, {"name": "x", "description": 5}, {"name": "x", "metadata": []}):
        response = server.raw("POST", "/v1/memory_stores", headers=headers(server), content=json.dumps(body).encode())
        raw_error(response, 400, "invalid_request_error")


def test_error_messages_do_not_repeat_the_content(client, store):
    with invalid() as caught:
        client.beta.memory_stores.memories.create(store.id, path="bad path", content="canary-content")
    assert "canary-content" not in caught.value.response.text


def test_ids_with_reserved_characters_are_one_path_segment(client, store):
    for odd in ("a/b", "%2F", "a?b", "ü"):
        with pytest.raises((anthropic.NotFoundError, anthropic.BadRequestError)):
            client.beta.memory_stores.memories.retrieve(odd, memory_store_id=store.id)


def test_a_repeated_idempotency_key_writes_once(client, store):
    memories = client.beta.memory_stores.memories
    key = {"extra_headers": {"Idempotency-Key": f"suite-{store.id}"}}
    first = memories.create(store.id, path="/once", content="x", **key)
    again = memories.create(store.id, path="/once", content="x", **key)
    assert again == first
    assert len(client.beta.memory_stores.memory_versions.list(store.id).data) == 1
