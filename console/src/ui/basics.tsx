// The small parts: times, actors, badges, buttons with icons, numbers in a row.

import type { ComponentChildren, JSX } from "preact";
import type { Actor, Standing } from "../api/types";
import { atom, useAtom } from "../state/atom";
import { actorId, useName } from "../state/names";
import { absolute, relative, seen } from "../text/format";
import { Icon, type IconName } from "./icon";

// One clock for all times on the page.
const halfMinutes = atom(0);
setInterval(() => halfMinutes.set(halfMinutes.get() + 1), 30_000);

/** A time: how long ago, with the whole of it on hover and for readers. */
export function Time({ at }: { at: string | null | undefined }) {
  useAtom(halfMinutes);
  if (!at) return <span class="muted">–</span>;
  return (
    <time dateTime={at} title={absolute(at)}>
      {relative(at)}
    </time>
  );
}

/** Somebody: agents are square, people round; the shape is said in words too. */
export function Principal({ who }: { who: { name: string; kind: string } }) {
  const isHuman = who.kind === "user";
  return (
    <span class="actor" title={who.kind}>
      <span class={isHuman ? "actor-mark round" : "actor-mark"} aria-hidden="true">
        {(seen(who.name)[0] ?? "?").toUpperCase()}
      </span>
      <span class="actor-name">{seen(who.name)}</span>
    </span>
  );
}

/** Who did something, by name as soon as it is known. */
export function ActorName({ actor }: { actor: Actor | null | undefined }) {
  const id = actorId(actor);
  const named = useName(id);
  if (!actor || !id) return <span class="muted">the server</span>;
  if (!named) return <code class="id" title={id}>{id.slice(0, 14)}…</code>;
  return (
    <span title={named.key ? `key ${named.key}` : id}>
      <Principal who={named} />
    </span>
  );
}

/** An id by name. */
export function Name({ id }: { id: string | null | undefined }) {
  const named = useName(id);
  if (!id) return <span class="muted">–</span>;
  if (id === "everyone") return <span>everyone</span>;
  if (!named) return <code class="id" title={id}>{id.length > 16 ? `${id.slice(0, 14)}…` : id}</code>;
  return (
    <span title={id}>
      <Principal who={named} />
    </span>
  );
}

export type Tone = "plain" | "ok" | "warn" | "danger" | "accent";

export function Badge({ tone = "plain", children, title }: { tone?: Tone; children: ComponentChildren; title?: string }) {
  return (
    <span class={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  );
}

const LEVELS: Record<Standing, string> = { none: "no access", search: "search only", read: "read", readwrite: "read and write", owner: "full" };

export const levelText = (level: Standing): string => LEVELS[level];

export function LevelBadge({ level }: { level: Standing }) {
  return <Badge tone={level === "none" ? "warn" : "plain"}>{LEVELS[level]}</Badge>;
}

/** The kind of a memory: a word and a glyph, never a colour. */
export function Kind({ kind }: { kind: string | null }) {
  if (!kind) return <span class="muted">–</span>;
  const glyphs: Record<string, string> = { fact: "●", preference: "♥", episode: "◷", summary: "≡", howto: "›", document: "▤" };
  return (
    <span class="kind">
      <span aria-hidden="true">{glyphs[kind] ?? "◇"}</span> {seen(kind)}
    </span>
  );
}

interface ButtonProps extends Omit<JSX.HTMLAttributes<HTMLButtonElement>, "icon"> {
  icon?: IconName;
  tone?: "plain" | "primary" | "danger" | "quiet";
  /** The key that does the same. */
  hint?: string;
  /** A button that shows its icon only. */
  label?: string;
  isBusy?: boolean;
  disabled?: boolean;
  type?: "button" | "submit";
  form?: string;
}

export function Button({ icon, tone = "plain", hint, label, isBusy, disabled, children, type = "button", ...rest }: ButtonProps) {
  const shown = label ? { "aria-label": label, title: hint ? `${label} (${hint})` : label } : hint ? { title: hint } : {};
  return (
    <button type={type} class={`button button-${tone}${children ? "" : " button-square"}`} disabled={disabled || isBusy} aria-busy={isBusy ? "true" : undefined} {...shown} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
      {hint && children && <kbd aria-hidden="true">{hint}</kbd>}
    </button>
  );
}

/** A row of numbers with their names. */
export function Numbers({ items }: { items: { label: string; value: ComponentChildren; note?: ComponentChildren }[] }) {
  return (
    <dl class="numbers">
      {items.map((item) => (
        <div key={item.label}>
          <dt>{item.label}</dt>
          <dd>{item.value}</dd>
          {item.note && <dd class="note">{item.note}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** A field with its name; the note is beside the name, not part of it. */
export function Field({ label, note, children }: { label: string; note?: ComponentChildren; children: ComponentChildren }) {
  return (
    <div class="field">
      <label class="field-in">
        <span class="field-label">{label}</span>
        {children}
      </label>
      {note && <span class="note">{note}</span>}
    </div>
  );
}
