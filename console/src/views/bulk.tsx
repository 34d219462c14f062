// Acts on many memories: each is one write for all of them, all or none, and can be taken back as one.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Edit, Entry } from "../api/types";
import { removeEntries, setAttributes, write } from "../memory/acts";
import { useQuery } from "../state/query";
import { attempt } from "../state/toasts";
import { count, plural, seen } from "../text/format";
import { Button, Field } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Loaded } from "../ui/states";

type Act = "tags" | "importance" | "ttl" | "move" | "kind";

interface BulkProps {
  store: string;
  entries: Entry[];
  asked: "tags" | null;
  onAsked: () => void;
  onDone: () => void;
}

export function BulkBar({ store, entries, asked, onAsked, onDone }: BulkProps) {
  const [act, setAct] = useState<Act | null>(null);
  const run = (work: () => Promise<unknown>) => async () => {
    if (await attempt(async () => void (await work()), "Nothing was changed")) onDone();
  };
  const isAllPinned = entries.every((entry) => entry.pinned);
  const open = asked ?? act;
  return (
    <div class="bulk" role="region" aria-label="Selected memories">
      <strong>{plural(entries.length, "memory", "memories")} selected</strong>
      <Button onClick={() => setAct("tags")} hint="t">
        Tags
      </Button>
      <Button onClick={run(() => setAttributes(store, entries, { pinned: !isAllPinned }, isAllPinned ? "Unpinned" : "Pinned"))}>{isAllPinned ? "Unpin" : "Pin"}</Button>
      <Button onClick={() => setAct("importance")}>Importance</Button>
      <Button onClick={() => setAct("kind")}>Kind</Button>
      <Button onClick={() => setAct("ttl")}>Expiry</Button>
      <Button onClick={() => setAct("move")}>Move</Button>
      <Button tone="danger" onClick={run(() => removeEntries(store, entries))}>
        Delete
      </Button>
      <Button tone="quiet" onClick={onDone}>
        Clear
      </Button>
      {open && (
        <BulkDialog
          act={open}
          store={store}
          entries={entries}
          onClose={() => {
            setAct(null);
            onAsked();
          }}
          onDone={() => {
            setAct(null);
            onDone();
          }}
        />
      )}
    </div>
  );
}

const TITLES: Record<Act, string> = { tags: "Tags", importance: "Importance", ttl: "Expiry", move: "Move", kind: "Kind" };

