// Moving, erasing and redacting. Only what cannot be undone asks first, and says exactly what it does.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Entry, Redaction, Version } from "../api/types";
import { changed, useQuery } from "../state/query";
import { go, memoryPlace } from "../state/router";
import { say } from "../state/toasts";
import { plural, seen } from "../text/format";
import { Button, Field } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { FormDialog } from "../ui/form";
import { Loaded } from "../ui/states";
import { write } from "./acts";

export function MoveDialog({ store, entry, onClose }: { store: string; entry: Entry; onClose: () => void }) {
  const [path, setPath] = useState(entry.path);
  const run = async () => {
    const [outcome] = await write(store, [{ op: "put", memory_id: entry.id, expect: { type: "revision", revision: entry.revision }, to: path }], "console", () => `Moved to ${path}`);
    onClose();
    if (outcome) go(memoryPlace(store, outcome.entry.path, outcome.entry.id), true);
  };
  return (
    <FormDialog title="Move or rename" act="Move" isReady={path !== entry.path && path.startsWith("/")} onClose={onClose} run={run}>
      <Field label="Path" note="Links to it go on working; its history stays with it.">
        <input class="mono" value={path} autofocus onInput={(event) => setPath(event.currentTarget.value)} />
      </Field>
    </FormDialog>
  );
}

/** Asks for words that cannot be typed by accident. */
export function TypedConfirm({ title, expected, act, onClose, run, children }: { title: string; expected: string; act: string; onClose: () => void; run: () => Promise<void>; children: preact.ComponentChildren }) {
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (typed !== expected) return;
    setBusy(true);
    try {
      await run();
    } catch (cause) {
      setProblem(cause instanceof Error ? cause.message : String(cause));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="typed-form" tone="danger" isBusy={isBusy} disabled={typed !== expected}>
            {act}
          </Button>
        </>
      }
    >
      <form id="typed-form" class="form" onSubmit={(event) => void submit(event)}>
        {children}
        <Field label={`Type ${seen(expected)} to confirm`}>
          <input class="mono" value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
        </Field>
        {problem && (
          <p class="problem" role="alert">
            {seen(problem)}
          </p>
        )}
      </form>
    </Dialog>
  );
}

export function EraseDialog({ store, memory, path, versions, onClose, onDone }: { store: string; memory: string; path: string; versions: number; onClose: () => void; onDone: () => void }) {
  return (
    <TypedConfirm
      title="Erase this memory?"
      expected={path}
      act="Erase it for good"
      onClose={onClose}
      run={async () => {
        await api.erase(store, memory);
        changed(`live:${store}`);
        changed("stores");
        say(`Erased ${path}.`);
        onDone();
      }}
    >
      <p>
        <strong>Erased:</strong> the memory and {versions >= 100 ? "all of its versions" : plural(versions, "version")}, its search entries, its embeddings, and the facts read from it. Nobody can bring it back, and there is no undo.
      </p>
      <p>
        <strong>Out of reach:</strong> what was read already, and exports and backups made before now.
      </p>
    </TypedConfirm>
  );
}

/** The text is built from what the server says it would do, and claims no more. */
export function RedactDialog({ store, version, onClose }: { store: string; version: Version; onClose: () => void }) {
  const query = useQuery(`redaction:${version.id}`, () => api.redaction(store, [version.id]));
  return query.data ? (
    <RedactForm store={store} version={version} preview={query.data} onClose={onClose} />
  ) : (
    <Dialog title={`Redact v${version.revision}?`} onClose={onClose}>
      <Loaded query={query} what="What would be redacted">
        {() => null}
      </Loaded>
    </Dialog>
  );
}

