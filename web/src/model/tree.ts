// Which rows of the call tree are open, as a word of the address; and the rows that this makes. No drawing here.

import type { TreeAnswer, TreeNode } from "../api/tree";

const STEP = 6; // letters of a step
const NOTHING = "."; // nothing is open, which is not the same as nothing said

// The paths above an open one are open too.
export function walkText(open: ReadonlySet<string>): string {
  let walk = "";
  let at = "";
  for (const path of [...open].sort()) {
    while (!path.startsWith(at)) {
      walk += ".";
      at = at.slice(0, -STEP);
    }
    walk += path.slice(at.length);
    at = path;
  }
  return walk || NOTHING;
}

// As the server reads it.
export function walkParameter(word: string): string {
  return word === NOTHING ? "" : word;
}

export interface TreeRow {
  path: string;
  level: number; // from 1 on
  node: TreeNode | null; // null: a row that stands for calls that are not told
  parent: number; // the row it is below; -1 none
  open: boolean;
  more: number; // calls that this row stands for
}

export function rowsOf(answer: TreeAnswer): TreeRow[] {
  const rows: TreeRow[] = [];
  const { nodes } = answer;
  const paths: string[] = [];
  const rowOf: number[] = [];
  const shown: number[] = new Array<number>(nodes.length).fill(0);
  const levels: number[] = [];
  for (const node of nodes) if (node.parent !== null) shown[node.parent] = shown[node.parent]! + 1;
  // A row about the rest comes behind all below its call.
  const waiting: number[] = [];
  const close = (level: number) => {
    while (waiting.length > 0 && levels[waiting[waiting.length - 1]!]! >= level) {
      const at = waiting.pop()!;
      const more = shown[at]! > 0 ? nodes[at]!.children - shown[at]! : 0;
      if (more > 0) rows.push({ path: paths[at]!, level: levels[at]! + 1, node: null, parent: rowOf[at]!, open: false, more });
    }
  };
  nodes.forEach((node, i) => {
    paths[i] = node.parent === null ? "" : paths[node.parent]! + node.step;
    levels[i] = node.parent === null ? 0 : levels[node.parent]! + 1;
    close(levels[i]!);
    waiting.push(i);
    if (node.parent === null) {
      rowOf[i] = -1;
      return;
    }
    rowOf[i] = rows.length;
    rows.push({ path: paths[i]!, level: levels[i]!, node, parent: rowOf[node.parent]!, open: shown[i]! > 0, more: 0 });
  });
  close(0);
  return rows;
}

export function openPaths(rows: readonly TreeRow[]): Set<string> {
  return new Set(rows.filter((row) => row.open).map((row) => row.path));
}

export function withToggled(open: ReadonlySet<string>, path: string): Set<string> {
  if (open.has(path)) return new Set([...open].filter((one) => !one.startsWith(path)));
  return new Set([...open, path]);
}
