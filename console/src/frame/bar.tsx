// The bar on top: the palette, whether the stream is live, and who is signed in.

import { useAtom } from "../state/atom";
import { isHelpOpen, isPaletteOpen } from "../state/commands";
import { liveState } from "../state/live";
import { prefer, prefs } from "../state/prefs";
import { session, signOut } from "../state/session";
import { seen } from "../text/format";
import { Button } from "../ui/basics";
import { Menu } from "../ui/dialog";
import { Icon } from "../ui/icon";
import { isRailOpen } from "./rail";

const LIVE = { off: ["", "Not live"], connecting: ["", "Connecting"], live: ["live-on", "Live"], lost: ["live-lost", "Connection lost, trying again"] } as const;

export function Bar() {
  const who = useAtom(session);
  const state = useAtom(liveState);
  const liked = useAtom(prefs);
  const [tone, text] = LIVE[state];
  const isMac = navigator.platform.startsWith("Mac");
  return (
    <header class="bar">
      <span class="only-narrow">
        <Button icon="menu" tone="quiet" label="Menu" onClick={() => isRailOpen.set(true)} />
      </span>
      <button type="button" class="jump" onClick={() => isPaletteOpen.set(true)} aria-haspopup="dialog">
        <Icon name="search" />
        <span>Search or jump</span>
        <kbd>{isMac ? "⌘ K" : "Ctrl K"}</kbd>
      </button>
      <span class="bar-space" />
      <span class={`live ${tone}`} role="status">
        <span class="live-dot" aria-hidden="true" />
        <span class={state === "lost" ? undefined : "live-text"}>{text}</span>
      </span>
      <Menu
        label={`${who ? seen(who.principal.name) : "You"}: settings and signing out`}
        icon="user"
        text={<span class="user-text">{who ? seen(who.principal.name) : ""}</span>}
        items={[
          { label: `Theme: ${liked.theme}`, run: () => prefer({ theme: liked.theme === "system" ? "light" : liked.theme === "light" ? "dark" : "system" }) },
          { label: `Rows: ${liked.density}`, run: () => prefer({ density: liked.density === "default" ? "compact" : "default" }) },
          { label: `Times: ${liked.zone === "utc" ? "UTC" : "local"}`, run: () => prefer({ zone: liked.zone === "utc" ? "local" : "utc" }) },
          { label: `Letter keys: ${liked.letters ? "on" : "off"}`, run: () => prefer({ letters: !liked.letters }) },
          { label: "Keyboard", hint: "?", run: () => isHelpOpen.set(true) },
          { label: "Sign out", run: () => void signOut() },
        ]}
      />
    </header>
  );
}
