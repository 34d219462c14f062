// Editing: text beside its preview, attributes below. The draft outlives reloads and ended sessions.
//
// A save carries the revision that was opened. When somebody else saved meanwhile it is not lost and not overwritten: the merge opens.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/http";
import * as api from "../api/routes";
import type { Actor, Entry } from "../api/types";
import { draftOf, dropDraft, keepDraft } from "../state/drafts";
import { useKeys } from "../state/keys";
import { onChange } from "../state/live";
import { actorId, useName } from "../state/names";
import { Markdown } from "../text/markdown";
import { fromInput, localInput, seen } from "../text/format";
import { Button, Field } from "../ui/basics";
import { Choice } from "../ui/dialog";
import { undoWrites, touched, writtenOf } from "./acts";
import { say } from "../state/toasts";
import { draftFrom, editOf, isSame, problemOf, type Draft, type Work } from "./draft";
import { MergeDialog } from "./merge-dialog";

export function Editor({ store, entry, draftKey, onDone }: { store: string; entry: Entry; draftKey: string; onDone: () => void }) {
  const [work, setWork] = useState<Work>(() => draftOf<Work>(draftKey) ?? { base: entry, draft: draftFrom(entry) });
  const [theirs, setTheirs] = useState<Entry | null>(null);
  const [news, setNews] = useState<{ by: Actor | null; revision: number } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { base, draft } = work;
  const isDirty = !isSame(draft, draftFrom(base));
  const change = (part: Partial<Draft>) => {
    const next = { base, draft: { ...draft, ...part } };
    setWork(next);
    keepDraft(draftKey, next);
  };
  useEffect(
    () =>
      onChange((event) => {
        if (event.memory_id === base.id && event.revision > base.revision) setNews({ by: event.created_by, revision: event.revision });
      }),
    [base.id, base.revision],
  );
  const writer = useName(actorId(news?.by))?.name ?? "Somebody";
  const isBehind = news !== null || entry.revision > base.revision;
  const openMerge = async () => {
    try {
      setTheirs(await api.entry(store, base.id));
    } catch (cause) {
      setProblem(cause instanceof Error ? cause.message : String(cause));
    }
  };
  const leave = () => {
    dropDraft(draftKey);
    onDone();
  };
  const save = async (over: Entry = base, wanted: Draft = draft): Promise<void> => {
    const wrong = problemOf(wanted);
    if (wrong) {
      setProblem(wrong);
      return;
    }
    setBusy(true);
    setProblem(null);
    try {
      const { data } = await api.edit(store, [editOf(over, wanted, over.revision)], "console");
      touched(store);
      const written = writtenOf(data);
      if (written.length > 0) say(`Saved v${data[0]?.entry.revision}`, () => undoWrites(store, written));
      else say("Nothing had changed.");
      setTheirs(null);
      leave();
    } catch (cause) {
      if (cause instanceof ApiError && cause.isStale) await openMerge();
      else if (cause instanceof ApiError && cause.isMissing) setProblem("Somebody deleted this memory meanwhile. Your text is still here: copy it, or save it as a new memory.");
      else setProblem(cause instanceof Error ? cause.message : String(cause));
    } finally {
      setBusy(false);
    }
  };
  useKeys({
    "Ctrl s": () => {
      if (!theirs) void save();
    },
  });
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {isBehind && !theirs && (
        <div class="sticky-note" role="alert">
          <span>
            {news ? `${seen(writer)} saved v${news.revision}` : `v${entry.revision} was saved`} while you edit v{base.revision}.
          </span>
          <Button onClick={() => void openMerge()}>Merge</Button>
        </div>
      )}
      <DraftFields draft={draft} change={change} />
      {problem && (
        <p class="problem" role="alert">
          {seen(problem)}
        </p>
      )}
      <div class="acts">
        <Button type="submit" tone="primary" hint="Ctrl S" isBusy={isBusy} disabled={!isDirty}>
          Save
        </Button>
        <Button onClick={leave}>{isDirty ? "Discard" : "Close"}</Button>
        {isDirty && <span class="note">The draft is kept in this tab until you save or discard it.</span>}
      </div>
      {theirs && <MergeDialog base={base} theirs={theirs} draft={draft} onClose={() => setTheirs(null)} onSave={(wanted) => save(theirs, wanted)} />}
    </form>
  );
}

/** The fields of a draft; used for new memories too. */
export function DraftFields({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) {
  const [pane, setPane] = useState<"both" | "text" | "preview">(() => (matchMedia("(max-width: 900px)").matches ? "text" : "both"));
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.focus(), []);
  return (
    <>
      <div>
        <Choice label="What is shown" value={pane} onChange={setPane} options={[{ id: "both", text: "Text and preview" }, { id: "text", text: "Text" }, { id: "preview", text: "Preview" }]} />
      </div>
      <div class={pane === "both" ? "editor-panes" : undefined}>
        {pane !== "preview" && <textarea ref={area} aria-label="Text (Markdown)" rows={16} value={draft.content} onInput={(event) => change({ content: event.currentTarget.value })} />}
        {pane !== "text" && (
          <div class="editor-preview" role="region" aria-label="Preview" tabIndex={0}>
            <Markdown text={draft.content} />
          </div>
        )}
      </div>
      <div class="form-row">
        <Field label="Kind">
          <input value={draft.kind} list="kinds" maxLength={64} onInput={(event) => change({ kind: event.currentTarget.value })} />
        </Field>
        <datalist id="kinds">
          {["fact", "preference", "episode", "summary", "howto", "document"].map((kind) => (
            <option key={kind} value={kind} />
          ))}
        </datalist>
        <Field label="Tags">
          <input value={draft.tags} onInput={(event) => change({ tags: event.currentTarget.value })} />
        </Field>
        <Field label="Importance (0 to 100)">
          <input inputMode="numeric" value={draft.importance} onInput={(event) => change({ importance: event.currentTarget.value })} />
        </Field>
        <Field label="Expires">
          <input type="datetime-local" value={draft.expires_at ? localInput(draft.expires_at) : ""} onInput={(event) => change({ expires_at: fromInput(event.currentTarget.value) })} />
        </Field>
        <Field label="Seen by">
          <select value={draft.visibility} onChange={(event) => change({ visibility: event.currentTarget.value as Draft["visibility"] })}>
            <option value="context">models and people</option>
            <option value="internal">people only</option>
            <option value="quarantine">nobody until approved</option>
          </select>
        </Field>
      </div>
      <div class="form-row">
        <Field label="Summary (one line, for indexes)">
          <input value={draft.summary} maxLength={1000} onInput={(event) => change({ summary: event.currentTarget.value })} />
        </Field>
        <label class="check">
          <input type="checkbox" checked={draft.pinned} onChange={(event) => change({ pinned: event.currentTarget.checked })} />
          Pinned
        </label>
      </div>
    </>
  );
}