function RedactForm({ store, version, preview, onClose }: { store: string; version: Version; preview: Redaction; onClose: () => void }) {
  const others = preview.same_content.filter((one) => one.memory_version_id !== version.id && !one.is_head);
  const heads = preview.same_content.filter((one) => one.memory_version_id !== version.id && one.is_head);
  const [chosen, setChosen] = useState<Set<string>>(() => new Set(others.map((one) => one.memory_version_id)));
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const asked = preview.data[0];
  const path = asked?.path ?? version.path ?? "";
  const all = [version.id, ...others.filter((one) => chosen.has(one.memory_version_id)).map((one) => one.memory_version_id)];
  const names = [version.revision, ...others.filter((one) => chosen.has(one.memory_version_id) && one.memory_id === version.memory_id).map((one) => one.revision)].sort((a, b) => a - b).map((one) => `v${one}`);
  const extra = all.length - names.length;
  const act = `Erase ${names.join(", ")}${extra > 0 ? ` and ${extra} elsewhere` : ""}`;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (typed !== path || reason.trim() === "") return;
    setBusy(true);
    try {
      await api.redact(store, all, reason.trim());
      changed(`live:${store}`);
      say(`Redacted ${names.join(", ")} of ${path}.`);
      onClose();
    } catch (cause) {
      setProblem(cause instanceof Error ? cause.message : String(cause));
      changed(`live:${store}`);
      setBusy(false);
    }
  };
  if (asked?.is_head) {
    return (
      <Dialog title={`Redact v${version.revision}?`} onClose={onClose} foot={<Button onClick={onClose}>Close</Button>}>
        <div class="form">
          <p>This is the present text of a live memory, which cannot be redacted as long as it is.</p>
          <p>Save another text over it, or delete the memory, and redact v{version.revision} then. To remove the memory with every version at once, choose Erase from the menu.</p>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      title={`Redact v${version.revision} of ${seen(path)}?`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="redact-form" tone="danger" isBusy={isBusy} disabled={typed !== path || reason.trim() === ""}>
            {act}
          </Button>
        </>
      }
    >
      <form id="redact-form" class="form" onSubmit={(event) => void submit(event)}>
        <p>The text of this version is erased for good. Nobody can bring it back, and there is no undo.</p>
        <p>
          <strong>Erased:</strong> the text, path and attributes of v{version.revision}
          {preview.vectors ? `, ${plural(preview.vectors, "embedding")}` : ", its search entries and embeddings"}
          {preview.facts ? `, ${plural(preview.facts, "fact")} known only from it` : ""}.
        </p>
        <p>
          <strong>Kept:</strong> that there was a version {version.revision}, its author and time, and that you redacted it and why.
        </p>
        <p>
          <strong>Out of reach:</strong> {preview.recalls && preview.recalls.count > 0 ? `what ${plural(preview.recalls.actors ?? preview.recalls.count, "reader")} got in ${plural(preview.recalls.count, "recall")}, ` : "copies that were read already, "}
          exports and backups made before now.
        </p>
        {others.length > 0 && (
          <fieldset class="card">
            <legend>The same text is also in</legend>
            {others.map((one) => (
              <label key={one.memory_version_id} class="check">
                <input
                  type="checkbox"
                  checked={chosen.has(one.memory_version_id)}
                  onChange={(event) => {
                    const next = new Set(chosen);
                    if (event.currentTarget.checked) next.add(one.memory_version_id);
                    else next.delete(one.memory_version_id);
                    setChosen(next);
                  }}
                />
                v{one.revision} of {seen(one.path ?? "a redacted path")}
              </label>
            ))}
          </fieldset>
        )}
        {heads.length > 0 && (
          <p class="problem">
            The same text is the present text of {heads.map((one) => seen(one.path ?? one.memory_id)).join(", ")}. That stays until it is changed or erased.
          </p>
        )}
        <Field label="Reason (needed, kept in the audit log)">
          <input value={reason} maxLength={500} autofocus onInput={(event) => setReason(event.currentTarget.value)} />
        </Field>
        <Field label={`Type ${seen(path)} to confirm`}>
          <input class="mono" value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
        </Field>
        {problem && (
          <p class="problem" role="alert">
            {seen(problem)}
          </p>
        )}
      </form>
    </Dialog>
  );
}
