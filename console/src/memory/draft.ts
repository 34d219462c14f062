// What is being typed: text and the attributes that the form can change, beside what they were when it was opened.

import type { Attributes, Edit, Entry } from "../api/types";

export interface Draft {
  content: string;
  kind: string;
  tags: string;
  importance: string;
  pinned: boolean;
  expires_at: string | null;
  summary: string;
  visibility: Attributes["visibility"];
}

/** A draft together with what it began from; the merge needs both. */
export interface Work {
  base: Entry;
  draft: Draft;
}

export const tagsOf = (text: string): string[] => [...new Set(text.split(/[\s,]+/).map((tag) => tag.replace(/^#/, "")).filter(Boolean))];

export function draftFrom(entry: Pick<Entry, "content" | "kind" | "tags" | "importance" | "pinned" | "expires_at" | "summary" | "visibility">): Draft {
  return {
    content: entry.content ?? "",
    kind: entry.kind ?? "",
    tags: entry.tags.join(" "),
    importance: entry.importance === null ? "" : String(entry.importance),
    pinned: entry.pinned,
    expires_at: entry.expires_at,
    summary: entry.summary ?? "",
    visibility: entry.visibility,
  };
}

export type Changeable = Pick<Attributes, "kind" | "tags" | "importance" | "pinned" | "expires_at" | "summary" | "visibility">;

/** The attributes of a draft as the server takes them. */
export function attributesOfDraft(draft: Draft): Changeable {
  const importance = Number(draft.importance);
  return {
    kind: draft.kind.trim() || null,
    tags: tagsOf(draft.tags),
    importance: draft.importance.trim() === "" ? null : importance,
    pinned: draft.pinned,
    expires_at: draft.expires_at,
    summary: draft.summary.trim() || null,
    visibility: draft.visibility,
  };
}

/** What is wrong with a draft, if anything. */
export function problemOf(draft: Draft): string | null {
  if (draft.importance.trim() !== "") {
    const value = Number(draft.importance);
    if (!Number.isInteger(value) || value < 0 || value > 100) return "Importance is a whole number from 0 to 100.";
  }
  if (/\n/.test(draft.summary)) return "A summary is one line.";
  return null;
}

/** The edit that saves a draft over a revision: only what differs is sent. */
export function editOf(entry: Entry, draft: Draft, revision: number): Edit {
  const edit: Edit = { op: "put", memory_id: entry.id, expect: { type: "revision", revision } };
  if (draft.content !== (entry.content ?? "")) edit.content = draft.content;
  const wanted = attributesOfDraft(draft);
  const changes = Object.fromEntries(Object.entries(wanted).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(entry[name as keyof Changeable])));
  if (Object.keys(changes).length > 0) edit.attributes = changes as Partial<Attributes>;
  return edit;
}

export const isSame = (a: Draft, b: Draft): boolean => JSON.stringify(a) === JSON.stringify(b);
