// The TypeScript SDK's own directory sync engine; only the current release carries it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MARKER_PATH, SessionMemoryStores } from '@anthropic-ai/sdk/tools/agent-toolset/memories';
import { RELEASES, attach, baseURL, collect, makeKey, makeSession, withStore } from './support.mjs';

const [sdk] = RELEASES;

/** Downloads the store into a temporary folder as its session, and runs the test there. */
function withMount(body) {
  return withStore(sdk, async (given) => {
    const { client, store, memories } = given;
    const inside = { memory_store_id: store.id };
    const keep = await memories.create(store.id, { path: '/dir/keep', content: 'kept' });
    const doomed = await memories.create(store.id, { path: '/doomed', content: 'going' });
    const session = await makeSession(client, [attach(store)]);
    const key = await makeKey(client, { session_id: session.id });
    const folder = await mkdtemp(join(tmpdir(), 'loci-sync-'));
    const agent = new sdk.Anthropic({ authToken: key.secret, apiKey: null, baseURL });
    const engine = new SessionMemoryStores(agent, { workdir: folder });
    try {
      const fetched = await agent.beta.sessions.retrieve(session.id);
      fetched.resources[0].mount_path = join(folder, 'mount');
      await engine.download(fetched);
      const [root] = engine.roots;
      const remote = async () =>
        Object.fromEntries((await collect(memories.list(store.id, { view: 'full' }))).map((m) => [m.path, m.content]));
      await body({ ...given, inside, keep, doomed, session, engine, root, remote });
    } finally {
      await engine.dispose();
      await rm(folder, { recursive: true, force: true });
      await client.beta.sessions.delete(session.id);
    }
  });
}

test('sync engine: download writes the memories and the marker, dispose removes them', withMount(async (given) => {
  const { engine, root, store } = given;
  assert.equal(await readFile(join(root, 'dir/keep'), 'utf8'), 'kept');
  assert.equal(await readFile(join(root, MARKER_PATH), 'utf8'), `version 1\n${store.id}`);
  await engine.dispose();
  assert.ok(!existsSync(root));
}));

test('sync engine: new, changed and deleted files go up as the session', withMount(async (given) => {
  const { client, store, session, engine, root, remote } = given;
  await writeFile(join(root, 'dir/keep'), 'edited');
  await writeFile(join(root, 'new'), 'fresh');
  await unlink(join(root, 'doomed'));
  await engine.finish();
  assert.deepEqual(await remote(), { '/dir/keep': 'edited', '/new': 'fresh' });
  const written = await collect(client.beta.memoryStores.memoryVersions.list(store.id, { session_id: session.id }));
  assert.deepEqual(written.map((version) => version.operation).sort(), ['created', 'deleted', 'modified']);
  for (const version of written) assert.equal(version.created_by.type, 'session_actor');
}));

test('sync engine: remote changes come down and win over local ones', withMount(async (given) => {
  const { memories, store, inside, keep, doomed, engine, root, remote } = given;
  await memories.update(keep.id, { ...inside, content: 'theirs' });
  await memories.delete(doomed.id, inside);
  await memories.create(store.id, { path: '/theirs', content: 'new' });
  await writeFile(join(root, 'dir/keep'), 'mine');
  await engine.syncAll(false);
  assert.equal(await readFile(join(root, 'dir/keep'), 'utf8'), 'theirs');
  assert.equal(await readFile(join(root, 'theirs'), 'utf8'), 'new');
  assert.ok(!existsSync(join(root, 'doomed')));
  assert.deepEqual(await remote(), { '/dir/keep': 'theirs', '/theirs': 'new' });
}));
