// What the test files share: both SDK releases, clients, owned stores, exact key sets, refusals.
// Every test runs once per release, so a rule that holds for one and not the other is seen.

import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { describe } from 'node:test';
import * as current from '@anthropic-ai/sdk';
import * as legacy from 'anthropic-legacy';

const missing = ['LOCI_BASE_URL', 'LOCI_API_KEY'].filter((name) => !process.env[name]);
if (missing.length > 0) {
  throw new Error(
    `${missing.join(' and ')} must be set: start \`loci serve\` and export its address and an admin key`,
  );
}

export const baseURL = process.env.LOCI_BASE_URL.replace(/\/$/, '');
export const adminKey = process.env.LOCI_API_KEY;

export const MANAGED_AGENTS = 'managed-agents-2026-04-01';
export const AGENT_MEMORY = 'agent-memory-2026-07-22';
export const WRONG_SHA = '0'.repeat(64);

export const STORE_KEYS = ['archived_at', 'created_at', 'description', 'id', 'metadata', 'name', 'type', 'updated_at'];
export const MEMORY_KEYS = [
  'content', 'content_sha256', 'content_size_bytes', 'created_at', 'id', 'memory_store_id', 'memory_version_id',
  'path', 'type', 'updated_at',
];
export const VERSION_KEYS = [
  'content', 'content_sha256', 'content_size_bytes', 'created_at', 'created_by', 'id', 'memory_id', 'memory_store_id',
  'operation', 'path', 'redacted_at', 'redacted_by', 'type',
];
export const SESSION_KEYS = [
  'agent', 'archived_at', 'budget', 'created_at', 'deployment_id', 'environment_id', 'id', 'metadata',
  'outcome_evaluations', 'resources', 'stats', 'status', 'title', 'type', 'updated_at', 'usage', 'vault_ids',
];
export const ATTACHMENT_KEYS = [
  'access', 'description', 'instructions', 'memory_store_id', 'mount_path', 'name', 'type',
];

export const sha256 = (text) => createHash('sha256').update(text).digest('hex');
export const precondition = (sha) => ({ type: 'content_sha256', content_sha256: sha });
export const unknown = (prefix) => `${prefix}_01${randomUUID().replaceAll('-', '').slice(0, 22)}`;
export const attach = (store, fields = {}) => ({
  type: 'memory_store',
  memory_store_id: typeof store === 'string' ? store : store.id,
  ...fields,
});

/** Checks the exact keys of a response object; the SDK adds only a non-enumerable request id. */
export function assertKeys(object, keys) {
  assert.deepEqual(Object.keys(object).sort(), keys);
}

export async function collect(pages) {
  const items = [];
  for await (const item of pages) items.push(item);
  return items;
}

/** One SDK release and the ways a test uses it. */
class Release {
  constructor(name, module) {
    this.name = name;
    this.errors = module;
    this.Anthropic = module.default;
  }

  client(options = {}) {
    return new this.Anthropic({ apiKey: adminKey, baseURL, maxRetries: 0, ...options });
  }

  /** A client with the SDK's own retry policy, and the list of requests it really sends. */
  recorded() {
    const sent = [];
    const client = this.client({
      maxRetries: 2,
      fetch: (url, init) => {
        sent.push({ url: String(url), method: init.method, headers: new Headers(init.headers) });
        return fetch(url, init);
      },
    });
    return { client, sent };
  }

  /** Expects one error class and checks the envelope behind it; answers the error. */
  async refused(call, className, kind) {
    let caught;
    try {
      await call();
    } catch (error) {
      caught = error;
    }
    assert.ok(caught, `expected ${className}, got an answer`);
    assert.ok(caught instanceof this.errors.APIError, String(caught));
    if (this.errors[className]) assert.equal(caught.constructor, this.errors[className], String(caught));
    assert.deepEqual(Object.keys(caught.error).sort(), ['error', 'request_id', 'type']);
    assert.equal(caught.error.type, 'error');
    assert.equal(caught.error.error.type, kind);
    assert.ok(caught.error.error.message);
    assert.match(caught.requestID, /^req_/);
    assert.equal(caught.error.request_id, caught.requestID);
    return caught;
  }

  invalid(call) {
    return this.refused(call, 'BadRequestError', 'invalid_request_error');
  }

  missing(call) {
    return this.refused(call, 'NotFoundError', 'not_found_error');
  }
}

export const RELEASES = [new Release('current', current), new Release('legacy', legacy)];

/** Describes the same rules for every release. */
export function forEachRelease(subject, body) {
  for (const sdk of RELEASES) describe(`${subject} (${sdk.name} SDK)`, () => body(sdk));
}

/** Makes a store, runs the test with it, deletes it whatever happens. */
export function withStore(sdk, body, fields = {}) {
  return async () => {
    const client = sdk.client();
    const store = await client.beta.memoryStores.create({ name: `store ${randomUUID()}`, ...fields });
    try {
      await body({ client, store, memories: client.beta.memoryStores.memories });
    } finally {
      await client.beta.memoryStores.delete(store.id).catch((error) => {
        if (!(error instanceof sdk.errors.NotFoundError)) throw error;
      });
    }
  };
}

/** Makes a session, and answers it; sessions are named by a fresh agent so that lists are private. */
export function makeSession(client, resources = [], fields = {}) {
  return client.beta.sessions.create({
    agent: `agent_${randomUUID().replaceAll('-', '')}`,
    environment_id: 'env_01SuiteEnvironment',
    resources,
    ...fields,
  });
}

/** A new API key through the native route: `{ id, secret, … }`. */
export function makeKey(client, fields) {
  return client.post('/v1/api_keys', { body: { name: `suite ${randomUUID()}`, ...fields } });
}
