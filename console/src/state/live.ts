// The stream of changes: one connection for the page, which every view listens to.
//
// It resumes by cursor, so nothing is missed and nothing comes twice. The state of the connection is shown, never guessed.

import { call, viewAs } from "../api/http";
import type { Change } from "../api/types";
import { atom } from "./atom";
import { changed } from "./query";

export type LiveState = "off" | "connecting" | "live" | "lost";

export interface Gap {
  memory_store_id: string;
  after: number;
  until: number;
}

export const liveState = atom<LiveState>("off");

type Listener = (change: Change) => void;
const changeListeners = new Set<Listener>();
const gapListeners = new Set<(gap: Gap) => void>();
let source: EventSource | null = null;
let cursor: string | null = null;
let retry: number | undefined;
let attempts = 0;
let isWanted = false;
const touched = new Set<string>();
const regrown = new Set<string>();
let settle: number | undefined;
let slowly: number | undefined;

export function onChange(listener: Listener): () => void {
  changeListeners.add(listener);
  return () => {
    changeListeners.delete(listener);
  };
}

export function onGap(listener: (gap: Gap) => void): () => void {
  gapListeners.add(listener);
  return () => {
    gapListeners.delete(listener);
  };
}

/** What shows a store that changed is read again: twice a second at most, and what costs more (counts, trees) every few seconds. */
function settleSoon(store: string, isRegrown: boolean): void {
  touched.add(store);
  if (isRegrown) regrown.add(store);
  settle ??= window.setTimeout(() => {
    settle = undefined;
    for (const id of touched) changed(`live:${id}`);
    touched.clear();
  }, 500);
  slowly ??= window.setTimeout(() => {
    slowly = undefined;
    for (const id of regrown) changed(`tree:${id}`);
    regrown.clear();
    changed("stores");
  }, 3000);
}

function parsed<T>(event: Event): T | null {
  try {
    return JSON.parse((event as MessageEvent<string>).data) as T;
  } catch {
    return null;
  }
}

function remember(event: Event): void {
  const id = (event as MessageEvent).lastEventId;
  if (id) cursor = id;
}

export function connect(): void {
  isWanted = true;
  if (source) return;
  liveState.set("connecting");
  const path = cursor === null ? "/console/events" : `/console/events?after=${encodeURIComponent(cursor)}`;
  const mine = new EventSource(path);
  source = mine;
  mine.addEventListener("hello", (event) => {
    remember(event);
    attempts = 0;
    liveState.set("live");
  });
  mine.addEventListener("change", (event) => {
    remember(event);
    const change = parsed<Change>(event);
    if (!change) return;
    for (const listener of [...changeListeners]) listener(change);
    settleSoon(change.memory_store_id, change.operation !== "modified");
  });
  mine.addEventListener("gap", (event) => {
    remember(event);
    const gap = parsed<Gap>(event);
    if (!gap) return;
    for (const listener of [...gapListeners]) listener(gap);
    settleSoon(gap.memory_store_id, true);
  });
  mine.addEventListener("access", () => {
    changed("stores");
    changed("access");
  });
  mine.onerror = () => {
    mine.close();
    if (source !== mine) return;
    source = null;
    liveState.set("lost");
    attempts += 1;
    // A stream says nothing about why it ended; an ordinary request does, and the page shows it.
    if (attempts === 2) void call("GET", "/console/session").catch(() => undefined);
    window.clearTimeout(retry);
    retry = window.setTimeout(connect, Math.min(15_000, 500 * 2 ** Math.min(attempts, 5)));
  };
}

/** Gives the connection up and keeps the place. */
function rest(): void {
  window.clearTimeout(retry);
  source?.close();
  source = null;
  liveState.set("off");
}

export function disconnect(): void {
  isWanted = false;
  rest();
  cursor = null;
}

// Browsers allow six connections to a server; tabs that nobody looks at give theirs back and catch up later.
const HIDDEN_MS = 20_000;
let hidden: number | undefined;
document.addEventListener("visibilitychange", () => {
  window.clearTimeout(hidden);
  if (document.visibilityState === "hidden") hidden = window.setTimeout(rest, HIDDEN_MS);
  else if (isWanted && !viewAs.get()) connect();
});

// Another's eyes see another stream; an EventSource cannot carry the header, so it rests meanwhile.
viewAs.listen(() => {
  if (viewAs.get()) rest();
  else if (isWanted) connect();
});
