// Giving access: to whom, how much, how long. A second grant to the same replaces the first.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Level } from "../api/types";
import { changed, useQuery } from "../state/query";
import { session } from "../state/session";
import { say } from "../state/toasts";
import { seen } from "../text/format";
import { Field, levelText } from "../ui/basics";
import { FormDialog } from "../ui/form";

export function GrantForm({ store, onClose }: { store: string; onClose: () => void }) {
  const [who, setWho] = useState("");
  const [level, setLevel] = useState<Level>("read");
  const [days, setDays] = useState("");
  const known = useQuery(session.get()?.is_admin ? "principals" : null, () => api.principals());
  const run = async () => {
    const body: Parameters<typeof api.grant>[1] = { grantee: who.trim(), level };
    if (days !== "") body.ttl_seconds = Math.round(Number(days) * 86_400);
    const given = await api.grant(store, body);
    changed("access");
    say(`${given.grantee_name ?? who} may ${levelText(level)} now.`, async () => {
      await api.revoke(store, given.id);
      changed("access");
      say("The grant is taken back.");
    });
    onClose();
  };
  return (
    <FormDialog title="Grant access" act="Grant" isReady={who.trim() !== "" && (days === "" || Number(days) > 0)} onClose={onClose} run={run}>
      <Field label="To whom" note="A name, an id, or everyone.">
        <input value={who} list="grantees" autofocus autocomplete="off" onInput={(event) => setWho(event.currentTarget.value)} />
      </Field>
      <datalist id="grantees">
        <option value="everyone" />
        {(known.data?.data ?? []).map((one) => (
          <option key={one.id} value={one.name}>
            {seen(one.kind)}
          </option>
        ))}
      </datalist>
      <Field label="How much">
        <select value={level} onChange={(event) => setLevel(event.currentTarget.value as Level)}>
          <option value="search">search only: finds memories, no lists, no history</option>
          <option value="read">read everything</option>
          <option value="readwrite">read and write</option>
        </select>
      </Field>
      <Field label="For how many days (empty is without an end)">
        <input inputMode="decimal" value={days} onInput={(event) => setDays(event.currentTarget.value)} />
      </Field>
    </FormDialog>
  );
}
