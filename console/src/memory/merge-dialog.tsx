// Two wrote at once: what they saved, what you typed, and what both began from. Nothing is lost until somebody chooses.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Entry } from "../api/types";
import { attributeLabel, attributeText } from "../text/diff";
import { chunksOf, clashes, merged, mergedTags, type Chunk, type Pick } from "../text/merge";
import { plural, seen } from "../text/format";
import { Button } from "../ui/basics";
import { Choice, Dialog } from "../ui/dialog";
import { copy } from "../ui/page";
import { say } from "../state/toasts";
import { attributesOfDraft, draftFrom, tagsOf, type Changeable, type Draft } from "./draft";

interface MergeProps {
  base: Entry;
  theirs: Entry;
  draft: Draft;
  onClose: () => void;
  onSave: (draft: Draft) => Promise<void>;
}

const changeableOf = (entry: Entry): Changeable => attributesOfDraft(draftFrom(entry));

export function MergeDialog({ base, theirs, draft, onClose, onSave }: MergeProps) {
  const chunks = useRef<Chunk[]>(chunksOf(base.content ?? "", theirs.content ?? "", draft.content)).current;
  const conflicts = chunks.filter((chunk) => chunk.type === "conflict").length;
  const [picks, setPicks] = useState<(Pick | undefined)[]>(() => new Array<Pick | undefined>(conflicts).fill(undefined));
  const [text, setText] = useState(() => merged(chunks, []));
  const [isTyped, setTyped] = useState(false);
  const mine = attributesOfDraft(draft);
  const both = clashes(changeableOf(base), changeableOf(theirs), mine);
  const [attributePicks, setAttributePicks] = useState<Record<string, "theirs" | "mine">>({});
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (!isTyped) setText(merged(chunks, picks));
  }, [picks]);
  const open = picks.filter((pick) => pick === undefined).length;
  const choose = (at: number, pick: Pick) => {
    setTyped(false);
    setPicks(picks.map((old, index) => (index === at ? pick : old)));
  };
  /** What only one side changed comes with it; what both changed as was picked. */
  const result = (): Draft => {
    const theirDraft = draftFrom(theirs);
    const baseDraft = draftFrom(base);
    const out: Draft = { ...theirDraft, content: text };
    const names = ["kind", "importance", "pinned", "expires_at", "summary", "visibility"] as const;
    for (const name of names) {
      const isClash = both.some((clash) => clash.name === name);
      const takesMine = isClash ? (attributePicks[name] ?? "mine") === "mine" : draft[name] !== baseDraft[name];
      if (takesMine) Object.assign(out, { [name]: draft[name] });
    }
    out.tags = mergedTags(base.tags, theirs.tags, tagsOf(draft.tags)).join(" ");
    return out;
  };
  const save = async () => {
    setBusy(true);
    await onSave(result());
    setBusy(false);
  };
  let number = -1;
  return (
    <Dialog
      title={`v${theirs.revision} was saved while you edited v${base.revision}`}
      onClose={onClose}
      size="wide"
      foot={
        <>
          <Button icon="copy" onClick={() => void copy(draft.content).then((done) => say(done ? "Your text is copied." : "The browser did not let this page copy."))}>
            Copy my text
          </Button>
          <Button onClick={onClose}>Back to editing</Button>
          <Button tone="primary" isBusy={isBusy} disabled={open > 0 && !isTyped} onClick={() => void save()}>
            Save as v{theirs.revision + 1}
          </Button>
        </>
      }
    >
      <div class="form">
        <p role="status">
          {conflicts === 0 ? "The changes do not touch each other and are put together below." : open > 0 ? `${plural(open, "conflict")} to settle; everything else is put together already.` : "Every conflict is settled."}
        </p>
        {conflicts > 0 && (
          <div>
            {chunks.map((chunk, index) => {
              if (chunk.type === "same") return <Settled key={index} lines={chunk.lines} />;
              number += 1;
              return <Conflict key={index} chunk={chunk} at={number} all={conflicts} pick={picks[number]} onPick={choose} />;
            })}
          </div>
        )}
        {both.map((clash) => (
          <div key={clash.name} class="form-row">
            <span>
              {attributeLabel(clash.name)}: both changed it.
            </span>
            <Choice
              label={attributeLabel(clash.name)}
              value={attributePicks[clash.name] ?? "mine"}
              onChange={(pick) => setAttributePicks({ ...attributePicks, [clash.name]: pick })}
              options={[
                { id: "theirs", text: `Theirs: ${seen(attributeText(clash.name, clash.theirs))}` },
                { id: "mine", text: `Mine: ${seen(attributeText(clash.name, clash.mine))}` },
              ]}
            />
          </div>
        ))}
        <label class="field">
          <span class="field-label">Result</span>
          <textarea
            rows={10}
            value={text}
            onInput={(event) => {
              setTyped(true);
              setText(event.currentTarget.value);
            }}
          />
        </label>
      </div>
    </Dialog>
  );
}

function Settled({ lines }: { lines: string[] }) {
  const shown = lines.length > 6 ? [...lines.slice(0, 3), `… ${plural(lines.length - 6, "line")} …`, ...lines.slice(-3)] : lines;
  return <div class="merge-same">{seen(shown.join("\n"))}</div>;
}

function Conflict({ chunk, at, all, pick, onPick }: { chunk: Extract<Chunk, { type: "conflict" }>; at: number; all: number; pick: Pick | undefined; onPick: (at: number, pick: Pick) => void }) {
  const side = (name: string, lines: string[]) => (
    <div>
      <p class="field-label">{name}</p>
      <pre>{lines.length === 0 ? "(nothing)" : seen(lines.join("\n"))}</pre>
    </div>
  );
  return (
    <div class="merge-chunk" role="group" aria-label={`Conflict ${at + 1} of ${all}`}>
      <div class="merge-cols">
        {side("Before", chunk.base)}
        {side("Theirs", chunk.theirs)}
        {side("Mine", chunk.mine)}
      </div>
      <div class="merge-acts">
        <span class="note">
          Conflict {at + 1} of {all}
        </span>
        {(["theirs", "mine", "both"] as const).map((one) => (
          <Button key={one} aria-pressed={pick === one} tone={pick === one ? "primary" : "plain"} onClick={() => onPick(at, one)}>
            {one === "theirs" ? "Theirs" : one === "mine" ? "Mine" : "Both"}
          </Button>
        ))}
      </div>
    </div>
  );
}
