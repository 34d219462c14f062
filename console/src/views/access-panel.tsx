// Who reaches a store, by which rule, and why. The server decides and explains; the page only says it in words.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Access, Grant, Level, Rule } from "../api/types";
import { changed, useQuery } from "../state/query";
import { go, usePlace, withQuery } from "../state/router";
import { mayManage, useStore } from "../state/stores";
import { attempt, say } from "../state/toasts";
import { absolute, plural, seen } from "../text/format";
import { Button, Field, levelText, LevelBadge, Name, Principal, Time } from "../ui/basics";
import { Empty, Failed, Loaded } from "../ui/states";
import { GrantForm } from "./grant-form";

export function AccessPanel({ store }: { store: string }) {
  const row = useStore(store);
  const { query: place } = usePlace();
  const who = place.get("who") ?? "";
  const list = useQuery(`access:${store}`, () => api.accessList(store));
  const [isGranting, setGranting] = useState(false);
  const mayShare = row !== undefined && (mayManage(row) || row.level === "readwrite");
  const revoke = (grant: Grant, name: string) =>
    void attempt(async () => {
      const { revoked } = await api.revoke(store, grant.id);
      changed("access");
      const others = revoked.length - 1;
      const undo = async () => {
        const body: { grantee: string; level: Level; expires_at?: string } = { grantee: grant.grantee, level: grant.level };
        if (grant.expires_at) body.expires_at = grant.expires_at;
        await api.grant(store, body);
        changed("access");
        say(`${name} may ${levelText(grant.level)} again.`);
      };
      say(others > 0 ? `Revoked, with ${plural(others, "grant")} given on by ${name}.` : `Revoked: ${name}.`, undo);
    }, "Not revoked");
  return (
    <div class="form">
      <form
        class="form-row"
        onSubmit={(event) => {
          event.preventDefault();
          const input = new FormData(event.currentTarget).get("who");
          go(withQuery({ who: typeof input === "string" ? input.trim() : null }), true);
        }}
      >
        <Field label="Can somebody see this? Name or id">
          <input name="who" defaultValue={who} key={who} autocomplete="off" />
        </Field>
        <Button type="submit">Explain</Button>
        {mayShare && (
          <Button icon="plus" tone="primary" onClick={() => setGranting(true)}>
            Grant access
          </Button>
        )}
      </form>
      {who !== "" && <One store={store} who={who} mayShare={mayShare} revoke={revoke} />}
      <Loaded query={list} what="Who has access">
        {(page) =>
          page.data.length === 0 ? (
            <Empty title="Nobody but its owner." />
          ) : (
            <table class="table cards-narrow">
              <caption class="sr">Who has access</caption>
              <thead>
                <tr>
                  <th scope="col">Who</th>
                  <th scope="col">May</th>
                  <th scope="col">Because</th>
                  <th scope="col">Until</th>
                  <th scope="col">
                    <span class="sr">Acts</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {page.data.map((access) => {
                  const grant = access.matched?.grant ?? null;
                  return (
                    <tr key={access.principal.id}>
                      <td>
                        <Principal who={access.principal} />
                      </td>
                      <td>
                        <LevelBadge level={access.level} />
                      </td>
                      <td class="wide">{access.matched ? <RuleText rule={access.matched} /> : <span class="muted">no rule</span>}</td>
                      <td data-label="Until">{grant ? grant.expires_at ? <Time at={grant.expires_at} /> : <span class="nowrap">no end</span> : ""}</td>
                      <td>
                        <span class="acts">
                          <Button onClick={() => go(withQuery({ who: access.principal.name }), true)} aria-label={`Why can ${seen(access.principal.name)} see this?`}>
                            Why?
                          </Button>
                          {grant && mayShare && (
                            <Button tone="danger" onClick={() => revoke(grant, access.principal.name)} aria-label={`Revoke access of ${seen(access.principal.name)}`}>
                              Revoke
                            </Button>
                          )}
                        </span>
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          )
        }
      </Loaded>
      <p class="note">A store is reached by the first of these that holds: owning it or administering; a grant; being in the chat that owns it; being in a chat with the user who owns it; a grant to everyone.</p>
      {isGranting && <GrantForm store={store} onClose={() => setGranting(false)} />}
    </div>
  );
}

/** A rule as half a sentence. */
export function RuleText({ rule }: { rule: Rule }) {
  const { grant, chat } = rule;
  switch (rule.rule) {
    case "owner":
      return <>owns the store</>;
    case "administrator":
      return <>administers this server</>;
    case "member":
      return <>is in the chat {chat ? seen(chat.name) : ""} that owns it</>;
    case "companion":
      return <>is in the chat {chat ? seen(chat.name) : ""} with the person whose memory it is</>;
    case "everyone":
    case "grant":
      return (
        <>
          {rule.rule === "everyone" ? "granted to everyone" : "granted"}
          {grant && (
            <>
              {" "}
              by <Name id={grant.given_by} /> <span title={absolute(grant.created_at)}>on {absolute(grant.created_at).slice(0, 11).trim()}</span>
            </>
          )}
        </>
      );
  }
}

function One({ store, who, mayShare, revoke }: { store: string; who: string; mayShare: boolean; revoke: (grant: Grant, name: string) => void }) {
  const query = useQuery(`access:${store}:${who}`, () => api.access(store, who));
  if (query.error?.isMissing) return <Empty title={`Nobody is called ${seen(who)}.`} />;
  if (query.error && !query.data) return <Failed error={query.error} again={query.again} what="The explanation" />;
  return (
    <Loaded query={query} what="The explanation" rows={2}>
      {(access) => <Explained access={access} mayShare={mayShare} revoke={revoke} />}
    </Loaded>
  );
}

function Explained({ access, mayShare, revoke }: { access: Access; mayShare: boolean; revoke: (grant: Grant, name: string) => void }) {
  const name = seen(access.principal.name);
  const { matched } = access;
  const grant = matched?.grant ?? null;
  return (
    <section class="card" aria-label={`Access of ${name}`}>
      <p>
        <strong>
          {name} {access.level === "none" || access.is_switched_off ? "cannot see this store" : `can ${access.level === "owner" ? "do everything here" : levelText(access.level)}`}
        </strong>
        {matched && (
          <>
            : <RuleText rule={matched} />
            {grant && (grant.expires_at ? `, until ${absolute(grant.expires_at)}` : ", without an end")}.
          </>
        )}
        {!matched && ": no rule gives access."}
      </p>
      {access.is_switched_off && <p>The operator has switched this memory off for {name}, whatever rule would give it.</p>}
      {access.also.length > 0 && (
        <div>
          <p class="field-label">Would also match, but the first rule decides</p>
          <ul class="plain-list">
            {access.also.map((rule, index) => (
              <li key={index}>
                {levelText(rule.level)}: <RuleText rule={rule} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {grant && mayShare && (
        <p class="acts">
          <span>To stop it:</span>
          <Button tone="danger" onClick={() => revoke(grant, access.principal.name)}>
            Revoke this grant
          </Button>
          {(access.would_lose ?? 0) > 0 && <span class="note">{plural(access.would_lose ?? 0, "other")} would lose access with it.</span>}
        </p>
      )}
      {matched && !grant && access.level !== "none" && <p class="note">There is no grant to revoke: {matched.rule === "member" || matched.rule === "companion" ? "take them out of the chat, or switch this memory off for them under Agents." : "this comes with what they are."}</p>}
    </section>
  );
}
