"""The Python SDK's own directory sync engine against the server: what it relies on must hold."""

from __future__ import annotations

import logging

import pytest

from mounted import DELETE_WINDOW_SECS, MARKER, Clock, Mounted, run
from support import attach

pytestmark = pytest.mark.needs("sync_engine")


@pytest.fixture
def memories(client):
    return client.beta.memory_stores.memories


@pytest.fixture
def put(memories, store):
    """Writes to the server behind the engine's back."""

    def put(path: str, content: str):
        for found in memories.list(store.id, limit=100):
            if found.path == path:
                return memories.update(found.id, memory_store_id=store.id, content=content)
        return memories.create(store.id, path=path, content=content)

    return put


@pytest.fixture
def remote(memories, store):
    return lambda: {found.path: found.content for found in memories.list(store.id, view="full")}


@pytest.fixture
def drop(memories, store):
    def drop(path: str) -> None:
        (found,) = [item for item in memories.list(store.id, limit=100) if item.path == path]
        memories.delete(found.id, memory_store_id=store.id)

    return drop


@pytest.fixture
def mount(server, store, make_session, tmp_path, monkeypatch):
    import anthropic.lib.tools._memories as engine

    clock = Clock()
    monkeypatch.setattr(engine, "monotonic", clock)

    def mount(**fields) -> Mounted:
        session = make_session(attach(store, **fields))
        key = server.make_key(session_id=session.id)
        mounted = Mounted(server, session.id, key["secret"], tmp_path, clock)
        mounted.session_id = session.id
        return mounted

    return mount


@pytest.fixture
def warnings(caplog):
    """The engine never raises while it syncs; what goes wrong is only in its log."""
    caplog.set_level(logging.WARNING, logger="anthropic.lib.tools.agent_toolset")
    return lambda: [record.getMessage() for record in caplog.records if record.name.startswith("anthropic.lib")]


def test_download_writes_every_memory_and_the_marker(put, store, mount, warnings):
    put("/a.md", "alpha")
    put("/deep/er/b.md", "bêta 🙂\r\n")
    put("/empty", "")

    async def story(mounted):
        assert mounted.files() == {"a.md": "alpha", "deep/er/b.md": "bêta 🙂\r\n", "empty": ""}
        assert (mounted.root / MARKER).read_text() == f"version 1\n{store.id}"
        assert warnings() == []

    run(mount(), story)


def test_download_follows_pages_of_full_content(put, mount):
    for index in range(45):
        put(f"/many/{index:02}", f"text {index}")

    async def story(mounted):
        assert len(mounted.files()) == 45
        lists = [path for method, path in mounted.sent if method == "GET" and path.endswith("/memories")]
        assert len(lists) == 3

    run(mount(), story)


def test_dispose_removes_the_folder(put, mount):
    put("/a", "x")
    mounted = mount()

    async def story(mounted):
        assert mounted.root.exists()

    run(mounted, story)
    assert not mounted.root.exists()


def test_new_and_changed_files_go_up_as_the_session(client, store, put, mount, remote, warnings):
    put("/a.md", "alpha")
    mounted = mount()

    async def story(mounted):
        mounted.write("a.md", "alpha, edited")
        mounted.write("new/file.md", "brand new")
        await mounted.sync()
        assert remote() == {"/a.md": "alpha, edited", "/new/file.md": "brand new"}
        assert warnings() == []

    run(mounted, story)
    written = client.beta.memory_stores.memory_versions.list(store.id, session_id=mounted.session_id)
    actors = [(version.operation, version.path, version.created_by.type) for version in written]
    assert sorted(actors) == [
        ("created", "/new/file.md", "session_actor"),
        ("modified", "/a.md", "session_actor"),
    ]


def test_a_sync_that_finds_nothing_changed_writes_nothing(client, store, put, mount):
    put("/a.md", "alpha")

    async def story(mounted):
        mounted.sent.clear()
        await mounted.sync()
        assert [method for method, _ in mounted.sent] == ["GET"]

    run(mount(), story)
    assert len(client.beta.memory_stores.memory_versions.list(store.id).data) == 1


def test_remote_new_changed_and_deleted_memories_come_down(put, drop, mount, warnings):
    for path in ("/change", "/drop", "/stay"):
        put(path, "old")

    async def story(mounted):
        put("/change", "new")
        put("/fresh/one", "fresh")
        drop("/drop")
        await mounted.sync()
        assert mounted.files() == {"change": "new", "fresh/one": "fresh", "stay": "old"}
        assert warnings() == []

    run(mount(), story)


def test_a_deleted_file_is_deleted_on_the_server_after_the_waiting_window(put, mount, remote, warnings):
    put("/keep", "x")
    put("/drop", "y")

    async def story(mounted):
        (mounted.root / "drop").unlink()
        await mounted.sync()
        assert set(remote()) == {"/keep", "/drop"}
        await mounted.sync(DELETE_WINDOW_SECS)
        assert set(remote()) == {"/keep"}
        assert ("DELETE", mounted.sent[-1][1]) == mounted.sent[-1]
        assert warnings() == []

    run(mount(), story)


