// One agent: which memory it may use, the stores it reaches, its keys, and its context as it gets it.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Principal as Row, Switches } from "../api/types";
import { useQuery } from "../state/query";
import { go, href, storePlace, to } from "../state/router";
import { lookAs, mayWrite } from "../state/session";
import { attempt, say } from "../state/toasts";
import { count, keyName, seen } from "../text/format";
import { Badge, Button, LevelBadge, Time } from "../ui/basics";
import { Head } from "../ui/page";
import { Empty, Loaded } from "../ui/states";
import { Slots } from "./context";

const SWITCHES: [keyof Omit<Switches, "principal">, string, string][] = [
  ["enabled", "Memory", "Any memory at all. Off keeps what is stored and gives none of it."],
  ["self", "Self", "What it keeps for itself."],
  ["chat", "Chats", "The memory of the chats it is in."],
  ["user", "Users", "The memory of the people it is in a chat with."],
];

async function principalOf(id: string): Promise<Row | null> {
  let page: string | undefined;
  for (let turn = 0; turn < 50; turn += 1) {
    const answer = await api.principals(page);
    const found = answer.data.find((row) => row.id === id || row.name === id);
    if (found) return found;
    if (!answer.next_page) return null;
    page = answer.next_page;
  }
  return null;
}

export function AgentView({ rest: id }: { rest: string }) {
  const who = useQuery(`principal:${id}`, () => principalOf(id));
  return (
    <Loaded query={who} what="This agent">
      {(row) => (row ? <Agent row={row} /> : <Empty title="Nothing here, or you may not see it." />)}
    </Loaded>
  );
}

function Agent({ row }: { row: Row }) {
  const stores = useQuery(`stores-of:${row.id}`, () => api.storesOf(row.id));
  const keys = useQuery("keys", () => api.keys());
  const own = (keys.data?.data ?? []).filter((key) => key.principal === row.id);
  const view = () => {
    lookAs({ id: row.id, name: row.name });
    go("/");
  };
  return (
    <>
      <Head
        title={row.name}
        crumbs={[{ text: "Agents", to: "/agents" }]}
        note={
          <span class="acts">
            {row.kind} {row.is_admin && <Badge tone="accent">administrator</Badge>} <code class="id">{row.id}</code> since <Time at={row.created_at} />
          </span>
        }
        acts={
          <Button icon="eye" onClick={view}>
            View as {seen(row.name)}
          </Button>
        }
      />
      <div class="cards">
        <SwitchCard id={row.id} />
        <section class="card">
          <h2>Stores it reaches</h2>
          <Loaded query={stores} what="Its stores" rows={3}>
            {(answer) =>
              answer.data.length === 0 ? (
                <p class="muted">None.</p>
              ) : (
                <table class="table">
                  <caption class="sr">Stores it reaches</caption>
                  <tbody>
                    {answer.data.map((store) => (
                      <tr key={store.memory_store_id}>
                        <td class="wide">
                          <a href={href(storePlace(store.memory_store_id))}>{seen(store.name)}</a>
                        </td>
                        <td class="num">{store.memories === null ? "" : count(store.memories)}</td>
                        <td>
                          <a href={href(to(storePlace(store.memory_store_id, "/access"), { who: row.name }))}>
                            <LevelBadge level={store.level} />
                          </a>
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              )
            }
          </Loaded>
        </section>
        <section class="card">
          <h2>Keys</h2>
          {own.length === 0 ? (
            <p class="muted">None.</p>
          ) : (
            <ul class="plain-list">
              {own.map((key) => (
                <li key={key.id}>
                  {seen(keyName(key.name).text)} <Badge>{key.level}</Badge> {key.revoked_at && <Badge tone="warn">revoked</Badge>}
                </li>
              ))}
            </ul>
          )}
          <a href={href("/keys")}>All keys</a>
        </section>
      </div>
      <section class="section">
        <h2>Its context, as it would get it now</h2>
        <Slots id={row.id} query={{ principal: row.id }} />
      </section>
    </>
  );
}

function SwitchCard({ id }: { id: string }) {
  const query = useQuery(`switches:${id}`, () => api.switches(id));
  const [now, setNow] = useState<Switches | null>(null);
  const flip = (name: keyof Omit<Switches, "principal">, value: boolean) =>
    void attempt(async () => {
      const before = now ?? query.data;
      setNow(await api.changeSwitches(id, { [name]: value }));
      say(`${name} is ${value ? "on" : "off"}.`, async () => {
        if (before) setNow(await api.changeSwitches(id, { [name]: before[name] }));
      });
    }, "Not switched");
  return (
    <section class="card">
      <h2>Which memory it may use</h2>
      <Loaded query={query} what="Its switches" rows={3}>
        {(read) => {
          const shown = now ?? read;
          return (
            <div class="form">
              {SWITCHES.map(([name, label, note]) => (
                <label key={name} class="check">
                  <input type="checkbox" role="switch" checked={shown[name]} disabled={!mayWrite() || (name !== "enabled" && !shown.enabled)} onChange={(event) => flip(name, event.currentTarget.checked)} />
                  <span>
                    <strong>{label}</strong> <span class="note">{note}</span>
                  </span>
                </label>
              ))}
            </div>
          );
        }}
      </Loaded>
    </section>
  );
}
