// The frame around every view: who is signed in decides between the door and the page; the place decides the view.

import { useEffect } from "preact/hooks";
import { sessionEnded } from "../api/http";
import { useAtom } from "../state/atom";
import { connect, disconnect } from "../state/live";
import { session } from "../state/session";
import { Waiting } from "../ui/states";
import { Banners } from "./banners";
import { Bar } from "./bar";
import { Door, EndedDialog } from "./door";
import { Everywhere } from "./everywhere";
import { Rail } from "./rail";
import { Routes } from "./routes";
import { Toasts } from "./toasts";

export function App() {
  const who = useAtom(session);
  const isEnded = useAtom(sessionEnded);
  useEffect(() => {
    if (!who || isEnded) return;
    connect();
    return disconnect;
  }, [who?.principal.id, isEnded]);
  if (who === undefined) return <div class="door" key="door" aria-busy="true"><div class="door-card"><Waiting rows={2} /></div></div>;
  if (who === null) return <Door />;
  return (
    <div class="frame" key="frame">
      <a class="sr" href="#page">
        Skip to the page
      </a>
      <Rail />
      <div class="column">
        <Bar />
        <Banners />
        <main class="page" id="page" tabIndex={-1}>
          <Routes />
        </main>
      </div>
      <Everywhere />
      <Toasts />
      {isEnded && <EndedDialog />}
    </div>
  );
}
