// Keys: who holds which, how much each opens, and the end of one. A secret is shown once, when it is made.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Key } from "../api/types";
import { TypedConfirm } from "../memory/dialogs";
import { changed, useQuery } from "../state/query";
import { mayWrite } from "../state/session";
import { say } from "../state/toasts";
import { keyName, plural, seen } from "../text/format";
import { Badge, Button, Field, Name, Time } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { FormDialog } from "../ui/form";
import { copy, Head } from "../ui/page";
import { Empty, Loaded } from "../ui/states";

export function Keys() {
  const query = useQuery("keys", () => api.keys());
  const [isMaking, setMaking] = useState(false);
  const [ending, setEnding] = useState<Key | null>(null);
  const [isAll, setAll] = useState(false);
  return (
    <>
      <Head
        title="Keys"
        acts={
          mayWrite() && (
            <Button icon="plus" tone="primary" onClick={() => setMaking(true)}>
              New key
            </Button>
          )
        }
      />
      <label class="check">
        <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.currentTarget.checked)} />
        Revoked and ended too
      </label>
      <Loaded query={query} what="The keys">
        {({ data }) => {
          const rows = data.filter((key) => isAll || (!key.revoked_at && !(key.expires_at && Date.parse(key.expires_at) < Date.now())));
          if (rows.length === 0) return <Empty title="No key opens anything." />;
          return (
            <table class="table cards-narrow">
              <caption class="sr">Keys</caption>
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Acts for</th>
                  <th scope="col">May</th>
                  <th scope="col">Where</th>
                  <th scope="col">Made</th>
                  <th scope="col">Used</th>
                  <th scope="col">Ends</th>
                  <th scope="col">
                    <span class="sr">Acts</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((key) => (
                  <tr key={key.id}>
                    <td class="wide">
                      <strong>{seen(keyName(key.name).text)}</strong> {key.hint && <code class="id">{seen(key.hint)}…</code>} {key.revoked_at && <Badge tone="warn">revoked</Badge>}
                      {key.acts_for_agents && <Badge>acts for agents</Badge>}
                      <MadeFor name={key.name} keys={data} />
                      {key.console_session && <span class="note">ends when its maker signs out</span>}
                    </td>
                    <td data-label="Acts for">
                      <Name id={key.principal} />
                    </td>
                    <td>
                      {key.level} {key.audience === "model" && <Badge title="Does not see what is for people only">for a model</Badge>}
                    </td>
                    <td>{key.session_id ? "one session" : key.stores ? plural(key.stores.length, "store") : "everywhere"}</td>
                    <td data-label="Made">
                      <Time at={key.created_at} />
                    </td>
                    <td data-label="Used">{key.used_at ? <Time at={key.used_at} /> : <span class="muted">–</span>}</td>
                    <td data-label="Ends">{key.expires_at ? <Time at={key.expires_at} /> : <span class="nowrap">no end</span>}</td>
                    <td>
                      {!key.revoked_at && mayWrite() && (
                        <Button tone="danger" onClick={() => setEnding(key)} aria-label={`Revoke ${seen(keyName(key.name).text)}`}>
                          Revoke
                        </Button>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }}
      </Loaded>
      {isMaking && <NewKey onClose={() => setMaking(false)} />}
      {ending && (
        <TypedConfirm
          title={`Revoke ${seen(keyName(ending.name).text)}?`}
          expected={keyName(ending.name).text}
          act="Revoke this key"
          onClose={() => setEnding(null)}
          run={async () => {
            await api.revokeKey(ending.id);
            changed("keys");
            say(`${keyName(ending.name).text} opens nothing any more.`);
            setEnding(null);
          }}
        >
          <p>Whatever uses this key is refused from the next request on. Browsers that signed in with it are signed out. A revoked key cannot be brought back; make another one instead.</p>
        </TypedConfirm>
      )}
    </>
  );
}

/** Which key a browser showed for its own. */
function MadeFor({ name, keys }: { name: string; keys: Key[] }) {
  const { of } = keyName(name);
  if (!of) return null;
  const shown = keys.find((key) => key.id === of);
  return <span class="note">signed in with {shown ? seen(shown.name) : of}</span>;
}

function NewKey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [who, setWho] = useState("");
  const [level, setLevel] = useState("readwrite");
  const [audience, setAudience] = useState("host");
  const [days, setDays] = useState("90");
  const [own, setOwn] = useState("");
  const isLasting = own.trim() !== "";
  const [secret, setSecret] = useState<string | null>(null);
  const people = useQuery("principals", () => api.principals());
  const run = async () => {
    const body: Record<string, unknown> = { name: name.trim(), level, audience };
    if (who.trim() !== "") body["principal"] = who.trim();
    if (isLasting && days !== "") body["expires_in_seconds"] = Math.round(Number(days) * 86_400);
    const made = await api.createKey(body, own.trim());
    changed("keys");
    setOwn("");
    setSecret(made.secret ?? "");
  };
  if (secret !== null) {
    return (
      <Dialog title="The key is made" onClose={onClose} foot={<Button onClick={onClose}>I have kept it</Button>} isFixed>
        <div class="form">
          <p>This is the secret. It is shown now and never again.</p>
          <div class="secret">
            <code>{secret}</code>
            <Button icon="copy" onClick={() => void copy(secret).then((done) => say(done ? "Copied." : "The browser did not let this page copy."))}>
              Copy
            </Button>
          </div>
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog title="New key" act="Make it" isReady={name.trim() !== ""} onClose={onClose} run={run}>
      <Field label="Name" note="For people: where it is used.">
        <input value={name} autofocus onInput={(event) => setName(event.currentTarget.value)} />
      </Field>
      <Field label="Acts for" note="Empty is you.">
        <input value={who} list="key-people" autocomplete="off" onInput={(event) => setWho(event.currentTarget.value)} />
      </Field>
      <datalist id="key-people">
        {(people.data?.data ?? []).map((one) => (
          <option key={one.id} value={one.name} />
        ))}
      </datalist>
      <div class="form-row">
        <Field label="May">
          <select value={level} onChange={(event) => setLevel(event.currentTarget.value)}>
            <option value="search">search</option>
            <option value="read">read</option>
            <option value="readwrite">read and write</option>
            <option value="full">everything they may</option>
          </select>
        </Field>
        <Field label="Used by">
          <select value={audience} onChange={(event) => setAudience(event.currentTarget.value)}>
            <option value="host">a program</option>
            <option value="model">a model</option>
          </select>
        </Field>
        <Field label="Days (empty is no end)">
          <input inputMode="decimal" value={isLasting ? days : ""} disabled={!isLasting} onInput={(event) => setDays(event.currentTarget.value)} />
        </Field>
      </div>
      <Field label="Your own key" note="To make a key that lasts. Without it the new one ends when you sign out, or when this session does.">
        <input type="password" name="loci-key" value={own} autocomplete="off" spellcheck={false} onInput={(event) => setOwn(event.currentTarget.value)} />
      </Field>
    </FormDialog>
  );
}