def test_finish_deletes_without_waiting(put, mount, remote):
    put("/keep", "x")
    put("/drop", "y")

    async def story(mounted):
        (mounted.root / "drop").unlink()
        await mounted.engine.finish()
        assert set(remote()) == {"/keep"}

    run(mount(), story)


def test_changed_on_both_sides_the_server_wins(put, mount, remote, warnings):
    put("/a", "base")

    async def story(mounted):
        mounted.write("a", "mine")
        put("/a", "theirs")
        await mounted.sync()
        assert mounted.files() == {"a": "theirs"}
        assert remote() == {"/a": "theirs"}
        assert "changed both locally and remotely" in warnings()[0]

    run(mount(), story)


def test_an_update_that_loses_the_race_is_a_409_and_the_server_wins(put, mount, remote, warnings):
    put("/a", "base")

    async def story(mounted):
        mounted.write("a", "mine")
        mounted.races["POST"] = lambda: put("/a", "theirs")
        mounted.sent.clear()
        await mounted.sync()
        assert remote() == {"/a": "theirs"}
        assert "the upload was refused" in warnings()[0]
        assert [method for method, _ in mounted.sent].count("POST") == 1
        await mounted.sync()
        assert mounted.files() == {"a": "theirs"}

    run(mount(), story)


def test_a_delete_that_loses_the_race_is_a_409_and_the_file_is_restored(put, mount, remote, warnings):
    put("/a", "base")
    put("/other", "x")

    async def story(mounted):
        (mounted.root / "a").unlink()
        await mounted.sync()
        mounted.races["DELETE"] = lambda: put("/a", "theirs")
        await mounted.sync(DELETE_WINDOW_SECS)
        assert remote()["/a"] == "theirs"
        assert "keeping the remote version" in warnings()[0]
        await mounted.sync()
        assert mounted.files()["a"] == "theirs"

    run(mount(), story)


def test_an_update_of_a_memory_deleted_meanwhile_creates_it_again(put, drop, mount, remote, warnings):
    put("/a", "base")

    async def story(mounted):
        mounted.write("a", "mine")
        mounted.races["POST"] = lambda: drop("/a")
        await mounted.sync()
        assert remote() == {"/a": "mine"}
        assert warnings() == []

    run(mount(), story)


def test_a_create_onto_a_path_taken_meanwhile_loses(put, mount, remote):
    put("/other", "x")

    async def story(mounted):
        mounted.write("a", "mine")
        mounted.races["POST"] = lambda: put("/a", "theirs")
        await mounted.sync()
        assert remote()["/a"] == "theirs"
        await mounted.sync()
        assert mounted.files()["a"] == "theirs"

    run(mount(), story)


def test_a_refused_file_is_skipped_until_it_changes_and_others_still_sync(put, mount, remote, warnings):
    put("/a", "x")

    async def story(mounted):
        mounted.write("huge", "h" * 102_401)
        mounted.write("cafe\u0301", "not NFC")
        mounted.write("fine", "ok")
        await mounted.sync()
        assert set(remote()) == {"/a", "/fine"}
        assert len(warnings()) == 2 and all("rejected this memory file" in line for line in warnings())
        mounted.sent.clear()
        await mounted.sync()
        assert "POST" not in [method for method, _ in mounted.sent]
        mounted.write("huge", "small now")
        await mounted.sync()
        assert remote()["/huge"] == "small now"

    run(mount(), story)


def test_flush_uploads_many_files_at_once(mount, remote, warnings):
    async def story(mounted):
        for index in range(60):
            mounted.write(f"batch/{index:02}", f"text {index}")
        await mounted.engine.flush_writes()
        assert len(remote()) == 60
        assert warnings() == []

    run(mount(), story)


def test_a_memory_at_the_marker_path_is_allowed_on_the_server_and_skipped_by_the_engine(put, store, mount, warnings):
    put(f"/{MARKER}", "not a marker")
    put("/a", "x")

    async def story(mounted):
        assert mounted.files() == {"a": "x"}
        assert (mounted.root / MARKER).read_text() == f"version 1\n{store.id}"
        assert "reserved marker path" in warnings()[0]

    run(mount(), story)


def test_a_store_attached_read_only_pulls_and_never_pushes(put, mount, remote):
    put("/a", "base")

    async def story(mounted):
        assert mounted.engine.read_only_roots == mounted.roots
        mounted.write("mine", "local only")
        mounted.write("a", "local edit")
        put("/b", "from the server")
        await mounted.sync()
        assert remote() == {"/a": "base", "/b": "from the server"}
        assert mounted.files()["b"] == "from the server"
        assert "POST" not in [method for method, _ in mounted.sent]

    run(mount(access="read_only"), story)


def test_a_wiped_folder_is_downloaded_again_and_nothing_is_deleted(put, mount, remote):
    put("/a", "x")
    put("/b", "y")

    async def story(mounted):
        for name in ("a", "b"):
            (mounted.root / name).unlink()
        await mounted.sync(DELETE_WINDOW_SECS)
        assert mounted.files() == {"a": "x", "b": "y"}
        assert set(remote()) == {"/a", "/b"}

    run(mount(), story)
