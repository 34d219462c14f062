// Endpoints 12 to 14: history, its filters, and redaction.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  VERSION_KEYS, assertKeys, attach, collect, forEachRelease, makeKey, makeSession, sha256, unknown, withStore,
} from './support.mjs';

forEachRelease('versions', (sdk) => {
  /** `/a` created, changed, moved and deleted; `/b` created. */
  function withHistory(body) {
    return withStore(sdk, async (given) => {
      const { client, store, memories } = given;
      const inside = { memory_store_id: store.id };
      const a = await memories.create(store.id, { path: '/a', content: 'one' });
      await memories.update(a.id, { ...inside, content: 'two' });
      await memories.update(a.id, { ...inside, path: '/moved' });
      await memories.delete(a.id, inside);
      const b = await memories.create(store.id, { path: '/b', content: 'bee' });
      await body({ ...given, inside, a, b, versions: client.beta.memoryStores.memoryVersions });
    });
  }

  test('history is newest first with every key', withHistory(async ({ store, versions }) => {
    const page = await versions.list(store.id, { view: 'full' });
    assert.deepEqual(Object.keys(page.body).sort(), ['data', 'next_page']);
    for (const version of page.data) assertKeys(version, VERSION_KEYS);
    assert.deepEqual(page.data.map(({ operation, path, content }) => [operation, path, content]), [
      ['created', '/b', 'bee'],
      ['deleted', '/moved', null],
      ['modified', '/moved', 'two'],
      ['modified', '/a', 'two'],
      ['created', '/a', 'one'],
    ]);
    assert.equal(page.data[1].content_sha256, null);
    assert.equal(page.data[1].content_size_bytes, null);
    assert.equal(page.data[4].created_by.type, 'api_actor');
  }));

  test('retrieve is full by default and basic on request', withHistory(async ({ versions, inside, a }) => {
    const full = await versions.retrieve(a.memory_version_id, inside);
    assertKeys(full, VERSION_KEYS);
    assert.equal(full.content, 'one');
    const basic = await versions.retrieve(a.memory_version_id, { ...inside, view: 'basic' });
    assert.equal(basic.content, null);
    assert.equal(basic.content_sha256, sha256('one'));
    await sdk.missing(() => versions.retrieve(unknown('memver'), inside));
  }));

  test('for await walks every version once at every page size', withHistory(async ({ store, versions }) => {
    const whole = (await collect(versions.list(store.id, { limit: 100 }))).map((version) => version.id);
    assert.equal(whole.length, 5);
    for (const limit of [1, 2, 4]) {
      assert.deepEqual((await collect(versions.list(store.id, { limit }))).map((version) => version.id), whole);
    }
  }));

  test('filters by memory, operation and time combine', withHistory(async ({ store, versions, a, b }) => {
    const ops = async (query) => (await collect(versions.list(store.id, query))).map((version) => version.operation);
    assert.deepEqual(await ops({ memory_id: a.id }), ['deleted', 'modified', 'modified', 'created']);
    assert.deepEqual(await ops({ operation: 'modified' }), ['modified', 'modified']);
    assert.deepEqual(await ops({ memory_id: b.id, operation: 'deleted' }), []);
    const [newest] = (await versions.list(store.id, { limit: 1 })).data;
    const bounds = { 'created_at[gte]': newest.created_at, 'created_at[lte]': newest.created_at };
    assert.deepEqual((await versions.list(store.id, bounds)).data.map((version) => version.id), [newest.id]);
    for (const bad of [{ operation: 'renamed' }, { limit: 0 }, { limit: 101 }, { page: 'x' }, { view: 'y' }]) {
      await sdk.invalid(() => versions.list(store.id, bad));
    }
  }));

  test('filters by key and by session find their writes', withHistory(async (given) => {
    const { client, store, versions } = given;
    const session = await makeSession(client, [attach(store)]);
    const byKey = await makeKey(client, { level: 'readwrite', stores: [store.id] });
    const bySession = await makeKey(client, { session_id: session.id });
    for (const [key, path] of [[byKey, '/key'], [bySession, '/session']]) {
      const writer = sdk.client({ apiKey: key.secret });
      await writer.beta.memoryStores.memories.create(store.id, { path, content: 'x' });
    }
    const [k] = (await versions.list(store.id, { api_key_id: byKey.id })).data;
    assert.deepEqual([k.path, { ...k.created_by }], ['/key', { type: 'api_actor', api_key_id: byKey.id }]);
    const [s] = (await versions.list(store.id, { session_id: session.id })).data;
    assert.deepEqual([s.path, { ...s.created_by }], ['/session', { type: 'session_actor', session_id: session.id }]);
    await client.beta.sessions.delete(session.id);
  }));

  test('redacting an older version scrubs it; again answers the same', withHistory(async (given) => {
    const { store, versions, inside, a } = given;
    const before = await versions.retrieve(a.memory_version_id, inside);
    const after = await versions.redact(a.memory_version_id, inside);
    assertKeys(after, VERSION_KEYS);
    for (const gone of ['content', 'content_sha256', 'content_size_bytes', 'path']) assert.equal(after[gone], null);
    for (const kept of ['id', 'memory_id', 'operation', 'created_at', 'created_by']) {
      assert.deepEqual(after[kept], before[kept]);
    }
    assert.ok(after.redacted_at);
    assert.equal(after.redacted_by.type, 'api_actor');
    assert.deepEqual(await versions.redact(a.memory_version_id, inside), after);
    assert.deepEqual(await versions.retrieve(a.memory_version_id, inside), after);
    assert.equal((await versions.list(store.id)).data.length, 5);
  }));

  test('the live head cannot be redacted until its memory is deleted', withHistory(async (given) => {
    const { memories, versions, inside, b } = given;
    await sdk.invalid(() => versions.redact(b.memory_version_id, inside));
    await memories.delete(b.id, inside);
    assert.ok((await versions.redact(b.memory_version_id, inside)).redacted_at);
    await sdk.missing(() => versions.redact(unknown('memver'), inside));
  }));
});
