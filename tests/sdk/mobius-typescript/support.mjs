// What the test files share: both SDK releases, their clients, raw requests, a server of one's own.
// Every test runs once per release, so a rule that holds for one and not the other is seen.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { describe } from 'node:test';
import * as current from '@deepnoodle/mobius';
import * as projects from 'mobius-projects';

const missing = ['LOCI_BASE_URL', 'LOCI_API_KEY', 'LOCI_BIN'].filter((name) => !process.env[name]);
if (missing.length > 0) {
  throw new Error(`${missing.join(' and ')} must be set; see tests/sdk/README.md`);
}

export const baseURL = process.env.LOCI_BASE_URL.replace(/\/$/, '');
export const adminKey = process.env.LOCI_API_KEY;

const RELEASES = [
  { name: '0.1.0', sdk: current, base: '/v1/agents', hasUsers: true },
  { name: '0.0.61', sdk: projects, base: '/v1/projects/default/agents', hasUsers: false },
];

export function withEachRelease(what, body) {
  for (const release of RELEASES) {
    describe(`${what}, ${release.name}`, () => body(release));
  }
}

export function clientOf(release, options = {}) {
  return new release.sdk.Client({ baseURL, apiKey: adminKey, ...options });
}

export function newAgent() {
  return `agent-${randomUUID().slice(0, 12)}`;
}

export async function raw(method, path, body, server = { baseURL, key: adminKey }) {
  const reply = await fetch(server.baseURL + path, {
    method,
    headers: {
      authorization: `Bearer ${server.key}`,
      'content-type': 'application/json',
      'anthropic-beta': 'agent-memory-2026-07-22',
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, body: text === '' ? null : JSON.parse(text) };
}

export async function removeHome(agent) {
  const stores = (await raw('GET', '/v1/memory_stores?limit=100')).body.data;
  const store = stores.find((one) => one.name === `home of ${agent}`);
  const gone = await raw('DELETE', `/v1/memory_stores/${store.id}`);
  if (gone.status !== 200) throw new Error(`cannot remove the home: ${gone.status}`);
}

export function rows(changes) {
  return changes.map((change) => `${change.operation} ${change.memory_key} ${change.version}`);
}

// A server of one's own, on a data directory of one's own.
export class OwnServer {
  key = 'mobius-suite-admin-key-0123456789';

  constructor(folder) {
    this.folder = folder;
  }

  async start() {
    const environment = { ...process.env, LOCI_DATA: this.folder, LOCI_ADMIN_KEY: this.key };
    delete environment.LOCI_DATABASE;
    this.process = spawn(process.env.LOCI_BIN, ['serve', '--listen', '127.0.0.1:0'], {
      env: environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const lines = createInterface({ input: this.process.stdout });
    this.baseURL = await new Promise((resolve, reject) => {
      lines.on('line', (line) => {
        const found = /^loci listening on (\S+)/.exec(line);
        if (found) resolve(found[1]);
      });
      this.process.on('exit', () => reject(new Error('the server ended')));
    });
  }

  async kill() {
    const ended = new Promise((resolve) => this.process.on('exit', resolve));
    this.process.kill('SIGKILL');
    await ended;
  }
}
