// The shapes of the wire, as API.md and docs/reference/http.md describe them. Nothing here computes.

export type Level = "search" | "read" | "readwrite";
export type Standing = Level | "owner" | "none";
export type PrincipalKind = "user" | "agent" | "service" | "group";

export interface Who {
  id: string;
  name: string;
  kind: PrincipalKind;
}

export interface Actor {
  type: "session_actor" | "api_actor" | "user_actor" | "service_account_actor";
  session_id?: string;
  api_key_id?: string;
  user_id?: string;
  service_account_id?: string;
}

export interface Session {
  principal: Who;
  is_admin: boolean;
  audience: "host" | "model";
  level: Level | "full";
  stores: string[] | null;
  expires_at: string | null;
  actor?: Actor | null;
  view_as?: Who | null;
  server: { version: string; is_replica: boolean; started_at?: string; engine?: string };
}

export interface StoreRow {
  memory_store_id: string;
  name: string;
  description: string;
  metadata?: Record<string, string>;
  created_at: string;
  archived_at: string | null;
  owner: Who | null;
  home_of: PrincipalKind | null;
  level: Standing;
  rule?: string;
  memories: number | null;
  content_bytes: number | null;
  versions: number | null;
  last_seq: number | null;
  by_kind: Record<string, number> | null;
  changed_at: string | null;
  changed_by: Actor | null;
  days: number[] | null;
}

export interface Attributes {
  kind: string | null;
  tags: string[];
  importance: number | null;
  pinned: boolean;
  visibility: "context" | "internal" | "quarantine";
  expires_at: string | null;
  source: string | null;
  scope: string | null;
  summary: string | null;
  media_type: string | null;
  metadata: Record<string, unknown> | null;
}

export interface Recalls {
  count: number;
  actors?: number;
  last_at?: string | null;
  since: string;
}

export interface Entry extends Attributes {
  type: "entry";
  id: string;
  memory_store_id: string;
  path: string;
  memory_version_id: string;
  revision: number;
  content_sha256: string;
  size_bytes: number;
  is_sealed: boolean;
  is_redacted?: boolean;
  created_at: string;
  updated_at: string;
  partition: string | null;
  owner: string;
  content?: string | null;
  recalls?: Recalls | null;
}

export interface Directory {
  type: "directory";
  path: string;
}

export interface Page<T> {
  data: T[];
  next_page: string | null;
}

export interface EntriesPage extends Page<Entry | Directory> {
  last_seq: number;
}

export interface Version {
  id: string;
  memory_store_id: string;
  memory_id: string;
  revision: number;
  seq: number;
  operation: "created" | "modified" | "deleted";
  path: string | null;
  content?: string | null;
  content_sha256: string | null;
  size_bytes: number | null;
  is_sealed?: boolean;
  created_at: string;
  created_by: Actor | null;
  reason: string;
  attributes: Attributes | null;
  redacted_at: string | null;
  redacted_by: Actor | null;
  redaction_reason?: string | null;
}

export interface Change {
  memory_store_id: string;
  seq: number;
  operation: "created" | "modified" | "deleted" | "redacted";
  memory_id: string;
  memory_version_id: string;
  path: string | null;
  revision: number;
  created_at: string;
  created_by: Actor | null;
  reason: string;
  kind?: string | null;
}

export type Expect = { type: "absent" } | { type: "present" } | { type: "revision"; revision: number };

export interface Edit {
  op: "put" | "remove";
  path?: string;
  memory_id?: string;
  expect?: Expect;
  content?: string;
  to?: string;
  attributes?: Partial<Attributes> & { ttl_seconds?: number };
}

export interface EditOutcome {
  operation: "created" | "modified" | "deleted" | null;
  entry: Entry;
}

export interface Grant {
  id: string;
  memory_store_id: string;
  grantee: string;
  grantee_name: string | null;
  level: Level;
  given_by: string;
  expires_at: string | null;
  created_at: string;
}

export interface Rule {
  rule: "owner" | "administrator" | "grant" | "member" | "companion" | "everyone";
  level: Standing;
  grant: Grant | null;
  chat: { id: string; name: string } | null;
}

export interface Access {
  memory_store_id: string;
  principal: Who;
  level: Standing;
  is_switched_off: boolean;
  matched: Rule | null;
  also: Rule[];
  would_lose?: number;
}

