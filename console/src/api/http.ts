// The one place that calls fetch: credentials, the header that guards writes, refusals as values with a request id.
//
// Invariants: no key is ever kept in script, one that is typed goes out with one request; every write carries X-Loci-Console; a 401 outside of signing in means that the
// session ended, which the page shows without losing what was typed.

import { atom } from "../state/atom";

export interface Refusal {
  type?: string;
  message: string;
  code?: string;
  edit?: number;
  conflicting_path?: string;
  conflicting_memory_id?: string;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly refusal: Refusal,
    readonly requestId: string | null,
  ) {
    super(refusal.message);
  }

  /** Whether the memory changed since it was looked at. */
  get isStale(): boolean {
    return this.status === 412 || (this.status === 409 && (this.refusal.code === "expect_failed" || this.refusal.type === "memory_precondition_failed_error"));
  }

  get isMissing(): boolean {
    return this.status === 404;
  }

  get isDenied(): boolean {
    return this.status === 403;
  }
}

/** Whether the server could be reached by the last request. */
export const isOffline = atom(false);
/** Set when a request found that nobody is signed in any more. */
export const sessionEnded = atom(false);
/** Whose eyes an administrator borrows; reads carry it, writes are off meanwhile. */
export const viewAs = atom<{ id: string; name: string } | null>(null);

export interface CallOptions {
  body?: unknown;
  signal?: AbortSignal;
  /** The Memory Stores door asks for its beta header. */
  isDoor?: boolean;
  /** A request that asks and changes nothing, although it is a POST. */
  isQuestion?: boolean;
  /** Whether a 401 is an answer to be shown, as at signing in. */
  is401Plain?: boolean;
  /** Through whose eyes, for this request alone. */
  as?: string;
  /** A key that was typed, for this request alone: it counts instead of the session. */
  key?: string;
}

const BETA = "agent-memory-2026-07-22";

export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const headers: Record<string, string> = { accept: "application/json" };
  const isRead = method === "GET" || options.isQuestion === true;
  if (method !== "GET") headers["x-loci-console"] = "1";
  if (options.body !== undefined) headers["content-type"] = "application/json";
  if (options.isDoor) headers["anthropic-beta"] = BETA;
  const borrowed = viewAs.get();
  if (borrowed && !path.startsWith("/console/log")) {
    if (!isRead) throw new ApiError(403, { message: "you are viewing as somebody else; stop that to change things" }, null);
    headers["loci-view-as"] = borrowed.id;
  }
  if (options.key) headers["authorization"] = `Bearer ${options.key}`;
  if (options.as && isRead) headers["loci-view-as"] = options.as;
  const request: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
  if (options.body !== undefined) request.body = JSON.stringify(options.body);
  if (options.signal) request.signal = options.signal;
  let response: Response;
  try {
    response = await fetch(path, request);
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    isOffline.set(true);
    throw new ApiError(0, { message: "the server cannot be reached" }, null);
  }
  isOffline.set(false);
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  const requestId = response.headers.get("request-id");
  if (!response.ok) {
    if (response.status === 401 && !options.is401Plain && !options.key) sessionEnded.set(true);
    throw new ApiError(response.status, refusalOf(text, response.status), requestId);
  }
  if (text === "") return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError(response.status, { message: "the answer is not JSON; something between here and the server may have changed it" }, requestId);
  }
}

function refusalOf(text: string, status: number): Refusal {
  try {
    const parsed = JSON.parse(text) as { error?: Refusal };
    if (parsed.error && typeof parsed.error.message === "string") return parsed.error;
  } catch {
    // Not ours: a proxy's page, for instance. The status says enough.
  }
  return { message: `the server answered ${status}` };
}

/** A path with its query; absent and empty values are left out. */
export function url(path: string, query: Record<string, string | number | boolean | null | undefined> = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== null && value !== "") params.set(name, String(value));
  const text = params.toString();
  return text === "" ? path : `${path}?${text}`;
}
