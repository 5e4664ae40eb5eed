// A flame graph as boxes: where each node of an answer is, and which one is under a point. No drawing here.

import type { FlameAnswer } from "../api/types";

export interface Flame {
  answer: FlameAnswer;
  count: number;
  // By node; left and width are parts of the node that the picture begins with.
  left: Float64Array;
  width: Float64Array;
  depth: Uint16Array;
  levels: Uint32Array[]; // nodes of each depth, from left to right
  ancestors: number; // calls above the first node, drawn over the whole width
}

export const enum NodeFlag {
  inlined = 1,
  recursive = 2,
  notOpened = 4,
}

export function layOut(answer: FlameAnswer): Flame {
  const { parent, value } = answer.nodes;
  const count = value.length;
  const left = new Float64Array(count);
  const width = new Float64Array(count);
  const depth = new Uint16Array(count);
  const next = new Float64Array(count); // where the next child begins
  const levels: number[][] = [];
  const total = count > 0 ? value[0]! : 0;
  for (let i = 0; i < count; ++i) {
    const at = parent[i]!;
    if (i > 0) {
      depth[i] = depth[at]! + 1;
      left[i] = next[at]!;
      width[i] = total > 0 ? value[i]! / total : 0;
      next[at] = left[i]! + width[i]!;
    } else {
      width[i] = 1;
    }
    next[i] = left[i]!;
    (levels[depth[i]!] ??= []).push(i);
  }
  return {
    answer,
    count,
    left,
    width,
    depth,
    levels: levels.map((level) => Uint32Array.from(level)),
    ancestors: Math.max(0, answer.path.length - 1),
  };
}

// The node of a level that covers `x`, a part of the whole width; -1 if there is none.
export function nodeAt(flame: Flame, level: number, x: number): number {
  const nodes = flame.levels[level];
  if (!nodes) return -1;
  let low = 0;
  let high = nodes.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const node = nodes[middle]!;
    if (x < flame.left[node]!) high = middle - 1;
    else if (x >= flame.left[node]! + flame.width[node]!) low = middle + 1;
    else return node;
  }
  return -1;
}

// The first node of a level that reaches to `x` or further right, as a place in the level.
export function firstFrom(flame: Flame, level: Uint32Array, x: number): number {
  let low = 0;
  let high = level.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const node = level[middle]!;
    if (flame.left[node]! + flame.width[node]! <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The steps from the root of all to an ancestor (by its place in the path), or to a node.
export function pathToAncestor(flame: Flame, index: number): string {
  let text = "";
  for (let i = 1; i <= index; ++i) {
    const name = flame.answer.path[i]?.name;
    if (name != null) text += flame.answer.names[name]!.step;
  }
  return text;
}

export function pathToNode(flame: Flame, node: number): string {
  let below = "";
  for (let at = node; at > 0; at = flame.answer.nodes.parent[at]!) {
    below = flame.answer.names[flame.answer.nodes.name[at]!]!.step + below;
  }
  return pathToAncestor(flame, flame.ancestors) + below;
}

// The picture begins with all stacks, not with a call.
export function beginsWithAll(flame: Flame): boolean {
  return flame.ancestors === 0 && flame.answer.path[0]?.name == null;
}

export function labelOf(flame: Flame, node: number): string {
  if (node === 0 && beginsWithAll(flame)) return "all";
  return flame.answer.names[flame.answer.nodes.name[node]!]!.label;
}

export function ancestorLabel(flame: Flame, index: number): string {
  const name = flame.answer.path[index]?.name;
  return name == null ? "all" : flame.answer.names[name]!.label;
}

// From a box to its neighbour, for the keyboard; the same box where there is none.
export function neighbour(flame: Flame, node: number, direction: "in" | "out" | "left" | "right"): number {
  const { parent } = flame.answer.nodes;
  if (direction === "out") return node === 0 ? 0 : parent[node]!;
  if (direction === "in") {
    const children = flame.levels[flame.depth[node]! + 1] ?? new Uint32Array();
    return children.find((child) => parent[child] === node) ?? node;
  }
  const level = flame.levels[flame.depth[node]!]!;
  const place = level.indexOf(node) + (direction === "left" ? -1 : 1);
  return level[place] ?? node;
}

// What a search means: a regular expression, or the plain text if it is none.
export function matcherOf(text: string): ((label: string) => boolean) | null {
  if (!text) return null;
  try {
    const expression = new RegExp(text, "i");
    return (label) => expression.test(label);
  } catch {
    const plain = text.toLowerCase();
    return (label) => label.toLowerCase().includes(plain);
  }
}

// Which names match, and the part of the picture that is in matching calls or below them.
export function search(flame: Flame, matches: (label: string) => boolean): { names: Uint8Array; share: number } {
  const names = Uint8Array.from(flame.answer.names, (name) => (matches(name.label) ? 1 : 0));
  const inside = new Uint8Array(flame.count);
  let share = 0;
  for (let i = beginsWithAll(flame) ? 1 : 0; i < flame.count; ++i) {
    const above = i > 0 && inside[flame.answer.nodes.parent[i]!] === 1;
    const own = names[flame.answer.nodes.name[i]!] === 1;
    inside[i] = above || own ? 1 : 0;
    if (own && !above) share += flame.width[i]!;
  }
  return { names, share: Math.min(1, share) };
}

// A regular expression that matches this name and no other.
export function exactly(name: string): string {
  return `^${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
}
