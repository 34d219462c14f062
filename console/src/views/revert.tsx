// Taking back what somebody wrote since a time: a filter, what it would do, a choice, and one write for all of it.
//
// What others changed since is unticked; what was redacted cannot come back; what was created is deleted, never erased.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { RevertPlan, RevertRow } from "../api/types";
import { touched, undoWrites } from "../memory/acts";
import { useQuery } from "../state/query";
import { go, href, memoryPlace, storePlace, to, usePlace } from "../state/router";
import { whyReadOnly } from "../state/session";
import { mayEdit, useStore } from "../state/stores";
import { attempt, say } from "../state/toasts";
import { fromInput, localInput, plural, seen } from "../text/format";
import { ActorName, Badge, Button, Field, Name } from "../ui/basics";
import { Head } from "../ui/page";
import { Empty, Loaded } from "../ui/states";

const DAY = 86_400_000;

export function Revert({ store }: { store: string }) {
  const row = useStore(store);
  const { query } = usePlace();
  const actor = query.get("actor") ?? "";
  const since = query.get("since");
  const until = query.get("until");
  const prefix = query.get("prefix") ?? "";
  const [form, setForm] = useState({ actor, since: localInput(since ?? new Date(Date.now() - DAY).toISOString()), until: until ? localInput(until) : "", prefix });
  const isAsked = actor !== "" && since !== null;
  const body: api.RevertQuery = { actor, since: since ?? "", dry_run: true };
  if (until) body.until = until;
  if (prefix) body.prefix = prefix;
  const plan = useQuery(isAsked ? `live:${store}:revert:${JSON.stringify(body)}` : null, () => api.revert(store, body));
  const people = useQuery(`actors:${store}`, () => actorsOf(store, row?.last_seq ?? 0));
  const submit = (event: Event) => {
    event.preventDefault();
    // A minute that was picked means its beginning; one that came with the address is exact and stays so.
    const exact = since && localInput(since) === form.since ? since : fromInput(form.since);
    go(to(storePlace(store, "/revert"), { actor: form.actor.trim(), since: exact, until: form.until ? fromInput(form.until) : null, prefix: form.prefix.trim() }));
  };
  return (
    <>
      <Head title="Revert" crumbs={[{ text: "Stores", to: "/" }, { text: row?.name ?? "Store", to: storePlace(store) }]} note="Take back everything that somebody wrote in a time, as one change that can itself be undone." />
      <form class="form-row" onSubmit={submit}>
        <Field label="Written by">
          <input value={form.actor} list="revert-actors" required autocomplete="off" placeholder="apikey_…, sesn_…, prn_…" onInput={(event) => setForm({ ...form, actor: event.currentTarget.value })} />
        </Field>
        <datalist id="revert-actors">
          {(people.data ?? []).map((id) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <Field label="Since">
          <input type="datetime-local" value={form.since} required onInput={(event) => setForm({ ...form, since: event.currentTarget.value })} />
        </Field>
        <Field label="Until (empty is now)">
          <input type="datetime-local" value={form.until} onInput={(event) => setForm({ ...form, until: event.currentTarget.value })} />
        </Field>
        <Field label="Below the path">
          <input value={form.prefix} placeholder="/" onInput={(event) => setForm({ ...form, prefix: event.currentTarget.value })} />
        </Field>
        <Button type="submit" tone="primary">
          Show what it would do
        </Button>
      </form>
      {!isAsked ? (
        <>
          <Empty title="Choose who, and since when.">
            <p>Nothing is changed before you have seen each memory that would be. The history of a memory links here too.</p>
          </Empty>
          {(people.data ?? []).length > 0 && (
            <p class="acts">
              <span class="muted">Wrote here lately:</span>
              {(people.data ?? []).map((id) => (
                <button key={id} type="button" class="link" onClick={() => setForm({ ...form, actor: id })}>
                  <Name id={id} />
                </button>
              ))}
            </p>
          )}
        </>
      ) : (
        <Loaded query={plan} what="The dry run">
          {(data) => <Plan key={data.data.map((one) => one.memory_id).join()} store={store} plan={data} body={body} unless={mayEdit(row) ? null : (whyReadOnly() ?? "you may only read this store")} />}
        </Loaded>
      )}
    </>
  );
}

/** Who wrote in the newest thousand changes. */
async function actorsOf(store: string, last: number): Promise<string[]> {
  const { data } = await api.changes(store, Math.max(0, last - 1000));
  return [...new Set(data.map((change) => change.created_by).flatMap((by) => (by ? [by.session_id ?? by.api_key_id ?? by.user_id ?? by.service_account_id ?? ""] : [])))].filter(Boolean);
}

const WORDS: Record<RevertRow["action"], string> = { restore: "back to", delete: "deleted, as it was created then", bring_back: "brought back" };

function Plan({ store, plan, body, unless }: { store: string; plan: RevertPlan; body: api.RevertQuery; unless: string | null }) {
  const [chosen, setChosen] = useState<Set<string>>(() => new Set(plan.data.filter((one) => one.state === "clean").map((one) => one.memory_id)));
  const [isBusy, setBusy] = useState(false);
  const of = (state: RevertRow["state"]) => plan.data.filter((one) => one.state === state).length;
  const apply = async () => {
    setBusy(true);
    await attempt(async () => {
      const done = await api.revert(store, { ...body, dry_run: false, memory_ids: [...chosen] });
      touched(store);
      const written = done.data.map((one) => ({ memory_id: one.memory_id, path: one.path ?? "", revision: one.revision, operation: one.action === "delete" ? ("deleted" as const) : ("modified" as const) }));
      say(`Reverted ${plural(done.data.length, "memory", "memories")}.`, () => undoWrites(store, written));
    }, "Nothing was reverted");
    setBusy(false);
  };
  if (plan.data.length === 0) return <Empty title="They wrote nothing here in that time, or it was taken back already." />;
  return (
    <div class="form">
      <p role="status">
        <strong>{of("clean")} clean</strong>
        {of("changed_since") > 0 && `, ${of("changed_since")} changed since by others (unticked)`}
        {of("impossible") > 0 && `, ${of("impossible")} cannot be reverted`}
        {plan.is_truncated && "; there are more than 5,000, take a shorter time"}.
      </p>
      <table class="table cards-narrow">
        <caption class="sr">What would be reverted</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="sr">Select</span>
            </th>
            <th scope="col">Path</th>
            <th scope="col">Would be</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {plan.data.map((one) => (
            <tr key={one.memory_id}>
              <td class="check-cell">
                <input
                  type="checkbox"
                  aria-label={`Revert ${seen(one.path ?? one.memory_id)}`}
                  disabled={one.state === "impossible"}
                  checked={chosen.has(one.memory_id)}
                  onChange={() => {
                    const next = new Set(chosen);
                    if (!next.delete(one.memory_id)) next.add(one.memory_id);
                    setChosen(next);
                  }}
                />
              </td>
              <td class="wide">
                <a class="path" href={href(memoryPlace(store, one.path, one.memory_id, { tab: "history" }))}>
                  {seen(one.path ?? "(redacted)")}
                </a>
              </td>
              <td>
                {WORDS[one.action]} {one.to_revision !== null && `v${one.to_revision}`} <span class="note">now v{one.revision}</span>
              </td>
              <td>
                {one.state === "clean" ? (
                  <Badge tone="ok">clean</Badge>
                ) : one.state === "changed_since" ? (
                  <>
                    <Badge tone="warn">changed since</Badge> <ActorName actor={one.changed_by} />
                  </>
                ) : (
                  <Badge tone="danger">redacted, cannot come back</Badge>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="acts">
        <Button tone="primary" icon="undo" isBusy={isBusy} disabled={unless !== null || chosen.size === 0} onClick={() => void apply()}>
          Revert {chosen.size} as one change
        </Button>
        {unless && <span class="note">{unless}</span>}
      </div>
    </div>
  );
}
