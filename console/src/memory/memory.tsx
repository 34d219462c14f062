// One memory: its text, its history, who can see it, and what is linked to it.

import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api/http";
import * as api from "../api/routes";
import type { Entry, Version } from "../api/types";
import { useCommands } from "../state/commands";
import { draftOf } from "../state/drafts";
import { useKeys } from "../state/keys";
import { useQuery } from "../state/query";
import { go, href, memoryPlace, storePlace, to, usePlace, withQuery } from "../state/router";
import { whyReadOnly } from "../state/session";
import { mayEdit, mayManage, maySeeAccess, useStore } from "../state/stores";
import { attempt, say } from "../state/toasts";
import { seen } from "../text/format";
import { Badge, Button, Kind, Time } from "../ui/basics";
import { Menu, Tabs } from "../ui/dialog";
import { copy, Head } from "../ui/page";
import { Empty, Failed, Waiting } from "../ui/states";
import { EntryBadges } from "../views/browse-table";
import { PastBanner } from "../views/timebar";
import { AccessPanel } from "../views/access-panel";
import { putBack, removeEntries, stepImportance, togglePin, write } from "./acts";
import { Content } from "./content";
import { Editor } from "./editor";
import { EraseDialog, MoveDialog } from "./dialogs";
import { History } from "./history";
import { Links } from "./links";

interface Found {
  entry: Entry | null;
  versions: Version[];
}

/** The memory and its newest versions; one that was deleted still has its history. */
async function find(store: string, id: string | null, path: string, asOf: string | null): Promise<Found> {
  const memory = id ?? (await api.memoryByPath(store, path)).id;
  const versions = api.history(store, { memory_id: memory, view: "basic", limit: 100 });
  // Looked at below; it may be refused before anybody does.
  versions.catch(() => undefined);
  try {
    const entry = await api.entry(store, memory, asOf ?? undefined);
    return { entry, versions: (await versions).data };
  } catch (cause) {
    const { data } = await versions;
    if (cause instanceof ApiError && cause.isMissing && data.length > 0) return { entry: null, versions: data };
    throw cause;
  }
}

export function MemoryView({ store, rest }: { store: string; rest: string }) {
  const { query } = usePlace();
  const id = query.get("id");
  const asOf = query.get("as_of");
  const found = useQuery(`live:${store}:memory:${id ?? rest}:${asOf ?? ""}`, () => find(store, id, rest, asOf));
  if (found.error && !found.data) return <Failed error={found.error} again={found.again} what="This memory" />;
  if (!found.data) return <Waiting />;
  return <Memory key={id ?? rest} store={store} path={rest} found={found.data} asOf={asOf} />;
}

