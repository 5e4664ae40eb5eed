// A flame graph from some functions on, made of one that is all there: what they call, or who calls them. Where a
// function is on a stack again, the outermost of its calls counts. The functions themselves are the first box.

import type { FlameAnswer } from "../api/types";

class Box {
  value = 0;
  before = 0;
  after = 0;
  flags = 0;
  readonly below = new Map<number, Box>();

  child(name: number): Box {
    const known = this.below.get(name) ?? new Box();
    this.below.set(name, known);
    return known;
  }
}

export function flameThrough(answer: FlameAnswer, matches: Uint8Array, callers: boolean): FlameAnswer {
  const { parent, name, value, flags, before, after } = answer.nodes;
  const add = (box: Box, node: number, from: number): void => {
    box.value += value[from]!;
    box.before += before?.[from] ?? 0;
    box.after += after?.[from] ?? 0;
    box.flags |= flags[node]!;
  };
  const all = new Box();
  const begun = new Map<number, number>(); // by name: what begins there
  const inside = new Uint8Array(parent.length);
  const place: (Box | undefined)[] = [];
  for (let i = 1; i < parent.length; ++i) {
    const above = parent[i]!;
    const begins = inside[above] === 0 && matches[name[i]!] === 1;
    inside[i] = inside[above] === 1 || begins ? 1 : 0;
    if (begins) {
      add(all, i, i);
      begun.set(name[i]!, (begun.get(name[i]!) ?? 0) + value[i]!);
      place[i] = all;
    }
    if (begins && callers) {
      let box = all;
      for (let at = parent[i]!; at > 0; at = parent[at]!) {
        box = box.child(name[at]!);
        add(box, at, i);
      }
    } else if (inside[i] === 1 && !begins && !callers) {
      const box = place[above]!.child(name[i]!);
      add(box, i, i);
      place[i] = box;
    }
  }
  const nodes: FlameAnswer["nodes"] = { parent: [], name: [], value: [], self: [], flags: [], ...(before ? { before: [] } : {}), ...(after ? { after: [] } : {}) };
  // Parents before their children, the heaviest first.
  const list = (box: Box, at: number, above: number): void => {
    const number = nodes.parent.length;
    const children = [...box.below].sort((a, b) => b[1].value - a[1].value);
    nodes.parent.push(above);
    nodes.name.push(at);
    nodes.value.push(box.value);
    nodes.self.push(Math.max(0, box.value - children.reduce((sum, [, child]) => sum + child.value, 0)));
    nodes.flags.push(box.flags);
    nodes.before?.push(box.before);
    nodes.after?.push(box.after);
    for (const [one, child] of children) list(child, one, number);
  };
  const first = [...begun].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
  list(all, first ?? 0, 0);
  return { ...answer, value: all.value, found: true, path: [{ name: first, value: all.value }], nodes };
}
