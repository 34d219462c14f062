// A form in a dialog: fields, a way out, one act, and why it was refused. What was typed stays when it was.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { seen } from "../text/format";
import { Button } from "./basics";
import { Dialog } from "./dialog";

interface FormDialogProps {
  title: string;
  /** What the button says. */
  act: string;
  /** Whether enough was filled in. */
  isReady: boolean;
  onClose: () => void;
  /** Closes the dialog itself when it is done; what it throws is shown. */
  run: () => Promise<void>;
  children: ComponentChildren;
}

export function FormDialog({ title, act, isReady, onClose, run, children }: FormDialogProps) {
  const id = useId();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!isReady || isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      await run();
    } catch (cause) {
      setProblem(cause instanceof Error ? cause.message : String(cause));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} tone="primary" isBusy={isBusy} disabled={!isReady}>
            {act}
          </Button>
        </>
      }
    >
      <form id={id} class="form" onSubmit={(event) => void submit(event)}>
        {children}
        {problem && (
          <p class="problem" role="alert">
            {seen(problem)}
          </p>
        )}
      </form>
    </Dialog>
  );
}
