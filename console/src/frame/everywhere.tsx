// What works on every view: going places by key, the palette, the list of keys.

import { useAtom } from "../state/atom";
import { isHelpOpen, isPaletteOpen, useCommands } from "../state/commands";
import { useKeys } from "../state/keys";
import { prefer, prefs } from "../state/prefs";
import { go, usePlace } from "../state/router";
import { lookAs, session, signOut } from "../state/session";
import { viewAs } from "../api/http";
import { undoLast } from "../state/toasts";
import { Help } from "./help";
import { Palette } from "./palette";

export function Everywhere() {
  const isPalette = useAtom(isPaletteOpen);
  const isHelp = useAtom(isHelpOpen);
  const who = useAtom(session);
  const liked = useAtom(prefs);
  const borrowed = useAtom(viewAs);
  const { path } = usePlace();
  const store = /^\/s\/[^/]+/.exec(path)?.[0] ?? null;
  const isAdmin = who?.is_admin === true;
  const inStore = (rest: string) => () => go(store ? store + rest : "/");
  const needsStore = store ? null : "open a store first";
  const needsAdmin = isAdmin ? null : "for administrators";
  const keys = {
    "Ctrl k": () => isPaletteOpen.set(!isPaletteOpen.get()),
    "?": () => isHelpOpen.set(true),
    "/": () => go("/search"),
    "g s": () => go("/"),
    "g f": () => go("/feed"),
    "g o": () => go("/overview"),
    "g e": inStore("/knowledge"),
    "g c": inStore("/context"),
    "g a": () => go(store ? `${store}/access` : "/access"),
    "g u": () => go("/audit"),
    "g k": () => go("/keys"),
    "g h": () => go("/health"),
  };
  useKeys(keys);
  useCommands([
    { label: "Go to stores", keys: "g s", run: () => go("/") },
    { label: "Search memories", keys: "/", run: () => go("/search") },
    { label: "Live feed", keys: "g f", run: () => go("/feed") },
    { label: "Overview", keys: "g o", run: () => go("/overview") },
    { label: "Sessions", run: () => go("/sessions") },
    { label: "New memory", run: inStore("/new"), unless: needsStore },
    { label: "Knowledge of this store", keys: "g e", run: inStore("/knowledge"), unless: needsStore },
    { label: "Context slots of this store", keys: "g c", run: inStore("/context"), unless: needsStore },
    { label: "Who has access, and why", keys: "g a", run: inStore("/access"), unless: needsStore },
    { label: "Grant access", run: inStore("/access"), unless: needsStore },
    { label: "Hygiene of this store", run: inStore("/hygiene"), unless: needsStore },
    { label: "Revert changes by somebody", run: inStore("/revert"), unless: needsStore },
    { label: "Settings of this store", run: inStore("/settings"), unless: needsStore },
    { label: "Agents and their settings", run: () => go("/agents"), unless: needsAdmin },
    { label: "Audit log", keys: "g u", run: () => go("/audit"), unless: needsAdmin },
    { label: "Keys: make or revoke one", keys: "g k", run: () => go("/keys"), unless: needsAdmin },
    { label: "Health and index freshness", keys: "g h", run: () => go("/health"), unless: needsAdmin },
    { label: "Export everything", run: () => go("/health"), unless: needsAdmin },
    { label: "See as yourself again", run: () => lookAs(null), unless: borrowed ? null : "you see as yourself" },
    { label: "Undo the last change", keys: "u", run: () => void undoLast() },
    { label: `Theme: ${liked.theme === "dark" ? "light" : "dark"}`, run: () => prefer({ theme: liked.theme === "dark" ? "light" : "dark" }) },
    { label: "Theme: as the system", run: () => prefer({ theme: "system" }) },
    { label: `Rows: ${liked.density === "default" ? "compact" : "default"}`, run: () => prefer({ density: liked.density === "default" ? "compact" : "default" }) },
    { label: `Times in ${liked.zone === "utc" ? "local time" : "UTC"}`, run: () => prefer({ zone: liked.zone === "utc" ? "local" : "utc" }) },
    { label: "Keyboard", keys: "?", run: () => isHelpOpen.set(true) },
    { label: "Sign out", run: () => void signOut() },
  ]);
  return (
    <>
      {isPalette && <Palette onClose={() => isPaletteOpen.set(false)} />}
      {isHelp && <Help onClose={() => isHelpOpen.set(false)} />}
    </>
  );
}
