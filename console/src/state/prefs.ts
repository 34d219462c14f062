// What somebody likes: theme, density, time zone, single-letter keys. Kept in this browser; no secret is among it.

import { atom } from "./atom";

export interface Prefs {
  theme: "system" | "light" | "dark";
  density: "default" | "compact";
  zone: "local" | "utc";
  letters: boolean;
}

const KEY = "loci.console.prefs";
const FIRST: Prefs = { theme: "system", density: "default", zone: "local", letters: true };

function stored(): Prefs {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Prefs>;
    return {
      theme: found.theme === "light" || found.theme === "dark" ? found.theme : "system",
      density: found.density === "compact" ? "compact" : "default",
      zone: found.zone === "utc" ? "utc" : "local",
      letters: found.letters !== false,
    };
  } catch {
    return FIRST;
  }
}

export const prefs = atom<Prefs>(stored());

export function prefer(change: Partial<Prefs>): void {
  prefs.set({ ...prefs.get(), ...change });
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs.get()));
  } catch {
    // A browser that keeps nothing still shows the choice until it is closed.
  }
  applyPrefs();
}

/** Puts theme and density on the page; the styles follow. */
export function applyPrefs(): void {
  const { theme, density } = prefs.get();
  const root = document.documentElement;
  if (theme === "system") root.removeAttribute("data-theme");
  else root.setAttribute("data-theme", theme);
  root.setAttribute("data-density", density);
}
