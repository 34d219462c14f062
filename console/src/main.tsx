// Where the page begins: preferences before anything is drawn, then who is signed in, then the frame.

import { render } from "preact";
import { App } from "./frame/app";
import { warm } from "./frame/routes";
import { applyPrefs } from "./state/prefs";
import { listenToLinks } from "./state/router";
import { findSession } from "./state/session";

applyPrefs();
listenToLinks();
warm();
const root = document.getElementById("app");
if (root) render(<App />, root);
void findSession();
