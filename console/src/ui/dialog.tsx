// Dialogs: the browser's own element, which traps focus, returns it, and closes with Esc. Also menus that open below a button.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./basics";
import type { IconName } from "./icon";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons at its foot. */
  foot?: ComponentChildren;
  size?: "small" | "wide" | "palette";
  /** Whether Esc and the cross may close it. */
  isFixed?: boolean;
}

export function Dialog({ title, onClose, children, foot, size = "small", isFixed }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before anything is painted: what is typed next is already meant for it.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (!dialog) return;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={`dialog dialog-${size}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!isFixed) onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current && !isFixed && size === "palette") onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        {!isFixed && <Button icon="close" tone="quiet" label="Close" onClick={onClose} />}
      </div>
      <div class="dialog-body">{children}</div>
      {foot && <div class="dialog-foot">{foot}</div>}
    </dialog>
  );
}

export interface MenuItem {
  label: string;
  run: () => void;
  hint?: string;
  tone?: "danger";
  unless?: string | null | undefined;
}

/** A button with a list of acts below it; arrows move, Esc closes. */
export function Menu({ label, icon, items, text }: { label: string; icon: IconName; items: MenuItem[]; text?: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const outside = (event: MouseEvent) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("mousedown", outside);
    box.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    return () => document.removeEventListener("mousedown", outside);
  }, [isOpen]);
  const onKey = (event: KeyboardEvent) => {
    if (!isOpen) return;
    const all = [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape") {
      event.stopPropagation();
      event.preventDefault();
      setOpen(false);
      box.current?.querySelector<HTMLElement>("button")?.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      all[(at + (event.key === "ArrowDown" ? 1 : all.length - 1)) % all.length]?.focus();
    }
  };
  return (
    <div class="menu" ref={box} onKeyDown={onKey}>
      <Button icon={icon} tone="plain" {...(text ? { "aria-label": label } : { label })} aria-haspopup="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {text}
      </Button>
      {isOpen && (
        <div class="menu-list" role="menu" aria-label={label}>
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={item.tone === "danger" ? "menu-item danger" : "menu-item"}
              aria-disabled={item.unless ? "true" : undefined}
              title={item.unless ?? undefined}
              onClick={() => {
                if (item.unless) return;
                setOpen(false);
                item.run();
              }}
            >
              <span>{item.label}</span>
              {item.unless ? <span class="note">{item.unless}</span> : item.hint ? <kbd>{item.hint}</kbd> : null}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** Links that look like tabs; the place says which is open. */
export function Tabs({ label, items, current }: { label: string; items: { id: string; text: ComponentChildren; href: string }[]; current: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {items.map((item) => (
        <a key={item.id} href={item.href} aria-current={item.id === current ? "page" : undefined}>
          {item.text}
        </a>
      ))}
    </nav>
  );
}

/** A choice of a few, as buttons in a row. */
export function Choice<T extends string>({ label, value, options, onChange }: { label: string; value: T; options: { id: T; text: string }[]; onChange: (value: T) => void }) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map((option) => (
        <button key={option.id} type="button" aria-pressed={option.id === value} onClick={() => onChange(option.id)}>
          {option.text}
        </button>
      ))}
    </div>
  );
}
