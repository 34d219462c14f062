"""Endpoint 8: listing memories by prefix, by depth, by view, page by page."""

from __future__ import annotations

import pytest

from capabilities import MANAGED_AGENTS, OWN_BETA
from support import MEMORY_KEYS, PAGE_KEYS, PREFIX_KEYS, invalid, keys, missing, sha256, unknown

TREE = ["/a.md", "/notes/one", "/notes/two", "/notes/deep/x", "/notes/deep/y/z", "/notes-old/n", "/zoo"]


def in_byte_order(paths):
    return sorted(paths, key=str.encode)


@pytest.fixture
def tree(client, store):
    for path in reversed(TREE):
        client.beta.memory_stores.memories.create(store.id, path=path, content=path)
    return store


@pytest.fixture
def listed(client, tree):
    def call(**query):
        found = client.beta.memory_stores.memories.list(tree.id, **query)
        return [(item.type, item.path) for item in found]

    return call


def memories(*paths):
    return [("memory", path) for path in paths]


def test_empty_store_lists_nothing(client, store):
    page = client.beta.memory_stores.memories.list(store.id)
    assert (page.data, page.next_page) == ([], None)


def test_unknown_store_is_not_found(client):
    with missing():
        client.beta.memory_stores.memories.list(unknown("memstore"))


def test_page_has_exactly_data_and_next_page_and_whole_objects(client, tree):
    raw = client.beta.memory_stores.memories.with_raw_response.list(tree.id, depth=1).http_response.json()
    assert set(raw) == PAGE_KEYS
    for item in raw["data"]:
        assert set(item) == (MEMORY_KEYS if item["type"] == "memory" else PREFIX_KEYS)


def test_whole_subtree_in_byte_order_by_default(listed):
    assert listed() == memories(*in_byte_order(TREE))
    assert listed(depth=0) == listed()
    assert listed(path_prefix="/") == listed()


def test_byte_order_is_not_segment_order_nor_locale_order(client, store):
    paths = ["/B", "/a", "/a b", "/a-b", "/a0/x", "/Z/x", "/é", "/日本", "/🙂"]
    for path in paths:
        client.beta.memory_stores.memories.create(store.id, path=path, content="x")
    assert [item.path for item in client.beta.memory_stores.memories.list(store.id)] == in_byte_order(paths)


def test_basic_is_the_default_view_and_full_carries_content(client, tree):
    for item in client.beta.memory_stores.memories.list(tree.id):
        assert keys(item) == MEMORY_KEYS
        assert item.content is None and item.content_sha256 == sha256(item.path)
    for item in client.beta.memory_stores.memories.list(tree.id, view="full"):
        assert item.content == item.path


def test_prefix_matches_whole_segments_only(listed):
    below = ["/notes/deep/x", "/notes/deep/y/z", "/notes/one", "/notes/two"]
    assert listed(path_prefix="/notes/") == memories(*below)
    assert listed(path_prefix="/notes/deep/") == memories("/notes/deep/x", "/notes/deep/y/z")
    assert listed(path_prefix="/nothing/") == []


def test_prefix_is_literal_not_a_pattern(client, store):
    for path in ("/a_c/x", "/abc/x", "/a%/x", "/axy/x"):
        client.beta.memory_stores.memories.create(store.id, path=path, content="x")
    for prefix in ("/a_c/", "/a%/"):
        found = client.beta.memory_stores.memories.list(store.id, path_prefix=prefix)
        assert [item.path for item in found] == [prefix + "x"]


@pytest.mark.parametrize("prefix", ["/notes", "/no", "notes"])
def test_prefix_that_does_not_end_with_a_slash_is_refused(client, tree, prefix):
    with invalid():
        client.beta.memory_stores.memories.list(tree.id, path_prefix=prefix)


def test_depth_1_rolls_deeper_memories_up_into_prefixes_in_path_order(listed):
    assert listed(depth=1) == [
        ("memory", "/a.md"),
        ("memory_prefix", "/notes-old/"),
        ("memory_prefix", "/notes/"),
        ("memory", "/zoo"),
    ]
    assert listed(depth=1, path_prefix="/notes/") == [
        ("memory_prefix", "/notes/deep/"),
        ("memory", "/notes/one"),
        ("memory", "/notes/two"),
    ]


def test_memory_prefix_is_exactly_type_and_path(client, tree):
    found = [item for item in client.beta.memory_stores.memories.list(tree.id, depth=1) if item.type != "memory"]
    assert found
    for item in found:
        assert keys(item) == PREFIX_KEYS
        assert item.path.endswith("/")


@pytest.mark.parametrize("depth", [2, 20, -1])
def test_depth_other_than_0_or_1_is_refused(client, tree, depth):
    with invalid():
        client.beta.memory_stores.memories.list(tree.id, depth=depth)


