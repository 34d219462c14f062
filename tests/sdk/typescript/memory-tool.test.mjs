// The example backend of Claude's memory tool, driven by the SDK's own helper.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { lociMemory } from '../../../examples/memory-tool/loci-memory-tool.mjs';
import { adminKey, baseURL } from './support.mjs';

async function ask(method, path, body, key = adminKey) {
  const response = await fetch(baseURL + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'anthropic-beta': 'agent-memory-2026-07-22',
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  assert.equal(response.status, 200, `${method} ${path}`);
  return response.json();
}

async function agent() {
  const name = `agent-${randomUUID()}`;
  await ask('POST', '/v1/principals', { name, kind: 'agent' });
  const { secret } = await ask('POST', '/v1/api_keys', { name, principal: name });
  return { name, key: secret };
}

test('the memory tool answers with the documented strings', async () => {
  const { key } = await agent();
  const tool = betaMemoryTool(lociMemory({ url: baseURL, key }));
  assert.equal(tool.type, 'memory_20250818');
  const run = (command, args) => tool.run({ command, ...args });
  const [path, moved] = ['/memories/notes/tea.md', '/memories/notes/coffee.md'];
  assert.equal(await run('create', { path, file_text: 'one\ntwo\n' }), `File created successfully at: ${path}`);
  await assert.rejects(run('create', { path, file_text: 'x' }), { message: `File ${path} already exists` });
  assert.equal(
    await run('view', { path, view_range: [1, 2] }),
    `Here's the content of ${path} with line numbers:\n     1\tone\n     2\ttwo`,
  );
  assert.match(await run('str_replace', { path, old_str: 'two', new_str: 'three' }), /^The memory file has been edited\./);
  assert.equal(await run('insert', { path, insert_line: 0, insert_text: 'zero' }), `The file ${path} has been edited.`);
  assert.equal(await run('rename', { old_path: path, new_path: moved }), `Successfully renamed ${path} to ${moved}`);
  assert.equal(await run('delete', { path: '/memories/notes' }), 'Successfully deleted /memories/notes');
  await assert.rejects(run('view', { path: '/memories/none.md' }), {
    message: 'The path /memories/none.md does not exist. Please provide a valid path.',
  });
});

test('what the tool writes is a memory with its author', async () => {
  const { name, key } = await agent();
  const tool = betaMemoryTool(lociMemory({ url: baseURL, key }));
  await tool.run({ command: 'create', path: '/memories/seen.md', file_text: 'seen by all' });
  const stores = (await ask('GET', '/v1/memory_stores', undefined, key)).data;
  assert.deepEqual(stores.map((store) => store.name), [`home of ${name}`]);
  const base = `/v1/memory_stores/${stores[0].id}`;
  const [memory] = (await ask('GET', `${base}/memories?view=full`, undefined, key)).data;
  assert.deepEqual([memory.path, memory.content], ['/seen.md', 'seen by all']);
  const [version] = (await ask('GET', `${base}/memory_versions`, undefined, key)).data;
  assert.equal(version.created_by.type, 'api_actor');
});
