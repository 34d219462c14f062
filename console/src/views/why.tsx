// Why a result is where it is: the server's own numbers, in words and as one bar.

import type { Explanation, Hit } from "../api/types";
import { seen } from "../text/format";

interface Part {
  name: string;
  value: number;
  note: string;
  shape: "lex" | "sem" | "rest";
}

function partsOf(hit: Hit, why: Explanation): Part[] {
  const words = why.words.map((word) => `“${word}”`).join(", ");
  const parts: Part[] = [
    { name: "words", value: why.lexical_weight * why.lexical_normalised, note: why.lexical > 0 ? `${words} matched; raw ${why.lexical.toFixed(2)}` : "no word matched", shape: "lex" },
    {
      name: "meaning",
      value: (1 - why.lexical_weight) * why.semantic_normalised,
      note: why.semantic === null ? "not compared: no vector yet, or search by word" : `cosine ${why.semantic.toFixed(2)}`,
      shape: "sem",
    },
  ];
  const rest: [string, number, string][] = [
    ["directory", why.directory_prior, "neighbours in the same directory matched"],
    ["recency", why.recency, "changed lately"],
    ["importance", why.importance, "its importance"],
    ["pinned", why.pinned, "it is pinned"],
  ];
  for (const [name, value, note] of rest) if (value !== 0) parts.push({ name, value, note, shape: "rest" });
  if (why.author_boost !== 1) parts.push({ name: "author", value: hit.score - hit.score / why.author_boost, note: `times ${why.author_boost.toFixed(2)} for who wrote it`, shape: "rest" });
  return parts;
}

/** The score as parts of a bar; its length is compared with the best result. */
export function ScoreBar({ hit, top }: { hit: Hit; top: number }) {
  const why = hit.explanation;
  if (!why) return null;
  const parts = partsOf(hit, why).filter((part) => part.value > 0);
  const sum = parts.reduce((total, part) => total + part.value, 0) || 1;
  const length = (hit.score / top) * 96;
  let at = 0;
  return (
    <span class="score" title={parts.map((part) => `${part.name} ${part.value.toFixed(2)}`).join(", ")}>
      {hit.score.toFixed(2)}
      <svg class="score-bar" viewBox="0 0 96 8" preserveAspectRatio="none" aria-hidden="true">
        {parts.map((part) => {
          const width = (part.value / sum) * length;
          const x = at;
          at += width;
          return <rect key={part.name} class={`part-${part.shape}`} x={x} y="0" width={Math.max(0, width - 1)} height="8" />;
        })}
      </svg>
    </span>
  );
}

export function Why({ hit }: { hit: Hit }) {
  const why = hit.explanation;
  if (!why) return <p class="why">The server gave no explanation.</p>;
  return (
    <div class="why">
      <table>
        <caption class="sr">How the score came about</caption>
        <tbody>
          {partsOf(hit, why).map((part) => (
            <tr key={part.name}>
              <th scope="row">{part.name}</th>
              <td class="num">{part.value.toFixed(2)}</td>
              <td class="muted">{seen(part.note)}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">
              <strong>score</strong>
            </th>
            <td class="num">
              <strong>{hit.score.toFixed(2)}</strong>
            </td>
            <td class="muted">words count {Math.round(why.lexical_weight * 100)}%, meaning {Math.round((1 - why.lexical_weight) * 100)}%; comparable within this answer only</td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}
