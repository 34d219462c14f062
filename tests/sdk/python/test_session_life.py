"""Sessions after creation: list, update, archive, delete, and what a session's own key may do."""

from __future__ import annotations

import uuid

import anthropic
import pytest

from support import SESSION_KEYS, attach, invalid, keys, missing, refused, unknown


@pytest.fixture
def agent():
    """An agent id of this test alone, so that its list holds only its own sessions."""
    return f"agent_{uuid.uuid4().hex}"


@pytest.fixture
def five(make_session, agent):
    return [make_session(agent=agent, title=str(index)) for index in range(5)]


def titles(sessions):
    return [session.title for session in sessions]


def test_list_is_newest_first_by_default_and_asc_reverses(client, agent, five):
    assert titles(client.beta.sessions.list(agent_id=agent)) == ["4", "3", "2", "1", "0"]
    assert titles(client.beta.sessions.list(agent_id=agent, order="desc")) == ["4", "3", "2", "1", "0"]
    assert titles(client.beta.sessions.list(agent_id=agent, order="asc")) == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_list_auto_pages_in_order(client, agent, five, order):
    page = client.beta.sessions.list(agent_id=agent, limit=2, order=order)
    assert len(page.data) == 2
    whole = titles(client.beta.sessions.list(agent_id=agent, order=order))
    assert titles(page) == whole and len(whole) == 5


def test_list_page_has_data_next_page_and_prev_page(client, agent, five):
    raw = client.beta.sessions.with_raw_response.list(agent_id=agent, limit=2).http_response.json()
    assert set(raw) == {"data", "next_page", "prev_page"}
    assert raw["prev_page"] is None and raw["next_page"]
    assert all(set(session) == SESSION_KEYS for session in raw["data"])


def test_list_filters_by_creation_time_inclusive_and_exclusive(client, agent, five):
    middle = five[2].created_at
    listing = client.beta.sessions.list
    assert titles(listing(agent_id=agent, order="asc", created_at_gte=middle)) == ["2", "3", "4"]
    assert titles(listing(agent_id=agent, order="asc", created_at_gt=middle)) == ["3", "4"]
    assert titles(listing(agent_id=agent, order="asc", created_at_lte=middle)) == ["0", "1", "2"]
    assert titles(listing(agent_id=agent, order="asc", created_at_lt=middle)) == ["0", "1"]


def test_list_filters_by_agent_version(client, make_session, agent):
    make_session(agent={"type": "agent", "id": agent, "version": 1}, title="one")
    make_session(agent={"type": "agent", "id": agent, "version": 2}, title="two")
    assert titles(client.beta.sessions.list(agent_id=agent, agent_version=2)) == ["two"]


@pytest.mark.needs("session_store_filter")
def test_list_filters_by_attached_store(client, store, make_store, make_session):
    with_it = make_session(attach(make_store("another")), attach(store))
    make_session()
    assert [found.id for found in client.beta.sessions.list(memory_store_id=store.id)] == [with_it.id]
    assert client.beta.sessions.list(memory_store_id=unknown("memstore")).data == []


@pytest.mark.needs("session_status_filter")
def test_list_filters_by_status(client, agent, five):
    assert len(client.beta.sessions.list(agent_id=agent, statuses=["idle"]).data) == 5
    assert len(client.beta.sessions.list(agent_id=agent, statuses=["running", "idle"]).data) == 5
    assert client.beta.sessions.list(agent_id=agent, statuses=["running", "terminated"]).data == []


@pytest.mark.parametrize("query", [{"limit": 0}, {"order": "sideways"}, {"page": "garbage"}])
def test_list_refuses_bad_limit_order_and_cursor(client, query):
    with invalid():
        client.beta.sessions.list(**query)


def test_update_changes_title_and_patches_metadata(client, make_session):
    session = make_session(title="old", metadata={"keep": "1", "drop": "1"})
    after = client.beta.sessions.update(session.id, title="new", metadata={"drop": None, "add": "2"})
    assert keys(after) == SESSION_KEYS
    assert (after.title, after.metadata) == ("new", {"keep": "1", "add": "2"})
    assert after.updated_at > session.updated_at
    assert client.beta.sessions.retrieve(session.id) == after


