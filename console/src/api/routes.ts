// Every route that the page calls, one function each. API.md is the same list in words.

import { read } from "./ahead";
import { call, url } from "./http";
import type * as Wire from "./types";

const store = (id: string, rest = ""): string => `/v1/memory_stores/${encodeURIComponent(id)}${rest}`;

export const login = (body: { key: string } | { once: string }): Promise<Wire.Session> => call("POST", "/console/login", { body, is401Plain: true });
export const logout = (): Promise<void> => call("POST", "/console/logout", { body: {} });
export const session = (): Promise<Wire.Session> => call("GET", "/console/session", { is401Plain: true });
export const storesPath = "/console/stores";
export const stores = (): Promise<{ data: Wire.StoreRow[]; is_truncated: boolean }> => read(storesPath);
export const storesOf = (who: string): Promise<{ data: Wire.StoreRow[] }> => call("GET", "/console/stores", { as: who });
export const overview = (hours: number): Promise<Wire.Overview> => read(url("/console/series", { hours }));
export const names = (ids: string[]): Promise<{ data: Record<string, Wire.Named> }> => read(url("/console/names", { ids: ids.join(",") }));

export const createStore = (body: { name: string; description: string }): Promise<{ id: string }> => call("POST", "/v1/memory_stores", { body, isDoor: true });
export const updateStore = (id: string, body: { name?: string; description?: string }): Promise<void> => call("POST", store(id), { body, isDoor: true });
export const archiveStore = (id: string): Promise<void> => call("POST", store(id, "/archive"), { body: {}, isDoor: true });
export const removeStore = (id: string): Promise<void> => call("DELETE", store(id), { isDoor: true });
export const policy = (id: string): Promise<Wire.Policy> => read(store(id, "/policy"));
export const changePolicy = (id: string, body: Partial<Wire.Policy>): Promise<Wire.Policy> => call("POST", store(id, "/policy"), { body });
export const compact = (id: string, body: { max_memories?: number; dry_run: boolean }): Promise<{ removed: string[]; summaries: string[]; memories_left: number }> =>
  call("POST", store(id, "/compact"), { body });

export interface EntriesQuery {
  prefix?: string;
  depth?: number;
  /** Directories alone, for the tree. */
  type?: "directory";
  order?: "path" | "created" | "updated";
  direction?: "asc" | "desc";
  kind?: string;
  tag?: string;
  source?: string;
  pinned?: boolean;
  updated_after?: string;
  updated_before?: string;
  expires_before?: string;
  as_of?: string;
  view?: "basic" | "full";
  limit?: number;
  page?: string;
}

export const entriesPath = (id: string, query: EntriesQuery): string => url(store(id, "/entries"), { ...query });
export const entries = (id: string, query: EntriesQuery): Promise<Wire.EntriesPage> => read(entriesPath(id, query));
export const entry = (id: string, memory: string, asOf?: string): Promise<Wire.Entry> =>
  read(url(store(id, `/entries/${encodeURIComponent(memory)}`), { view: "full", as_of: asOf }));
export const memoryByPath = (id: string, path: string): Promise<{ id: string }> => read(url(store(id, "/memory_by_path"), { path, view: "basic" }));
export const edit = (id: string, edits: Wire.Edit[], reason: string): Promise<{ data: Wire.EditOutcome[] }> => call("POST", store(id, "/edits"), { body: { edits, reason } });
export const changes = (id: string, after: number, limit = 1000): Promise<{ data: Wire.Change[]; last_seq: number; has_more: boolean }> =>
  read(url(store(id, "/changes"), { after, limit }));

export interface HistoryQuery {
  memory_id?: string;
  actor?: string;
  since?: string;
  until?: string;
  prefix?: string;
  view?: "basic" | "full";
  limit?: number;
  page?: string;
}

export const history = (id: string, query: HistoryQuery): Promise<Wire.Page<Wire.Version>> => read(url(store(id, "/history"), { ...query }));
export const redaction = (id: string, versions: string[]): Promise<Wire.Redaction> => call("POST", store(id, "/redactions"), { body: { memory_version_ids: versions, dry_run: true } });
export const redact = (id: string, versions: string[], reason: string): Promise<Wire.Redaction> =>
  call("POST", store(id, "/redactions"), { body: { memory_version_ids: versions, reason, dry_run: false } });
export const erase = (id: string, memory: string): Promise<void> => call("POST", store(id, `/memories/${memory}/erase`), { body: {} });

export interface RevertQuery {
  actor: string;
  since: string;
  until?: string;
  prefix?: string;
  dry_run: boolean;
  memory_ids?: string[];
}

