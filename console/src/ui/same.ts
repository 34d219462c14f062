// Rows of long lists. One that did not change since it was drawn is the same node again, which is not compared: a list costs what is new.

import type { VNode } from "preact";
import { useRef } from "preact/hooks";

/** Draws a row, or gives its node again while `of`, which says everything else that the node depends on, stays the same. */
export function useSameNodes(): (row: object, of: string, draw: () => VNode) => VNode {
  const nodes = useRef(new WeakMap<object, { of: string; node: VNode }>());
  return (row, of, draw) => {
    const known = nodes.current.get(row);
    if (known?.of === of) return known.node;
    const node = draw();
    nodes.current.set(row, { of, node });
    return node;
  };
}
