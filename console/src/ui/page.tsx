// The head of a view, the foot of a list that grows, and moving through rows by key.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useKeys } from "../state/keys";
import { href } from "../state/router";
import { count, seen } from "../text/format";
import { Button } from "./basics";

export interface Crumb {
  text: string;
  to?: string;
}

/** Where we are in words: crumbs, the title (which is also the window's), a line about it, and what can be done. */
export function Head({ title, crumbs, note, acts, shown }: { title: string; crumbs?: Crumb[]; note?: ComponentChildren; acts?: ComponentChildren; shown?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${seen(title)} – Loci`;
  }, [title]);
  return (
    <div class="head">
      <div class="head-text">
        {crumbs && crumbs.length > 0 && (
          <nav class="crumbs" aria-label="Where this is">
            {crumbs.map((crumb, index) => (
              <>
                {index > 0 && <span aria-hidden="true">/</span>}
                {crumb.to ? <a href={href(crumb.to)}>{seen(crumb.text)}</a> : <span>{seen(crumb.text)}</span>}
              </>
            ))}
          </nav>
        )}
        <h1>{shown ?? seen(title)}</h1>
        {note && <div class="muted">{note}</div>}
      </div>
      {acts && <div class="acts">{acts}</div>}
    </div>
  );
}

export function More({ shown, total, hasMore, isLoading, more, what }: { shown: number; total?: number | null | undefined; hasMore: boolean; isLoading: boolean; more: () => void; what: string }) {
  if (!hasMore) return shown > 20 ? <p class="note">All {count(shown)} {what}.</p> : null;
  return (
    <div class="more">
      <Button onClick={more} isBusy={isLoading}>
        Load more
      </Button>
      <span class="note">
        {count(shown)} {total ? `of ${count(total)} ` : ""}
        {what} so far
      </span>
    </div>
  );
}

/** A row that j and k move; it is kept in view. */
export function useCursor(length: number, open: (index: number) => void): { at: number; setAt: (index: number) => void } {
  const [at, setAt] = useState(-1);
  const move = (to: number) => {
    const next = Math.max(0, Math.min(length - 1, to));
    setAt(next);
    requestAnimationFrame(() => document.querySelector(".is-current")?.scrollIntoView({ block: "nearest" }));
  };
  useKeys({
    j: () => move(at + 1),
    k: () => move(at - 1),
    Enter: () => {
      if (at >= 0 && at < length) open(at);
    },
  });
  return { at: at < length ? at : -1, setAt };
}

/** Copies a text and says whether that worked. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Rows as a file for a spreadsheet. A cell that a spreadsheet would take for a formula is quoted. */
export function download(name: string, rows: (string | number | null)[][]): void {
  const cell = (value: string | number | null): string => {
    const text = value === null ? "" : String(value);
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return `"${safe.replaceAll('"', '""')}"`;
  };
  const blob = new Blob([rows.map((row) => row.map(cell).join(",")).join("\r\n")], { type: "text/csv" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
