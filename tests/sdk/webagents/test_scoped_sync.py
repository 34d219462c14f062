"""Sync as the client asks for it: lines in, lines out, server stamps, cursors, tombstones, merging."""

from __future__ import annotations

import re

import pytest
from webagents.agents.skills.local.memory.memory_namespace import entry_id_for

from support import SCOPED, run

CURSOR = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")


@pytest.fixture
def notes(ada):
    return ada.scoped()


def put(agent, key, at, content="text", namespace="owner", **fields):
    line = {"op": "put", "id": entry_id_for(agent.id, namespace, key), "namespace": namespace, "key": key}
    return {**line, "content": content, "source": "tool", "at": at, **fields}


def delete(agent, key, at, namespace="owner"):
    return {"op": "delete", "id": entry_id_for(agent.id, namespace, key), "namespace": namespace, "key": key, "at": at}


def day(number: int) -> str:
    return f"2026-01-{number:02}T00:00:00.000Z"


def test_nothing_yet(notes):
    assert run(notes.pull("owner", None)) == ([], None, False)


def test_what_was_pushed_is_pulled(ada, notes):
    lines = [put(ada, "one", day(1), description="first"), put(ada, "two", day(2), "", source="compaction")]
    assert run(notes.push("owner", lines)) == 2
    pulled, cursor, more = run(notes.pull("owner", None))
    assert pulled == lines
    assert CURSOR.match(cursor) and not more
    assert run(notes.get("owner", "one")).updated_at == day(1)
    # From there on there is nothing, and the cursor stays.
    assert run(notes.pull("owner", cursor)) == ([], cursor, False)


def test_the_push_answers_with_a_count_alone(loci, ada):
    body = {"agentId": ada.id, "namespace": "owner", "lines": [put(ada, "one", day(1))]}
    answer = loci.call("POST", f"{SCOPED}?action=sync", ada.key, json=body)
    assert (answer.status_code, answer.json()) == (200, {"applied": 1})


def test_every_kind_of_change_moves_to_the_end(ada, notes):
    run(notes.push("owner", [put(ada, key, day(1)) for key in ("a", "b", "c")]))
    _, cursor, _ = run(notes.pull("owner", None))
    run(notes.put("owner", "b", "changed"))
    run(notes.forget("owner", "a"))
    run(notes.put("owner", "d", "new"))
    pulled, after, more = run(notes.pull("owner", cursor))
    assert [(line["op"], line["key"]) for line in pulled] == [("put", "b"), ("delete", "a"), ("put", "d")]
    assert cursor < after and not more
    everything, same, _ = run(notes.pull("owner", None))
    assert [(line["op"], line["key"]) for line in everything] == [
        ("put", "c"), ("put", "b"), ("delete", "a"), ("put", "d"),
    ]  # fmt: skip
    assert same == after


def test_an_old_moment_does_not_hide_a_change(ada, notes):
    """Pages go by the server's clock: what a device says it wrote long ago is still new here."""
    run(notes.push("owner", [put(ada, "new", day(20))]))
    _, cursor, _ = run(notes.pull("owner", None))
    run(notes.push("owner", [put(ada, "old", day(1))]))
    pulled, _, _ = run(notes.pull("owner", cursor))
    assert [line["key"] for line in pulled] == ["old"]


def test_a_forgotten_note_leaves_a_tombstone_without_its_text(ada, notes):
    run(notes.put("owner", "secret", "the text", description="about it"))
    run(notes.forget("owner", "secret"))
    (line,), _, _ = run(notes.pull("owner", None))
    assert set(line) == {"op", "id", "namespace", "key", "at"}
    assert (line["op"], line["key"], line["id"]) == ("delete", "secret", entry_id_for(ada.id, "owner", "secret"))


def test_a_note_made_again_is_no_tombstone(notes):
    run(notes.put("owner", "note", "one"))
    run(notes.forget("owner", "note"))
    run(notes.put("owner", "note", "two"))
    pulled, _, _ = run(notes.pull("owner", None))
    assert [(line["op"], line["content"]) for line in pulled] == [("put", "two")]


