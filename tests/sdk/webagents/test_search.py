"""Search covers every store the agent reaches, or the one it names, and nothing else."""

from __future__ import annotations

import pytest

from support import failed, settled, word


def test_over_all_stores_and_narrowed_to_one(loci, ada, bob, eve):
    needle = word()
    user = loci.user()
    chat = loci.chat(ada, user)
    closed = loci.agent()
    for agent, level in ((bob, "search"), (eve, "readwrite")):
        agent.memory()("share", agent=ada.id, level=level)
        agent.memory()("set", key="theirs", value=f"{level} {needle}")
    closed.memory()("set", key="closed", value=f"closed {needle}")
    memory = ada.memory(chat=chat, user=user)
    memory("set", store=user, key="users", value=f"user {needle}")
    memory("set", store=chat, key="chats", value=f"chat {needle}")
    memory("set", key="own", value=f"own {needle}")
    everywhere = {(ada.id, "own"), (bob.id, "theirs"), (eve.id, "theirs"), (chat, "chats")}
    settled(lambda: memory.hits(needle), everywhere)
    assert ada.memory().hits(needle) == everywhere - {(chat, "chats")}
    for store, key in everywhere - {(ada.id, "own")} | {(user, "users")}:
        assert memory.hits(needle, store=store) == {(store, key)}
    assert memory("search", query=needle, store=closed.id) == failed("search", 403)


def test_what_was_overwritten_or_deleted_is_found_no_more(ada):
    memory, old, new = ada.memory(), word("old"), word("new")
    memory("set", key="changed", value=old)
    memory("set", key="deleted", value=old)
    settled(lambda: memory.hits(old), {(ada.id, "changed"), (ada.id, "deleted")})
    memory("set", key="changed", value=new)
    memory("delete", key="deleted")
    settled(lambda: memory.hits(new), {(ada.id, "changed")})
    settled(lambda: memory.hits(old), set())


def test_better_matches_elsewhere_do_not_crowd_out(loci, ada, bob):
    """One entry that may be seen, below many better ones that may not."""
    needle = word()
    for number in range(30):
        bob.memory()("set", key=f"note {number}", value=f"{needle} {needle} {needle}")
    long = "filler " * 50
    ada.memory()("set", key="only", value=f"{long} {needle} {long}")
    settled(lambda: ada.memory().hits(needle), {(ada.id, "only")})


@pytest.mark.parametrize("query", ['"', "AND", "a OR (b", "NEAR(", "*", "%", "_", "\u0000", "- -", "x" * 2000, "🦀"])
def test_any_text_is_a_query(ada, query):
    memory = ada.memory()
    memory("set", key="note", value="boats and trains")
    answer = memory("search", query=query)
    assert set(answer) == {"entries"} or answer == failed("search", 400)


def test_a_search_only_grant_gives_a_few_results_at_a_time(ada, bob):
    """Enough to use the store, too few to copy it."""
    owner, guest, needle = ada.memory(), bob.memory(), word()
    for number in range(30):
        owner("set", key=f"note-{number}", value=f"{needle} number {number}")
    owner("share", agent=bob.id, level="search")
    settled(lambda: 0 < len(guest.hits(needle)) <= 10, True)
    settled(lambda: len(owner.hits(needle)) > 10, True)
    assert len(guest.hits(needle, store=ada.id)) <= 10
