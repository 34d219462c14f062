// Two texts side by side or one under the other. Signs say what came and went; colour only repeats it.

import { diffLines, diffWordsWithSpace } from "diff";
import type { ComponentChildren } from "preact";
import type { Attributes } from "../api/types";
import { absolute, count, plural, seen } from "./format";

interface Piece {
  text: string;
  isChanged: boolean;
}

interface Row {
  sign: " " | "-" | "+";
  left: number | null;
  right: number | null;
  pieces: Piece[];
}

const WORDS_MAX_LINES = 200;
const SHOWN_AROUND = 3;

const linesOf = (text: string): string[] => {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
};

/** How many lines came and went. */
export function tally(before: string, after: string): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const part of diffLines(before, after)) {
    if (part.added) added += part.count ?? 0;
    if (part.removed) removed += part.count ?? 0;
  }
  return { added, removed };
}

/** Rows of a diff by line; lines that replace each other show which words changed. */
export function rowsOf(before: string, after: string): Row[] {
  const parts = diffLines(before, after);
  const byWord = linesOf(before).length + linesOf(after).length <= WORDS_MAX_LINES * 2;
  const rows: Row[] = [];
  let left = 1;
  let right = 1;
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index];
    if (!part) continue;
    const lines = linesOf(part.value);
    const next = parts[index + 1];
    if (part.removed && next?.added) {
      const others = linesOf(next.value);
      const words = lines.map((line, at) => (byWord && others[at] !== undefined ? diffWordsWithSpace(line, others[at]) : null));
      lines.forEach((line, at) => {
        const pieces = words[at]?.filter((word) => !word.added).map((word) => ({ text: word.value, isChanged: word.removed === true }));
        rows.push({ sign: "-", left: left++, right: null, pieces: pieces ?? [{ text: line, isChanged: false }] });
      });
      others.forEach((line, at) => {
        const pieces = words[at]?.filter((word) => !word.removed).map((word) => ({ text: word.value, isChanged: word.added === true }));
        rows.push({ sign: "+", left: null, right: right++, pieces: pieces ?? [{ text: line, isChanged: false }] });
      });
      index += 1;
      continue;
    }
    for (const line of lines) {
      const pieces = [{ text: line, isChanged: false }];
      if (part.removed) rows.push({ sign: "-", left: left++, right: null, pieces });
      else if (part.added) rows.push({ sign: "+", left: null, right: right++, pieces });
      else rows.push({ sign: " ", left: left++, right: right++, pieces });
    }
  }
  return rows;
}

/** Leaves out what is far from any change. */
function folded(rows: Row[]): (Row | { hidden: number })[] {
  const isNear = rows.map(() => false);
  rows.forEach((row, index) => {
    if (row.sign === " ") return;
    for (let at = Math.max(0, index - SHOWN_AROUND); at <= Math.min(rows.length - 1, index + SHOWN_AROUND); at += 1) isNear[at] = true;
  });
  const shown: (Row | { hidden: number })[] = [];
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index];
    if (!row) continue;
    if (isNear[index]) {
      shown.push(row);
      continue;
    }
    const last = shown.at(-1);
    if (last && "hidden" in last) last.hidden += 1;
    else shown.push({ hidden: 1 });
  }
  return shown;
}

const Pieces = ({ pieces, sign }: { pieces: Piece[]; sign: Row["sign"] }) => (
  <>
    {pieces.map((piece, index) =>
      piece.isChanged ? sign === "-" ? <del key={index}>{seen(piece.text)}</del> : <ins key={index}>{seen(piece.text)}</ins> : seen(piece.text),
    )}
  </>
);

const NAMES = { "+": "added", "-": "removed", " ": "" } as const;

export function Diff({ before, after, mode }: { before: string; after: string; mode: "unified" | "split" }) {
  const rows = rowsOf(before, after);
  if (rows.every((row) => row.sign === " ")) return <p class="note">The text is the same.</p>;
  const shown = folded(rows);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Changes of the text">
      <table class={`diff diff-${mode}`}>
        <caption class="sr">Changes of the text</caption>
        <tbody>{mode === "unified" ? shown.map(unified) : paired(shown)}</tbody>
      </table>
    </div>
  );
}

function hidden(lines: number, span: number): ComponentChildren {
  return (
    <tr class="diff-hidden">
      <td colSpan={span}>{plural(lines, "line")} without change</td>
    </tr>
  );
}

function unified(row: Row | { hidden: number }): ComponentChildren {
  if ("hidden" in row) return hidden(row.hidden, 4);
  return (
    <tr class={`diff-${NAMES[row.sign] || "same"}`}>
      <td class="diff-no">{row.left}</td>
      <td class="diff-no">{row.right}</td>
      <td class="diff-sign">
        {row.sign}
        <span class="sr">{NAMES[row.sign]}</span>
      </td>
      <td class="diff-text">
        <Pieces pieces={row.pieces} sign={row.sign} />
      </td>
    </tr>
  );
}

function paired(rows: (Row | { hidden: number })[]): ComponentChildren[] {
  const out: ComponentChildren[] = [];
  for (let index = 0; index < rows.length; ) {
    const row = rows[index];
    if (!row) break;
    if ("hidden" in row) {
      out.push(hidden(row.hidden, 4));
      index += 1;
      continue;
    }
    if (row.sign === " ") {
      out.push(pair(row, row));
      index += 1;
      continue;
    }
    const gone: Row[] = [];
    const come: Row[] = [];
    for (; index < rows.length; index += 1) {
      const next = rows[index];
      if (!next || "hidden" in next || next.sign === " ") break;
      (next.sign === "-" ? gone : come).push(next);
    }
    for (let at = 0; at < Math.max(gone.length, come.length); at += 1) out.push(pair(gone[at], come[at]));
  }
  return out;
}

function pair(left: Row | undefined, right: Row | undefined): ComponentChildren {
  const cell = (row: Row | undefined, no: number | null | undefined) => (
    <>
      <td class="diff-no">{no}</td>
      <td class={`diff-text ${row ? `diff-${NAMES[row.sign] || "same"}` : "diff-void"}`}>
        {row && (
          <>
            <span class="diff-sign">{row.sign}</span>
            <Pieces pieces={row.pieces} sign={row.sign} />
          </>
        )}
      </td>
    </>
  );
  return (
    <tr>
      {cell(left, left?.left)}
      {cell(right, right?.right)}
    </tr>
  );
}

/** How an attribute reads. */
export function attributeText(name: string, value: unknown): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return "none";
  if (Array.isArray(value)) return value.map((tag) => `#${String(tag)}`).join(" ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return count(value);
  if (name === "expires_at") return absolute(String(value));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const LABELS: Record<string, string> = { expires_at: "expires", media_type: "type of content" };

export const attributeLabel = (name: string): string => LABELS[name] ?? name;

/** Attributes that differ, as chips: what it was, what it is. */
export function AttributeChips({ before, after }: { before: Partial<Attributes> | null; after: Partial<Attributes> | null }) {
  if (!before || !after) return null;
  const names = (Object.keys(after) as (keyof Attributes)[]).filter((name) => JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null));
  if (names.length === 0) return null;
  return (
    <ul class="chips" aria-label="Attributes that changed">
      {names.map((name) => (
        <li class="chip" key={name}>
          {attributeLabel(name)} <del>{seen(attributeText(name, before[name]))}</del> → <ins>{seen(attributeText(name, after[name]))}</ins>
        </li>
      ))}
    </ul>
  );
}
