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


def test_a_search_only_grant_is_for_asking_not_for_copying(loci, ada, bob, eve):
    """So many searches a minute, each of them written down."""
    owner, guest, needle = ada.memory(), bob.memory(), word()
    owner("set", key="note", value=needle)
    owner("share", agent=bob.id, level="search")
    owner("share", agent=eve.id, level="search")
    for _ in range(60):
        assert "entries" in guest("search", query=needle, store=ada.id)
    assert guest("search", query=needle, store=ada.id) == failed("search", 429)
    # Others, and those who may read, are not counted with it.
    assert "entries" in eve.memory()("search", query=needle, store=ada.id)
    assert "entries" in owner("search", query=needle)
    written = [event for event in loci.events("searched") if event["detail"] == needle]
    assert [event["principal"] for event in written] == [bob.principal] * 60 + [eve.principal]


def test_one_store_that_was_searched_too_often_does_not_close_the_others(ada, bob):
    """Anybody can share with anybody: that must not take away the search of one's own."""
    memory, needle = bob.memory(), word()
    ada.memory()("set", key="theirs", value=needle)
    ada.memory()("share", agent=bob.id, level="search")
    memory("set", key="own", value=needle)
    for _ in range(60):
        memory("search", query=needle, store=ada.id)
    settled(lambda: (bob.id, "own") in memory.hits(needle), True)
