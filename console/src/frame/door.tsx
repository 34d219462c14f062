// Signing in: a key goes to the server once and comes back as a cookie that scripts cannot read. The key is kept nowhere.

import { useState } from "preact/hooks";
import { ApiError } from "../api/http";
import { useAtom } from "../state/atom";
import { onceFailed, session, signIn, signOut } from "../state/session";
import { seen } from "../text/format";
import { Button, Field } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Brand } from "./rail";

function KeyForm({ isDialog }: { isDialog?: boolean }) {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (key.trim() === "") {
      setProblem("Paste a key first.");
      return;
    }
    setBusy(true);
    setProblem(null);
    try {
      await signIn(key.trim());
    } catch (cause) {
      setProblem(cause instanceof ApiError && cause.status === 401 ? "This key opens nothing: it is wrong, has ended, or was revoked." : cause instanceof Error ? cause.message : String(cause));
    } finally {
      setKey("");
      setBusy(false);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void submit(event)} autocomplete="off">
      <Field label="Key" note="It is sent once and kept by neither this page nor your browser.">
        <input type="password" name="loci-key" value={key} autocomplete="off" spellcheck={false} autofocus aria-invalid={problem ? "true" : undefined} aria-describedby="key-problem" onInput={(event) => setKey(event.currentTarget.value)} />
      </Field>
      <p id="key-problem" class="problem" role="alert">
        {problem}
      </p>
      <Button type="submit" tone="primary" isBusy={isBusy}>
        {isDialog ? "Go on" : "Sign in"}
      </Button>
    </form>
  );
}

export function Door() {
  const isUsed = useAtom(onceFailed);
  return (
    <main class="door">
      <div class="door-card">
        <p class="brand">
          <Brand />
        </p>
        <h1>Sign in to the console</h1>
        {isUsed && <p class="problem">This link was used already, or is too old. Sign in with a key, or start the server's console command for another link.</p>}
        <KeyForm />
        <p class="note">
          The first start of a server prints a key and a link that signs in once. Keys are made with <code>loci key create</code>.
        </p>
      </div>
    </main>
  );
}

/** The session ended while somebody was at work: the page stays as it is behind the dialog. */
export function EndedDialog() {
  const who = useAtom(session);
  return (
    <Dialog title="Your session has ended" onClose={() => undefined} isFixed>
      <div class="form">
        <p>Sign in again as {who ? seen(who.principal.name) : "yourself"} to go on. What you typed is still here.</p>
        <KeyForm isDialog />
        <button type="button" class="link" onClick={() => void signOut()}>
          Leave instead
        </button>
      </div>
    </Dialog>
  );
}
