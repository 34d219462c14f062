// What just happened, with the way back. Read out politely; stays while pointed at.

import { useAtom } from "../state/atom";
import { dismiss, hold, toasts, undo, undoLast } from "../state/toasts";
import { useKeys } from "../state/keys";
import { seen } from "../text/format";
import { Button } from "../ui/basics";

export function Toasts() {
  const shown = useAtom(toasts);
  useKeys({ u: () => void undoLast() });
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map((toast) => (
        <div key={toast.id} class={toast.tone === "danger" ? "toast toast-danger" : "toast"} onMouseEnter={() => hold(toast.id, true)} onMouseLeave={() => hold(toast.id, false)} onFocusIn={() => hold(toast.id, true)} onFocusOut={() => hold(toast.id, false)}>
          <span>{seen(toast.text)}</span>
          {toast.undo && (
            <Button class="button undo" hint="u" onClick={() => void undo(toast)}>
              Undo
            </Button>
          )}
          <Button icon="close" label="Dismiss" onClick={() => dismiss(toast.id)} />
        </div>
      ))}
    </div>
  );
}
