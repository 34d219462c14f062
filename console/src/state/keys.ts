// Keys: single letters, sequences that begin with g, and a few with Ctrl. A key and its button call the same function.
//
// Off inside fields, off in dialogs but for their own, and letters can be switched off altogether (WCAG 2.1.4).

import { useEffect, useRef } from "preact/hooks";
import { prefs } from "./prefs";

export type Keys = Record<string, (event: KeyboardEvent) => void>;

const stack: { current: Keys }[] = [];
let pending: { key: string; at: number } | null = null;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) && !(target instanceof HTMLInputElement && /^(checkbox|radio|range)$/.test(target.type));

function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key : event.key;
  return event.ctrlKey || event.metaKey ? `Ctrl ${key.toLowerCase()}` : event.shiftKey && /^[A-Z]$/.test(key) ? `Shift ${key.toLowerCase()}` : key;
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const name = nameOf(event);
  const isChord = name.startsWith("Ctrl ");
  const dialog = document.querySelector("dialog[open]");
  if (!isChord) {
    if (isTyping(event.target) || dialog) return;
    if (name.length === 1 && name !== "?" && !prefs.get().letters) return;
    if ((name === " " || name === "Enter") && event.target instanceof HTMLElement && event.target.closest("button, a, summary, input, [role=button]")) return;
  }
  let wanted = name;
  if (pending && Date.now() - pending.at < 1200) wanted = `${pending.key} ${name}`;
  pending = null;
  for (const layer of [...stack].reverse()) {
    const act = layer.current[wanted];
    if (act) {
      event.preventDefault();
      act(event);
      return;
    }
  }
  if (name === "g" && !isChord) pending = { key: "g", at: Date.now() };
}

addEventListener("keydown", onKey);

/** These keys work while the component is on the page; later ones go before earlier ones. */
export function useKeys(keys: Keys): void {
  const layer = useRef<Keys>(keys);
  layer.current = keys;
  useEffect(() => {
    stack.push(layer);
    return () => {
      stack.splice(stack.indexOf(layer), 1);
    };
  }, []);
}