@pytest.mark.parametrize(
    ("line", "applied", "content"),
    [
        (lambda ada: put(ada, "k", day(6), "later"), 1, "later"),
        (lambda ada: put(ada, "k", day(5), "equal"), 0, "first"),
        (lambda ada: put(ada, "k", day(4), "earlier"), 0, "first"),
        (lambda ada: delete(ada, "k", day(6)), 1, None),
        (lambda ada: delete(ada, "k", day(5)), 0, "first"),
        (lambda ada: delete(ada, "k", day(4)), 0, "first"),
    ],
    ids=["later put", "equal put", "earlier put", "later delete", "equal delete", "earlier delete"],
)
def test_the_later_one_wins(ada, notes, line, applied, content):
    run(notes.push("owner", [put(ada, "k", day(5), "first")]))
    _, cursor, _ = run(notes.pull("owner", None))
    assert run(notes.push("owner", [line(ada)])) == applied
    left = run(notes.get("owner", "k"))
    assert (left.content if left else None) == content
    # What was skipped is no change.
    assert len(run(notes.pull("owner", cursor))[0]) == applied


@pytest.mark.parametrize(
    ("at", "applied"), [(day(8), 1), (day(7), 0), (day(6), 0)], ids=["after", "at the same moment", "before"]
)
def test_a_tombstone_wins_over_what_is_not_later(ada, notes, at, applied):
    run(notes.push("owner", [put(ada, "k", day(5)), delete(ada, "k", day(7))]))
    assert run(notes.push("owner", [put(ada, "k", at, "again")])) == applied
    assert (run(notes.get("owner", "k")) is not None) == bool(applied)


def test_deleting_what_is_not_there_counts_nothing(ada, notes):
    assert run(notes.push("owner", [delete(ada, "never", day(1))])) == 0
    run(notes.push("owner", [put(ada, "k", day(1)), delete(ada, "k", day(2))]))
    assert run(notes.push("owner", [delete(ada, "k", day(3))])) == 0


def test_lines_of_one_push_are_taken_in_order(ada, notes):
    lines = [
        put(ada, "k", day(1), "one"),
        put(ada, "k", day(2), "two"),
        delete(ada, "k", day(3)),
        put(ada, "k", day(4), "four"),
        put(ada, "k", day(4), "four again"),
    ]
    assert run(notes.push("owner", lines)) == 4
    assert run(notes.get("owner", "k")).content == "four"
    assert len(run(notes.pull("owner", None))[0]) == 1


def test_pushing_twice_changes_nothing(ada, notes):
    lines = [put(ada, f"k{number}", day(1)) for number in range(5)]
    assert run(notes.push("owner", lines)) == 5
    before = run(notes.pull("owner", None))
    assert run(notes.push("owner", lines)) == 0
    assert run(notes.pull("owner", None)) == before


def test_a_line_from_another_device_is_a_tools(ada, notes):
    run(notes.push("owner", [put(ada, "k", day(1), source="sync"), put(ada, "o", day(1), source="owner")]))
    assert run(notes.get("owner", "k")).source == "tool"
    assert run(notes.get("owner", "o")).source == "owner"
    pulled, _, _ = run(notes.pull("owner", None))
    assert {line["key"]: line["source"] for line in pulled} == {"k": "tool", "o": "owner"}


def test_the_server_computes_ids_itself(ada, notes):
    """A device that was never told its agent's id computes them over its name."""
    line = put(ada, "k", day(1), id=entry_id_for("some name", "owner", "k"))
    assert run(notes.push("owner", [line])) == 1
    assert run(notes.get("owner", "k")).id == entry_id_for(ada.id, "owner", "k")
    assert run(notes.push("owner", [put(ada, "k", day(2), "later")])) == 1
    assert [entry.content for entry in run(notes.list(None))] == ["later"]


