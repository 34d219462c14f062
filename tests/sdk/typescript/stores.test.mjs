// Endpoints 1 to 6: stores.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STORE_KEYS, assertKeys, collect, forEachRelease, unknown, withStore } from './support.mjs';

forEachRelease('stores', (sdk) => {
  test('create answers every key with empty defaults', withStore(sdk, async ({ store }) => {
    assertKeys(store, STORE_KEYS);
    assert.match(store.id, /^memstore_/);
    assert.equal(store.type, 'memory_store');
    assert.equal(store.description, '');
    assert.deepEqual(store.metadata, {});
    assert.equal(store.archived_at, null);
    assert.equal(store.created_at, store.updated_at);
  }));

  test('retrieve answers what create answered', withStore(sdk, async ({ client, store }) => {
    assert.deepEqual(await client.beta.memoryStores.retrieve(store.id), store);
  }, { description: 'kept', metadata: { a: '1' } }));

  test('update patches fields and metadata and moves updated_at', withStore(sdk, async ({ client, store }) => {
    const after = await client.beta.memoryStores.update(store.id, {
      name: 'renamed',
      description: '',
      metadata: { drop: null, add: '2' },
    });
    assertKeys(after, STORE_KEYS);
    assert.equal(after.name, 'renamed');
    assert.equal(after.description, '');
    assert.deepEqual(after.metadata, { keep: '1', add: '2' });
    assert.ok(after.updated_at > store.updated_at);
  }, { description: 'old', metadata: { keep: '1', drop: '1' } }));

  test('names, descriptions and metadata over their limits are refused', async () => {
    const client = sdk.client();
    for (const bad of [
      { name: '' },
      { name: 'n'.repeat(256) },
      { name: 'tab\t' },
      { name: 'x', description: 'd'.repeat(1025) },
      { name: 'x', metadata: { ['k'.repeat(65)]: 'v' } },
      { name: 'x', metadata: { k: 'v'.repeat(513) } },
      { name: 'x', metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])) },
      { name: 'x', colour: 'red' },
      {},
    ]) {
      await sdk.invalid(() => client.beta.memoryStores.create(bad));
    }
  });

  test('for await walks every page of stores exactly once', async () => {
    const client = sdk.client();
    const made = [];
    try {
      for (let i = 0; i < 5; i += 1) made.push(await client.beta.memoryStores.create({ name: `paged ${i}` }));
      const query = { limit: 2, 'created_at[gte]': made[0].created_at };
      const page = await client.beta.memoryStores.list(query);
      assert.deepEqual(Object.keys(page.body).sort(), ['data', 'next_page']);
      assert.equal(page.data.length, 2);
      const seen = (await collect(client.beta.memoryStores.list(query))).map((store) => store.id);
      assert.equal(new Set(seen).size, seen.length);
      for (const store of made) assert.ok(seen.includes(store.id));
    } finally {
      for (const store of made) await client.beta.memoryStores.delete(store.id);
    }
  });

  test('list refuses limits 0 and 101, garbage cursors and garbage times', async () => {
    const client = sdk.client();
    for (const bad of [{ limit: 0 }, { limit: 101 }, { page: 'garbage' }, { 'created_at[lte]': 'soon' }]) {
      await sdk.invalid(() => client.beta.memoryStores.list(bad));
    }
  });

  test('archive is idempotent, hides the store from lists and stops writes', withStore(sdk, async (given) => {
    const { client, store, memories } = given;
    const memory = await memories.create(store.id, { path: '/a', content: 'x' });
    const archived = await client.beta.memoryStores.archive(store.id);
    assertKeys(archived, STORE_KEYS);
    assert.ok(archived.archived_at);
    assert.deepEqual(await client.beta.memoryStores.archive(store.id), archived);

    const bounds = { 'created_at[gte]': store.created_at, 'created_at[lte]': store.created_at };
    const ids = async (query) => (await collect(client.beta.memoryStores.list(query))).map((found) => found.id);
    assert.ok(!(await ids(bounds)).includes(store.id));
    assert.ok((await ids({ ...bounds, include_archived: true })).includes(store.id));

    await sdk.invalid(() => client.beta.memoryStores.update(store.id, { name: 'new' }));
    await sdk.invalid(() => memories.create(store.id, { path: '/b', content: 'x' }));
    await sdk.invalid(() => memories.update(memory.id, { memory_store_id: store.id, content: 'y' }));
    assert.equal((await memories.retrieve(memory.id, { memory_store_id: store.id })).content, 'x');
    await memories.delete(memory.id, { memory_store_id: store.id });
    assert.equal((await client.beta.memoryStores.delete(store.id)).type, 'memory_store_deleted');
  }));

  test('delete answers the tombstone and everything below is not found', withStore(sdk, async (given) => {
    const { client, store, memories } = given;
    const memory = await memories.create(store.id, { path: '/a', content: 'x' });
    assert.deepEqual({ ...(await client.beta.memoryStores.delete(store.id)) }, {
      id: store.id,
      type: 'memory_store_deleted',
    });
    const inside = { memory_store_id: store.id };
    for (const call of [
      () => client.beta.memoryStores.retrieve(store.id),
      () => client.beta.memoryStores.delete(store.id),
      () => memories.list(store.id),
      () => memories.retrieve(memory.id, inside),
      () => client.beta.memoryStores.memoryVersions.list(store.id),
      () => client.beta.memoryStores.memoryVersions.retrieve(memory.memory_version_id, inside),
    ]) {
      await sdk.missing(call);
    }
  }));

  test('unknown stores are not found', async () => {
    const client = sdk.client();
    const id = unknown('memstore');
    await sdk.missing(() => client.beta.memoryStores.retrieve(id));
    await sdk.missing(() => client.beta.memoryStores.update(id, { name: 'x' }));
    await sdk.missing(() => client.beta.memoryStores.archive(id));
    await sdk.missing(() => client.beta.memoryStores.delete(id));
  });
});
