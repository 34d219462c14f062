// Writes to memories. Each is guarded by the revision that was seen, runs at once, and can be taken back.
//
// Undo is a write like any other: it puts back what the history has, and only if nobody wrote since.

import { ApiError } from "../api/http";
import * as api from "../api/routes";
import type { Attributes, Edit, EditOutcome, Entry, Version } from "../api/types";
import { changed } from "../state/query";
import { say } from "../state/toasts";
import { plural } from "../text/format";

const ATTRIBUTES: (keyof Attributes)[] = ["kind", "tags", "importance", "pinned", "visibility", "expires_at", "source", "scope", "summary", "media_type", "metadata"];

/** The attributes of an entry or version, alone. */
export function attributesOf(from: Attributes): Attributes {
  return Object.fromEntries(ATTRIBUTES.map((name) => [name, from[name]])) as unknown as Attributes;
}

/** What was written and can be taken back: a memory and the revision that the write gave it. */
export interface Written {
  memory_id: string;
  path: string;
  revision: number;
  operation: EditOutcome["operation"];
}

export const writtenOf = (outcomes: EditOutcome[]): Written[] =>
  outcomes
    .filter((outcome) => outcome.operation !== null)
    .map(({ operation, entry }) => ({ memory_id: entry.id, path: entry.path, operation, revision: operation === "deleted" ? entry.revision + 1 : entry.revision }));

type Listener = (store: string, outcomes: EditOutcome[]) => void;
const listeners = new Set<Listener>();

/** Lists hear of this page's own writes at once, with the new revisions. */
export function onWritten(listener: Listener): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

const tell = (store: string, outcomes: EditOutcome[]): void => {
  for (const listener of [...listeners]) listener(store, outcomes);
};

export function touched(store: string): void {
  changed(`live:${store}`);
  changed(`tree:${store}`);
  changed("stores");
}

/** The edit that puts back what was there before a write. */
async function inverse(store: string, written: Written): Promise<Edit> {
  const { data } = await api.history(store, { memory_id: written.memory_id, view: "full", limit: 2 });
  const [head, before] = data;
  if (!head || head.revision !== written.revision) throw new ApiError(409, { message: `${written.path} was changed by somebody since; see its history`, code: "expect_failed" }, null);
  if (head.operation === "created") return { op: "remove", memory_id: written.memory_id, expect: { type: "revision", revision: head.revision } };
  if (!before || before.redacted_at || before.content === null || before.content === undefined) throw new ApiError(400, { message: `what ${written.path} was before is redacted or sealed` }, null);
  if (head.operation === "deleted") return putBack(before, null);
  return putBack(before, head.revision, written.memory_id);
}

/** The edit that writes an old version back: over the memory as it is, or anew where it was. */
export function putBack(version: Version, over: number | null, memory?: string): Edit {
  const edit: Edit = { op: "put", content: version.content ?? "" };
  if (version.attributes) edit.attributes = attributesOf(version.attributes);
  if (over !== null && memory) {
    edit.memory_id = memory;
    edit.expect = { type: "revision", revision: over };
    if (version.path) edit.to = version.path;
  } else {
    edit.path = version.path ?? "/restored";
    edit.expect = { type: "absent" };
  }
  return edit;
}

/** How many histories are read at once; browsers send no more to one server anyway. */
const AT_ONCE = 4;

/** Takes writes back, all or none. */
export async function undoWrites(store: string, written: Written[]): Promise<void> {
  const edits: Edit[] = [];
  for (let at = 0; at < written.length; at += AT_ONCE) edits.push(...(await Promise.all(written.slice(at, at + AT_ONCE).map((one) => inverse(store, one)))));
  const { data } = await api.edit(store, edits, "undo");
  tell(store, data);
  touched(store);
  say(written.length === 1 ? "Undone." : `Undone: ${plural(written.length, "change")}.`, () => undoWrites(store, writtenOf(data)));
}

/** Writes, says so, and offers the way back. */
export async function write(store: string, edits: Edit[], reason: string, told: (outcomes: EditOutcome[]) => string): Promise<EditOutcome[]> {
  const { data } = await api.edit(store, edits, reason);
  tell(store, data);
  touched(store);
  const written = writtenOf(data);
  if (written.length > 0) say(told(data), () => undoWrites(store, written));
  else say("Nothing changed.");
  return data;
}

type Changeable = Pick<Entry, "id" | "revision" | "path">;

/** Changes attributes of memories as they were seen. */
export function setAttributes(store: string, entries: Changeable[], attributes: NonNullable<Edit["attributes"]>, what: string): Promise<EditOutcome[]> {
  const edits = entries.map((entry): Edit => ({ op: "put", memory_id: entry.id, expect: { type: "revision", revision: entry.revision }, attributes }));
  return write(store, edits, "console", (outcomes) => (outcomes.length === 1 ? `${what} v${outcomes[0]?.entry.revision}` : `${what} ${plural(outcomes.length, "memory", "memories")}`));
}

export function removeEntries(store: string, entries: Changeable[]): Promise<EditOutcome[]> {
  const edits = entries.map((entry): Edit => ({ op: "remove", memory_id: entry.id, expect: { type: "revision", revision: entry.revision } }));
  return write(store, edits, "console", (outcomes) => (outcomes.length === 1 ? `Deleted ${outcomes[0]?.entry.path}` : `Deleted ${plural(outcomes.length, "memory", "memories")}`));
}

export const togglePin = (store: string, entry: Changeable & { pinned: boolean }): Promise<EditOutcome[]> =>
  setAttributes(store, [entry], { pinned: !entry.pinned }, entry.pinned ? "Unpinned" : "Pinned");

export const stepImportance = (store: string, entry: Changeable & { importance: number | null }, step: number): Promise<EditOutcome[]> => {
  const next = Math.max(0, Math.min(100, (entry.importance ?? 50) + step));
  return setAttributes(store, [entry], { importance: next }, `Importance ${next}`);
};
