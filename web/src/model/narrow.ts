// Parts of a flame graph that is all there: below one call, or of the stacks that a filter leaves. As the server does
// it, where the tree was not cut; boxes that were too narrow to be kept do not come back.

import type { FlameAnswer, FrameAnswer } from "../api/types";
import { matcherOf } from "./flame";

export interface Narrowing {
  root: string; // six letters for each step
  focus: string;
  ignore: string;
}

const STEP = 6;

// The node that a path leads to; -1 if there is none.
export function nodeOfPath(answer: FlameAnswer, path: string): number {
  const { parent, name } = answer.nodes;
  const children = new Map<number, number[]>();
  if (path) for (let i = 1; i < parent.length; ++i) children.set(parent[i]!, [...(children.get(parent[i]!) ?? []), i]);
  let node = parent.length > 0 ? 0 : -1;
  for (let at = 0; at < path.length && node >= 0; at += STEP) {
    const step = path.slice(at, at + STEP);
    node = children.get(node)?.find((child) => answer.names[name[child]!]!.step === step) ?? -1;
  }
  return node;
}

// By node: what of its value is in stacks that the filter leaves. What a node has beside its children belongs to
// stacks that end there, or to boxes that are not kept.
function keptValues(answer: FlameAnswer, value: readonly number[], focus: Uint8Array | null, ignore: Uint8Array | null): number[] {
  const { parent, name } = answer.nodes;
  const kept = [...value];
  for (let i = 1; i < parent.length; ++i) kept[parent[i]!]! -= value[i]!;
  const wanted = new Uint8Array(parent.length);
  const refused = new Uint8Array(parent.length);
  for (let i = 0; i < parent.length; ++i) {
    const above = parent[i]!;
    wanted[i] = focus === null || (i > 0 && (wanted[above] === 1 || focus[name[i]!] === 1)) ? 1 : 0;
    refused[i] = ignore !== null && i > 0 && (refused[above] === 1 || ignore[name[i]!] === 1) ? 1 : 0;
    if (wanted[i] === 0 || refused[i] === 1) kept[i] = 0;
  }
  for (let i = parent.length - 1; i > 0; --i) kept[parent[i]!]! += kept[i]!;
  return kept;
}

export function matching(answer: FlameAnswer, text: string, functions: Map<string, string>): Uint8Array {
  // The server matches upper and lower case as they are.
  let expression: RegExp | null = null;
  try {
    expression = new RegExp(text);
  } catch {
    // It is no regular expression of this language: the plain text.
  }
  const plain = matcherOf(text)!;
  const test = (label: string) => (expression ? expression.test(label) : plain(label));
  return Uint8Array.from(answer.names, (one) => (test(functions.get(one.label) ?? one.label) || test(one.label) ? 1 : 0));
}

export function narrowFlame(answer: FlameAnswer, { root, focus, ignore }: Narrowing, functions: Map<string, string>): FlameAnswer {
  const { parent, name, self, flags } = answer.nodes;
  const wanted = focus ? matching(answer, focus, functions) : null;
  const refused = ignore ? matching(answer, ignore, functions) : null;
  const left = (list: readonly number[]) => (wanted || refused ? keptValues(answer, list, wanted, refused) : list);
  const values = left(answer.nodes.value);
  // Both sides, where two profiles are compared.
  const before = answer.nodes.before && left(answer.nodes.before);
  const after = answer.nodes.after && left(answer.nodes.after);
  const start = nodeOfPath(answer, root);
  const found = start >= 0;
  const path: FlameAnswer["path"] = [];
  for (let at = found ? start : 0; ; at = parent[at]!) {
    path.unshift({ name: at === 0 ? (answer.path[0]?.name ?? null) : name[at]!, value: values[at] ?? 0 });
    if (at === 0) break;
  }
  const places = new Map<number, number>();
  const nodes: FlameAnswer["nodes"] = { parent: [], name: [], value: [], self: [], flags: [], ...(before ? { before: [] } : {}), ...(after ? { after: [] } : {}) };
  for (let i = found ? start : parent.length; i < parent.length; ++i) {
    const above = i === start ? 0 : places.get(parent[i]!);
    if (above === undefined || (i !== start && !(values[i]! > 0))) continue;
    places.set(i, nodes.parent.length);
    nodes.parent.push(above);
    nodes.name.push(name[i]!);
    nodes.value.push(values[i]!);
    nodes.self.push(Math.min(self[i]!, values[i]!));
    nodes.flags.push(flags[i]!);
    if (before) nodes.before!.push(before[i]!);
    if (after) nodes.after!.push(after[i]!);
  }
  return { ...answer, value: values[0] ?? 0, found, path, nodes };
}

// What is known of a call without its ranges.
export function frameOf(answer: FlameAnswer, root: string, functions: Map<string, string>): FrameAnswer {
  const node = nodeOfPath(answer, root);
  const { parent, name, value, flags } = answer.nodes;
  const stack: FrameAnswer["stack"] = [];
  for (let at = node; at > 0; at = parent[at]!) {
    const label = answer.names[name[at]!]!.label;
    stack.unshift({ function: functions.get(label) ?? label });
  }
  const own = node > 0 ? answer.names[name[node]!]! : null;
  return {
    function: own ? (functions.get(own.label) ?? own.label) : "all",
    ...(own?.module ? { module: own.module } : {}),
    inlined: node > 0 && (flags[node]! & 1) !== 0,
    recursive: node > 0 && (flags[node]! & 2) !== 0,
    value: value[node] ?? 0,
    figures: {},
    stack,
  };
}
