// Where the page begins: preferences before anything is drawn, then who is signed in, then the frame.

import { render } from "preact";
import { askAhead } from "./frame/ahead";
import { App } from "./frame/app";
import { warm } from "./frame/routes";
import { applyPrefs } from "./state/prefs";
import { listenToLinks } from "./state/router";
import { findSession, takeOnce } from "./state/session";

applyPrefs();
listenToLinks();
const once = takeOnce();
void findSession(once);
// A word that signs in may change whose answers these are.
if (once === null) askAhead();
warm();
const root = document.getElementById("app");
if (root) render(<App />, root);
