// uPlot as a component: made once for a set of series, given new data and sizes as they come.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { axisTime, exactTime, formatBytes } from "../model/format";

export interface Line {
  label: string;
  colour: string;
  fill?: string;
  dash?: number[];
  width?: number;
  steps?: boolean;
  own?: number[]; // what the legend tells, where the line is a sum
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
  range?: { from: number; to: number } | null; // seconds, shaded
  marks?: Mark[];
  syncKey?: string;
  compact?: boolean; // no axes, no legend
  onRange?: (from: number, to: number) => void;
  onMoment?: (seconds: number) => void;
  name: string; // for screen readers
}

// Round in the units that bytes are shown in.
const BYTE_STEPS = [0, 1, 2, 3, 4, 5].flatMap((power) => [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step * 1024 ** power));
const MOST_LABEL = 44; // letters of a name in the legend
const LEAST_DRAG = 4; // pixels; less is a click

export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const shape = JSON.stringify([props.lines.map((line) => ({ ...line, own: line.own?.length })), props.dark, props.compact, props.height]);

  useEffect(() => {
    const made = new uPlot(options(latest), latest.current.data as uPlot.AlignedData, place.current!);
    plot.current = made;
    shade(made, latest.current);
    return () => made.destroy();
  }, [shape]);
  useEffect(() => {
    const made = plot.current;
    if (!made) return;
    made.setData(props.data as uPlot.AlignedData);
    shade(made, props);
  }, [props.data]);
  useEffect(() => {
    if (props.width > 0) plot.current?.setSize({ width: props.width, height: props.height });
    if (plot.current) shade(plot.current, props);
  }, [props.width, props.height]);
  useEffect(() => {
    if (!plot.current) return;
    shade(plot.current, props);
    plot.current.redraw(false);
  }, [props.range?.from, props.range?.to, props.marks]);
  return <div class="chart" ref={place} role="img" aria-label={props.name} />;
}

// Shows the range that is chosen as uPlot's selection.
function shade(plot: uPlot, { range }: ChartProps): void {
  const top = 0;
  const height = plot.bbox.height / (window.devicePixelRatio || 1);
  if (!range) {
    plot.setSelect({ left: 0, top, width: 0, height: 0 }, false);
    return;
  }
  const left = plot.valToPos(range.from, "x");
  const right = plot.valToPos(range.to, "x");
  plot.setSelect({ left, top, width: Math.max(1, right - left), height }, false);
}

function options(latest: { current: ChartProps }): uPlot.Options {
  const { lines, dark, compact, width, height, syncKey, unit = formatBytes } = latest.current;
  const ink = dark ? "#a9adb5" : "#5a5a57";
  const grid = { stroke: dark ? "#2b2e34" : "#e6e3db", width: 1 };
  const font = "11px system-ui, 'DejaVu Sans', sans-serif";
  return {
    width: Math.max(width, 50),
    height,
    padding: compact ? [4, 0, 0, 0] : [8, 20, 0, 0],
    legend: { show: !compact },
    scales: { x: { time: false }, y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.05 : 1] } },
    cursor: {
      show: !compact,
      drag: { x: !compact && latest.current.onRange !== undefined, y: false, setScale: false, dist: LEAST_DRAG },
      ...(syncKey ? { sync: { key: syncKey } } : {}),
      points: { size: 6 },
    },
    axes: compact
      ? [{ show: false }, { show: false }]
      : [
          { stroke: ink, grid, ticks: grid, font, values: (_plot, splits) => axisLabels(splits) },
          { stroke: ink, grid, ticks: grid, font, size: 78, incrs: BYTE_STEPS, values: (_plot, splits) => splits.map(unit) },
        ],
    series: [
      { label: "time", value: (_plot, value) => (value == null ? "--" : exactTime(value)) },
      ...lines.map(
        (line): uPlot.Series => ({
          label: line.label.length > MOST_LABEL ? `${line.label.slice(0, MOST_LABEL - 1)}…` : line.label,
          stroke: line.colour,
          width: line.width ?? 1.5,
          points: { show: false },
          value: (_plot, value, _series, at) => (value == null || at == null ? "--" : unit(line.own?.[at] ?? value)),
          ...(line.fill ? { fill: line.fill } : {}),
          ...(line.dash ? { dash: line.dash } : {}),
          ...(line.steps ? { paths: uPlot.paths.stepped!({ align: -1 }) } : {}),
        }),
      ),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          const { onRange } = latest.current;
          if (plot.select.width < LEAST_DRAG || !onRange) return;
          onRange(plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x"));
        },
      ],
      ready: [
        (plot) => {
          let down = 0;
          plot.over.addEventListener("mousedown", (event) => (down = event.clientX));
          plot.over.addEventListener("click", (event) => {
            if (Math.abs(event.clientX - down) >= LEAST_DRAG) return;
            const box = plot.over.getBoundingClientRect();
            latest.current.onMoment?.(plot.posToVal(event.clientX - box.left, "x"));
          });
        },
      ],
      draw: [(plot) => drawMarks(plot, latest.current.marks ?? [])],
    },
  };
}

function axisLabels(splits: number[]): string[] {
  const step = splits.length > 1 ? splits[1]! - splits[0]! : 1;
  return splits.map((value) => axisTime(value, step));
}

function drawMarks(plot: uPlot, marks: Mark[]): void {
  const { ctx } = plot;
  const ratio = window.devicePixelRatio || 1;
  ctx.save();
  ctx.font = `${11 * ratio}px system-ui, 'DejaVu Sans', sans-serif`;
  for (const mark of marks) {
    const x = plot.valToPos(mark.seconds, "x", true);
    if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) continue;
    ctx.strokeStyle = ctx.fillStyle = mark.colour;
    ctx.lineWidth = ratio;
    ctx.setLineDash([4 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, plot.bbox.top);
    ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    ctx.stroke();
    const room = plot.bbox.left + plot.bbox.width - x;
    ctx.textAlign = room < 80 * ratio ? "right" : "left";
    ctx.fillText(mark.text, x + (room < 80 * ratio ? -4 : 4) * ratio, plot.bbox.top + 11 * ratio);
  }
  ctx.restore();
}
