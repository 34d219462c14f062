// What just happened, said at the foot of the page, with the way back where there is one.
//
// Writes are not confirmed before, they can be undone after: ten seconds here, and in the history for good.

import { atom } from "./atom";

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "danger";
  undo?: (() => Promise<void>) | undefined;
}

export const toasts = atom<Toast[]>([]);
let count = 0;
const timers = new Map<number, number>();

export function say(text: string, undo?: () => Promise<void>, tone: Toast["tone"] = "plain"): void {
  const id = ++count;
  toasts.set([...toasts.get().slice(-2), { id, text, tone, undo }]);
  hold(id, false);
}

export function dismiss(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

/** Stays while somebody points at it. */
export function hold(id: number, isHeld: boolean): void {
  window.clearTimeout(timers.get(id));
  if (!isHeld) timers.set(id, window.setTimeout(() => dismiss(id), 10_000));
}

/** Takes the last thing back that can be. */
export async function undoLast(): Promise<void> {
  const last = [...toasts.get()].reverse().find((toast) => toast.undo);
  if (last) await undo(last);
}

export async function undo(toast: Toast): Promise<void> {
  dismiss(toast.id);
  try {
    await toast.undo?.();
  } catch (cause) {
    say(`Not undone: ${cause instanceof Error ? cause.message : String(cause)}`, undefined, "danger");
  }
}

/** Runs a write and says so when it is refused. */
export async function attempt(act: () => Promise<void>, what: string): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (cause) {
    say(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, undefined, "danger");
    return false;
  }
}
