// The change feed, followed with the real helper: across a restart, and past its history.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { OwnServer, clientOf, newAgent, removeHome, withEachRelease } from './support.mjs';

// A copy of an agent's memory that is kept by `syncAgentMemory` alone.
class Mirror {
  versions = new Map();

  constructor(client, agent) {
    this.client = client;
    this.agent = agent;
  }

  async sync() {
    const result = await this.client.syncAgentMemory(this.agent, this.cursor);
    if (result.reset) {
      this.versions = new Map(result.entries.map((entry) => [entry.key, entry.version]));
    } else {
      for (const change of result.changes) {
        if (change.operation === 'deleted') this.versions.delete(change.memory_key);
        else this.versions.set(change.memory_key, change.version);
      }
    }
    this.cursor = result.nextCursor;
    return result.reset;
  }

  async save(key) {
    await this.client.saveAgentMemoryEntry(this.agent, key, { content: 'x' });
  }
}

withEachRelease('change feed', (release) => {
  test('a mirror goes on across a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'loci-mobius-'));
    const server = new OwnServer(join(folder, 'data'));
    await server.start();
    try {
      const client = () => clientOf(release, { baseURL: server.baseURL, apiKey: server.key });
      const mirror = new Mirror(client(), newAgent());
      assert.equal(await mirror.sync(), false);
      for (let n = 0; n < 25; n += 1) await mirror.save(`k${n}`);
      await mirror.sync();
      await mirror.save('k1');
      await server.kill();
      await server.start();
      mirror.client = client();
      await mirror.client.deleteAgentMemoryEntry(mirror.agent, 'k2');
      assert.equal(await mirror.sync(), false);
      assert.equal(mirror.versions.size, 24);
      assert.equal(mirror.versions.get('k1'), 2);
    } finally {
      await server.kill();
      await rm(folder, { recursive: true });
    }
  });

  test('an expired cursor begins anew', async () => {
    const mirror = new Mirror(clientOf(release), newAgent());
    await mirror.save('old');
    await mirror.sync();
    await removeHome(mirror.agent);
    await assert.rejects(mirror.client.listAgentMemoryChanges(mirror.agent, { after: mirror.cursor }), (error) =>
      error.status === 410 && error.code === 'memory_cursor_expired');
    await mirror.save('new');
    assert.equal(await mirror.sync(), true);
    assert.deepEqual([...mirror.versions], [['new', 1]]);
    await mirror.save('new');
    assert.equal(await mirror.sync(), false);
    assert.deepEqual([...mirror.versions], [['new', 2]]);
  });
});
