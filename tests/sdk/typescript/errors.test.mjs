// Every error class, the beta header rules, and no hidden retries on 409.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AGENT_MEMORY, MANAGED_AGENTS, WRONG_SHA, forEachRelease, makeKey, precondition, unknown, withStore,
} from './support.mjs';

forEachRelease('errors', (sdk) => {
  test('this release sends what the suite believes', withStore(sdk, async ({ store }) => {
    const { client, sent } = sdk.recorded();
    await client.beta.memoryStores.retrieve(store.id);
    const [{ url, headers }] = sent;
    assert.equal(headers.get('anthropic-beta'), AGENT_MEMORY);
    assert.equal(headers.get('anthropic-version'), sdk.name === 'current' ? '2026-10-21' : '2023-06-01');
    assert.equal(headers.has('authorization'), sdk.name === 'current');
    assert.equal(headers.has('x-api-key'), sdk.name === 'legacy');
    assert.equal(url.includes('beta=true'), sdk.name === 'legacy');
  }));

  test('wrong key is an authentication error', async () => {
    const stranger = sdk.client({ apiKey: 'loci_wrong' });
    await sdk.refused(() => stranger.beta.memoryStores.list(), 'AuthenticationError', 'authentication_error');
  });

  test('a read-only key may read and every write is a permission error', withStore(sdk, async (given) => {
    const { client, store, memories } = given;
    const memory = await memories.create(store.id, { path: '/a', content: 'x' });
    const key = await makeKey(client, { level: 'read', stores: [store.id] });
    const reader = sdk.client({ apiKey: key.secret }).beta.memoryStores;
    const inside = { memory_store_id: store.id };
    assert.equal((await reader.memories.retrieve(memory.id, inside)).content, 'x');
    for (const call of [
      () => reader.create({ name: 'mine' }),
      () => reader.update(store.id, { name: 'mine' }),
      () => reader.archive(store.id),
      () => reader.delete(store.id),
      () => reader.memories.create(store.id, { path: '/b', content: 'x' }),
      () => reader.memories.update(memory.id, { ...inside, content: 'y' }),
      () => reader.memories.delete(memory.id, inside),
      () => reader.memoryVersions.redact(memory.memory_version_id, inside),
    ]) {
      await sdk.refused(call, 'PermissionDeniedError', 'permission_error');
    }
  }));

  test('validation is a bad request and unknown things are not found', async () => {
    const client = sdk.client();
    await sdk.invalid(() => client.beta.memoryStores.create({ name: '' }));
    await sdk.missing(() => client.beta.memoryStores.retrieve(unknown('memstore')));
  });

  test('a body over the transport limit is 413 request_too_large', withStore(sdk, async ({ store, memories }) => {
    const error = await sdk.refused(
      () => memories.create(store.id, { path: '/a', content: 'x'.repeat(33 * 1024 * 1024) }),
      'ContentTooLargeError',
      'request_too_large',
    );
    assert.equal(error.status, 413);
  }));

  test('both conflicts are sent once although the SDK would retry a 409', withStore(sdk, async (given) => {
    const { store } = given;
    const memory = await given.memories.create(store.id, { path: '/a', content: 'x' });
    const { client, sent } = sdk.recorded();
    const memories = client.beta.memoryStores.memories;
    const inside = { memory_store_id: store.id };
    for (const [call, kind] of [
      [() => memories.create(store.id, { path: '/a', content: 'x' }), 'memory_path_conflict_error'],
      [
        () => memories.update(memory.id, { ...inside, content: 'y', precondition: precondition(WRONG_SHA) }),
        'memory_precondition_failed_error',
      ],
      [
        () => memories.delete(memory.id, { ...inside, expected_content_sha256: WRONG_SHA }),
        'memory_precondition_failed_error',
      ],
    ]) {
      sent.length = 0;
      await sdk.refused(call, 'ConflictError', kind);
      assert.equal(sent.length, 1);
    }
  }));

  test('either beta value is accepted, both at once and none are refused', withStore(sdk, async (given) => {
    const { client, store } = given;
    for (const value of [MANAGED_AGENTS, AGENT_MEMORY, `other-2025-01-01,${AGENT_MEMORY}`]) {
      await client.beta.memoryStores.retrieve(store.id, {}, { headers: { 'anthropic-beta': value } });
    }
    await sdk.invalid(() => client.beta.memoryStores.retrieve(store.id, { betas: [MANAGED_AGENTS] }));
    await sdk.invalid(() => client.beta.memoryStores.retrieve(store.id, {}, { headers: { 'anthropic-beta': null } }));
  }));

  test('the workspace header and ?beta=true are ignored', withStore(sdk, async ({ client, store }) => {
    const found = await client.beta.memoryStores.retrieve(store.id, {}, {
      headers: { 'anthropic-workspace-id': 'wrkspc_011CZkZaBF1tNoB5wlCeusgy' },
      query: { beta: 'true' },
    });
    assert.equal(found.id, store.id);
  }));
});
