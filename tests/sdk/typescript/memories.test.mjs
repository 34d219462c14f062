// Endpoints 7 to 11: memories, preconditions, renames, listing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AGENT_MEMORY, MEMORY_KEYS, WRONG_SHA, adminKey, assertKeys, baseURL, collect, forEachRelease, precondition, sha256,
  unknown, withStore,
} from './support.mjs';

const TREE = ['/a.md', '/notes/one', '/notes/two', '/notes/deep/x', '/notes-old/n', '/zoo'];
const ORDERED = ['/a.md', '/notes-old/n', '/notes/deep/x', '/notes/one', '/notes/two', '/zoo'];

forEachRelease('memories', (sdk) => {
  const conflict = (call) => sdk.refused(call, 'ConflictError', 'memory_path_conflict_error');
  const lost = (call) => sdk.refused(call, 'ConflictError', 'memory_precondition_failed_error');

  test('create answers every key, without content unless asked', withStore(sdk, async ({ store, memories }) => {
    const memory = await memories.create(store.id, { path: '/a', content: 'héllo 🙂' });
    assertKeys(memory, MEMORY_KEYS);
    assert.match(memory.id, /^mem_/);
    assert.match(memory.memory_version_id, /^memver_/);
    assert.equal(memory.content, null);
    assert.equal(memory.content_size_bytes, Buffer.byteLength('héllo 🙂'));
    assert.equal(memory.content_sha256, sha256('héllo 🙂'));
    const full = await memories.create(store.id, { path: '/b', content: 'seen', view: 'full' });
    assert.equal(full.content, 'seen');
  }));

  test('retrieve is full by default and basic on request', withStore(sdk, async ({ store, memories }) => {
    const made = await memories.create(store.id, { path: '/a', content: 'text' });
    const full = await memories.retrieve(made.id, { memory_store_id: store.id });
    assertKeys(full, MEMORY_KEYS);
    assert.equal(full.content, 'text');
    const basic = await memories.retrieve(made.id, { memory_store_id: store.id, view: 'basic' });
    assert.deepEqual(basic, made);
  }));

  test('content of 102400 bytes is accepted and one more is refused', withStore(sdk, async ({ store, memories }) => {
    const most = await memories.create(store.id, { path: '/most', content: 'a'.repeat(102_400) });
    assert.equal(most.content_size_bytes, 102_400);
    await sdk.invalid(() => memories.create(store.id, { path: '/over', content: 'a'.repeat(102_401) }));
    await sdk.invalid(() => memories.create(store.id, { path: '/null', content: null }));
  }));

  test('bad paths are refused', withStore(sdk, async ({ store, memories }) => {
    for (const path of ['', '/', 'a', '/a/', '/a//b', '/./a', '/a/..', '/e\u0301', '/a\u0000', '/a\u200b', '/a\u2028']) {
      await sdk.invalid(() => memories.create(store.id, { path, content: 'x' }));
    }
    assert.deepEqual((await memories.list(store.id)).data, []);
  }));

  test('a held path excludes itself, its ancestors and its descendants', withStore(sdk, async (given) => {
    const { store, memories } = given;
    const held = await memories.create(store.id, { path: '/a/b', content: 'x' });
    for (const path of ['/a/b', '/a', '/a/b/c']) {
      const error = await conflict(() => memories.create(store.id, { path, content: 'x' }));
      assert.equal(error.error.error.conflicting_memory_id, held.id);
      assert.equal(error.error.error.conflicting_path, '/a/b');
    }
    await memories.create(store.id, { path: '/a/bc', content: 'x' });
  }));

  test('update with a matching precondition writes, with a stale one changes nothing', withStore(sdk, async (given) => {
    const { store, memories } = given;
    const made = await memories.create(store.id, { path: '/a', content: 'one' });
    const inside = { memory_store_id: store.id };
    const after = await memories.update(made.id, {
      ...inside, content: 'two', precondition: precondition(sha256('one')), view: 'full',
    });
    assertKeys(after, MEMORY_KEYS);
    assert.equal(after.content, 'two');
    assert.notEqual(after.memory_version_id, made.memory_version_id);
    await lost(() => memories.update(made.id, { ...inside, content: 'three', precondition: precondition(WRONG_SHA) }));
    assert.deepEqual(await memories.retrieve(made.id, inside), after);
  }));

  test('an update that changes nothing succeeds even with a wrong precondition', withStore(sdk, async (given) => {
    const { client, store, memories } = given;
    const made = await memories.create(store.id, { path: '/a', content: 'one' });
    const same = await memories.update(made.id, {
      memory_store_id: store.id, content: 'one', path: '/a', precondition: precondition(WRONG_SHA),
    });
    assert.deepEqual(same, made);
    assert.equal((await client.beta.memoryStores.memoryVersions.list(store.id)).data.length, 1);
  }));

  test('rename keeps the id; onto a taken path it is a conflict', withStore(sdk, async ({ store, memories }) => {
    const made = await memories.create(store.id, { path: '/a', content: 'one' });
    const other = await memories.create(store.id, { path: '/taken', content: 'x' });
    const moved = await memories.update(made.id, { memory_store_id: store.id, path: '/b/c' });
    assert.equal(moved.id, made.id);
    assert.equal(moved.path, '/b/c');
    const error = await conflict(() => memories.update(made.id, { memory_store_id: store.id, path: '/taken' }));
    assert.equal(error.error.error.conflicting_memory_id, other.id);
  }));

  test('update with neither content nor path, or an unknown field, is refused', withStore(sdk, async (given) => {
    const { store, memories } = given;
    const made = await memories.create(store.id, { path: '/a', content: 'one' });
    const inside = { memory_store_id: store.id };
    await sdk.invalid(() => memories.update(made.id, inside));
    await sdk.invalid(() => memories.update(made.id, { ...inside, content: null, path: null }));
    await sdk.invalid(() => memories.update(made.id, { ...inside, content: 'x', colour: 'red' }));
    await sdk.invalid(() => memories.update(made.id, { ...inside, content: 'x', precondition: { type: 'etag' } }));
  }));

  test('update is served on PATCH too', withStore(sdk, async ({ client, store, memories }) => {
    const made = await memories.create(store.id, { path: '/a', content: 'one' });
    const after = await client.patch(`/v1/memory_stores/${store.id}/memories/${made.id}`, {
      body: { content: 'two' },
      headers: { 'anthropic-beta': AGENT_MEMORY },
    });
    assert.equal(after.content_sha256, sha256('two'));
  }));

  test('delete honours the expected hash, answers the tombstone, and is not repeatable', withStore(sdk, async (given) => {
    const { store, memories } = given;
    const made = await memories.create(store.id, { path: '/a', content: 'one' });
    const inside = { memory_store_id: store.id };
    await lost(() => memories.delete(made.id, { ...inside, expected_content_sha256: WRONG_SHA }));
    const deleted = await memories.delete(made.id, { ...inside, expected_content_sha256: sha256('one') });
    assert.deepEqual({ ...deleted }, { id: made.id, type: 'memory_deleted' });
    await sdk.missing(() => memories.delete(made.id, inside));
    await sdk.missing(() => memories.retrieve(unknown('mem'), inside));
    assert.notEqual((await memories.create(store.id, { path: '/a', content: 'one' })).id, made.id);
  }));

  test('for await walks memories in byte order at every page size', withStore(sdk, async ({ store, memories }) => {
    for (const path of TREE) await memories.create(store.id, { path, content: path });
    for (const limit of [1, 2, 5, 100]) {
      const found = await collect(memories.list(store.id, { limit }));
      assert.deepEqual(found.map((item) => item.path), ORDERED);
    }
    for (const item of await collect(memories.list(store.id, { view: 'full', limit: 2 }))) {
      assert.equal(item.content, item.path);
    }
  }));

  test('depth and prefix roll the tree up', withStore(sdk, async ({ store, memories }) => {
    for (const path of TREE) await memories.create(store.id, { path, content: path });
    for (const limit of [1, 2, 100]) {
      const top = await collect(memories.list(store.id, { depth: 1, limit }));
      assert.deepEqual(top.map((item) => [item.type, item.path]), [
        ['memory', '/a.md'], ['memory_prefix', '/notes-old/'], ['memory_prefix', '/notes/'], ['memory', '/zoo'],
      ]);
      assert.deepEqual(Object.keys(top[1]).sort(), ['path', 'type']);
    }
    const below = await collect(memories.list(store.id, { path_prefix: '/notes/' }));
    assert.deepEqual(below.map((item) => item.path), ['/notes/deep/x', '/notes/one', '/notes/two']);
    for (const bad of [
      { depth: 2 }, { path_prefix: '/notes' }, { limit: 0 }, { limit: 101 }, { page: 'garbage' }, { view: 'huge' },
    ]) {
      await sdk.invalid(() => memories.list(store.id, bad));
    }
  }));

  test('a full page holds at most 20', withStore(sdk, async ({ store, memories }) => {
    for (let i = 0; i < 25; i += 1) await memories.create(store.id, { path: `/${i}`, content: 'x' });
    assert.equal((await memories.list(store.id, { view: 'full', limit: 100 })).data.length, 20);
    assert.equal((await collect(memories.list(store.id, { view: 'full', limit: 100 }))).length, 25);
    assert.equal((await memories.list(store.id, { limit: 100 })).data.length, 25);
  }));

  test('of 50 concurrent updates with one precondition exactly one wins', withStore(sdk, async (given) => {
    const { store, memories } = given;
    const made = await memories.create(store.id, { path: '/a', content: 'start' });
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, (_, i) => memories.update(made.id, {
      memory_store_id: store.id, content: `writer ${i}`, precondition: precondition(sha256('start')),
    })));
    assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1);
    for (const { reason } of outcomes.filter((outcome) => outcome.status === 'rejected')) {
      assert.equal(reason.status, 409, String(reason));
    }
  }));

  test('both key headers are accepted', withStore(sdk, async ({ store }) => {
    for (const key of [{ 'x-api-key': adminKey }, { authorization: `Bearer ${adminKey}` }]) {
      const response = await fetch(`${baseURL}/v1/memory_stores/${store.id}?beta=true`, {
        headers: { ...key, 'anthropic-beta': AGENT_MEMORY },
      });
      assert.equal(response.status, 200);
      assert.match(response.headers.get('request-id'), /^req_/);
    }
  }));
});
