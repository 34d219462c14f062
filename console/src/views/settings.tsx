// A store itself: what it is called and for, what it does with repeats, how large it may grow, and its end.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Policy, StoreRow } from "../api/types";
import { TypedConfirm } from "../memory/dialogs";
import { changed, useQuery } from "../state/query";
import { go, storePlace } from "../state/router";
import { whyReadOnly } from "../state/session";
import { mayManage, useStore } from "../state/stores";
import { attempt, say } from "../state/toasts";
import { bytes, count, plural, seen } from "../text/format";
import { Badge, Button, Field, Numbers, Principal } from "../ui/basics";
import { Head } from "../ui/page";
import { Loaded, Waiting } from "../ui/states";

export function StoreSettings({ store }: { store: string }) {
  const row = useStore(store);
  if (!row) return <Waiting />;
  return (
    <>
      <Head title="Settings" crumbs={[{ text: "Stores", to: "/" }, { text: row.name, to: storePlace(store) }]} note={mayManage(row) ? undefined : (whyReadOnly() ?? "Only the owner and administrators change a store.")} />
      {row.memories !== null && (
        <Numbers
          items={[
            { label: "Memories", value: count(row.memories) },
            { label: "Content", value: bytes(row.content_bytes ?? 0) },
            { label: "Versions", value: count(row.versions ?? 0) },
            ...Object.entries(row.by_kind ?? {})
              .sort((a, b) => b[1] - a[1])
              .slice(0, 4)
              .map(([kind, some]) => ({ label: kind === "" ? "without a kind" : seen(kind), value: count(some) })),
          ]}
        />
      )}
      <div class="cards">
        <Describe row={row} />
        {row.level !== "search" && <Rules row={row} />}
        {row.level !== "search" && <Compaction row={row} />}
        <End row={row} />
      </div>
    </>
  );
}

function Describe({ row }: { row: StoreRow }) {
  const [name, setName] = useState(row.name);
  const [description, setDescription] = useState(row.description);
  const may = mayManage(row);
  const save = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      await api.updateStore(row.memory_store_id, { name, description });
      changed("stores");
      say("Saved.", async () => {
        await api.updateStore(row.memory_store_id, { name: row.name, description: row.description });
        changed("stores");
        setName(row.name);
        setDescription(row.description);
      });
    }, "Not saved");
  };
  return (
    <section class="card">
      <h2>Name and purpose</h2>
      <form class="form" onSubmit={save}>
        <Field label="Name">
          <input value={name} disabled={!may} onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <Field label="Description" note="Models read this to know what the store is for.">
          <textarea rows={3} value={description} disabled={!may} onInput={(event) => setDescription(event.currentTarget.value)} />
        </Field>
        <p class="note">
          Owner {row.owner && <Principal who={row.owner} />} <code class="id">{row.memory_store_id}</code>
        </p>
        {may && (
          <div>
            <Button type="submit" tone="primary" disabled={name.trim() === "" || (name === row.name && description === row.description)}>
              Save
            </Button>
          </div>
        )}
      </form>
    </section>
  );
}

const REPEATS: Record<Policy["repeats"], string> = { allow: "are kept", refuse: "are refused", merge: "become a version of the one that is there" };

function Rules({ row }: { row: StoreRow }) {
  const query = useQuery(`policy:${row.memory_store_id}`, () => api.policy(row.memory_store_id));
  const may = mayManage(row);
  const change = (body: Partial<Policy>) =>
    void attempt(async () => {
      await api.changePolicy(row.memory_store_id, body);
      changed(`policy:${row.memory_store_id}`);
      say("Saved.");
    }, "Not saved");
  return (
    <section class="card">
      <h2>Rules</h2>
      <Loaded query={query} what="The rules" rows={3}>
        {(policy) => (
          <div class="form">
            <Field label="New memories with a text that is there already">
              <select value={policy.repeats} disabled={!may} onChange={(event) => change({ repeats: event.currentTarget.value as Policy["repeats"] })}>
                {Object.entries(REPEATS).map(([id, text]) => (
                  <option key={id} value={id}>
                    {text}
                  </option>
                ))}
              </select>
            </Field>
            <Field label="Soft cap" note="Compaction keeps the store near this many memories; pinned ones never go. Empty is any number.">
              <input
                inputMode="numeric"
                disabled={!may}
                defaultValue={policy.soft_cap === null ? "" : String(policy.soft_cap)}
                onChange={(event) => {
                  const text = event.currentTarget.value.trim();
                  if (text === "" || Number.isInteger(Number(text))) change({ soft_cap: text === "" ? null : Number(text) });
                }}
              />
            </Field>
            <p class="note">
              At most {bytes(policy.content_bytes_max)} a memory and {count(policy.memories_max)} memories. {policy.partitioning === "by_owner" ? "Each writer has a part of its own." : "All writers share one tree."}
            </p>
          </div>
        )}
      </Loaded>
    </section>
  );
}

