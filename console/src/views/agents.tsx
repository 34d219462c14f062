// Everybody who can own stores and hold keys: agents first, then people, services and chats.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Principal as Row } from "../api/types";
import { changed, usePages } from "../state/query";
import { go, href, usePlace, withQuery } from "../state/router";
import { lookAs, mayWrite } from "../state/session";
import { say } from "../state/toasts";
import { Badge, Button, Field, Principal, Time } from "../ui/basics";
import { Choice } from "../ui/dialog";
import { FormDialog } from "../ui/form";
import { Head, More } from "../ui/page";
import { Empty, Failed, Waiting } from "../ui/states";

type Kind = "agent" | "user" | "service" | "group" | "all";

export function Agents() {
  const { query } = usePlace();
  const kind = (query.get("kind") ?? "agent") as Kind;
  const filter = query.get("q") ?? "";
  const [turn, setTurn] = useState(0);
  const pages = usePages<Row>(`principals ${turn}`, (page) => api.principals(page));
  const [isMaking, setMaking] = useState(false);
  const rows = pages.rows.filter((row) => (kind === "all" || row.kind === kind) && row.name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      <Head
        title="Agents"
        note="Agents, people, services and chats: which memory each may use, and what it gets."
        acts={
          mayWrite() && (
            <Button icon="plus" tone="primary" onClick={() => setMaking(true)}>
              New agent
            </Button>
          )
        }
      />
      <div class="filters">
        <Choice
          label="Kind"
          value={kind}
          onChange={(next) => go(withQuery({ kind: next }), true)}
          options={[
            { id: "agent", text: "Agents" },
            { id: "user", text: "People" },
            { id: "service", text: "Services" },
            { id: "group", text: "Chats" },
            { id: "all", text: "All" },
          ]}
        />
        <input type="search" aria-label="Filter by name" placeholder="Filter by name" value={filter} onInput={(event) => go(withQuery({ q: event.currentTarget.value }), true)} />
      </div>
      {pages.error ? (
        <Failed error={pages.error} again={pages.again} what="The list" />
      ) : pages.isLoading && pages.rows.length === 0 ? (
        <Waiting />
      ) : rows.length === 0 ? (
        <Empty title="Nobody here yet.">
          <p>An agent appears when a door first hears of it, or when you make one.</p>
        </Empty>
      ) : (
        <table class="table cards-narrow">
          <caption class="sr">Agents</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Kind</th>
              <th scope="col">Since</th>
              <th scope="col">Id</th>
              <th scope="col">
                <span class="sr">Acts</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td class="wide">
                  <a href={href(`/agents/${encodeURIComponent(row.id)}`)}>
                    <Principal who={row} />
                  </a>{" "}
                  {row.is_admin && <Badge tone="accent">administrator</Badge>}
                </td>
                <td>{row.kind}</td>
                <td data-label="Since">
                  <Time at={row.created_at} />
                </td>
                <td>
                  <code class="id">{row.id}</code>
                </td>
                <td>
                  <Button
                    icon="eye"
                    onClick={() => {
                      lookAs({ id: row.id, name: row.name });
                      go("/");
                    }}
                  >
                    View as
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <More shown={pages.rows.length} hasMore={pages.hasMore} isLoading={pages.isLoading} more={pages.more} what="of everybody" />
      {isMaking && (
        <NewAgent
          onClose={() => setMaking(false)}
          onDone={() => {
            setMaking(false);
            setTurn(turn + 1);
          }}
        />
      )}
    </>
  );
}

function NewAgent({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState("agent");
  const run = async () => {
    const made = await api.createPrincipal({ name: name.trim(), kind });
    changed("principals");
    say(`${made.name} can be given keys and access now.`);
    onDone();
  };
  return (
    <FormDialog title="New agent" act="Make it" isReady={name.trim() !== ""} onClose={onClose} run={run}>
      <Field label="Name">
        <input value={name} autofocus onInput={(event) => setName(event.currentTarget.value)} />
      </Field>
      <Field label="Kind">
        <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
          <option value="agent">agent</option>
          <option value="user">person</option>
          <option value="service">service</option>
        </select>
      </Field>
    </FormDialog>
  );
}
