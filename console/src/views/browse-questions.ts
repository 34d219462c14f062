// What a list of memories asks the server at a place: the filters of its address, its rows, its directories. Apart from the view, because
// the same is asked ahead of it.

import type { EntriesQuery } from "../api/routes";

export const NAMES = ["kind", "tag", "source", "pin", "within", "expiring"] as const;

export const WITHIN: Record<string, [string, number]> = { "1d": ["changed in 24 hours", 1], "7d": ["changed in 7 days", 7], "30d": ["changed in 30 days", 30] };

/** The times of a filter are whole hours, so that the same filter is the same question for a while. */
function hourAgo(days: number): string {
  const at = new Date(Date.now() - days * 86_400_000);
  at.setUTCMinutes(0, 0, 0);
  return at.toISOString();
}

export const isFiltered = (query: URLSearchParams): boolean => NAMES.some((name) => query.get(name)) || query.get("path") !== null;

export function filtersOf(query: URLSearchParams): EntriesQuery {
  const wanted: EntriesQuery = {};
  const path = query.get("path");
  if (path && path !== "/") wanted.prefix = path;
  const kind = query.get("kind");
  if (kind) wanted.kind = kind;
  const tag = query.get("tag");
  if (tag) wanted.tag = tag;
  const source = query.get("source");
  if (source) wanted.source = source;
  if (query.get("pin") === "1") wanted.pinned = true;
  const within = WITHIN[query.get("within") ?? ""];
  if (within) wanted.updated_after = hourAgo(within[1]);
  if (query.get("expiring") === "1") wanted.expires_before = hourAgo(-7);
  const [order, direction] = (query.get("sort") ?? "updated-desc").split("-");
  wanted.order = order === "path" || order === "created" ? order : "updated";
  wanted.direction = direction === "asc" ? "asc" : "desc";
  return wanted;
}

const PAGE = 100;

/** One page of the rows. */
export function rowsQuery(query: URLSearchParams, page?: string): EntriesQuery {
  return { ...filtersOf(query), limit: PAGE, view: "basic", ...pastOf(query.get("as_of")), ...(page ? { page } : {}) };
}

/** One page of the directories directly below a path. */
export function directoriesQuery(below: string, asOf: string | null, page?: string): EntriesQuery {
  return { prefix: below, depth: 1, type: "directory", order: "path", direction: "asc", limit: 200, ...pastOf(asOf), ...(page ? { page } : {}) };
}

const pastOf = (asOf: string | null): { as_of?: string } => (asOf ? { as_of: asOf } : {});
