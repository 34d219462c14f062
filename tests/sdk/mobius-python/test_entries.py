"""Saving, listing, searching and deleting with the release's own client and models."""

from __future__ import annotations

import time

import pytest
from deepnoodle.mobius import ListAgentMemoryEntriesOptions as Options
from deepnoodle.mobius import AgentMemoryEntry, MobiusAPIError

from support import HAS_USERS, CountingTransport, save


def keys(page) -> list[str]:
    return [entry.key for entry in page.items]


def test_a_key_is_created_and_then_updated(client, agent):
    first = save(client, agent, "user.timezone", "UTC", kind="preference", importance=80, pinned=True,
                 summary="Time zone", metadata={"from": {"chat": 7}})
    assert (first.version, first.kind.value, first.importance, first.pinned) == (1, "preference", 80, True)
    assert first.entry_id.startswith("mem_") and first.metadata == {"from": {"chat": 7}}
    second = save(client, agent, "user.timezone", "CET")
    assert (second.version, second.entry_id, second.created_at) == (2, first.entry_id, first.created_at)
    assert second.updated_at > first.updated_at
    assert (second.kind.value, second.importance, second.summary) == ("preference", 80, None)


def test_a_summary_counts(client, agent):
    nothing = client.get_agent_memory(agent)
    assert (nothing.entry_count, nothing.counts_by_kind, nothing.updated_at) == (0, {}, None)
    save(client, agent, "a")
    last = save(client, agent, "b", kind="episode")
    counted = client.get_agent_memory(agent)
    assert (counted.entry_count, counted.counts_by_kind) == (2, {"fact": 1, "episode": 1})
    assert counted.updated_at == last.updated_at and counted.agent_id.startswith("agent_")
    assert client.get_agent_memory(counted.agent_id) == counted


def test_lists_are_recent_first_and_paged(client, agent):
    for number in range(7):
        save(client, agent, f"k{number}", kind="episode" if number % 2 else "fact")
    assert keys(client.list_agent_memory_entries(agent)) == [f"k{n}" for n in range(6, -1, -1)]
    joined, cursor = [], None
    while True:
        page = client.list_agent_memory_entries(agent, Options(limit=2, kind="fact", cursor=cursor))
        joined += keys(page)
        if not page.has_more:
            assert page.next_cursor is None
            break
        cursor = page.next_cursor
    assert joined == ["k6", "k4", "k2", "k0"]


def test_keyword_search(client, agent):
    save(client, agent, "tea", "Likes green TEA")
    save(client, agent, "zone", "Europe/Berlin", summary="time zone")
    assert keys(client.list_agent_memory_entries(agent, Options(query="green tea"))) == ["tea"]
    assert keys(client.list_agent_memory_entries(agent, Options(query="TIME berlin"))) == ["zone"]
    assert keys(client.list_agent_memory_entries(agent, Options(query="green berlin"))) == []


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_search_by_meaning(client, agent, mode):
    save(client, agent, "drink", "She always has a cup of tea in the morning")
    save(client, agent, "car", "The engine of the truck needs oil")
    options = Options(query="favourite hot beverage", search_mode=mode)
    deadline = time.monotonic() + 60
    while True:
        page = client.list_agent_memory_entries(agent, options)
        coverage = page.search_coverage
        assert coverage is not None and coverage.total_entries == 2
        assert coverage.complete == (coverage.indexed_entries == 2)
        if coverage.complete:
            break
        assert time.monotonic() < deadline, "the vectors did not come"
        time.sleep(0.05)
    assert keys(page)[0] == "drink"


def test_deleting_is_idempotent(client, agent):
    client.delete_agent_memory_entry(agent, "k")
    first = save(client, agent, "k")
    client.delete_agent_memory_entry(agent, "k")
    client.delete_agent_memory_entry(agent, "k")
    assert keys(client.list_agent_memory_entries(agent)) == []
    again = save(client, agent, "k")
    assert again.version == 1 and again.entry_id != first.entry_id


def test_keys_are_escaped_in_paths(client, agent):
    for key in ["a:b", "A.b-c_D:", ":x", "...", "k" * 256]:
        assert save(client, agent, key).key == key
    assert len(client.list_agent_memory_entries(agent).items) == 5


def test_bad_input_is_refused_at_once(server, agent):
    wire = CountingTransport()
    client = server.client(transport=wire)
    for path, body in [
        ("/memory/entries/k", {"content": ""}),
        ("/memory/entries/k", {"content": "x", "importance": True}),
        ("/memory/entries/k", {"content": "x", "unknown": 1}),
        ("/memory/entries/a%20b", {"content": "x"}),
    ]:
        reply = server.raw("PUT", server.agent(agent, path), json=body)
        assert reply.status_code == 400, reply.text
        assert reply.json()["error"]["code"] == "bad_request"
        assert reply.headers["X-Request-Id"].startswith("req_")
    with pytest.raises(MobiusAPIError) as refused:
        client.list_agent_memory_entries(agent, Options(cursor="garbage"))
    assert (refused.value.status, refused.value.code) == (400, "bad_request")
    assert refused.value.request_id
    with pytest.raises(MobiusAPIError) as refused:
        client.list_agent_memory_entries(agent, Options(limit=101))
    assert refused.value.status == 400
    assert wire.requests == 2, "nothing was repeated"


@pytest.mark.users
def test_users_have_entries_of_their_own(client, server, agent):
    shared = save(client, agent, "k", "everybody's")
    private = save(client, agent, "k", "ada's", user_id="ada")
    assert (shared.user_id, private.user_id, private.version) == ("", "ada", 1)
    listed = client.list_agent_memory_entries(agent)
    assert {(entry.user_id, entry.content) for entry in listed.items} == {("", "everybody's"), ("ada", "ada's")}
    assert client.get_agent_memory(agent).entry_count == 2
    gone = server.raw("DELETE", server.agent(agent, "/memory/entries/k?user_id=ada"))
    assert gone.status_code == 204
    assert [entry.user_id for entry in client.list_agent_memory_entries(agent).items] == [""]


@pytest.mark.users
def test_an_entry_is_promoted_and_taken_back(client, server, agent):
    save(client, agent, "k", "ada's", user_id="ada", kind="preference")
    path = server.agent(agent, "/memory/entries/k/promotion")
    promoted = server.raw("POST", path, json={"user_id": "ada"})
    entry = AgentMemoryEntry.model_validate(promoted.json())
    assert (promoted.status_code, entry.user_id, entry.kind.value) == (200, "", "preference")
    assert server.raw("POST", path, json={"user_id": "ada"}).status_code == 409
    replaced = server.raw("POST", path, json={"user_id": "ada", "replace": True})
    assert AgentMemoryEntry.model_validate(replaced.json()).version == 2
    assert server.raw("POST", path, json={"user_id": "bob"}).status_code == 404
    for _ in range(2):
        assert server.raw("DELETE", path).status_code == 204
    changes = client.list_agent_memory_changes(agent).items
    assert [change.reason.value for change in changes] == [
        "api", "promoted", "promoted", "promotion_reverted",
    ]


def test_the_other_revision_has_other_fields(client, server, agent):
    save(client, agent, "k")
    path = f"/v1/projects/default/agents/{agent}" if HAS_USERS else f"/v1/agents/{agent}"
    entry = server.raw("GET", path + "/memory/entries").json()["items"][0]
    assert ("user_id" in entry) != HAS_USERS
