"""Words the tests share: exact key sets, hashes, ways to reach the server, expected refusals."""

from __future__ import annotations

import hashlib
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field

import anthropic
import pytest

from capabilities import OWN_BETA, http_library

STORE_KEYS = {"id", "type", "name", "description", "metadata", "created_at", "updated_at", "archived_at"}
MEMORY_KEYS = {
    "id", "type", "memory_store_id", "memory_version_id", "path", "content", "content_size_bytes",
    "content_sha256", "created_at", "updated_at",
}  # fmt: skip
PREFIX_KEYS = {"type", "path"}
VERSION_KEYS = {
    "id", "type", "memory_store_id", "memory_id", "operation", "created_at", "path", "content",
    "content_sha256", "content_size_bytes", "created_by", "redacted_at", "redacted_by",
}  # fmt: skip
DELETED_KEYS = {"id", "type"}
PAGE_KEYS = {"data", "next_page"}
SESSION_KEYS = {
    "id", "type", "agent", "environment_id", "status", "title", "metadata", "resources", "vault_ids",
    "outcome_evaluations", "stats", "usage", "budget", "deployment_id", "archived_at", "created_at", "updated_at",
}  # fmt: skip
SESSION_AGENT_KEYS = {
    "id", "type", "version", "name", "description", "system", "model", "tools", "skills", "mcp_servers",
    "multiagent", "execution_identity",
}  # fmt: skip
ATTACHMENT_KEYS = {"type", "memory_store_id", "access", "instructions", "name", "description", "mount_path"}

CONTENT_BYTES_MAX = 102_400
WRONG_SHA = "0" * 64


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def precondition(sha: str) -> dict[str, str]:
    return {"type": "content_sha256", "content_sha256": sha}


def keys(model) -> set[str]:
    """The keys that were really in the JSON, not the ones the SDK's type fills in."""
    return set(model.to_dict(mode="json", exclude_unset=True))


def attach(store, **fields: object) -> dict:
    store_id = store if isinstance(store, str) else store.id
    return {"type": "memory_store", "memory_store_id": store_id, **fields}


def unknown(prefix: str) -> str:
    """A well-formed id that names nothing."""
    return f"{prefix}_01{uuid.uuid4().hex[:22]}"


@contextmanager
def refused(error: type[anthropic.APIStatusError], kind: str):
    """Expects one SDK error class and checks the whole envelope behind it."""
    with pytest.raises(error) as caught:
        yield caught
    raised = caught.value
    assert type(raised) is error
    body = raised.body
    assert isinstance(body, dict) and set(body) == {"type", "error", "request_id"}, body
    assert body["type"] == "error"
    assert body["error"]["type"] == kind, body
    assert body["error"]["message"], body
    assert body["request_id"] == raised.request_id
    assert raised.request_id.startswith("req_")


def invalid():
    return refused(anthropic.BadRequestError, "invalid_request_error")


def missing():
    return refused(anthropic.NotFoundError, "not_found_error")


@dataclass
class Recorder:
    """Counts what really goes over the wire, retries included."""

    requests: list = field(default_factory=list)

    def note(self, request) -> None:
        self.requests.append(request)


@dataclass(frozen=True)
class Server:
    """The server under test and the ways of talking to it."""

    base_url: str
    api_key: str

    def client(self, key: str | None = None, **options: object) -> anthropic.Anthropic:
        options = {"max_retries": 0, "_strict_response_validation": True, **options}
        return anthropic.Anthropic(api_key=key or self.api_key, base_url=self.base_url, **options)

    def async_client(self, key: str | None = None, **options: object) -> anthropic.AsyncAnthropic:
        options = {"max_retries": 0, "_strict_response_validation": True, **options}
        return anthropic.AsyncAnthropic(api_key=key or self.api_key, base_url=self.base_url, **options)

    def recorded_client(self, **options: object) -> tuple[anthropic.Anthropic, Recorder]:
        """A client with the SDK's own retry policy whose every request is noted."""
        recorder = Recorder()
        transport = anthropic.DefaultHttpxClient(event_hooks={"request": [recorder.note]})
        client = anthropic.Anthropic(
            api_key=self.api_key, base_url=self.base_url, http_client=transport, **options
        )
        return client, recorder

    def raw(self, method: str, path: str, *, headers: dict[str, str] | None = None, **request: object):
        """One request written by hand; `headers` replace the SDK's usual ones entirely."""
        if headers is None:
            headers = {"x-api-key": self.api_key, "anthropic-beta": OWN_BETA}
        return http_library.request(method, self.base_url + path, headers=headers, timeout=30, **request)

    def make_key(self, **fields: object) -> dict:
        """A new API key through the native route: `{"id": "apikey_…", "secret": …}`."""
        with anthropic.Anthropic(api_key=self.api_key, base_url=self.base_url, max_retries=0) as admin:
            made = admin.post("/v1/api_keys", cast_to=object, body={"name": f"suite {uuid.uuid4().hex[:8]}", **fields})
        assert made["id"].startswith("apikey_")
        return made


def raw_error(response, status: int, kind: str) -> dict:
    """Checks a hand-made request's refusal and returns its `error` object."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"].startswith("application/json")
    body = response.json()
    assert set(body) == {"type", "error", "request_id"}
    assert body["type"] == "error"
    assert body["error"]["type"] == kind
    assert body["request_id"] == response.headers["request-id"]
    return body["error"]
