// Facts drawn: entities as points, facts as lines, at most 150 points. Settled in slices, so that the page never stutters.
//
// The same rows stand beneath as a table; the drawing adds nothing that a reader without sight would miss.

import { forceCenter, forceCollide, forceLink, forceManyBody, forceSimulation, type SimulationLinkDatum, type SimulationNodeDatum } from "d3-force";
import { useEffect, useState } from "preact/hooks";
import type { Fact } from "../api/types";
import { href, storePlace, to } from "../state/router";
import { plural, seen } from "../text/format";
import { words } from "./facts";

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

export function Graph({ store, facts, middle }: { store: string; facts: Fact[]; middle: string | null }) {
  const [, draw] = useState(0);
  const [settled, setSettled] = useState<{ points: Point[]; lines: Line[]; left: number } | null>(null);
  const key = facts.map((fact) => fact.id).join();
  useEffect(() => {
    const made = drawing(facts, middle);
    const simulation = forceSimulation(made.points)
      .force("link", forceLink<Point, Line>(made.lines).id((point) => point.id).distance(made.points.length > 40 ? 55 : 110))
      .force("charge", forceManyBody().strength(made.points.length > 40 ? -90 : -320))
      .force("collide", forceCollide(26))
      .force("center", forceCenter(WIDTH / 2, HEIGHT / 2))
      .stop();
    let ticks = 0;
    let frame = 0;
    const step = () => {
      const start = performance.now();
      while (ticks < 220 && performance.now() - start < 8) {
        simulation.tick();
        ticks += 1;
      }
      draw((times) => times + 1);
      if (ticks < 220) frame = requestAnimationFrame(step);
    };
    setSettled(made);
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [key, middle]);
  if (!settled) return <div class="graph" aria-busy="true" />;
  const { points, lines, left } = settled;
  const xs = points.map((point) => point.x ?? 0);
  const ys = points.map((point) => point.y ?? 0);
  const [x0, x1, y0, y1] = [Math.min(0, ...xs) - 40, Math.max(WIDTH, ...xs) + 90, Math.min(0, ...ys) - 30, Math.max(HEIGHT, ...ys) + 30];
  const end = (side: Line["source"]): Point | null => (typeof side === "object" ? side : null);
  return (
    <figure class="section">
      <svg class="graph" viewBox={`${x0} ${y0} ${x1 - x0} ${y1 - y0}`} role="group" aria-label={`${plural(points.length, "entity", "entities")} and ${plural(lines.length, "fact")}; the table below says the same`}>
        {lines.map((line) => {
          const [from, target] = [end(line.source), end(line.target)];
          if (!from || !target) return null;
          return (
            <g key={line.fact.id}>
              <line class={line.fact.invalid_at ? "is-over" : undefined} x1={from.x} y1={from.y} x2={target.x} y2={target.y} />
              {points.length <= 40 && (
                <text class="graph-edge" x={((from.x ?? 0) + (target.x ?? 0)) / 2} y={((from.y ?? 0) + (target.y ?? 0)) / 2} text-anchor="middle">
                  {words(line.fact.relation)}
                </text>
              )}
            </g>
          );
        })}
        {points.map((point) => (
          <a key={point.id} href={href(to(storePlace(store, "/knowledge"), { about: point.name, tab: "graph" }))} aria-label={seen(point.name)}>
            <circle class={point.name === middle ? "is-middle" : undefined} cx={point.x} cy={point.y} r={point.name === middle ? 10 : 7} />
            <text x={(point.x ?? 0) + 12} y={(point.y ?? 0) + 4}>
              {seen(point.name.slice(0, 40))}
            </text>
          </a>
        ))}
      </svg>
      {left > 0 && <figcaption class="note">{plural(left, "entity", "entities")} with the fewest facts are not drawn.</figcaption>}
    </figure>
  );
}