function Memory({ store, path, found, asOf }: { store: string; path: string; found: Found; asOf: string | null }) {
  const row = useStore(store);
  const { query } = usePlace();
  const { entry, versions } = found;
  const tab = query.get("tab") ?? "content";
  const memory = entry?.id ?? versions[0]?.memory_id ?? "";
  const draftKey = `${store}.${memory}`;
  const [isEditing, setEditing] = useState(() => draftOf(draftKey) !== null && entry !== null && asOf === null);
  const [dialog, setDialog] = useState<"move" | "erase" | null>(null);
  const mayChange = mayEdit(row) && asOf === null && entry !== null && !entry.is_sealed;
  const shownPath = entry?.path ?? versions.find((version) => version.path)?.path ?? path;
  // A rename keeps the page open: the address follows the memory.
  useEffect(() => {
    if (entry && asOf === null && entry.path !== path) go(memoryPlace(store, entry.path, entry.id, { tab: query.get("tab") }), true);
  }, [entry?.path]);
  const unless = mayChange ? null : (whyReadOnly() ?? (asOf ? "the past cannot be changed" : entry === null ? "it was deleted" : entry.is_sealed ? "only clients with its key can read it" : "you may only read this store"));
  const tabPlace = (name: string) => withQuery({ tab: name === "content" ? null : name, v: null, with: null });
  const act = (work: () => Promise<unknown>) => () => void (unless === null && attempt(async () => void (await work()), "Not changed"));
  const remove = act(async () => {
    if (entry) await removeEntries(store, [entry]);
  });
  const pin = act(async () => {
    if (entry) await togglePin(store, entry);
  });
  const copyLink = async () => say((await copy(location.href)) ? "Link copied." : "The browser did not let this page copy; the address has the link.");
  const copyCurl = async () => {
    const line = `curl -H "Authorization: Bearer $LOCI_KEY" "${location.origin}/v1/memory_stores/${store}/entries/${memory}?view=full"`;
    say((await copy(line)) ? "Copied as curl; put your key into LOCI_KEY." : line);
  };
  const edit = () => {
    if (unless !== null) return;
    go(tabPlace("content"), true);
    setEditing(true);
  };
  useKeys({
    e: edit,
    t: edit,
    h: () => go(tabPlace("history")),
    w: () => go(tabPlace("access")),
    d: () => go(tabPlace("history")),
    p: pin,
    y: () => void copyLink(),
    "+": act(async () => {
      if (entry) await stepImportance(store, entry, 10);
    }),
    "-": act(async () => {
      if (entry) await stepImportance(store, entry, -10);
    }),
    n: () => go(withQuery({ as_of: null })),
    Escape: () => {
      if (!isEditing) go(storePlace(store, `?path=${encodeURIComponent(shownPath.slice(0, shownPath.lastIndexOf("/") + 1))}`));
    },
  });
  useCommands([
    { label: "Edit this memory", keys: "e", run: edit, unless },
    { label: entry?.pinned ? "Unpin this memory" : "Pin this memory", keys: "p", run: pin, unless },
    { label: "Importance up", keys: "+", run: act(async () => entry && (await stepImportance(store, entry, 10))), unless },
    { label: "Importance down", keys: "-", run: act(async () => entry && (await stepImportance(store, entry, -10))), unless },
    { label: "Tags, kind, expiry of this memory", keys: "t", run: edit, unless },
    { label: "Delete this memory", run: remove, unless },
    { label: "Move or rename this memory", run: () => setDialog("move"), unless },
    { label: "History and compare", keys: "h", run: () => go(tabPlace("history")) },
    { label: "Why can somebody see this?", keys: "w", run: () => go(tabPlace("access")), unless: maySeeAccess(row) ? null : "you may only read this store" },
    { label: "Copy link", keys: "y", run: () => void copyLink() },
    { label: "Copy as curl", run: () => void copyCurl() },
    { label: "View as of now", keys: "n", run: () => go(withQuery({ as_of: null })), unless: asOf ? null : "you see the present" },
  ]);
  const parts = shownPath.split("/").filter(Boolean);
  const crumbs = [
    { text: "Stores", to: "/" },
    { text: row?.name ?? "Store", to: storePlace(store) },
    ...parts.slice(0, -1).map((part, index) => ({ text: part, to: storePlace(store, `?path=${encodeURIComponent(`/${parts.slice(0, index + 1).join("/")}/`)}`) })),
  ];
  return (
    <>
      <Head
        title={parts.at(-1) ?? shownPath}
        crumbs={crumbs}
        shown={<span class="mono">{seen(parts.at(-1) ?? shownPath)}</span>}
        note={
          entry ? (
            <span class="acts">
              <Kind kind={entry.kind} />
              {entry.pinned && <Badge tone="accent">pinned</Badge>}
              {entry.importance !== null && <Badge>importance {entry.importance}</Badge>}
              <EntryBadges entry={entry} />
              <span>
                v{entry.revision}, changed <Time at={entry.updated_at} />
              </span>
            </span>
          ) : (
            <Badge tone="danger">deleted</Badge>
          )
        }
        acts={
          <>
            {entry && !isEditing && (
              <>
                <Button icon="edit" tone="primary" hint="e" onClick={edit} disabled={unless !== null} title={unless ?? undefined}>
                  Edit
                </Button>
                <Button icon="pin" hint="p" onClick={pin} disabled={unless !== null} aria-pressed={entry.pinned}>
                  {entry.pinned ? "Unpin" : "Pin"}
                </Button>
              </>
            )}
            <Menu
              label="More acts"
              icon="more"
              items={[
                { label: "Copy link", hint: "y", run: () => void copyLink() },
                { label: "Copy as curl", run: () => void copyCurl() },
                { label: "Move or rename", run: () => setDialog("move"), unless },
                { label: "Delete", run: remove, unless, tone: "danger" },
                { label: "Erase with all versions", run: () => setDialog("erase"), tone: "danger", unless: mayManage(row) ? null : "for the owner" },
              ]}
            />
          </>
        }
      />
      {asOf && <PastBanner at={asOf} />}
      {unless !== null && entry !== null && asOf === null && <p class="note">Read only: {unless}</p>}
      <Tabs
        label="Parts of this memory"
        current={tab}
        items={[
          { id: "content", text: "Content", href: href(tabPlace("content")) },
          { id: "history", text: `History ${versions.length >= 100 ? "100+" : versions.length}`, href: href(tabPlace("history")) },
          ...(!row || maySeeAccess(row) ? [{ id: "access", text: "Access", href: href(tabPlace("access")) }] : []),
          { id: "links", text: "Links", href: href(tabPlace("links")) },
        ]}
      />
      {tab === "history" ? (
        <History store={store} memory={memory} entry={entry} versions={versions} mayChange={mayEdit(row) && asOf === null} mayRedact={mayManage(row)} />
      ) : tab === "access" ? (
        <AccessPanel store={store} />
      ) : tab === "links" && entry ? (
        <Links store={store} entry={entry} />
      ) : entry === null ? (
        <Deleted store={store} versions={versions} mayChange={mayEdit(row)} />
      ) : isEditing && asOf === null ? (
        <Editor key={entry.id} store={store} entry={entry} draftKey={draftKey} onDone={() => setEditing(false)} />
      ) : (
        <Content store={store} entry={entry} versions={versions} />
      )}
      {dialog === "move" && entry && <MoveDialog store={store} entry={entry} onClose={() => setDialog(null)} />}
      {dialog === "erase" && <EraseDialog store={store} memory={memory} path={shownPath} versions={versions.length} onClose={() => setDialog(null)} onDone={() => go(storePlace(store))} />}
    </>
  );
}