export interface Explanation {
  lexical: number;
  lexical_normalised: number;
  semantic: number | null;
  semantic_normalised: number;
  lexical_weight: number;
  fused: number;
  author_boost: number;
  directory_prior: number;
  recency: number;
  importance: number;
  pinned: number;
  words: string[];
}

export interface Hit {
  id: string;
  memory_store_id: string;
  memory_version_id: string;
  path: string;
  content: string | null;
  content_size_bytes: number;
  created_at: string;
  updated_at: string;
  revision: number;
  kind: string | null;
  tags: string[];
  importance: number | null;
  pinned: boolean;
  expires_at: string | null;
  score: number;
  snippet: string;
  highlights: [number, number][];
  explanation?: Explanation;
}

export interface SearchAnswer {
  data: Hit[];
  is_complete: boolean;
  stores_left_out?: number;
}

export interface Fact {
  id: string;
  memory_store_id: string;
  relation: string;
  subject_id: string;
  subject: string;
  object_id: string;
  object: string;
  text: string;
  is_negated: boolean;
  valid_at: string | null;
  invalid_at: string | null;
  created_at: string;
  expired_at: string | null;
  memory_ids: string[];
  confidence: number;
  reader: string;
}

export interface Entity {
  id: string;
  memory_store_id: string;
  name: string;
  labels: string[];
  summary: string;
  created_at: string;
  facts: number;
}

export interface KnownPage<T> {
  data: T[];
  total: number;
  next: number | null;
}

export interface Slot {
  name: string;
  facts: Fact[];
  episodes: Hit[];
}

export interface ContextAnswer {
  slots: Slot[];
  text: string;
  bytes: number;
}

export interface Policy {
  repeats: "allow" | "refuse" | "merge";
  partitioning: string;
  content_bytes_max: number;
  memories_max: number;
  soft_cap: number | null;
}

export interface RedactedVersion {
  memory_version_id: string;
  memory_id: string;
  path: string | null;
  revision: number;
  is_head: boolean;
  is_redacted?: boolean;
}

export interface Redaction {
  dry_run: boolean;
  data: RedactedVersion[];
  same_content: RedactedVersion[];
  facts?: number;
  vectors?: number;
  recalls?: Recalls | null;
}

export interface RevertRow {
  memory_id: string;
  path: string | null;
  state: "clean" | "changed_since" | "impossible";
  revision: number;
  to_revision: number | null;
  to_version_id: string | null;
  action: "restore" | "delete" | "bring_back";
  changed_by: Actor | null;
}

export interface RevertPlan {
  dry_run: boolean;
  is_truncated: boolean;
  data: RevertRow[];
}

export interface HygieneRow {
  entry: Entry;
  why: string;
  pattern: string | null;
  excerpt: string | null;
}

export interface DuplicateGroup {
  memories: Hit[];
  similarity: number;
}

export interface Overview {
  from: string;
  to: string;
  step_seconds: number;
  known_since: string | null;
  writes: (number | null)[];
  recalls: (number | null)[];
  evictions: (number | null)[];
  requests: (number | null)[] | null;
  errors: (number | null)[] | null;
  latency_ms: { p50: (number | null)[]; p99: (number | null)[] } | null;
  stores: { memory_store_id: string; name: string; memories: (number | null)[] }[];
}

export interface AuditEvent {
  seq: number;
  at: string;
  actor: Actor | null;
  principal: string;
  kind: string;
  store: string | null;
  subject: string | null;
  detail: string | null;
  hash: string;
}

export interface Key {
  id: string;
  name: string;
  hint: string;
  principal: string;
  level: Level | "full";
  stores: string[] | null;
  session_id: string | null;
  audience: "host" | "model";
  acts_for_agents: boolean;
  /** The browser's session that it was made in and ends with. */
  console_session?: string | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  used_at?: string | null;
}

export interface Principal extends Who {
  uuid: string;
  is_admin: boolean;
  created_at: string;
}

export interface Switches {
  principal: string;
  enabled: boolean;
  self: boolean;
  chat: boolean;
  user: boolean;
}

export interface AgentSession {
  id: string;
  title: string | null;
  status: string;
  agent: { id: string; name: string; version: number };
  resources: { type: string; memory_store_id: string; access: string; name: string; mount_path: string }[];
  created_at: string;
  updated_at: string;
  archived_at: string | null;
}

export interface Embedding {
  model: string | null;
  dims: number;
  generation: number;
  stores_behind: number;
  changes_behind: number;
  indexes: number;
  index_bytes: number;
}

export interface Named {
  name: string;
  kind: string;
  principal?: string;
  key?: string;
}
