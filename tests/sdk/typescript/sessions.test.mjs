// Sessions as far as attaching stores needs them.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  ATTACHMENT_KEYS, SESSION_KEYS, assertKeys, attach, collect, forEachRelease, makeKey, makeSession, unknown, withStore,
} from './support.mjs';

forEachRelease('sessions', (sdk) => {
  test('a session answers every key and its attachment exactly seven', withStore(sdk, async ({ client, store }) => {
    const session = await makeSession(client, [attach(store, { access: 'read_only', instructions: 'look here' })], {
      title: 'Research',
      metadata: { team: 'blue' },
    });
    assertKeys(session, SESSION_KEYS);
    assert.match(session.id, /^sesn_/);
    assert.equal(session.status, 'idle');
    const [attachment] = session.resources;
    assertKeys(attachment, ATTACHMENT_KEYS);
    assert.deepEqual({ ...attachment }, {
      type: 'memory_store',
      memory_store_id: store.id,
      access: 'read_only',
      instructions: 'look here',
      name: 'Demo Memory',
      description: 'what it holds',
      mount_path: '/mnt/memory/demo-memory',
    });
    assert.deepEqual(await client.beta.sessions.retrieve(session.id), session);
    await client.beta.sessions.delete(session.id);
  }, { name: 'Demo Memory', description: 'what it holds' }));

  test('the attachment is a snapshot', withStore(sdk, async ({ client, store }) => {
    const session = await makeSession(client, [attach(store)]);
    await client.beta.memoryStores.update(store.id, { name: 'Renamed', description: 'reworded' });
    assert.deepEqual((await client.beta.sessions.retrieve(session.id)).resources, session.resources);
    await client.beta.sessions.delete(session.id);
  }));

  test('unknown, archived, repeated and too many stores are refused', withStore(sdk, async ({ client, store }) => {
    await sdk.missing(() => makeSession(client, [attach(unknown('memstore'))]));
    await sdk.invalid(() => makeSession(client, [attach(store), attach(store)]));
    await sdk.invalid(() => makeSession(client, [attach(store, { instructions: 'x'.repeat(4097) })]));
    await sdk.invalid(() => makeSession(client, [attach(store, { access: 'write_only' })]));
    const many = [];
    for (let i = 0; i < 9; i += 1) many.push(await client.beta.memoryStores.create({ name: `many ${i}` }));
    await sdk.invalid(() => makeSession(client, many.map((each) => attach(each))));
    const eight = await makeSession(client, many.slice(0, 8).map((each) => attach(each)));
    assert.equal(eight.resources.length, 8);
    await client.beta.sessions.delete(eight.id);
    for (const each of many) await client.beta.memoryStores.delete(each.id);
    await client.beta.memoryStores.archive(store.id);
    await sdk.invalid(() => makeSession(client, [attach(store)]));
  }));

  test('for await lists sessions in both orders, filtered', withStore(sdk, async ({ client, store }) => {
    const agent = `agent_${randomUUID().replaceAll('-', '')}`;
    const made = [];
    for (let i = 0; i < 5; i += 1) {
      made.push(await makeSession(client, i === 2 ? [attach(store)] : [], { agent, title: String(i) }));
    }
    const titles = async (query) =>
      (await collect(client.beta.sessions.list({ agent_id: agent, ...query }))).map((session) => session.title);
    assert.deepEqual(await titles({ limit: 2 }), ['4', '3', '2', '1', '0']);
    assert.deepEqual(await titles({ limit: 2, order: 'asc' }), ['0', '1', '2', '3', '4']);
    assert.deepEqual(await titles({ memory_store_id: store.id }), ['2']);
    assert.deepEqual(await titles({ statuses: ['running', 'terminated'] }), []);
    assert.equal((await titles({ statuses: ['idle'] })).length, 5);
    assert.deepEqual(await titles({ 'created_at[gt]': made[2].created_at, order: 'asc' }), ['3', '4']);
    await client.beta.sessions.archive(made[0].id);
    assert.deepEqual(await titles({ order: 'asc' }), ['1', '2', '3', '4']);
    assert.deepEqual(await titles({ order: 'asc', include_archived: true }), ['0', '1', '2', '3', '4']);
    for (const session of made) await client.beta.sessions.delete(session.id);
  }));

  test('update patches, archive marks, delete removes', async () => {
    const client = sdk.client();
    const session = await makeSession(client, [], { title: 'old', metadata: { keep: '1', drop: '1' } });
    const after = await client.beta.sessions.update(session.id, { title: 'new', metadata: { drop: null, add: '2' } });
    assertKeys(after, SESSION_KEYS);
    assert.equal(after.title, 'new');
    assert.deepEqual(after.metadata, { keep: '1', add: '2' });
    assert.ok((await client.beta.sessions.archive(session.id)).archived_at);
    assert.deepEqual({ ...(await client.beta.sessions.delete(session.id)) }, {
      id: session.id,
      type: 'session_deleted',
    });
    await sdk.missing(() => client.beta.sessions.retrieve(session.id));
  });

  test('resources are listed and a memory store cannot be added later', withStore(sdk, async ({ client, store }) => {
    const session = await makeSession(client, [attach(store)]);
    assert.deepEqual((await client.beta.sessions.resources.list(session.id)).data, session.resources);
    await sdk.invalid(() => client.post(`/v1/sessions/${session.id}/resources`, { body: attach(store) }));
    await client.beta.sessions.delete(session.id);
  }));

  test('an agent and an environment come first, files and repositories beside the store', withStore(sdk, async ({ client, store }) => {
    const agent = await client.beta.agents.create({ name: 'Scout', model: 'claude-opus-5', system: 'be brief' });
    assert.deepEqual([agent.type, agent.version, agent.name, agent.model.id], ['agent', 1, 'Scout', 'claude-opus-5']);
    assert.deepEqual({ ...(await client.beta.agents.retrieve(agent.id)) }, { ...agent });
    assert.deepEqual({ ...(await client.beta.agents.retrieve(agent.id, { version: 1 })) }, { ...agent });
    await sdk.missing(() => client.beta.agents.retrieve(agent.id, { version: 2 }));
    const environment = await client.beta.environments.create({ name: 'cloud', config: { type: 'cloud' } });
    assert.deepEqual([environment.type, environment.name, environment.description], ['environment', 'cloud', '']);
    assert.deepEqual(environment.config.networking, { type: 'unrestricted' });
    assert.deepEqual({ ...(await client.beta.environments.retrieve(environment.id)) }, { ...environment });
    const session = await client.beta.sessions.create({
      agent: agent.id,
      environment_id: environment.id,
      resources: [
        { type: 'file', file_id: 'file_1' },
        { type: 'github_repository', url: 'https://github.com/example/tools', authorization_token: 'ghp_secret' },
        attach(store),
      ],
    });
    assert.deepEqual([session.agent.name, session.environment_id], ['Scout', environment.id]);
    assert.ok(!JSON.stringify(session).includes('ghp_secret'));
    const { resources } = client.beta.sessions;
    const added = await resources.add(session.id, { type: 'file', file_id: 'file_2', mount_path: '/data/two.csv' });
    const of = { session_id: session.id };
    assert.deepEqual({ ...(await resources.retrieve(added.id, of)) }, { ...added });
    const [file, repository] = session.resources;
    const rotated = await resources.update(repository.id, { ...of, authorization_token: 'ghp_newer' });
    assert.deepEqual([rotated.id, rotated.url], [repository.id, repository.url]);
    await sdk.invalid(() => resources.update(file.id, { ...of, authorization_token: 'ghp_newer' }));
    assert.deepEqual({ ...(await resources.delete(file.id, of)) }, { id: file.id, type: 'session_resource_deleted' });
    const left = (await resources.list(session.id)).data.map((resource) => resource.type);
    assert.deepEqual(left, ['github_repository', 'memory_store', 'file']);
    await client.beta.sessions.delete(session.id);
  }));

  test('the note carries the five facts of the store', withStore(sdk, async ({ client, store }) => {
    const session = await makeSession(client, [attach(store, { access: 'read_only', instructions: 'ask it first' })]);
    const note = await client.get(`/v1/sessions/${session.id}/note`);
    assert.equal(note.type, 'session_note');
    for (const fact of ['Field Guide', '/mnt/memory/field-guide', 'birds and trees', 'ask it first']) {
      assert.ok(note.text.includes(fact), fact);
    }
    assert.match(note.text, /read[-_ ]only/);
    await client.beta.sessions.delete(session.id);
  }, { name: 'Field Guide', description: 'birds and trees' }));

  test('a session key cannot write a store attached read-only', withStore(sdk, async ({ client, store }) => {
    const session = await makeSession(client, [attach(store, { access: 'read_only' })]);
    const key = await makeKey(client, { session_id: session.id });
    const agent = sdk.client({ apiKey: key.secret });
    assert.deepEqual((await agent.beta.memoryStores.memories.list(store.id)).data, []);
    await sdk.refused(
      () => agent.beta.memoryStores.memories.create(store.id, { path: '/a', content: 'x' }),
      'PermissionDeniedError',
      'permission_error',
    );
    await client.beta.sessions.delete(session.id);
  }));
});
