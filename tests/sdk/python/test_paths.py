"""The path grammar, and which paths exclude each other: a store is always a valid directory tree."""

from __future__ import annotations

import anthropic
import pytest

from support import invalid, refused

GOOD = {
    "one segment": "/a",
    "dotfile": "/.hidden",
    "three dots are a name": "/...",
    "spaces": "/a b/c d.md",
    "leading and trailing space": "/ a ",
    "percent is literal": "/100%25/%2e%2e",
    "underscore and wildcards": "/a_b/*?[x]",
    "quote, backslash, colon": "/it's/\"q\"\\b:c",
    "composed letters": "/caf\u00e9",
    "emoji": "/🙂",
    "japanese": "/日本語/メモ",
    "20 segments": "/" + "/".join(f"s{index}" for index in range(20)),
    "the sync engine's marker name": "/.anthropic-memory-store",
}

BAD = {
    "empty": "",
    "root": "/",
    "no leading slash": "a/b",
    "trailing slash": "/a/",
    "empty segment": "/a//b",
    "double slash first": "//a",
    "dot segment": "/a/./b",
    "dot-dot segment": "/a/../b",
    "only dot": "/.",
    "only dot-dot": "/..",
    "21 segments": "/" + "/".join(f"s{index}" for index in range(21)),
    "1025 bytes": "/" + "/".join(["x" * 203] * 5) + "/yyyy",
    "nul": "/a\u0000b",
    "newline": "/a\nb",
    "delete": "/a\u007fb",
    "c1 control": "/a\u0085b",
    "zero width space (format)": "/a\u200bb",
    "right-to-left override (format)": "/a\u202eb",
    "byte order mark (format)": "/\ufeffa",
    "line separator": "/a\u2028b",
    "paragraph separator": "/a\u2029b",
    "decomposed letters are not NFC": "/cafe\u0301",
    "angstrom sign is not NFC": "/\u212b",
    "decomposed hangul is not NFC": "/\u1112\u1161\u11ab",
}


def test_the_1025_byte_example_is_one_byte_over():
    assert len(BAD["1025 bytes"].encode()) == 1025


@pytest.mark.parametrize("path", GOOD.values(), ids=GOOD.keys())
def test_path_is_accepted_and_comes_back_unchanged(client, store, path):
    memories = client.beta.memory_stores.memories
    made = memories.create(store.id, path=path, content="x")
    assert made.path == path
    assert [found.path for found in memories.list(store.id)] == [path]


def test_path_of_1024_bytes_is_accepted(client, store):
    path = "/" + "/".join(["x" * 203] * 5) + "/yyy"
    assert len(path.encode()) == 1024
    assert client.beta.memory_stores.memories.create(store.id, path=path, content="x").path == path


@pytest.mark.parametrize("path", BAD.values(), ids=BAD.keys())
def test_path_is_refused_and_nothing_is_written(client, store, path):
    memories = client.beta.memory_stores.memories
    with invalid():
        memories.create(store.id, path=path, content="x")
    assert memories.list(store.id).data == []


@pytest.mark.parametrize("path", [None, 1, ["/a"], {"path": "/a"}])
def test_path_must_be_a_string(client, store, path):
    with invalid():
        client.beta.memory_stores.memories.create(store.id, path=path, content="x")


def test_paths_are_case_sensitive(client, store):
    memories = client.beta.memory_stores.memories
    assert memories.create(store.id, path="/Readme", content="x").id != (
        memories.create(store.id, path="/README", content="x").id
    )


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        ("/a", "/a/b"),
        ("/a", "/a/b/c"),
        ("/a/b", "/a"),
        ("/a/b/c", "/a"),
        ("/a/b/c", "/a/b"),
        ("/a/b", "/a/b"),
    ],
)
def test_create_at_above_or_below_a_held_path_is_a_conflict_naming_the_blocker(client, store, held, wanted):
    memories = client.beta.memory_stores.memories
    blocker = memories.create(store.id, path=held, content="x")
    with refused(anthropic.ConflictError, "memory_path_conflict_error") as caught:
        memories.create(store.id, path=wanted, content="y")
    error = caught.value.body["error"]
    assert set(error) == {"type", "message", "conflicting_memory_id", "conflicting_path"}
    assert error["conflicting_memory_id"] == blocker.id
    assert error["conflicting_path"] == held
    assert [found.path for found in memories.list(store.id)] == [held]


@pytest.mark.parametrize(
    ("held", "wanted"),
    [("/a", "/ab"), ("/a/b", "/a.b"), ("/a/b", "/a/bc"), ("/a_", "/ab/c"), ("/%", "/x/y"), ("/a", "/A/b")],
)
def test_paths_that_only_share_characters_do_not_conflict(client, store, held, wanted):
    memories = client.beta.memory_stores.memories
    memories.create(store.id, path=held, content="x")
    assert memories.create(store.id, path=wanted, content="y").path == wanted


def test_the_same_path_is_free_in_another_store(client, make_store):
    for store in (make_store(), make_store()):
        assert client.beta.memory_stores.memories.create(store.id, path="/a", content="x").path == "/a"