function Compaction({ row }: { row: StoreRow }) {
  const [target, setTarget] = useState("");
  const [plan, setPlan] = useState<{ removed: string[]; summaries: string[]; memories_left: number } | null>(null);
  if (!mayManage(row)) return null;
  const body = { max_memories: Number(target) };
  const isGood = Number.isInteger(body.max_memories) && body.max_memories > 0;
  const run = (isDry: boolean) =>
    void attempt(async () => {
      const answer = await api.compact(row.memory_store_id, { ...body, dry_run: isDry });
      setPlan(isDry ? answer : null);
      if (isDry) return;
      changed("stores");
      changed(`live:${row.memory_store_id}`);
      say(`Compacted: ${plural(answer.removed.length, "memory", "memories")} went, ${plural(answer.memories_left, "memory", "memories")} left. Each can be brought back from its history.`);
    }, "Not compacted");
  return (
    <section class="card">
      <h2>Compaction</h2>
      <p class="note">Merges episodes into summaries, then removes what matters least, until this many are left.</p>
      <form
        class="form-row"
        onSubmit={(event) => {
          event.preventDefault();
          run(true);
        }}
      >
        <Field label="Memories to keep">
          <input
            inputMode="numeric"
            value={target}
            onInput={(event) => {
              setTarget(event.currentTarget.value);
              setPlan(null);
            }}
          />
        </Field>
        <Button type="submit" disabled={!isGood}>
          Show what would go
        </Button>
      </form>
      {plan && (
        <div class="form" role="status">
          <p>
            {plural(plan.removed.length, "memory", "memories")} would go, {plural(plan.summaries.length, "summary", "summaries")} would come, {count(plan.memories_left)} would be left.
          </p>
          <ul class="plain-list">
            {plan.removed.slice(0, 10).map((path) => (
              <li key={path}>
                <code>{seen(path)}</code>
              </li>
            ))}
            {plan.removed.length > 10 && <li class="muted">and {plan.removed.length - 10} more</li>}
          </ul>
          {plan.removed.length > 0 && (
            <div>
              <Button tone="danger" onClick={() => run(false)}>
                Compact now
              </Button>
            </div>
          )}
        </div>
      )}
    </section>
  );
}

function End({ row }: { row: StoreRow }) {
  const [isRemoving, setRemoving] = useState(false);
  const [isArchiving, setArchiving] = useState(false);
  if (!mayManage(row)) return null;
  return (
    <section class="card">
      <h2>End</h2>
      {row.archived_at ? (
        <p>
          <Badge tone="warn">archived</Badge> It can be read and searched; nothing can be written.
        </p>
      ) : (
        <>
          <p>Archiving keeps everything and ends writing, for good.</p>
          <div>
            <Button onClick={() => setArchiving(true)}>Archive</Button>
          </div>
        </>
      )}
      <p>Deleting removes the store with everything in it.</p>
      <div>
        <Button tone="danger" onClick={() => setRemoving(true)}>
          Delete this store
        </Button>
      </div>
      {isArchiving && (
        <TypedConfirm
          title="Archive this store?"
          expected={row.name}
          act="Archive it"
          onClose={() => setArchiving(false)}
          run={async () => {
            await api.archiveStore(row.memory_store_id);
            changed("stores");
            say(`${row.name} is archived.`);
            setArchiving(false);
          }}
        >
          <p>Agents can still read and search it. Nobody can write to it again, and this cannot be undone.</p>
        </TypedConfirm>
      )}
      {isRemoving && (
        <TypedConfirm
          title="Delete this store?"
          expected={row.name}
          act="Delete it for good"
          onClose={() => setRemoving(false)}
          run={async () => {
            await api.removeStore(row.memory_store_id);
            changed("stores");
            say(`${row.name} is gone.`);
            go("/");
          }}
        >
          <p>
            <strong>Gone:</strong> {row.memories === null ? "all memories" : plural(row.memories, "memory", "memories")} with every version, the feed, grants and facts. There is no undo.
          </p>
          <p>
            <strong>Out of reach:</strong> exports and backups made before now.
          </p>
        </TypedConfirm>
      )}
    </section>
  );
}