def test_namespaces_are_synced_apart(ada, notes):
    run(notes.push("owner", [put(ada, "k", day(1), "owner's")]))
    run(notes.push("shared", [put(ada, "k", day(1), "everybody's", namespace="shared")]))
    run(notes.push("caller:user:7", [put(ada, "k", day(1), "caller's", namespace="caller:user:7")]))
    for namespace, content in {"owner": "owner's", "shared": "everybody's", "caller:user:7": "caller's"}.items():
        (line,), _, _ = run(notes.pull(namespace, None))
        assert (line["namespace"], line["content"]) == (namespace, content)


def test_a_push_stays_in_its_namespace(ada, notes):
    """A line that names another namespace than its push lands in neither."""
    lines = [put(ada, "smuggled", day(1), namespace="owner"), put(ada, "fine", day(1), namespace="shared")]
    assert run(notes.push("shared", lines)) == 1
    assert run(notes.get("owner", "smuggled")) is None
    assert run(notes.get("shared", "smuggled")) is None
    assert run(notes.get("shared", "fine")).content == "text"


@pytest.mark.parametrize(
    "since",
    [
        "garbage", "9007199254740991", "2026-13-45T00:00:00Z", "2026-02-30T00:00:00.000000Z", "2999-01-01T00:00:00Z",
        "2026-01-01 00:00:00Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00.0000000Z", "'; drop table", "a" * 500,
    ],
)  # fmt: skip
def test_a_cursor_that_is_none_begins_at_the_start(ada, notes, since):
    run(notes.push("owner", [put(ada, "one", day(1)), put(ada, "two", day(1))]))
    whole = run(notes.pull("owner", None))
    assert len(whole[0]) == 2
    assert run(notes.pull("owner", since)) == whole


def test_a_cursor_may_be_coarse(ada, notes):
    """Any moment in the right form will do, with or without a fraction."""
    run(notes.push("owner", [put(ada, "one", day(1))]))
    for since in ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z"):
        assert [line["key"] for line in run(notes.pull("owner", since))[0]] == ["one"]


def test_paging(ada, notes):
    """1,100 notes are three pages; every one comes once, oldest first, and the cursors grow."""
    lines = [put(ada, f"n{number:04}", day(1 + number % 9), f"note {number}") for number in range(1100)]
    assert run(notes.push("owner", lines)) == 1100
    run(notes.push("shared", [put(ada, "other", day(1), namespace="shared")]))
    pages, since, more = [], None, True
    while more:
        page, since, more = run(notes.pull("owner", since))
        pages.append((page, since))
        assert len(pages) < 10
    assert [len(page) for page, _ in pages] == [500, 500, 100]
    assert [line for page, _ in pages for line in page] == lines
    cursors = [cursor for _, cursor in pages]
    assert cursors == sorted(set(cursors)) and all(CURSOR.match(cursor) for cursor in cursors)
    # A change while paging comes at the end, and a page asked for again is the same page but for it.
    run(notes.put("owner", "n0700", "changed"))
    again, cursor, more = run(notes.pull("owner", cursors[0]))
    assert len(again) == 500 and more
    assert [line["key"] for line in again[:200]] == [f"n{number:04}" for number in range(500, 700)]
    assert again[200]["key"] == "n0701"
    last, _, more = run(notes.pull("owner", cursor))
    assert [line["key"] for line in last] == [f"n{number:04}" for number in range(1001, 1100)] + ["n0700"]
    assert not more
    # All of them can be listed at once.
    assert len(run(notes.list(["owner"], limit=100_000))) == 1100


@pytest.mark.parametrize(
    "bad",
    [{"op": "move"}, {"key": "a/b"}, {"key": None}, {"at": None}, {"at": "soon"}, {"content": 7}],
    ids=str,
)
def test_a_bad_line_does_not_hold_up_the_good_ones(loci, ada, notes, bad):
    """The client would send the same push for ever."""
    lines = [put(ada, "before", day(1)), {**put(ada, "bad", day(1)), **bad}, put(ada, "after", day(1))]
    body = {"agentId": ada.id, "namespace": "owner", "lines": lines}
    answer = loci.call("POST", f"{SCOPED}?action=sync", ada.key, json=body)
    assert (answer.status_code, answer.json()) == (200, {"applied": 2})
    assert [line["key"] for line in run(notes.pull("owner", None))[0]] == ["before", "after"]
