// The keys, all of them.

import { Dialog } from "../ui/dialog";
import { useAtom } from "../state/atom";
import { prefer, prefs } from "../state/prefs";

const GROUPS: [string, [string, string][]][] = [
  ["Everywhere", [["Ctrl K", "palette"], ["/", "search"], ["?", "this list"], ["u", "undo"], ["Esc", "close or back"]]],
  ["Go to", [["g s", "stores"], ["g f", "feed"], ["g o", "overview"], ["g e", "knowledge"], ["g c", "context"], ["g a", "access"], ["g u", "audit log"], ["g k", "keys"], ["g h", "health"]]],
  ["In a list", [["j", "next"], ["k", "before"], ["Enter", "open"], ["x", "select"], ["Shift x", "select up to here"], ["p", "pin"], ["t", "tags"], ["+", "importance up"], ["-", "importance down"]]],
  ["On a memory", [["e", "edit"], ["Ctrl S", "save"], ["h", "history"], ["d", "compare with the one before"], ["p", "pin"], ["[", "older"], ["]", "newer"], ["n", "now"], ["w", "who can see it, and why"], ["y", "copy the link"]]],
  ["In search and the feed", [["w", "why"], ["Space", "pause the feed"]]],
];

export function Help({ onClose }: { onClose: () => void }) {
  const liked = useAtom(prefs);
  return (
    <Dialog title="Keyboard" onClose={onClose} size="wide">
      <div class="form">
        {GROUPS.map(([name, keys]) => (
          <section class="section" key={name}>
            <h3>{name}</h3>
            <div class="keys">
              {keys.map(([key, what]) => (
                <div key={key}>
                  <span>{what}</span>
                  <kbd>{key}</kbd>
                </div>
              ))}
            </div>
          </section>
        ))}
        <label class="check">
          <input type="checkbox" checked={liked.letters} onChange={(event) => prefer({ letters: event.currentTarget.checked })} />
          Single letters do something
        </label>
      </div>
    </Dialog>
  );
}
