// The rows of a call tree, and a function among its neighbours, from a flame graph that is all there: what a report
// answers with. Figures have no ranges here, and of what was cut from the flame graph nothing is known.

import type { PeekAnswer, TreeAnswer, TreeNode } from "../api/tree";
import type { FlameAnswer, Figures } from "../api/types";
import { nodeOfPath } from "./narrow";

const STEP = 6;

// A figure under the name that the total has it by.
export function figureOf(answer: FlameAnswer, value: number): Figures {
  const estimate = { value, low: value, high: value };
  if (answer.sort === "allocated") return { allocated_bytes: estimate };
  if (answer.sort === "count") return answer.total.live_objects !== undefined ? { live_objects: value } : { objects: value };
  return answer.total.live_bytes ? { live_bytes: estimate } : { value: estimate };
}

// A total with that figure alone: what is not known of single calls has no column.
function withoutOthers(answer: FlameAnswer, figures: Figures): Figures {
  const kept = Object.keys(figureOf(answer, 0));
  return Object.fromEntries(Object.entries(figures).filter(([name]) => kept.includes(name)));
}

function childrenOf({ nodes }: FlameAnswer): number[][] {
  const children: number[][] = nodes.parent.map(() => []);
  for (let i = 1; i < nodes.parent.length; ++i) children[nodes.parent[i]!]!.push(i);
  return children;
}

// Six letters lead in, a dot leads back out; every place on the way is open.
function openNodes(answer: FlameAnswer, children: number[][], start: number, walk: string): Set<number> {
  const open = new Set([start]);
  const way = [start];
  for (let at = 0; at < walk.length; ) {
    if (walk[at] === ".") {
      way.pop();
      ++at;
      continue;
    }
    const step = walk.slice(at, at + STEP);
    const above = way[way.length - 1];
    const node = above === undefined || above < 0 ? -1 : (children[above]!.find((child) => answer.names[answer.nodes.name[child]!]!.step === step) ?? -1);
    if (node >= 0) open.add(node);
    way.push(node);
    at += STEP;
  }
  return open;
}

export interface TreeWords {
  root: string;
  open: string;
  heaviest: boolean;
  rows: number; // of each call
}

export function treeOf(answer: FlameAnswer, words: TreeWords, functions: Map<string, string>): TreeAnswer {
  const { name, value, self, flags } = answer.nodes;
  const children = childrenOf(answer);
  const start = nodeOfPath(answer, words.root);
  const found = start >= 0;
  const open = found ? openNodes(answer, children, start, words.open) : new Set<number>();
  if (words.heaviest) for (let at = start; at >= 0 && children[at]!.length > 0; at = heaviestOf(children[at]!, value)) open.add(at);
  const nodes: TreeNode[] = [];
  const add = (node: number, parent: number | null): void => {
    const isAll = node === 0;
    const own = isAll ? null : answer.names[name[node]!]!;
    const number = nodes.length;
    nodes.push({
      function: own ? (functions.get(own.label) ?? own.label) : "all",
      ...(own?.module ? { module: own.module } : {}),
      label: own?.label ?? "all",
      step: own?.step ?? "",
      parent,
      place: "",
      ...((flags[node]! & 1) !== 0 ? { inlined: true } : {}),
      ...((flags[node]! & 2) !== 0 ? { recursive: true } : {}),
      value: value[node]!,
      self: self[node]!,
      children: children[node]!.length,
      figures: figureOf(answer, value[node]!),
    });
    if (!open.has(node)) return;
    const sorted = [...children[node]!].sort((a, b) => value[b]! - value[a]!);
    for (const child of sorted.slice(0, words.rows)) add(child, number);
  };
  if (found) add(start, null);
  const { unit, sort, shrunk, cut } = answer;
  const total = withoutOthers(answer, answer.total);
  const selected = withoutOthers(answer, answer.selected);
  return { name: answer.name, unit, sort, granularity: "functions", total, selected, shrunk, found, cut, nodes };
}

const heaviestOf = (list: number[], value: number[]): number => list.reduce((best, one) => (value[one]! > value[best]! ? one : best), list[0]!);

// By label: what a function holds itself, with all it calls, and through whom. A call below another of the same
// function is not counted again.
export function peekOf(answer: FlameAnswer, pattern: string, functions: Map<string, string>): PeekAnswer {
  const { parent, name, value } = answer.nodes;
  let expression: RegExp;
  try {
    expression = new RegExp(pattern);
  } catch {
    expression = /$^/; // nothing matches
  }
  const wholeName = (label: string) => functions.get(label) ?? label;
  const children = childrenOf(answer);
  const matching = answer.names.flatMap((one, i) => (expression.test(wholeName(one.label)) || expression.test(one.label) ? [i] : []));
  const all = matching.map((index) => {
    let cum = 0;
    let flat = 0;
    const callers = new Map<number, number>();
    const callees = new Map<number, number>();
    const inside = new Uint8Array(parent.length);
    for (let i = 1; i < parent.length; ++i) {
      const above = parent[i]!;
      inside[i] = inside[above] === 1 || name[i] === index ? 1 : 0;
      if (name[i] !== index) continue;
      const own = value[i]! - children[i]!.reduce((sum, child) => sum + value[child]!, 0);
      flat += own;
      for (const child of children[i]!) callees.set(name[child]!, (callees.get(name[child]!) ?? 0) + value[child]!);
      if (inside[above] === 1) continue;
      cum += value[i]!;
      callers.set(above === 0 ? -1 : name[above]!, (callers.get(above === 0 ? -1 : name[above]!) ?? 0) + value[i]!);
    }
    if (flat > 0) callees.set(-1, flat);
    const list = (map: Map<number, number>) =>
      [...map].sort((a, b) => b[1] - a[1]).map(([at, sum]) => ({
        label: at < 0 ? null : answer.names[at]!.label,
        ...(at < 0 ? {} : { function: wholeName(answer.names[at]!.label) }),
        figures: figureOf(answer, sum),
      }));
    const { label } = answer.names[index]!;
    return { sum: cum, one: { function: wholeName(label), label, place: "", flat: figureOf(answer, flat), cum: figureOf(answer, cum), callers: list(callers), caller_count: callers.size, callees: list(callees), callee_count: callees.size } };
  }).filter(({ sum }) => sum > 0).sort((a, b) => b.sum - a.sum);
  return { name: answer.name, unit: answer.unit, sort: answer.sort, granularity: "functions", total: withoutOthers(answer, answer.total), matching: all.length, functions: all.slice(0, 20).map(({ one }) => one) };
}
