// Who is signed in. The credential itself is a cookie that scripts cannot read; here is only what the server says about it.

import { sessionEnded, viewAs } from "../api/http";
import * as api from "../api/routes";
import type { Session } from "../api/types";
import { atom } from "./atom";
import { forgetDrafts } from "./drafts";
import { forgetAll } from "./query";

/** `undefined` while nobody has asked yet, `null` when nobody is signed in. */
export const session = atom<Session | null | undefined>(undefined);

/** A one-time word in the fragment, which is taken off the address at once. */
export function takeOnce(): string | null {
  const once = /^#once=([A-Za-z0-9_.-]{8,200})$/.exec(location.hash)?.[1];
  if (!once) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return once;
}

/** Asks who is signed in; a one-time word signs in first. */
export async function findSession(once: string | null): Promise<void> {
  if (once) {
    try {
      session.set(await api.login({ once }));
      return;
    } catch {
      // Used already or too old: the form says how else to get in.
      onceFailed.set(true);
    }
  }
  try {
    session.set(await api.session());
  } catch {
    forgetAll();
    session.set(null);
  }
}

export const onceFailed = atom(false);

export async function signIn(key: string): Promise<void> {
  const before = session.get();
  const found = await api.login({ key });
  if (before && before.principal.id !== found.principal.id) {
    forgetAll();
    forgetDrafts();
  }
  session.set(found);
  sessionEnded.set(false);
  if (!before) forgetAll();
}

export async function signOut(): Promise<void> {
  viewAs.set(null);
  try {
    await api.logout();
  } finally {
    forgetDrafts();
    session.set(null);
    sessionEnded.set(false);
    forgetAll();
  }
}

/** Whether the page may offer writes at all; each store says more. */
export function mayWrite(): boolean {
  const found = session.get();
  if (!found || viewAs.get() || found.server.is_replica) return false;
  return found.level === "readwrite" || found.level === "full";
}

/** Why not, for people. */
export function whyReadOnly(): string | null {
  const found = session.get();
  if (!found) return "Nobody is signed in.";
  const borrowed = viewAs.get();
  if (borrowed) return `You are viewing as ${borrowed.name}, which changes nothing.`;
  if (found.server.is_replica) return "This server reads from a replica. Write on the primary.";
  if (found.level !== "readwrite" && found.level !== "full") return `Your key allows ${found.level} only.`;
  return null;
}

/** Tries another's eyes, or one's own again; what was read is read anew. */
export function lookAs(who: { id: string; name: string } | null): void {
  viewAs.set(who);
  forgetAll();
}
