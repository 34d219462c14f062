// Entries, agents and searches with the real clients.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf, newAgent, raw, rows, withEachRelease } from './support.mjs';

const keys = (page) => page.items.map((entry) => entry.key);

withEachRelease('memory', (release) => {
  test('a key is created, updated, listed and deleted', async () => {
    const [client, agent] = [clientOf(release), newAgent()];
    const first = await client.saveAgentMemoryEntry(agent, 'user:timezone', {
      content: 'UTC', kind: 'preference', importance: 80, pinned: true, metadata: { a: 1 },
    });
    assert.equal(first.version, 1);
    assert.equal('user_id' in first, release.hasUsers);
    const second = await client.saveAgentMemoryEntry(agent, 'user:timezone', { content: 'CET' });
    assert.deepEqual(
      [second.version, second.entry_id, second.kind, second.importance],
      [2, first.entry_id, 'preference', 80],
    );
    await client.saveAgentMemoryEntry(agent, 'tea', { content: 'Likes green TEA' });
    assert.deepEqual(keys(await client.listAgentMemoryEntries(agent)), ['tea', 'user:timezone']);
    assert.deepEqual(keys(await client.listAgentMemoryEntries(agent, { query: 'tea green' })), ['tea']);
    assert.deepEqual(keys(await client.listAgentMemoryEntries(agent, { kind: 'preference' })), ['user:timezone']);
    const page = await client.listAgentMemoryEntries(agent, { limit: 1 });
    assert.ok(page.has_more);
    const rest = await client.listAgentMemoryEntries(agent, { limit: 1, cursor: page.next_cursor });
    assert.deepEqual([keys(rest), rest.has_more], [['user:timezone'], false]);
    const summary = await client.getAgentMemory(agent);
    assert.deepEqual([summary.entry_count, summary.counts_by_kind], [2, { fact: 1, preference: 1 }]);
    await client.deleteAgentMemoryEntry(agent, 'tea');
    await client.deleteAgentMemoryEntry(agent, 'tea');
    assert.deepEqual(rows((await client.listAgentMemoryChanges(agent)).items), [
      'created user:timezone 1', 'updated user:timezone 2', 'created tea 1', 'deleted tea 2',
    ]);
  });

  test('search by meaning says how much it covers', async () => {
    const [client, agent] = [clientOf(release), newAgent()];
    await client.saveAgentMemoryEntry(agent, 'drink', { content: 'A cup of tea in the morning' });
    await client.saveAgentMemoryEntry(agent, 'car', { content: 'The truck needs oil' });
    const end = Date.now() + 60_000;
    for (;;) {
      const page = await client.listAgentMemoryEntries(agent, { query: 'hot beverage', searchMode: 'semantic' });
      assert.equal(page.search_coverage.total_entries, 2);
      if (page.search_coverage.complete) {
        assert.equal(keys(page)[0], 'drink');
        return;
      }
      assert.ok(Date.now() < end, 'the vectors did not come');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  test('agents are made, adopted and named', async () => {
    const [client, name] = [clientOf(release), newAgent()];
    const made = await client.createAgent({ name }, { adoptExisting: true, externalRef: `ref-${name}` });
    const again = await client.createAgent({ name }, { adoptExisting: true, externalRef: `ref-${name}` });
    assert.deepEqual(again, made);
    assert.equal('memory_enabled' in made, release.hasUsers);
    await assert.rejects(client.createAgent({ name }), (error) => {
      assert.ok(error instanceof release.sdk.MobiusAPIError);
      return error.status === 409 && error.code === 'already_exists';
    });
    await client.saveAgentMemoryEntry(made.id, 'k', { content: 'x' });
    assert.equal((await client.getAgentMemory(name)).agent_id, made.id);
    if (release.hasUsers) {
      assert.deepEqual((await client.listAgents({ name })).items, [made]);
    }
  });

  test('bad input is refused at once', async (context) => {
    const wire = context.mock.method(globalThis, 'fetch');
    const [client, agent] = [clientOf(release), newAgent()];
    for (const body of [{ content: '' }, { content: 'x', importance: 1.5 }, { content: 'x', more: 1 }]) {
      await assert.rejects(client.saveAgentMemoryEntry(agent, 'k', body), (error) => {
        assert.ok(error instanceof release.sdk.MobiusAPIError);
        return error.status === 400 && error.code === 'bad_request' && Boolean(error.requestId);
      });
    }
    await assert.rejects(client.listAgentMemoryEntries(agent, { cursor: 'garbage' }), { status: 400 });
    assert.equal(wire.mock.callCount(), 4, 'nothing was repeated');
  });

  test('saves at once are as many versions', async () => {
    const [client, agent] = [clientOf(release), newAgent()];
    const saves = Array.from({ length: 32 }, (_, n) =>
      client.saveAgentMemoryEntry(agent, 'k', { content: `text ${n}` }));
    const versions = (await Promise.all(saves)).map((entry) => entry.version).sort((a, b) => a - b);
    assert.deepEqual(versions, Array.from({ length: 32 }, (_, n) => n + 1));
  });

  test('a user has entries of their own, and one is promoted', async () => {
    if (!release.hasUsers) return;
    const [client, agent] = [clientOf(release), newAgent()];
    const mine = await client.saveAgentMemoryEntry(agent, 'k', { content: 'x', user_id: 'ada' });
    assert.equal(mine.user_id, 'ada');
    const path = `${release.base}/${agent}/memory/entries/k/promotion`;
    assert.equal((await raw('POST', path, { user_id: 'ada' })).body.user_id, '');
    assert.equal((await raw('POST', path, { user_id: 'ada' })).status, 409);
    assert.equal((await raw('DELETE', path)).status, 204);
    assert.deepEqual((await client.listAgentMemoryEntries(agent)).items, [mine]);
  });
});