def test_update_leaves_omitted_fields_alone(client, make_session):
    session = make_session(title="kept", metadata={"a": "1"})
    assert client.beta.sessions.update(session.id, metadata={"b": "2"}).title == "kept"
    assert client.beta.sessions.update(session.id, title="new").metadata == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    "metadata", [{f"k{index}": "v" for index in range(17)}, {"k" * 65: "v"}, {"k": "v" * 513}]
)
def test_metadata_limits_hold_on_create_and_update(client, make_session, metadata):
    with invalid():
        make_session(metadata=metadata)
    session = make_session()
    with invalid():
        client.beta.sessions.update(session.id, metadata=metadata)


def test_archived_session_leaves_the_list_unless_asked(client, agent, five):
    archived = client.beta.sessions.archive(five[0].id)
    assert keys(archived) == SESSION_KEYS
    assert archived.archived_at is not None
    assert titles(client.beta.sessions.list(agent_id=agent)) == ["4", "3", "2", "1"]
    assert titles(client.beta.sessions.list(agent_id=agent, include_archived=True)) == ["4", "3", "2", "1", "0"]
    assert client.beta.sessions.retrieve(five[0].id) == archived


def test_deleted_session_is_not_found_and_its_store_remains(client, store, make_session):
    session = make_session(attach(store))
    deleted = client.beta.sessions.delete(session.id)
    assert deleted.to_dict(mode="json", exclude_unset=True) == {"id": session.id, "type": "session_deleted"}
    for call in (
        lambda: client.beta.sessions.retrieve(session.id),
        lambda: client.beta.sessions.update(session.id, title="x"),
        lambda: client.beta.sessions.archive(session.id),
        lambda: client.beta.sessions.delete(session.id),
        lambda: client.beta.sessions.resources.list(session.id),
    ):
        with missing():
            call()
    assert client.beta.memory_stores.retrieve(store.id) == store


def test_unknown_session_is_not_found(client):
    with missing():
        client.beta.sessions.retrieve(unknown("sesn"))


def test_sessions_need_no_beta_header(client, make_session):
    session = make_session()
    off = {"extra_headers": {"anthropic-beta": anthropic.Omit()}}
    assert client.beta.sessions.retrieve(session.id, **off) == session


def test_agent_and_environment_are_required(client):
    for body in ({"agent": "agent_x"}, {"environment_id": "env_x"}, {}):
        with invalid():
            client.post("/v1/sessions", cast_to=object, body=body)


def test_session_key_reads_its_session_and_writes_its_stores(server, store, make_session):
    session = make_session(attach(store))
    key = server.make_key(session_id=session.id)
    with server.client(key["secret"]) as agent:
        assert agent.beta.sessions.retrieve(session.id) == session
        memory = agent.beta.memory_stores.memories.create(store.id, path="/a", content="x")
        assert agent.beta.memory_stores.memories.retrieve(memory.id, memory_store_id=store.id).content == "x"


def test_session_key_cannot_write_a_store_attached_read_only(server, client, store, make_session):
    memory = client.beta.memory_stores.memories.create(store.id, path="/a", content="x")
    key = server.make_key(session_id=make_session(attach(store, access="read_only")).id)
    with server.client(key["secret"]) as agent:
        memories = agent.beta.memory_stores.memories
        assert memories.retrieve(memory.id, memory_store_id=store.id).content == "x"
        for call in (
            lambda: memories.create(store.id, path="/b", content="x"),
            lambda: memories.update(memory.id, memory_store_id=store.id, content="y"),
            lambda: memories.delete(memory.id, memory_store_id=store.id),
        ):
            with refused(anthropic.PermissionDeniedError, "permission_error"):
                call()
    assert client.beta.memory_stores.memories.retrieve(memory.id, memory_store_id=store.id).content == "x"


def test_session_key_sees_no_store_that_is_not_attached(server, store, make_store, make_session):
    other = make_store()
    key = server.make_key(session_id=make_session(attach(store)).id)
    with server.client(key["secret"]) as agent:
        with pytest.raises((anthropic.NotFoundError, anthropic.PermissionDeniedError)):
            agent.beta.memory_stores.memories.list(other.id)
        with pytest.raises((anthropic.NotFoundError, anthropic.PermissionDeniedError)):
            agent.beta.memory_stores.memories.create(other.id, path="/a", content="x")
