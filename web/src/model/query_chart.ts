// A result of SQL as a picture: bars for names with a number, lines for numbers along a first column that rises.

import { formatBytes, formatCount } from "./format";
import { escapeXml, lineSvg, svgDocument } from "./svg";
import { SERIES } from "./colours";
import type { Cell } from "./csv";

export interface Chart {
  kind: "bar" | "line";
  title: string; // what the numbers are
  labels: string[]; // of bars
  x: number[]; // of lines
  series: { name: string; values: (number | null)[] }[];
  bytes: boolean;
}

const SIZE = /^(-?[0-9.]+) (B|kB|MB|GB|TB|PB|EB)$/;
const POWERS = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

// A number, or a size as human() writes it; null for anything else.
export function numberOf(cell: Cell | undefined): number | null {
  if (typeof cell === "number") return cell;
  const found = typeof cell === "string" ? SIZE.exec(cell) : null;
  return found ? Number(found[1]) * 1024 ** POWERS.indexOf(found[2]!) : null;
}

type Kind = "number" | "size" | "text" | "nothing";

function kindOf(rows: readonly Cell[][], column: number): Kind {
  let kind: Kind = "nothing";
  for (const row of rows) {
    const cell = row[column];
    if (cell === null || cell === undefined) continue;
    const own: Kind = typeof cell === "number" ? "number" : numberOf(cell) !== null ? "size" : "text";
    if (kind !== "nothing" && kind !== own) return "text";
    kind = own;
  }
  return kind;
}

const rises = (values: (number | null)[]): boolean => values.length > 1 && values.every((value, i) => value !== null && (i === 0 || value > values[i - 1]!));

// Null where there is nothing to draw.
export function chartOf(columns: readonly string[], rows: readonly Cell[][]): Chart | null {
  const kinds = columns.map((_, i) => kindOf(rows, i));
  const valuesOf = (column: number) => rows.map((row) => numberOf(row[column]));
  const isFigure = (kind: Kind) => kind === "number" || kind === "size";
  // Numbers and sizes are not drawn on one axis.
  const figures = (from: number) => {
    const first = kinds.findIndex((kind, i) => i >= from && kind === "size");
    const chosen = first >= 0 ? first : kinds.findIndex((kind, i) => i >= from && kind === "number");
    return kinds.flatMap((kind, i) => (i >= from && chosen >= 0 && kind === kinds[chosen] ? [i] : []));
  };
  if (rows.length === 0) return null;
  const bytes = (list: number[]) => kinds[list[0]!] === "size" || list.every((column) => /bytes|size/.test(columns[column]!));
  if (isFigure(kinds[0]!) && rises(valuesOf(0)) && rows.length > 2) {
    const list = figures(1);
    if (list.length > 0) {
      return { kind: "line", title: columns[0]!, labels: [], x: valuesOf(0) as number[], series: list.slice(0, 6).map((column) => ({ name: columns[column]!, values: valuesOf(column) })), bytes: bytes(list) };
    }
  }
  const label = kinds.findIndex((kind) => kind === "text");
  const list = figures(0).filter((column) => column !== label);
  if (list.length === 0 || rows.length === 1 && label < 0) return null;
  const column = list[0]!;
  const labels = rows.map((row, i) => String((label >= 0 ? row[label] : kinds.length > 1 && column !== 0 ? row[0] : i + 1) ?? ""));
  return { kind: "bar", title: columns[column]!, labels, x: [], series: [{ name: columns[column]!, values: valuesOf(column) }], bytes: bytes([column]) };
}

const MOST_BARS = 40;
const BAR = 22;

export function chartSvg(chart: Chart, width: number, dark: boolean): string {
  const text = (value: number) => (value < 0 ? "-" : "") + (chart.bytes ? formatBytes(Math.abs(value)) : Number.isInteger(value) ? formatCount(Math.abs(value)) : String(Math.abs(Math.round(value * 1000) / 1000)));
  if (chart.kind === "line") {
    const lines = chart.series.map((series, i) => ({ label: series.name, colour: SERIES[i % SERIES.length]!, values: series.values }));
    const xText = (value: number) => String(Math.round(value * 1e6) / 1e6);
    return lineSvg(chart.x, lines, { width, height: 380, dark, title: "", xText, yText: text }, chart.bytes ? 1024 : 10);
  }
  const ink = dark ? "#e9e9e6" : "#1b1c1e";
  const values = chart.series[0]!.values.slice(0, MOST_BARS);
  const most = Math.max(...values.map((value) => Math.abs(value ?? 0)), Number.MIN_VALUE);
  const left = Math.min(0.4 * width, 8 + 7.4 * Math.max(4, ...chart.labels.slice(0, MOST_BARS).map((label) => label.length)));
  const room = Math.max(20, width - left - 100);
  const letters = Math.floor(left / 7.4) - 1;
  const body = values.map((value, i) => {
    const y = 24 + i * BAR;
    const label = chart.labels[i]!;
    const short = label.length > letters ? `${label.slice(0, letters - 1)}…` : label;
    const length = (room * Math.abs(value ?? 0)) / most;
    return (
      `<g><title>${escapeXml(label.slice(0, 500))}</title><text x="${left - 6}" y="${y + 15}" text-anchor="end">${escapeXml(short)}</text>` +
      `<rect x="${left}" y="${y + 3}" width="${Math.max(1, Math.round(length * 10) / 10)}" height="${BAR - 6}" fill="${(value ?? 0) < 0 ? SERIES[1]! : SERIES[0]!}"/>` +
      `<text x="${Math.round(left + length + 6)}" y="${y + 15}">${value === null ? "" : escapeXml(text(value))}</text></g>\n`
    );
  });
  const more = chart.labels.length > MOST_BARS ? ` (the first ${MOST_BARS} of ${chart.labels.length})` : "";
  const head = `<text x="${left}" y="16" font-weight="600">${escapeXml(chart.title + more)}</text>\n`;
  return svgDocument(width, 34 + values.length * BAR, `<g font-family="ui-monospace, 'DejaVu Sans Mono', monospace" font-size="12" fill="${ink}">\n${head}${body.join("")}</g>\n`, dark);
}
