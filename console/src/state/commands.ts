// What the palette can do: each view lists its commands while it is open. One that cannot run now says why.

import { useEffect, useRef } from "preact/hooks";
import { atom } from "./atom";

export interface Command {
  label: string;
  keys?: string;
  run: () => void;
  /** Why it cannot run now. */
  unless?: string | null | undefined;
}

const layers: { current: Command[] }[] = [];

export const isPaletteOpen = atom(false);
export const isHelpOpen = atom(false);

export function useCommands(commands: Command[]): void {
  const layer = useRef(commands);
  layer.current = commands;
  useEffect(() => {
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
    };
  }, []);
}

/** Those of the view first, those of everywhere last. */
export const allCommands = (): Command[] => [...layers].reverse().flatMap((layer) => layer.current);
