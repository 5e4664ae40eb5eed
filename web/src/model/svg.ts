// Pictures as SVG documents that stand alone: no style sheet, no script, text that is only text.

import type { FlameAnswer, TimelineAnswer } from "../api/types";
import { boxColour, SERIES } from "./colours";
import { treeValueText } from "./figures";
import { ancestorLabel, labelOf, layOut } from "./flame";
import { changeColours, shadesOf, SHADES } from "./flame_change";
import type { ChangeScale } from "./flame_change";
import { axisTime, formatBytes, formatShare } from "./format";

const ROW = 20;
const LETTER = 7.3; // of the font below, at 12 pixels
const MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const SANS = "system-ui, 'DejaVu Sans', sans-serif";

// What XML cannot hold at all becomes a replacement character.
export function escapeXml(text: string): string {
  return text
    // eslint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]!);
}

export function svgDocument(width: number, height: number, body: string, dark: boolean): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n<rect width="100%" height="100%" fill="${dark ? "#16181c" : "#fbfaf7"}"/>\n${body}</svg>\n`;
}

const number = (value: number): string => String(Math.round(value * 100) / 100);

export interface FlameLook {
  width: number;
  dark: boolean;
  upwards: boolean;
  title: string;
  change?: ChangeScale | null; // colours tell what changed, where two profiles are compared
}

const HEAD = 26; // pixels for the title
const MOST_TITLE = 2000; // letters of a name in what the pointer shows

export function flameSvg(answer: FlameAnswer, look: FlameLook): string {
  const flame = layOut(answer);
  const rows = flame.ancestors + flame.levels.length;
  const height = HEAD + rows * ROW;
  const ink = look.dark ? "#f2f2f0" : "#17181a";
  const parts: string[] = [`<text x="4" y="17" font-family="${SANS}" font-size="13" fill="${ink}">${escapeXml(look.title)}</text>\n<g font-family="${MONO}" font-size="12">\n`];
  const box = (x: number, width: number, line: number, colour: string, label: string, value: number): void => {
    const y = look.upwards ? height - (line + 1) * ROW : HEAD + line * ROW;
    const room = Math.floor((width - 8) / LETTER);
    const text = room < 3 ? "" : label.length > room ? `${label.slice(0, room - 1)}…` : label;
    const figure = `${treeValueText(value, answer.sort, answer)}, ${formatShare(value, answer.value)}`;
    parts.push(
      `<g><title>${escapeXml(label.slice(0, MOST_TITLE))}: ${escapeXml(figure)}</title>` +
        `<rect x="${number(x)}" y="${y}" width="${number(Math.max(0.4, width - (width > 3 ? 1 : 0)))}" height="${ROW - 1}" fill="${colour}"/>` +
        (text ? `<text x="${number(x + 4)}" y="${y + 14}" fill="${ink}">${escapeXml(text)}</text>` : "") +
        "</g>\n",
    );
  };
  const shades = look.change && answer.nodes.before ? shadesOf(flame, look.change) : null;
  const changes = changeColours(look.dark);
  for (let i = 0; i < flame.ancestors; ++i) box(0, look.width, i, look.dark ? "#2b2e34" : "#dedbd2", ancestorLabel(flame, i), answer.path[i]!.value);
  for (let node = 0; node < flame.count; ++node) {
    const width = flame.width[node]! * look.width;
    if (width < 0.4) continue;
    const isAll = node === 0 && flame.ancestors === 0;
    const name = answer.names[answer.nodes.name[node]!];
    const colour = shades ? changes[shades[node]! + SHADES]! : isAll || !name ? (look.dark ? "#3a3d44" : "#d8d4c8") : boxColour(name.module ?? "", name.label, look.dark);
    box(flame.left[node]! * look.width, width, flame.ancestors + flame.depth[node]!, colour, labelOf(flame, node), answer.nodes.value[node]!);
  }
  parts.push("</g>\n");
  return svgDocument(look.width, height, parts.join(""), look.dark);
}

export interface SvgLine {
  label: string;
  colour: string;
  values: (number | null)[];
}

