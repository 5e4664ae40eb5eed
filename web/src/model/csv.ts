// Rows as CSV (RFC 4180), and answers of the API as rows: every list of objects is a table, whatever the resource.

import type { FlameAnswer } from "../api/types";

export type Cell = string | number | boolean | null;

export interface Table {
  columns: string[];
  rows: Cell[][];
}

function cellText(cell: Cell): string {
  if (cell === null) return "";
  const text = String(cell);
  // A text that a spreadsheet would take for a formula stays a text.
  const safe = typeof cell === "string" && /^[=+@\t\r-]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || /^\s|\s$/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export function csvText(table: Table): string {
  return [table.columns, ...table.rows].map((row) => `${row.map(cellText).join(",")}\r\n`).join("");
}

// A box of a flame graph is a row, callers before what they call.
export function tableOfFlame({ nodes, names, path }: FlameAnswer): Table {
  const depth: number[] = [];
  const rows = nodes.value.map((value, i): Cell[] => {
    depth.push(i === 0 ? path.length - 1 : depth[nodes.parent[i]!]! + 1);
    const name = i === 0 && path.length <= 1 ? null : names[nodes.name[i]!]!;
    return [i, i === 0 ? null : nodes.parent[i]!, depth[i]!, name?.label ?? "all", name?.module ?? null, value, nodes.self[i]!];
  });
  return { columns: ["box", "caller", "depth", "function", "module", "value", "self"], rows };
}

type Plain = Record<string, unknown>;

const isPlain = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value);

// {"flat": {"live_bytes": {"value": 1}}} has the column "flat.live_bytes.value". Lists of texts are joined, others left out.
function flatten(object: Plain, before: string, into: Map<string, Cell>): void {
  for (const [name, value] of Object.entries(object)) {
    const path = before ? `${before}.${name}` : name;
    if (isPlain(value)) flatten(value, path, into);
    else if (Array.isArray(value)) {
      if (value.every((one) => typeof one === "string")) into.set(path, value.join("; "));
    } else if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean") into.set(path, value);
  }
}

export function tableOfObjects(list: readonly unknown[]): Table {
  const places = new Map<string, number>();
  const maps = list.filter(isPlain).map((object) => {
    const map = new Map<string, Cell>();
    flatten(object, "", map);
    for (const name of map.keys()) if (!places.has(name)) places.set(name, places.size);
    return map;
  });
  const columns = [...places.keys()];
  return { columns, rows: maps.map((map) => columns.map((name) => map.get(name) ?? null)) };
}

// The longest list of objects in an answer; null if there is none. A result of SQL is a table already.
export function tableOfAnswer(answer: unknown): Table | null {
  if (!isPlain(answer)) return null;
  if (Array.isArray(answer.columns) && Array.isArray(answer.rows)) return { columns: answer.columns as string[], rows: answer.rows as Cell[][] };
  let best: unknown[] | null = null;
  for (const value of Object.values(answer)) {
    if (Array.isArray(value) && value.length > 0 && value.every(isPlain) && value.length > (best?.length ?? 0)) best = value;
  }
  return best ? tableOfObjects(best) : null;
}
