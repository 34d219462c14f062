// Two people changed one text: what both leave alone and what only one changed goes together by itself, the rest is asked.

import { diff3Merge } from "node-diff3";
import type { Attributes } from "../api/types";

export type Chunk = { type: "same"; lines: string[] } | { type: "conflict"; base: string[]; theirs: string[]; mine: string[] };

export type Pick = "theirs" | "mine" | "both";

/** Line by line; a chunk is settled or a conflict. */
export function chunksOf(base: string, theirs: string, mine: string): Chunk[] {
  const split = (text: string): string[] => text.split("\n");
  return diff3Merge(split(mine), split(base), split(theirs), { excludeFalseConflicts: true }).map((region) => {
    if (region.ok) return { type: "same", lines: region.ok };
    const { a, o, b } = region.conflict ?? { a: [], o: [], b: [] };
    return { type: "conflict", base: o, theirs: b, mine: a };
  });
}

/** The text that the picks give; a conflict without a pick takes mine, so that nothing typed is dropped unseen. */
export function merged(chunks: Chunk[], picks: (Pick | undefined)[]): string {
  let at = 0;
  const lines = chunks.flatMap((chunk) => {
    if (chunk.type === "same") return chunk.lines;
    const pick = picks[at++] ?? "mine";
    return pick === "theirs" ? chunk.theirs : pick === "mine" ? chunk.mine : [...chunk.theirs, ...chunk.mine];
  });
  return lines.join("\n");
}

/** Tags as a set: what either added stays, what either took away goes. */
export function mergedTags(base: string[], theirs: string[], mine: string[]): string[] {
  const all = [...theirs, ...mine.filter((tag) => !theirs.includes(tag))];
  return all.filter((tag) => !base.includes(tag) || (theirs.includes(tag) && mine.includes(tag)));
}

export interface Clash {
  name: keyof Attributes;
  theirs: unknown;
  mine: unknown;
}

/** Attributes that both changed, each in another way. */
export function clashes(base: Partial<Attributes>, theirs: Partial<Attributes>, mine: Partial<Attributes>): Clash[] {
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
  return (Object.keys(mine) as (keyof Attributes)[])
    .filter((name) => name !== "tags" && !same(base[name], mine[name]) && !same(base[name], theirs[name]) && !same(theirs[name], mine[name]))
    .map((name) => ({ name, theirs: theirs[name], mine: mine[name] }));
}
