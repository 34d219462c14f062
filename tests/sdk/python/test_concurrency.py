"""The async client, and compare-and-set when many writers hold the same precondition."""

from __future__ import annotations

import asyncio

import anthropic

from support import MEMORY_KEYS, keys, precondition, sha256

WRITERS = 100


def gather_outcomes(server, calls):
    """Runs `calls(client)` all at once; answers the results and the errors' types."""

    async def run():
        async with server.async_client() as client:
            return await asyncio.gather(*calls(client), return_exceptions=True)

    won, lost = [], []
    for outcome in asyncio.run(run()):
        if isinstance(outcome, anthropic.ConflictError):
            lost.append(outcome.body["error"]["type"])
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            won.append(outcome)
    return won, lost


def test_of_100_concurrent_updates_with_one_precondition_exactly_one_wins(server, client, store):
    memories = client.beta.memory_stores.memories
    memory = memories.create(store.id, path="/counter", content="start")
    guard = precondition(sha256("start"))
    won, lost = gather_outcomes(
        server,
        lambda writer: [
            writer.beta.memory_stores.memories.update(
                memory.id, memory_store_id=store.id, content=f"writer {index}", precondition=guard, view="full"
            )
            for index in range(WRITERS)
        ],
    )
    assert len(won) == 1
    assert lost == ["memory_precondition_failed_error"] * (WRITERS - 1)
    assert memories.retrieve(memory.id, memory_store_id=store.id).content == won[0].content
    assert len(client.beta.memory_stores.memory_versions.list(store.id).data) == 2


def test_of_50_concurrent_creates_at_one_path_exactly_one_wins(server, client, store):
    won, lost = gather_outcomes(
        server,
        lambda writer: [
            writer.beta.memory_stores.memories.create(store.id, path="/one", content=str(index)) for index in range(50)
        ],
    )
    assert len(won) == 1
    assert lost == ["memory_path_conflict_error"] * 49
    assert [found.id for found in client.beta.memory_stores.memories.list(store.id)] == [won[0].id]


def test_of_concurrent_creates_at_a_path_and_below_it_only_one_kind_survives(server, client, store):
    paths = ["/node"] * 10 + [f"/node/{index}" for index in range(10)]
    won, _ = gather_outcomes(
        server,
        lambda writer: [writer.beta.memory_stores.memories.create(store.id, path=path, content="x") for path in paths],
    )
    held = {memory.path for memory in won}
    assert held == {"/node"} or "/node" not in held
    assert {found.path for found in client.beta.memory_stores.memories.list(store.id)} == held


def test_unguarded_concurrent_updates_all_land_as_versions(server, client, store):
    memory = client.beta.memory_stores.memories.create(store.id, path="/log", content="start")
    won, lost = gather_outcomes(
        server,
        lambda writer: [
            writer.beta.memory_stores.memories.update(memory.id, memory_store_id=store.id, content=f"entry {index}")
            for index in range(40)
        ],
    )
    assert (len(won), lost) == (40, [])
    versions = list(client.beta.memory_stores.memory_versions.list(store.id, memory_id=memory.id))
    assert len(versions) == 41
    assert {found.memory_version_id for found in won} == {version.id for version in versions[:-1]}
    head = client.beta.memory_stores.memories.retrieve(memory.id, memory_store_id=store.id)
    assert head.memory_version_id == versions[0].id


def test_async_client_round_trip_over_stores_memories_and_versions(server):
    async def run():
        async with server.async_client() as client:
            stores = client.beta.memory_stores
            store = await stores.create(name="async")
            try:
                made = [await stores.memories.create(store.id, path=f"/{index}", content="x") for index in range(5)]
                assert keys(made[0]) == MEMORY_KEYS
                assert [item.path async for item in stores.memories.list(store.id, limit=2)] == [
                    f"/{index}" for index in range(5)
                ]
                assert store.id in {found.id async for found in stores.list(created_at_gte=store.created_at, limit=1)}
                changed = await stores.memories.update(made[0].id, memory_store_id=store.id, content="y", view="full")
                assert changed.content == "y"
                redacted = await stores.memory_versions.redact(made[0].memory_version_id, memory_store_id=store.id)
                assert redacted.redacted_at is not None
                await stores.memories.delete(made[1].id, memory_store_id=store.id)
                assert len([version async for version in stores.memory_versions.list(store.id, limit=3)]) == 7
                assert (await stores.archive(store.id)).archived_at is not None
            finally:
                assert (await stores.delete(store.id)).type == "memory_store_deleted"

    asyncio.run(run())
