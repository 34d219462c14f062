// What is true of the whole page and must not be missed: no connection, another's eyes, a replica.

import { useEffect } from "preact/hooks";
import { isOffline, viewAs } from "../api/http";
import { useAtom } from "../state/atom";
import { liveState } from "../state/live";
import { changed } from "../state/query";
import { lookAs, session } from "../state/session";
import { seen } from "../text/format";
import { Button } from "../ui/basics";

export function Banners() {
  const offline = useAtom(isOffline);
  const borrowed = useAtom(viewAs);
  const who = useAtom(session);
  const live = useAtom(liveState);
  useEffect(() => {
    // Back again, as the stream shows: what could not be read is read now.
    if (live !== "live" || !isOffline.get()) return;
    isOffline.set(false);
    changed("");
  }, [live]);
  return (
    <>
      {offline && (
        <div class="banner" role="alert">
          <strong>The server cannot be reached.</strong> What you see is what was read last. Nothing you type is lost; writes wait until it is back.
        </div>
      )}
      {borrowed && (
        <div class="banner" role="status">
          <span>
            You see what <strong>{seen(borrowed.name)}</strong> would get. Nothing can be changed meanwhile.
          </span>
          <Button onClick={() => lookAs(null)}>See as yourself</Button>
        </div>
      )}
      {who?.server.is_replica && (
        <div class="banner" role="status">
          This server reads from a replica. It may be a moment behind, and writes are off.
        </div>
      )}
    </>
  );
}
