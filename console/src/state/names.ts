// Ids by name. Whoever shows an id asks here; ids that nobody has asked for yet go to the server together.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Actor, Named } from "../api/types";

const known = new Map<string, Named | null>();
const waiting = new Set<string>();
const listeners = new Set<() => void>();
let timer: number | undefined;

export function learn(id: string, named: Named): void {
  known.set(id, named);
}

function ask(): void {
  timer = undefined;
  const ids = [...waiting].slice(0, 100);
  for (const id of ids) waiting.delete(id);
  if (waiting.size > 0) timer = window.setTimeout(ask, 30);
  const done = (data: Record<string, Named>): void => {
    for (const id of ids) known.set(id, data[id] ?? null);
    for (const listener of [...listeners]) listener();
  };
  api.names(ids).then(
    ({ data }) => done(data),
    () => done({}),
  );
}

/** The name of an id: `undefined` while it is looked up, `null` when nobody may say. */
export function useName(id: string | null | undefined): Named | null | undefined {
  const [, draw] = useState(0);
  useEffect(() => {
    if (!id) return;
    if (known.has(id)) {
      // It may have become known after the component was drawn.
      draw((count) => count + 1);
      return;
    }
    waiting.add(id);
    timer ??= window.setTimeout(ask, 30);
    const listener = () => draw((count) => count + 1);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, [id]);
  return id ? known.get(id) : null;
}

export const nameNow = (id: string | null | undefined): string | null => (id ? (known.get(id)?.name ?? null) : null);

export function actorId(actor: Actor | null | undefined): string | null {
  if (!actor) return null;
  return actor.session_id ?? actor.api_key_id ?? actor.user_id ?? actor.service_account_id ?? null;
}
