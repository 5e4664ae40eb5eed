// Lines of a source file with what they hold: the rows of a listing. No drawing here.

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

// "…/server/cache.cc": what tells files apart is at their end.
export function shortPath(path: string, most: number): string {
  return path.length <= most ? path : `…${path.slice(path.length - most + 1)}`;
}
