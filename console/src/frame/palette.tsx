// The palette: stores, memories and commands by a few letters. What cannot run now is grey and says why.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Hit } from "../api/types";
import { allCommands, type Command } from "../state/commands";
import { go, memoryPlace, storePlace, to } from "../state/router";
import { useStores } from "../state/stores";
import { seen } from "../text/format";
import { Dialog } from "../ui/dialog";

/** How well letters fit a text, in order; higher is better, null is not at all. */
export function fit(text: string, wanted: string): number | null {
  if (wanted === "") return 0;
  const low = text.toLowerCase();
  const direct = low.indexOf(wanted);
  if (direct >= 0) return 100 - direct + (direct === 0 || /[\s/._-]/.test(low[direct - 1] ?? "") ? 20 : 0);
  let at = -1;
  for (const letter of wanted) {
    at = low.indexOf(letter, at + 1);
    if (at < 0) return null;
  }
  return 10 - Math.min(9, low.length / 40);
}

export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [hits, setHits] = useState<Hit[]>([]);
  const commands = useRef<Command[]>(allCommands());
  const stores = useStores().data?.data ?? [];
  const list = useRef<HTMLDivElement>(null);
  const wanted = text.trim().toLowerCase();
  useEffect(() => {
    setAt(0);
    if (wanted.length < 3) {
      setHits([]);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api.search(null, { query: text.trim(), limit: 6, mode: "lexical", explain: true, view: "basic" }, stop.signal).then(
        (answer) => setHits(answer.data),
        () => setHits([]),
      );
    }, 180);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);
  const places: Command[] = stores.map((row) => ({ label: `Store ${row.name}`, run: () => go(storePlace(row.memory_store_id)) }));
  const found: Command[] = hits.map((hit) => ({ label: `Memory ${hit.path}`, run: () => go(memoryPlace(hit.memory_store_id, hit.path, hit.id)) }));
  const ranked = [...commands.current, ...places]
    .map((command) => ({ command, score: fit(command.label, wanted) }))
    .filter((one): one is { command: Command; score: number } => one.score !== null)
    .sort((a, b) => b.score - a.score)
    .slice(0, 30)
    .map((one) => one.command);
  const shown = [...ranked, ...found];
  if (wanted !== "") shown.push({ label: `Search for “${text.trim()}”`, run: () => go(to("/search", { q: text.trim() })) });
  const choose = (command: Command | undefined) => {
    if (!command || command.unless) return;
    onClose();
    // After the dialog gave the focus back.
    setTimeout(() => command.run(), 0);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = (at + (event.key === "ArrowDown" ? 1 : shown.length - 1)) % Math.max(1, shown.length);
      setAt(next);
      list.current?.children[next]?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      choose(shown[at]);
    }
  };
  return (
    <Dialog title="Search or jump" onClose={onClose} size="palette">
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label="Store, memory or command"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown.length > 0 ? `palette-${at}` : undefined}
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <div class="palette-list" role="listbox" id="palette-list" aria-label="What was found" ref={list}>
        {shown.map((command, index) => (
          <div key={`${command.label} ${index}`} id={`palette-${index}`} class="palette-item" role="option" aria-selected={index === at} aria-disabled={command.unless ? "true" : undefined} onMouseMove={() => setAt(index)} onClick={() => choose(command)}>
            <span>{seen(command.label)}</span>
            {command.unless ? <span class="note">{command.unless}</span> : command.keys ? <kbd>{command.keys}</kbd> : null}
          </div>
        ))}
      </div>
      {shown.length === 0 && <p class="note">Nothing fits.</p>}
    </Dialog>
  );
}
