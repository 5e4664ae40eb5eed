// uPlot as a component: made once for a set of series, given new data and sizes as they come. It draws; who points at
// what is the timeline's own concern (time_axis.tsx), so that all its lanes do the same.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { axisTime, formatBytes } from "../model/format";
import { stepAt } from "../model/time";
import type { Span, TimePointer } from "../model/time";

export interface Line {
  label: string;
  colour: string;
  fill?: string;
  dash?: number[];
  width?: number;
  steps?: boolean;
  own?: number[]; // what the legend tells, where the line is a sum or the most of a step
  beside?: boolean; // the scale is made without it, unless it is near: a limit
}

export interface Mark {
  seconds: number;
  text: string;
  colour: string;
}

export interface ChartProps {
  lines: Line[];
  data: (number | null)[][]; // seconds, then one row for each line
  width: number;
  height: number;
  dark: boolean;
  unit?: (value: number) => string;
  seen?: Span | null; // seconds; all of the data if there is none
  marks?: Mark[];
  pointer?: TimePointer; // the legend tells the figures there
  compact?: boolean; // no axes, no legend
  timeless?: boolean; // the lane above has the times
  name: string; // for screen readers
}

// Room beside the plot, the same for all lanes.
export const LEFT = 84;
export const RIGHT = 14;
// Round in the units that bytes are shown in.
const BYTE_STEPS = [0, 1, 2, 3, 4, 5].flatMap((power) => [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step * 1024 ** power));
const MOST_LABEL = 36; // letters of a name in the legend
const NEAR = 2.5; // what lies beside the scale is in it up to so many times the rest

export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const shape = JSON.stringify([props.lines.map((line) => ({ ...line, own: line.own !== undefined })), props.dark, props.compact, props.height]);

  useEffect(() => {
    const made = new uPlot(options(latest), latest.current.data as uPlot.AlignedData, place.current!);
    plot.current = made;
    tell(made, latest.current);
    return () => made.destroy();
  }, [shape]);
  useEffect(() => {
    const made = plot.current;
    if (!made) return;
    made.setData(props.data as uPlot.AlignedData);
    tell(made, props);
  }, [props.data, props.seen?.from, props.seen?.to]);
  useEffect(() => {
    if (props.width > 0) plot.current?.setSize({ width: props.width, height: props.height });
  }, [props.width, props.height]);
  useEffect(() => plot.current?.redraw(false), [props.marks]);
  useEffect(() => props.pointer?.listen(() => plot.current && tell(plot.current, latest.current)), [props.pointer]);
  return <div class="chart" ref={place} role="img" aria-label={props.name} />;
}

// The figures where the pointer is, else those of the end, in the legend.
function tell(plot: uPlot, { pointer, compact, data }: ChartProps): void {
  const times = data[0] as number[];
  if (!pointer || compact || times.length === 0) return;
  const { seconds } = pointer.now;
  const at = seconds === null ? times.length - 1 : stepAt(times, seconds);
  plot.setLegend({ idxs: data.map(() => at) }, false);
}

function highest({ lines, data }: ChartProps): number {
  let high = 0;
  lines.forEach((line, i) => {
    if (!line.beside) for (const value of data[i + 1] ?? []) if (value !== null && value > high) high = value;
  });
  const limit = high * NEAR;
  lines.forEach((line, i) => {
    if (line.beside) for (const value of data[i + 1] ?? []) if (value !== null && value > high && value <= limit) high = value;
  });
  return high;
}

function options(latest: { current: ChartProps }): uPlot.Options {
  const { lines, dark, compact, timeless, width, height, unit = formatBytes } = latest.current;
  const ink = dark ? "#a9adb5" : "#5a5a57";
  const grid = { stroke: dark ? "#2b2e34" : "#e6e3db", width: 1 };
  const font = "11px system-ui, 'DejaVu Sans', sans-serif";
  return {
    width: Math.max(width, 50),
    height,
    padding: compact ? [4, 0, 0, 0] : [8, RIGHT, 0, 0],
    legend: { show: !compact },
    scales: {
      x: { time: false, range: (_plot, low, high) => (latest.current.seen ? [latest.current.seen.from, latest.current.seen.to] : [low ?? 0, high ?? 1]) },
      y: {
        range: () => {
          const high = highest(latest.current);
          // Texts of marks have room above.
          return [0, high > 0 ? high * (latest.current.marks?.length ? 1.14 : 1.05) : 1];
        },
      },
    },
    cursor: { show: false },
    axes: compact
      ? [{ show: false }, { show: false }]
      : [
          timeless ? { stroke: ink, grid, ticks: { show: false }, size: 8, values: () => [] } : { stroke: ink, grid, ticks: grid, font, size: 30, values: (_plot, splits) => axisLabels(splits) },
          { stroke: ink, grid, ticks: grid, font, size: LEFT, incrs: BYTE_STEPS, values: (_plot, splits) => splits.map(unit) },
        ],
    series: [
      {},
      ...lines.map(
        (line, i): uPlot.Series => ({
          label: line.label.length > MOST_LABEL ? `${line.label.slice(0, MOST_LABEL - 1)}…` : line.label,
          stroke: line.colour,
          width: line.width ?? 1.5,
          points: { show: false },
          value: (_plot, value, _series, at) => (value == null || at == null ? "" : unit(latest.current.lines[i]?.own?.[at] ?? value)),
          ...(line.fill ? { fill: line.fill } : {}),
          ...(line.dash ? { dash: line.dash } : {}),
          ...(line.steps ? { paths: uPlot.paths.stepped!({ align: -1 }) } : {}),
        }),
      ),
    ],
    hooks: { draw: [(plot) => drawMarks(plot, latest.current.marks ?? [])] },
  };
}

function axisLabels(splits: number[]): string[] {
  const step = splits.length > 1 ? splits[1]! - splits[0]! : 1;
  return splits.map((value) => axisTime(value, step));
}

// A line for each mark, and its text where that fits.
function drawMarks(plot: uPlot, marks: Mark[]): void {
  const { ctx } = plot;
  const ratio = window.devicePixelRatio || 1;
  ctx.save();
  ctx.font = `${11 * ratio}px system-ui, 'DejaVu Sans', sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  const taken: [number, number][] = [];
  const end = plot.bbox.left + plot.bbox.width;
  for (const mark of marks) {
    const x = plot.valToPos(mark.seconds, "x", true);
    if (x < plot.bbox.left || x > end) continue;
    ctx.strokeStyle = ctx.fillStyle = mark.colour;
    ctx.lineWidth = ratio;
    ctx.setLineDash([4 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, plot.bbox.top);
    ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    ctx.stroke();
    const text = mark.text.length > 40 ? `${mark.text.slice(0, 39)}…` : mark.text;
    const width = ctx.measureText(text).width + 8 * ratio;
    const left = x + width > end ? x - width : x;
    if (left < plot.bbox.left || taken.some(([a, b]) => left < b && left + width > a)) continue;
    taken.push([left, left + width]);
    ctx.fillText(text, left + 4 * ratio, plot.bbox.top + 11 * ratio);
  }
  ctx.restore();
}
