"""The change feed, followed with the release's own helper: across a restart, and past its history."""

from __future__ import annotations

import pytest
from deepnoodle.mobius import ListAgentMemoryEntriesOptions as Options
from deepnoodle.mobius import MobiusAPIError

from support import OwnServer, Server, rows, save


class Mirror:
    """A copy of an agent's memory that is kept by `sync_agent_memory` alone."""

    def __init__(self, client, agent: str) -> None:
        self.client, self.agent = client, agent
        self.cursor: str | None = None
        self.versions: dict[str, int] = {}

    def sync(self) -> bool:
        result = self.client.sync_agent_memory(self.agent, self.cursor)
        if result.reset:
            self.versions = {entry.key: entry.version for entry in result.entries}
        for change in result.changes:
            if change.operation.value == "deleted":
                self.versions.pop(change.memory_key, None)
            else:
                self.versions[change.memory_key] = change.version
        self.cursor = result.next_cursor
        return result.reset

    def agrees(self) -> bool:
        entries, cursor = {}, None
        while True:
            page = self.client.list_agent_memory_entries(self.agent, Options(cursor=cursor))
            entries |= {entry.key: entry.version for entry in page.items}
            if not page.has_more:
                return entries == self.versions
            cursor = page.next_cursor


def test_an_empty_feed_has_a_cursor_that_sees_the_next_change(client, agent):
    empty = client.list_agent_memory_changes(agent)
    assert empty.items == [] and not empty.has_more and empty.next_cursor
    save(client, agent, "k")
    save(client, agent, "k")
    client.delete_agent_memory_entry(agent, "k")
    after = client.list_agent_memory_changes(agent, after=empty.next_cursor)
    assert rows(after.items) == [("created", "k", 1), ("updated", "k", 2), ("deleted", "k", 3)]
    assert len({change.id for change in after.items}) == 3
    assert all(change.id.startswith("chg_") and change.reason.value == "api" for change in after.items)
    page = client.list_agent_memory_changes(agent, limit=2)
    assert page.has_more and len(page.items) == 2
    rest = client.list_agent_memory_changes(agent, after=page.next_cursor)
    assert rows(rest.items) == [("deleted", "k", 3)]


def test_a_mirror_keeps_up(client, agent):
    mirror = Mirror(client, agent)
    assert mirror.sync() is False and mirror.versions == {}
    for number in range(45):
        save(client, agent, f"k{number % 30}")
        if number % 7 == 0:
            client.delete_agent_memory_entry(agent, f"k{number % 30}")
        if number % 11 == 0:
            mirror.sync()
    assert mirror.sync() is False and mirror.agrees()


def test_a_mirror_goes_on_across_a_restart(own_server: OwnServer, agent):
    mirror = Mirror(own_server.client(), agent)
    for number in range(25):
        save(mirror.client, agent, f"k{number}")
    mirror.sync()
    before = mirror.cursor
    save(mirror.client, agent, "k1")
    own_server.kill()
    own_server.start()
    mirror.client = own_server.client()
    save(mirror.client, agent, "k2")
    mirror.client.delete_agent_memory_entry(agent, "k3")
    page = mirror.client.list_agent_memory_changes(agent, after=before)
    assert rows(page.items) == [("updated", "k1", 2), ("updated", "k2", 2), ("deleted", "k3", 2)]
    assert mirror.sync() is False and mirror.agrees()


def test_an_expired_cursor_begins_anew(client, server: Server, agent):
    mirror = Mirror(client, agent)
    for number in range(25):
        save(client, agent, f"old{number}")
    mirror.sync()
    server.remove_home(agent)
    with pytest.raises(MobiusAPIError) as refused:
        client.list_agent_memory_changes(agent, after=mirror.cursor)
    assert (refused.value.status, refused.value.code) == (410, "memory_cursor_expired")
    for number in range(23):
        save(client, agent, f"new{number}")
    assert mirror.sync() is True
    assert len(mirror.versions) == 23 and mirror.agrees()
    save(client, agent, "new0")
    assert mirror.sync() is False and mirror.versions["new0"] == 2
