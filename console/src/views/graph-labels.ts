// Where the words of a line go in a drawing: on the line, beside whatever is drawn already. One that fits nowhere is left out, as a word
// over another can be read by nobody.

export interface Spot {
  x: number;
  y: number;
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Parts of the line from one end to the other, the middle first. */
const TRIED = [0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75];
/** Letters of the fonts we name are narrower than this part of their size. */
const WIDEST = 0.62;
const SIZE = 10;

/** The room that a text of one line takes, rather too much than too little. */
export function textBox(text: string, at: Spot, anchor: "start" | "middle", size: number): Box {
  const width = text.length * size * WIDEST;
  const left = anchor === "start" ? at.x : at.x - width / 2;
  return { left: left - 2, right: left + width + 2, top: at.y - size, bottom: at.y + size * 0.35 };
}

const overlap = (a: Box, b: Box): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** A place for the text of each line, or `null`. */
export function labelPlaces(taken: Box[], lines: { from: Spot; to: Spot; text: string }[]): (Spot | null)[] {
  const boxes = [...taken];
  return lines.map(({ from, to, text }) => {
    for (const part of TRIED) {
      const at = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
      const box = textBox(text, at, "middle", SIZE);
      if (boxes.some((other) => overlap(box, other))) continue;
      boxes.push(box);
      return at;
    }
    return null;
  });
}
