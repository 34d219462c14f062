// Values that several parts of the page share, and the hook that follows them.
//
// An atom tells its listeners after it changed; a component that uses one is drawn again. Nothing else is global.

import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Atom<T> {
  get(): T;
  set(next: T): void;
  listen(listener: () => void): () => void;
}

export function atom<T>(initial: T): Atom<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useAtom<T>(source: Atom<T>): T {
  const [, draw] = useState(0);
  const value = source.get();
  const shown = useRef(value);
  shown.current = value;
  // Before the page is painted, so that what changes meanwhile is drawn with it.
  useLayoutEffect(() => {
    const check = () => {
      if (!Object.is(shown.current, source.get())) draw((count) => count + 1);
    };
    // It may have changed after the component was drawn and before it listened.
    check();
    return source.listen(check);
  }, [source]);
  return value;
}
