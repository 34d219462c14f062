// Plots: a spark of a few bars, and a plot over time with its numbers on hover and as a table for readers.

import { useState } from "preact/hooks";
import { absolute, clock, count, day } from "../text/format";

export function Spark({ values, label }: { values: number[]; label: string }) {
  const top = Math.max(1, ...values);
  const width = 6;
  return (
    <svg class="spark" role="img" aria-label={label} width={values.length * (width + 2)} height="20">
      {values.map((value, index) => {
        const height = value === 0 ? 1 : Math.max(3, Math.round((value / top) * 19));
        return <rect key={index} x={index * (width + 2)} y={20 - height} width={width} height={height} rx="1" class={value === 0 ? "spark-none" : "spark-some"} />;
      })}
    </svg>
  );
}

export interface Series {
  name: string;
  values: (number | null)[];
  /** Which of the strokes: shape tells them apart, colour only helps. */
  stroke: 0 | 1 | 2;
}

const WIDTH = 640;
const HEIGHT = 160;
const LEFT = 44;
const FOOT = 20;

/** A round number at or above the largest value, so that the axis reads well. */
function ceiling(value: number): number {
  if (value <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 4, 5, 10]) if (value <= step * power) return step * power;
  return value;
}

interface PlotProps {
  title: string;
  series: Series[];
  from: string;
  stepSeconds: number;
  unit?: string;
  as?: "line" | "bars";
}

export function Plot({ title, series, from, stepSeconds, unit = "", as = "line" }: PlotProps) {
  const [at, setAt] = useState<number | null>(null);
  const steps = Math.max(1, ...series.map((one) => one.values.length));
  const top = ceiling(Math.max(0, ...series.flatMap((one) => one.values.map((value) => value ?? 0))));
  const span = WIDTH - LEFT - 8;
  const x = (index: number): number => LEFT + (steps === 1 ? span / 2 : as === "bars" ? ((index + 0.5) / steps) * span : (index / (steps - 1)) * span);
  const y = (value: number): number => 8 + (1 - value / top) * (HEIGHT - FOOT - 8);
  const timeOf = (index: number): string => new Date(Date.parse(from) + index * stepSeconds * 1000).toISOString();
  const isDays = steps * stepSeconds > 2 * 86_400;
  const short = (time: string): string => (isDays ? day(time).replace(/ \d{4}$/, "") : clock(time).slice(0, 5));
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * (steps - 1)));
  const show = (value: number | null | undefined): string => (value === null || value === undefined ? "unknown" : `${value < 10 && value % 1 !== 0 ? value.toFixed(1) : count(Math.round(value))}${unit}`);
  const onMove = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * WIDTH;
    setAt(Math.max(0, Math.min(steps - 1, Math.round(((place - LEFT) / span) * (as === "bars" ? steps : steps - 1) - (as === "bars" ? 0.5 : 0)))));
  };
  const summary = series.map((one) => `${one.name}: last ${show(one.values.at(-1))}, most ${show(Math.max(0, ...one.values.map((value) => value ?? 0)))}`).join("; ");
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">{title}</span>
        <span class="plot-legend">
          {series.map((one) => (
            <span key={one.name} class={`legend legend-${one.stroke}`}>
              {one.name}
              {at !== null && <strong> {show(one.values[at])}</strong>}
            </span>
          ))}
          {at !== null && <span class="muted">{absolute(timeOf(at))}</span>}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}. ${summary}`} onMouseMove={onMove} onMouseLeave={() => setAt(null)}>
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line x1={LEFT} x2={WIDTH - 8} y1={y(top * part)} y2={y(top * part)} class="plot-grid" />
            <text x={LEFT - 6} y={y(top * part) + 4} text-anchor="end" class="plot-text">
              {show(top * part)}
            </text>
          </g>
        ))}
        {[...new Set(ticks)].map((index) => (
          <text key={index} x={x(index)} y={HEIGHT - 4} text-anchor={index === 0 ? "start" : index === steps - 1 ? "end" : "middle"} class="plot-text">
            {short(timeOf(index))}
          </text>
        ))}
        {series.map((one) =>
          as === "bars" ? (
            <g key={one.name} class={`plot-bars stroke-${one.stroke}`}>
              {one.values.map((value, index) => {
                const width = Math.max(2, (span / steps) * 0.7);
                return value ? <rect key={index} x={x(index) - width / 2} y={y(value)} width={width} height={y(0) - y(value)} rx="1" /> : null;
              })}
            </g>
          ) : (
            <g key={one.name} class={`plot-line stroke-${one.stroke}`}>
              <path d={line(one.values, x, y)} />
              {one.values.map((value, index) => (value !== null && isAlone(one.values, index) ? <circle key={index} cx={x(index)} cy={y(value)} r="3" /> : null))}
            </g>
          ),
        )}
        {at !== null && <line x1={x(at)} x2={x(at)} y1="8" y2={HEIGHT - FOOT} class="plot-cursor" />}
      </svg>
    </figure>
  );
}

/** Whether a line would not show a value, as nothing is known beside it. */
const isAlone = (values: (number | null)[], index: number): boolean => (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null;

/** A line with holes where nothing is known. */
function line(values: (number | null)[], x: (index: number) => number, y: (value: number) => number): string {
  let isDown = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isDown = false;
        return "";
      }
      const part = `${isDown ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = true;
      return part;
    })
    .join("");
}
