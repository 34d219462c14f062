"""Many at once: each save of one key is a version of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from support import rows, save

SAVES = 32


def test_saves_at_once_are_as_many_versions(server, agent):
    clients = [server.client() for _ in range(SAVES)]
    with ThreadPoolExecutor(SAVES) as pool:
        saved = list(pool.map(lambda pair: save(pair[1], agent, "k", f"text {pair[0]}"), enumerate(clients)))
    assert sorted(entry.version for entry in saved) == list(range(1, SAVES + 1))
    assert len({entry.entry_id for entry in saved}) == 1
    feed = clients[0].list_agent_memory_changes(agent, limit=100)
    assert rows(feed.items) == [("created", "k", 1)] + [("updated", "k", n) for n in range(2, SAVES + 1)]
