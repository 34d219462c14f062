// Numbers, times and texts for people. Exact or said to be about; what cannot be seen is written out.

import { prefs } from "../state/prefs";

const numbers = new Intl.NumberFormat("en-GB");

/** A key's name; what browsers hold is called after the key it was made for, which is told apart. */
export function keyName(name: string): { text: string; of: string | null } {
  const found = /^(console [a-z ]+) \((apikey_\w+)\)$/.exec(name);
  return found ? { text: found[1] ?? name, of: found[2] ?? null } : { text: name, of: null };
}

export const count = (value: number): string => numbers.format(value);

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function bytes(value: number): string {
  if (value < 1024) return plural(value, "byte");
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let size = value / 1024;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

const STEPS: [number, string][] = [
  [60, "s"],
  [60, "m"],
  [24, "h"],
  [30, "d"],
  [12, "mo"],
];

/** How long ago, or until when, in one unit. */
export function relative(time: string, now = Date.now()): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return "unknown";
  const seconds = Math.round((now - at) / 1000);
  if (Math.abs(seconds) < 5) return "now";
  let size = Math.abs(seconds);
  let unit = "y";
  for (const [step, name] of STEPS) {
    if (size < step) {
      unit = name;
      break;
    }
    size = Math.floor(size / step);
  }
  return seconds < 0 ? `in ${size} ${unit}` : `${size} ${unit} ago`;
}

/** A format of times in the zone that was chosen; making one costs more than using it a hundred times. */
function formatOf(options: Intl.DateTimeFormatOptions): (at: Date) => string {
  const made: Intl.DateTimeFormat[] = [];
  return (at) => (made[Number(isInUtc())] ??= new Intl.DateTimeFormat("en-GB", isInUtc() ? { ...options, timeZone: "UTC" } : options)).format(at);
}

const isInUtc = (): boolean => prefs.get().zone === "utc";
const wholeFormat = formatOf({ dateStyle: "medium", timeStyle: "medium" });
const clockFormat = formatOf({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayFormat = formatOf({ day: "numeric", month: "short", year: "numeric" });

/** The whole time in the zone that was chosen. */
export function absolute(time: string): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return time;
  return `${wholeFormat(at)}${isInUtc() ? " UTC" : ""}`;
}

export const clock = (time: string): string => clockFormat(new Date(time));
export const day = (time: string): string => dayFormat(new Date(time));

// Control characters, zero-width ones, and those that turn the direction of writing.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** Text with what cannot be seen written as escapes, for places where looks must not deceive. */
export function seen(text: string): string {
  return text.replace(UNSEEN, (char) => (char === "\r" ? "\u240d" : `\\u{${char.codePointAt(0)?.toString(16)}}`));
}

/** The last part of a path. */
export function leaf(path: string): string {
  return path.slice(path.lastIndexOf("/", path.length - 2) + 1);
}

/** A field of a form as a time of the wire, and back. */
export const localInput = (time: string): string => {
  const at = new Date(time);
  const pad = (part: number, width = 2) => String(part).padStart(width, "0");
  return `${pad(at.getFullYear(), 4)}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
};

export function fromInput(text: string): string | null {
  const at = new Date(text);
  return text === "" || Number.isNaN(at.getTime()) ? null : at.toISOString();
}