def test_depth_that_is_no_number_is_refused(client, tree):
    with invalid():
        client.beta.memory_stores.memories.list(tree.id, extra_query={"depth": "deep"})


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 100])
def test_auto_paging_yields_every_memory_once_in_order(client, tree, limit):
    first = client.beta.memory_stores.memories.list(tree.id, limit=limit)
    assert len(first.data) == min(limit, len(TREE))
    assert (first.next_page is None) == (limit >= len(TREE))
    assert [item.path for item in first] == in_byte_order(TREE)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_prefixes_count_toward_the_limit_and_never_repeat_across_pages(client, tree, limit):
    pages = list(client.beta.memory_stores.memories.list(tree.id, depth=1, limit=limit).iter_pages())
    assert all(len(page.data) <= limit for page in pages)
    assert [item.path for page in pages for item in page.data] == ["/a.md", "/notes-old/", "/notes/", "/zoo"]


def test_limit_defaults_to_20(client, store):
    for index in range(21):
        client.beta.memory_stores.memories.create(store.id, path=f"/{index:02}", content="x")
    page = client.beta.memory_stores.memories.list(store.id)
    assert len(page.data) == 20 and page.next_page
    assert len(list(page)) == 21


def test_full_view_holds_at_most_20_per_page_whatever_the_limit(client, store):
    for index in range(45):
        client.beta.memory_stores.memories.create(store.id, path=f"/{index:02}", content=f"text {index}")
    pages = list(client.beta.memory_stores.memories.list(store.id, view="full", limit=100).iter_pages())
    assert [len(page.data) for page in pages] == [20, 20, 5]
    assert [item.content for page in pages for item in page.data] == [f"text {index}" for index in range(45)]
    assert len(client.beta.memory_stores.memories.list(store.id, view="basic", limit=100).data) == 45


def test_a_memory_written_between_pages_neither_repeats_nor_hides_others(client, store):
    memory_list = client.beta.memory_stores.memories
    for path in ("/b", "/d", "/f"):
        memory_list.create(store.id, path=path, content="x")
    page = memory_list.list(store.id, limit=1)
    for path in ("/a", "/e"):
        memory_list.create(store.id, path=path, content="x")
    assert [item.path for item in page] == ["/b", "/d", "/e", "/f"]


def test_other_parameters_may_change_between_pages(client, tree):
    listing = client.beta.memory_stores.memories
    page = listing.list(tree.id, limit=2)
    rest = listing.list(tree.id, limit=100, view="full", page=page.next_page)
    assert [item.path for item in rest.data] == in_byte_order(TREE)[2:]


@pytest.mark.parametrize("limit", [0, 101, -5])
def test_limit_outside_1_to_100_is_refused(client, tree, limit):
    with invalid():
        client.beta.memory_stores.memories.list(tree.id, limit=limit)


@pytest.mark.parametrize("cursor", ["garbage", "page_", "page_%00", "page_AAAA", "x" * 3000])
def test_garbage_cursor_is_refused(client, tree, cursor):
    with invalid():
        client.beta.memory_stores.memories.list(tree.id, page=cursor)


# The first releases could sort. The parameters are gone from the SDK but their callers are not.


def legacy(**query):
    return {"extra_query": query, "extra_headers": {"anthropic-beta": MANAGED_AGENTS}}


def test_legacy_order_by_path_ascending_is_the_default_and_desc_reverses_it(listed):
    assert listed(**legacy(order_by="path")) == memories(*in_byte_order(TREE))
    assert listed(**legacy(order_by="path", order="asc")) == memories(*in_byte_order(TREE))
    assert listed(**legacy(order_by="path", order="desc"), limit=2) == memories(*reversed(in_byte_order(TREE)))


@pytest.mark.parametrize("column", ["created_at", "updated_at"])
def test_legacy_order_by_time(listed, column):
    oldest_first = list(reversed(TREE))
    assert listed(**legacy(order_by=column), limit=3) == memories(*oldest_first)
    assert listed(**legacy(order_by=column, order="desc"), limit=3) == memories(*TREE)


def test_legacy_depth_above_1_is_allowed_only_with_order_by_path(client, listed, tree):
    assert listed(**legacy(order_by="path"), depth=2) == [
        ("memory", "/a.md"),
        ("memory", "/notes-old/n"),
        ("memory_prefix", "/notes/deep/"),
        ("memory", "/notes/one"),
        ("memory", "/notes/two"),
        ("memory", "/zoo"),
    ]
    with invalid():
        client.beta.memory_stores.memories.list(tree.id, **legacy(order_by="created_at"), depth=2)


def test_legacy_cursor_is_bound_to_its_order(client, tree):
    listing = client.beta.memory_stores.memories
    page = listing.list(tree.id, limit=2, **legacy(order_by="path", order="asc"))
    with invalid():
        listing.list(tree.id, limit=2, page=page.next_page, **legacy(order_by="path", order="desc"))


@pytest.mark.parametrize("query", [{"order_by": "colour"}, {"order_by": "path", "order": "sideways"}])
def test_legacy_unknown_order_is_refused(client, tree, query):
    with invalid():
        client.beta.memory_stores.memories.list(tree.id, **legacy(**query))


@pytest.mark.needs("order_by")
def test_the_first_sdk_sorts_through_its_own_parameters(client, tree):
    assert OWN_BETA == MANAGED_AGENTS
    found = client.beta.memory_stores.memories.list(tree.id, order_by="path", order="desc", limit=3)
    assert [item.path for item in found] == list(reversed(in_byte_order(TREE)))
