// A new memory by hand. It is written only where nothing is yet.

import { useState } from "preact/hooks";
import { ApiError } from "../api/http";
import { draftOf, dropDraft, keepDraft } from "../state/drafts";
import { useKeys } from "../state/keys";
import { go, href, memoryPlace, storePlace, usePlace } from "../state/router";
import { whyReadOnly } from "../state/session";
import { mayEdit, useStore } from "../state/stores";
import { seen } from "../text/format";
import { Button, Field } from "../ui/basics";
import { Head } from "../ui/page";
import { Empty } from "../ui/states";
import { write } from "./acts";
import { attributesOfDraft, problemOf, type Draft } from "./draft";
import { DraftFields } from "./editor";

const BLANK: Draft = { content: "", kind: "", tags: "", importance: "", pinned: false, expires_at: null, summary: "", visibility: "context" };

export function CreateMemory({ store }: { store: string }) {
  const row = useStore(store);
  const { query } = usePlace();
  const key = `${store}.new`;
  const [work, setWork] = useState(() => draftOf<{ path: string; draft: Draft }>(key) ?? { path: query.get("prefix") ?? "/", draft: BLANK });
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const change = (next: typeof work) => {
    setWork(next);
    keepDraft(key, next);
  };
  const save = async () => {
    const wrong = problemOf(work.draft) ?? (/^\/.*[^/]$/.test(work.path) ? null : "A path begins with / and ends with a name.");
    if (wrong) {
      setProblem(wrong);
      return;
    }
    setBusy(true);
    try {
      const edit = { op: "put" as const, path: work.path, expect: { type: "absent" as const }, content: work.draft.content, attributes: attributesOfDraft(work.draft) };
      const [outcome] = await write(store, [edit], "console", (outcomes) => `Saved ${outcomes[0]?.entry.path ?? ""}`);
      dropDraft(key);
      if (outcome) go(memoryPlace(store, outcome.entry.path, outcome.entry.id), true);
    } catch (cause) {
      const isTaken = cause instanceof ApiError && cause.status === 409;
      setProblem(isTaken ? "Something has this path already, or lies above or below it. Choose another." : cause instanceof Error ? cause.message : String(cause));
      setBusy(false);
    }
  };
  useKeys({ "Ctrl s": () => void save() });
  if (row && !mayEdit(row)) {
    return (
      <>
        <Head title="New memory" crumbs={[{ text: "Stores", to: "/" }, { text: row.name, to: storePlace(store) }]} />
        <Empty title="You may not write here.">
          <p>{whyReadOnly() ?? "You may only read this store."}</p>
        </Empty>
      </>
    );
  }
  return (
    <>
      <Head title="New memory" crumbs={[{ text: "Stores", to: "/" }, { text: row?.name ?? "Store", to: storePlace(store) }]} />
      <form
        class="editor"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field label="Path">
          <input class="mono" value={work.path} maxLength={1024} onInput={(event) => change({ ...work, path: event.currentTarget.value })} />
        </Field>
        <DraftFields draft={work.draft} change={(part) => change({ ...work, draft: { ...work.draft, ...part } })} />
        {problem && (
          <p class="problem" role="alert">
            {seen(problem)}
          </p>
        )}
        <div class="acts">
          <Button type="submit" tone="primary" hint="Ctrl S" isBusy={isBusy}>
            Save
          </Button>
          <a class="button" href={href(storePlace(store))} onClick={() => dropDraft(key)}>
            Discard
          </a>
        </div>
      </form>
    </>
  );
}
