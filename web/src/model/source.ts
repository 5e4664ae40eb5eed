// Lines of a source file with what they hold: the rows of a listing, and a little colour. No drawing here.

import type { SourceChosen } from "../api/source";

export interface SourceRow {
  number: number;
  text: string | null; // null: the file was not found, only the figures are known
  cost: SourceChosen["costs"][number] | null;
  heat: number; // what it holds, as a part of the line that holds the most; 0 nothing
  begins: string | null; // a function of the profile begins here
}

export function rowsOfSource(chosen: SourceChosen): SourceRow[] {
  const costs = new Map(chosen.costs.map((cost) => [cost.line, cost]));
  const begins = new Map(chosen.functions.map((one) => [one.line, one.function]));
  const most = chosen.costs.reduce((max, cost) => Math.max(max, Math.abs(cost.cum)), 0);
  const row = (number: number, text: string | null): SourceRow => {
    const cost = costs.get(number) ?? null;
    return { number, text, cost, heat: cost && most > 0 ? Math.abs(cost.cum) / most : 0, begins: begins.get(number) ?? null };
  };
  if (!chosen.found) return chosen.costs.map((cost) => row(cost.line, null));
  return chosen.lines.map((text, i) => row(i + 1, text));
}

// The rows that hold something, from top to bottom.
export function hotRows(rows: readonly SourceRow[]): number[] {
  return rows.flatMap((row, i) => (row.cost && (row.cost.flat !== 0 || row.cost.cum !== 0) ? [i] : []));
}

// From one to the next in a direction, and round.
export function nextHot(hot: readonly number[], at: number, step: 1 | -1): number {
  if (hot.length === 0) return at;
  if (step > 0) return hot.find((row) => row > at) ?? hot[0]!;
  return [...hot].reverse().find((row) => row < at) ?? hot[hot.length - 1]!;
}

export interface Piece {
  text: string;
  kind: "" | "comment" | "string" | "keyword";
}

const KEYWORDS = new Set(
  ("alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false final float for friend " +
    "goto if impl in inline int let long loop match mod move mut mutable namespace new noexcept nullptr operator override private protected pub public ref register " +
    "return self short signed sizeof static struct super switch template this throw trait true try type typedef typename union unsafe unsigned use using virtual " +
    "void volatile where while fn async await dyn crate go func var package import range defer chan map interface").split(" "),
);
const TOKEN = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])'|L?u?8?R"[^(]*\()|([A-Za-z_][A-Za-z0-9_]*)/g;

// C, C++, Rust and Go are near enough to each other. A line on its own: a long comment that began above is not known.
export function piecesOf(text: string): Piece[] {
  if (/^\s*\*(\s|\/|$)/.test(text)) return [{ text, kind: "comment" }];
  if (/^\s*#\s*[a-z]/.test(text)) return [{ text, kind: "keyword" }];
  const pieces: Piece[] = [];
  let last = 0;
  for (const found of text.matchAll(TOKEN)) {
    const kind = found[1] ? "comment" : found[2] ? "string" : KEYWORDS.has(found[0]) ? "keyword" : "";
    if (kind === "") continue;
    if (found.index > last) pieces.push({ text: text.slice(last, found.index), kind: "" });
    pieces.push({ text: found[0], kind });
    last = found.index + found[0].length;
  }
  if (last < text.length) pieces.push({ text: text.slice(last), kind: "" });
  return pieces;
}

// "…/server/cache.cc": what tells files apart is at their end.
export function shortPath(path: string, most: number): string {
  return path.length <= most ? path : `…${path.slice(path.length - most + 1)}`;
}
