// Facts drawn: entities as points, facts as lines, at most 150 points. Laid out in slices and shown when it rests, so that nothing stutters
// and nothing moves.
//
// The same rows stand beneath as a table; the drawing adds nothing that a reader without sight would miss.

import { forceCenter, forceCollide, forceLink, forceManyBody, forceSimulation, type SimulationLinkDatum, type SimulationNodeDatum } from "d3-force";
import { useEffect, useState } from "preact/hooks";
import type { Fact } from "../api/types";
import { href, storePlace, to } from "../state/router";
import { plural, seen } from "../text/format";
import { words } from "./facts";
import { labelPlaces, textBox, type Box, type Spot } from "./graph-labels";

interface Point extends SimulationNodeDatum {
  id: string;
  name: string;
}

interface Line extends SimulationLinkDatum<Point> {
  fact: Fact;
}

const POINTS_MAX = 150;
const WIDTH = 900;
const HEIGHT = 460;
const TICKS = 220;
const SLICE_MS = 12;
/** With more points than these, relations are read in the table. */
const NAMED_MAX = 40;
const NAME_GAP = 12;

const shownName = (point: Point): string => seen(point.name.slice(0, 40));
const spot = (point: Point): Spot => ({ x: point.x ?? 0, y: point.y ?? 0 });

/** What a point covers: its circle, and its name beside it. */
function boxesOf(point: Point): Box[] {
  const { x, y } = spot(point);
  return [{ left: x - 10, right: x + 10, top: y - 10, bottom: y + 10 }, textBox(shownName(point), { x: x + NAME_GAP, y: y + 4 }, "start", 12)];
}

/** A line by its ends, which the layout has put in place of their ids. */
function lineOf(line: Line): { from: Spot; to: Spot; text: string } {
  return { from: spot(line.source as Point), to: spot(line.target as Point), text: words(line.fact.relation) };
}

/** Points by how many facts they have, up to the bound, and the lines between them. */
function drawing(facts: Fact[], middle: string | null): { points: Point[]; lines: Line[]; left: number } {
  const weight = new Map<string, { name: string; facts: number }>();
  for (const fact of facts) {
    for (const [id, name] of [[fact.subject_id, fact.subject], [fact.object_id, fact.object]] as const) {
      const known = weight.get(id) ?? { name, facts: 0 };
      known.facts += name === middle ? 1000 : 1;
      weight.set(id, known);
    }
  }
  const kept = [...weight].sort((a, b) => b[1].facts - a[1].facts).slice(0, POINTS_MAX);
  const points = kept.map(([id, { name }]): Point => ({ id, name }));
  const ids = new Set(points.map((point) => point.id));
  const lines = facts.filter((fact) => ids.has(fact.subject_id) && ids.has(fact.object_id)).map((fact): Line => ({ source: fact.subject_id, target: fact.object_id, fact }));
  return { points, lines, left: weight.size - points.length };
}

/** Lays points out in slices, so that no slice is felt, and says when they rest. Returns how to stop it. */
function layOut({ points, lines }: { points: Point[]; lines: Line[] }, done: () => void): () => void {
  const isCrowded = points.length > NAMED_MAX;
  const simulation = forceSimulation(points)
    .force("link", forceLink<Point, Line>(lines).id((point) => point.id).distance(isCrowded ? 55 : 110))
    .force("charge", forceManyBody().strength(isCrowded ? -90 : -320))
    .force("collide", forceCollide(26))
    .force("center", forceCenter(WIDTH / 2, HEIGHT / 2))
    .stop();
  let ticks = 0;
  let timer = 0;
  const slice = () => {
    const start = performance.now();
    while (ticks < TICKS && performance.now() - start < SLICE_MS) {
      simulation.tick();
      ticks += 1;
    }
    if (ticks < TICKS) timer = window.setTimeout(slice);
    else done();
  };
  timer = window.setTimeout(slice);
  return () => window.clearTimeout(timer);
}

export function Graph({ store, facts, middle }: { store: string; facts: Fact[]; middle: string | null }) {
  const [settled, setSettled] = useState<{ points: Point[]; lines: Line[]; left: number } | null>(null);
  const key = facts.map((fact) => fact.id).join();
  useEffect(() => {
    const made = drawing(facts, middle);
    return layOut(made, () => setSettled(made));
  }, [key, middle]);
  if (!settled) return <div class="graph" aria-busy="true" />;
  const { points, lines, left } = settled;
  const xs = points.map((point) => point.x ?? 0);
  const ys = points.map((point) => point.y ?? 0);
  const [x0, x1, y0, y1] = [Math.min(0, ...xs) - 40, Math.max(WIDTH, ...xs) + 90, Math.min(0, ...ys) - 30, Math.max(HEIGHT, ...ys) + 30];
  const places = points.length <= NAMED_MAX ? labelPlaces(points.map(boxesOf).flat(), lines.map(lineOf)) : [];
  return (
    <figure class="section">
      <svg class="graph" viewBox={`${x0} ${y0} ${x1 - x0} ${y1 - y0}`} role="group" aria-label={`${plural(points.length, "entity", "entities")} and ${plural(lines.length, "fact")}; the table below says the same`}>
        {lines.map((line) => {
          const { from, to: end } = lineOf(line);
          return (
            <line key={line.fact.id} class={line.fact.invalid_at ? "is-over" : undefined} x1={from.x} y1={from.y} x2={end.x} y2={end.y}>
              <title>{seen(line.fact.text)}</title>
            </line>
          );
        })}
        {lines.map((line, index) => {
          const place = places[index];
          return (
            place && (
              <text key={line.fact.id} class="graph-edge" x={place.x} y={place.y} text-anchor="middle">
                {words(line.fact.relation)}
              </text>
            )
          );
        })}
        {points.map((point) => (
          <a key={point.id} href={href(to(storePlace(store, "/knowledge"), { about: point.name, tab: "graph" }))} aria-label={seen(point.name)}>
            <circle class={point.name === middle ? "is-middle" : undefined} cx={point.x} cy={point.y} r={point.name === middle ? 10 : 7} />
            <text x={(point.x ?? 0) + NAME_GAP} y={(point.y ?? 0) + 4}>
              {shownName(point)}
            </text>
          </a>
        ))}
      </svg>
      {left > 0 && <figcaption class="note">{plural(left, "entity", "entities")} with the fewest facts are not drawn.</figcaption>}
    </figure>
  );
}