export interface LineLook {
  width: number;
  height: number;
  dark: boolean;
  title: string;
  xText: (value: number, step: number) => string;
  yText: (value: number) => string;
}

// A round step such that at most `most` of them fit; in powers of `base` (1024 for bytes).
export function roundStep(range: number, most: number, base = 10): number {
  if (!(range > 0)) return 1;
  const power = base ** Math.floor(Math.log(range / most) / Math.log(base));
  const within = base === 10 ? [1, 2, 5, 10] : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1024];
  return power * (within.find((step) => range / (power * step) <= most) ?? base);
}

export function lineSvg(x: number[], lines: SvgLine[], look: LineLook, base = 1024): string {
  const left = 84;
  const right = 20;
  const top = HEAD + 20;
  const bottom = 30;
  const width = look.width - left - right;
  const height = look.height - top - bottom;
  const ink = look.dark ? "#e9e9e6" : "#1b1c1e";
  const dim = look.dark ? "#343840" : "#dedbd2";
  const first = x[0] ?? 0;
  const last = Math.max(x[x.length - 1] ?? 1, first + 1e-9);
  const high = Math.max(1, ...lines.flatMap((line) => line.values.map((value) => value ?? 0))) * 1.05;
  const px = (value: number) => left + ((value - first) / (last - first)) * width;
  const py = (value: number) => top + height - (value / high) * height;
  const parts = [`<g font-family="${SANS}" font-size="11" fill="${ink}">\n<text x="4" y="17" font-size="13">${escapeXml(look.title)}</text>\n`];
  const yStep = roundStep(high, 6, base);
  for (let value = 0; value <= high; value += yStep) {
    parts.push(`<line x1="${left}" x2="${left + width}" y1="${number(py(value))}" y2="${number(py(value))}" stroke="${dim}"/><text x="${left - 6}" y="${number(py(value) + 4)}" text-anchor="end">${escapeXml(look.yText(value))}</text>\n`);
  }
  const xStep = roundStep(last - first, 8);
  for (let at = Math.ceil(first / xStep) * xStep; at <= last; at += xStep) {
    parts.push(`<text x="${number(px(at))}" y="${look.height - 10}" text-anchor="middle">${escapeXml(look.xText(at, xStep))}</text>\n`);
  }
  let place = left;
  for (const line of lines) {
    let path = "";
    line.values.forEach((value, i) => {
      if (value !== null) path += `${path && line.values[i - 1] !== null ? "L" : "M"}${number(px(x[i]!))} ${number(py(value))}`;
    });
    const label = line.label.length > 40 ? `${line.label.slice(0, 39)}…` : line.label;
    parts.push(`<path d="${path}" fill="none" stroke="${line.colour}" stroke-width="1.5"/><rect x="${place}" y="${HEAD + 2}" width="10" height="10" fill="${line.colour}"/><text x="${place + 14}" y="${HEAD + 11}">${escapeXml(label)}</text>\n`);
    place += 30 + label.length * 6.4;
  }
  parts.push("</g>\n");
  return svgDocument(look.width, look.height, parts.join(""), look.dark);
}

export function timelineSvg(answer: TimelineAnswer, look: { dark: boolean; title: string }): string {
  const lines: SvgLine[] = [{ label: "live heap", colour: SERIES[0]!, values: answer.points.map((point) => point.most_bytes ?? point.live_bytes) }];
  if (answer.points.some((point) => point.resident_bytes)) {
    lines.push({ label: "RSS", colour: SERIES[1]!, values: answer.points.map((point) => point.resident_bytes ?? null) });
  }
  (answer.stacks ?? []).slice(0, 5).forEach((stack, i) => lines.push({ label: stack.frames[0] ?? "(unknown stack)", colour: SERIES[(i + 2) % SERIES.length]!, values: stack.most_bytes }));
  return lineSvg(answer.points.map((point) => point.time_ns / 1e9), lines, { width: 1200, height: 460, ...look, xText: axisTime, yText: formatBytes });
}