/** What the act would do to a memory, for the preview. */
function effect(act: Act, entry: Entry, text: string, isTaking: boolean): { edit: Edit; says: string } | null {
  const base: Edit = { op: "put", memory_id: entry.id, expect: { type: "revision", revision: entry.revision } };
  if (act === "tags") {
    const given = text.split(/[\s,]+/).map((tag) => tag.replace(/^#/, "")).filter(Boolean);
    const tags = isTaking ? entry.tags.filter((tag) => !given.includes(tag)) : [...entry.tags, ...given.filter((tag) => !entry.tags.includes(tag))];
    return { edit: { ...base, attributes: { tags } }, says: tags.map((tag) => `#${tag}`).join(" ") || "no tags" };
  }
  if (act === "importance") {
    const value = text === "" ? null : Number(text);
    if (value !== null && !(Number.isInteger(value) && value >= 0 && value <= 100)) return null;
    return { edit: { ...base, attributes: { importance: value } }, says: value === null ? "no importance" : `importance ${value}` };
  }
  if (act === "kind") return { edit: { ...base, attributes: { kind: text.trim() || null } }, says: text.trim() || "no kind" };
  if (act === "ttl") {
    const days = Number(text);
    if (text === "") return { edit: { ...base, attributes: { expires_at: null } }, says: "never expires" };
    if (!(days > 0 && days <= 36_500)) return null;
    return { edit: { ...base, attributes: { ttl_seconds: Math.round(days * 86_400) } }, says: `expires in ${plural(days, "day")}` };
  }
  const folder = `/${text.split("/").filter(Boolean).join("/")}`;
  const name = entry.path.slice(entry.path.lastIndexOf("/"));
  const to = folder === "/" ? name : folder + name;
  return { edit: { ...base, to }, says: to };
}

function BulkDialog({ act, store, entries, onClose, onDone }: { act: Act; store: string; entries: Entry[]; onClose: () => void; onDone: () => void }) {
  const [text, setText] = useState("");
  const [isTaking, setTaking] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const effects = entries.map((entry) => ({ entry, done: effect(act, entry, text, isTaking) }));
  const isReady = effects.every((one) => one.done !== null) && !((act === "tags" || act === "move") && text.trim() === "");
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await write(store, effects.flatMap((one) => (one.done ? [one.done.edit] : [])), "console", (outcomes) => `Changed ${plural(outcomes.length, "memory", "memories")}`);
      onDone();
    } catch (cause) {
      setProblem(cause instanceof Error ? cause.message : String(cause));
    }
  };
  const labels: Record<Act, string> = { tags: isTaking ? "Tags to take away" : "Tags to add", importance: "Importance, 0 to 100; empty is none", ttl: "Days from now; empty is never", move: "Into the directory", kind: "Kind; empty is none" };
  return (
    <Dialog
      title={`${TITLES[act]} of ${plural(entries.length, "memory", "memories")}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="bulk-form" tone="primary" disabled={!isReady}>
            Change {entries.length}
          </Button>
        </>
      }
    >
      <form class="form" id="bulk-form" onSubmit={(event) => void submit(event)}>
        {act === "tags" && (
          <label class="check">
            <input type="checkbox" checked={isTaking} onChange={(event) => setTaking(event.currentTarget.checked)} />
            Take these tags away
          </label>
        )}
        <Field label={labels[act]}>
          <input value={text} autofocus inputMode={act === "importance" || act === "ttl" ? "numeric" : "text"} onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
        <div>
          <p class="field-label">What becomes of them</p>
          <ul class="plain-list">
            {effects.slice(0, 8).map(({ entry, done }) => (
              <li key={entry.id}>
                <code>{seen(entry.path)}</code> → {done && text !== "" ? seen(done.says) : <span class="muted">as it is</span>}
              </li>
            ))}
            {effects.length > 8 && <li class="muted">and {effects.length - 8} more</li>}
          </ul>
        </div>
        <p class="note">All of them or none. You can undo it as a whole.</p>
        {problem && (
          <p class="problem" role="alert">
            {seen(problem)}
          </p>
        )}
      </form>
    </Dialog>
  );
}

const SUBTREE_MAX = 1000;

/** Every memory below a directory; refuses when there are more than can be taken back as one. */
async function allBelow(store: string, prefix: string): Promise<Entry[]> {
  const found: Entry[] = [];
  let page: string | undefined;
  do {
    const query: api.EntriesQuery = { prefix, order: "path", direction: "asc", limit: 1000 };
    if (page) query.page = page;
    const answer = await api.entries(store, query);
    found.push(...answer.data.filter((one): one is Entry => one.type === "entry"));
    page = answer.next_page ?? undefined;
  } while (page && found.length < SUBTREE_MAX);
  if (page) throw new Error("more than 1,000 memories are below; take a smaller part");
  return found;
}

/** Deleting a whole directory shows how much that is before it happens, and can be undone after. */
export function DeleteBelow({ store, prefix, onClose }: { store: string; prefix: string; onClose: () => void }) {
  const query = useQuery(`below:${store}:${prefix}`, () => allBelow(store, prefix));
  const remove = async () => {
    if (query.data && (await attempt(async () => void (await removeEntries(store, query.data ?? [])), "Nothing was deleted"))) onClose();
  };
  return (
    <Dialog
      title={`Delete everything below ${seen(prefix)}?`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="danger" disabled={!query.data || query.data.length === 0} onClick={() => void remove()}>
            Delete {query.data ? count(query.data.length) : ""}
          </Button>
        </>
      }
    >
      <Loaded query={query} what="The directory" rows={2}>
        {(entries) => (
          <div class="form">
            <p>
              {plural(entries.length, "memory", "memories")}, {plural(entries.filter((entry) => entry.pinned).length, "pinned one")} among them. All versions are kept, and the deletion can be undone as a whole.
            </p>
            <ul class="plain-list">
              {entries.slice(0, 8).map((entry) => (
                <li key={entry.id}>
                  <code>{seen(entry.path)}</code>
                </li>
              ))}
              {entries.length > 8 && <li class="muted">and {count(entries.length - 8)} more</li>}
            </ul>
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}