export const revert = (id: string, body: RevertQuery): Promise<Wire.RevertPlan> => call("POST", store(id, "/revert"), { body });
export const hygiene = (id: string, check: string, page?: string): Promise<Wire.Page<Wire.HygieneRow> & { known_since?: string | null }> =>
  read(url(store(id, "/hygiene"), { check, page }));
export const duplicates = (id: string): Promise<{ exact: Wire.DuplicateGroup[]; near: Wire.DuplicateGroup[]; is_truncated: boolean }> => read(store(id, "/duplicates"));

export const grants = (id: string): Promise<{ data: Wire.Grant[] }> => read(store(id, "/grants"));
export const grant = (id: string, body: { grantee: string; level: Wire.Level; ttl_seconds?: number; expires_at?: string }): Promise<Wire.Grant> =>
  call("POST", store(id, "/grants"), { body });
export const revoke = (id: string, grantId: string): Promise<{ revoked: string[] }> => call("DELETE", store(id, `/grants/${encodeURIComponent(grantId)}`));
export const accessList = (id: string, page?: string): Promise<Wire.Page<Wire.Access>> => read(url(store(id, "/access"), { page }));
export const access = (id: string, who: string): Promise<Wire.Access> => read(url(store(id, "/access"), { who }));

export interface SearchBody {
  query: string;
  limit: number;
  mode?: string;
  explain: true;
  view: "basic";
  filter?: { path_prefix?: string; kind?: string; tags?: string[] };
  as_of?: string;
  memory_store_ids?: string[];
}

export const search = (id: string | null, body: SearchBody, signal?: AbortSignal): Promise<Wire.SearchAnswer> =>
  call("POST", id ? store(id, "/search") : "/v1/search", signal ? { body, isQuestion: true, signal } : { body, isQuestion: true });

export interface FactsQuery {
  about?: string;
  true_at?: string;
  is_current?: boolean;
  memory_id?: string;
  limit?: number;
  after?: number;
}

export const facts = (id: string, query: FactsQuery): Promise<Wire.KnownPage<Wire.Fact>> => read(url(store(id, "/facts"), { ...query }));
export const entities = (id: string, query: { limit?: number; after?: number; label?: string }): Promise<Wire.KnownPage<Wire.Entity>> =>
  read(url(store(id, "/entities"), { ...query }));
export const dismissFact = (id: string, fact: string): Promise<void> => call("DELETE", store(id, `/facts/${fact}`));
export const context = (query: { principal?: string; memory_store_id?: string; max_bytes?: number }): Promise<Wire.ContextAnswer> => read(url("/v1/context", { ...query }));
export const brief = (id: string, mode: string, bytes: number): Promise<{ text: string; bytes: number; left_out: number }> =>
  read(url(store(id, "/brief"), { mode, max_bytes: bytes }));

export const events = (query: { after?: number; before?: number; limit: number }): Promise<{ data: Wire.AuditEvent[]; last_seq: number }> => read(url("/v1/events", { ...query }));
export const keys = (): Promise<{ data: Wire.Key[] }> => read("/v1/api_keys");
/** By the session, or by a key that was typed: what the session makes ends with it. */
export const createKey = (body: Record<string, unknown>, key: string): Promise<Wire.Key & { secret?: string }> => call("POST", "/v1/api_keys", key === "" ? { body } : { body, key });
export const revokeKey = (id: string): Promise<void> => call("DELETE", `/v1/api_keys/${id}`);
export const principals = (page?: string): Promise<Wire.Page<Wire.Principal>> => read(url("/v1/principals", { limit: 100, page }));
export const createPrincipal = (body: { name: string; kind: string }): Promise<Wire.Principal> => call("POST", "/v1/principals", { body });
export const switches = (who: string): Promise<Wire.Switches> => read(`/v1/principals/${encodeURIComponent(who)}/memory`);
export const changeSwitches = (who: string, body: Partial<Wire.Switches>): Promise<Wire.Switches> =>
  call("POST", `/v1/principals/${encodeURIComponent(who)}/memory`, { body });
export const sessions = (page?: string): Promise<Wire.Page<Wire.AgentSession>> => read(url("/v1/sessions", { limit: 50, page, include_archived: true }));
export const agentSession = (id: string): Promise<Wire.AgentSession> => read(`/v1/sessions/${encodeURIComponent(id)}`);
export const sessionNote = (id: string): Promise<{ text: string }> => read(`/v1/sessions/${encodeURIComponent(id)}/note`);
export const embedding = (): Promise<Wire.Embedding> => read("/v1/embedding");
export const reembed = (): Promise<Wire.Embedding> => call("POST", "/v1/embedding/reembed", { body: {} });
export const ready = (): Promise<{ status: string }> => read("/readyz");
export const check = (): Promise<{ ok: boolean; stores: number; memories: number; versions: number; changes: number; vectors: number; problems: string[] }> =>
  call("POST", "/v1/check", { body: {} });