/** A memory that is gone but not forgotten: its last text can be written again where it was. */
function Deleted({ store, versions, mayChange }: { store: string; versions: Version[]; mayChange: boolean }) {
  const gone = versions[0];
  const last = versions.find((version) => version.operation !== "deleted" && !version.redacted_at);
  const restore = () =>
    void attempt(async () => {
      if (!last) return;
      const { data } = await api.history(store, { memory_id: last.memory_id, view: "full", limit: 100 });
      const full = data.find((version) => version.id === last.id);
      if (!full || full.content === null || full.content === undefined) throw new Error("its text is redacted or sealed");
      const [outcome] = await write(store, [putBack(full, null)], "restore", () => `Brought back ${full.path ?? ""}`);
      if (outcome) go(memoryPlace(store, outcome.entry.path, outcome.entry.id));
    }, "Not brought back");
  return (
    <Empty title="This memory was deleted.">
      <p>
        {gone && (
          <>
            It went <Time at={gone.created_at} />.{" "}
          </>
        )}
        Its versions are kept under History.
      </p>
      <div class="acts">
        {mayChange && last && (
          <Button icon="undo" tone="primary" onClick={restore}>
            Bring back v{last.revision}
          </Button>
        )}
        <a class="button" href={href(to(location.pathname.slice("/console".length), { id: gone?.memory_id ?? null, tab: "history" }))}>
          History
        </a>
      </div>
    </Empty>
  );
}
