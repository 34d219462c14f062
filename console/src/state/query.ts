// What was read from the server, kept by key while somebody looks at it.
//
// Old rows stay on the page, marked as old, until new ones are there. A key that nobody uses is forgotten after a while.
// `changed(prefix)` says that whatever begins so is out of date.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { forgetAhead } from "../api/ahead";
import { ApiError } from "../api/http";

interface Slot {
  data?: unknown;
  error?: ApiError | undefined;
  at: number;
  running?: Promise<void> | undefined;
  isStale: boolean;
  users: Set<() => void>;
}

const slots = new Map<string, Slot>();
const KEPT_MS = 5 * 60_000;

export interface Query<T> {
  data: T | undefined;
  error: ApiError | undefined;
  isLoading: boolean;
  /** Shown rows belong to an earlier question. */
  isOld: boolean;
  at: number;
  again: () => void;
}

function slotOf(key: string): Slot {
  let slot = slots.get(key);
  if (!slot) slots.set(key, (slot = { at: 0, isStale: true, users: new Set() }));
  return slot;
}

const tell = (slot: Slot): void => {
  for (const user of [...slot.users]) user();
};

function run(slot: Slot, ask: () => Promise<unknown>): void {
  if (slot.running) return;
  slot.isStale = false;
  slot.running = ask()
    .then(
      (data) => {
        slot.data = data;
        slot.error = undefined;
        slot.at = Date.now();
      },
      (cause: unknown) => {
        slot.error = cause instanceof ApiError ? cause : new ApiError(0, { message: String(cause) }, null);
      },
    )
    .then(() => {
      slot.running = undefined;
      tell(slot);
    });
  tell(slot);
}

/** Marks everything whose key begins so as out of date; what is on the page is read again. */
export function changed(prefix: string): void {
  for (const [key, slot] of slots) {
    if (!key.startsWith(prefix)) continue;
    slot.isStale = true;
    tell(slot);
  }
}

/** Forgets everything, as when somebody else signs in. */
export function forgetAll(): void {
  forgetAhead();
  for (const [key, slot] of slots) {
    if (slot.users.size === 0) slots.delete(key);
    else {
      slot.data = undefined;
      slot.error = undefined;
      slot.isStale = true;
      tell(slot);
    }
  }
}

/** Reads once for a key; `null` reads nothing. */
export function useQuery<T>(key: string | null, ask: () => Promise<T>): Query<T> {
  const [, draw] = useState(0);
  const kept = useRef<T | undefined>(undefined);
  const latest = useRef(ask);
  latest.current = ask;
  const drawnAt = useRef(0);
  drawnAt.current = key === null ? 0 : slotOf(key).at;
  // Asked before the page is painted: the server works meanwhile.
  useLayoutEffect(() => {
    if (key === null) return;
    const slot = slotOf(key);
    // It may have arrived after the component was drawn and before it listened.
    if (slot.at !== drawnAt.current) draw((count) => count + 1);
    const user = () => {
      draw((count) => count + 1);
      if (slot.isStale && !slot.running) run(slot, () => latest.current());
    };
    slot.users.add(user);
    if (slot.isStale || slot.error || Date.now() - slot.at > 20_000) run(slot, () => latest.current());
    return () => {
      slot.users.delete(user);
      setTimeout(() => {
        if (slot.users.size === 0 && slots.get(key) === slot) slots.delete(key);
      }, KEPT_MS);
    };
  }, [key]);
  const slot = key === null ? undefined : slotOf(key);
  const own = slot?.data as T | undefined;
  if (own !== undefined) kept.current = own;
  const isLoading = slot !== undefined && (slot.running !== undefined || (own === undefined && slot.error === undefined));
  const again = () => {
    if (slot) run(slot, () => latest.current());
  };
  const isOld = own === undefined && kept.current !== undefined && slot?.error === undefined;
  return { data: own ?? (isOld ? kept.current : undefined), error: slot?.error, isLoading, isOld, at: slot?.at ?? 0, again };
}

export interface Pages<T> {
  rows: T[];
  error: ApiError | undefined;
  isLoading: boolean;
  isOld: boolean;
  hasMore: boolean;
  more: () => void;
  again: () => void;
  /** Changes rows that are here already, as after a write of one's own; `null` takes a row away. */
  patch: (change: (row: T) => T | null) => void;
}

interface PagesState<T> {
  key: string;
  rows: T[];
  next: string | null;
  isDone: boolean;
  error: ApiError | undefined;
}

/** A list that grows by pages; a new key starts over and keeps the old rows, dimmed, until the first page is there. */
export function usePages<T>(key: string, ask: (page: string | undefined) => Promise<{ data: T[]; next_page: string | null }>): Pages<T> {
  const [state, setState] = useState<PagesState<T>>({ key: "", rows: [], next: null, isDone: false, error: undefined });
  const [isLoading, setLoading] = useState(false);
  const turn = useRef(0);
  const latest = useRef(ask);
  latest.current = ask;
  const load = (page: string | null, before: T[]): void => {
    const mine = ++turn.current;
    setLoading(true);
    latest.current(page ?? undefined).then(
      (answer) => {
        if (mine !== turn.current) return;
        setLoading(false);
        setState({ key, rows: [...before, ...answer.data], next: answer.next_page, isDone: true, error: undefined });
      },
      (cause: unknown) => {
        if (mine !== turn.current) return;
        setLoading(false);
        const error = cause instanceof ApiError ? cause : new ApiError(0, { message: String(cause) }, null);
        setState((old) => ({ ...old, key, rows: before, isDone: true, error }));
      },
    );
  };
  useLayoutEffect(() => {
    load(null, []);
    return () => {
      turn.current += 1;
    };
  }, [key]);
  return {
    rows: state.rows,
    error: state.error,
    isLoading: isLoading || !state.isDone,
    isOld: state.key !== key,
    hasMore: state.next !== null && state.key === key,
    more: () => {
      if (!isLoading && state.next !== null) load(state.next, state.rows);
    },
    again: () => load(null, []),
    patch: (change) => setState((old) => ({ ...old, rows: old.rows.map(change).filter((row): row is T & {} => row !== null) })),
  };
}
