// A flame graph without recursion, made of one that is all there: where a function is on a stack again, what is between
// its two calls is left out. From the outermost callers in, as the server does it (core/fold/fold_stacks.h).

import type { FlameAnswer } from "../api/types";

interface Box {
  readonly name: number;
  readonly above: Box | null;
  readonly below: Map<number, Box>;
  value: number;
  before: number;
  after: number;
  flags: number;
}

const boxOf = (name: number, above: Box | null): Box => ({ name, above, below: new Map(), value: 0, before: 0, after: 0, flags: 0 });

// What a node has beside its children: stacks that end there, or boxes that are not kept.
function ownOf(parent: readonly number[], list: readonly number[]): number[] {
  const own = [...list];
  for (let i = 1; i < parent.length; ++i) own[parent[i]!]! -= list[i]!;
  return own;
}

// `matches`: by name, whose recursion is left out.
export function flameCollapsed(answer: FlameAnswer, matches: Uint8Array): FlameAnswer {
  const { parent, name, value, flags, before, after } = answer.nodes;
  if (parent.length === 0) return answer;
  const all = boxOf(name[0]!, null);
  const place: Box[] = [all];
  for (let i = 1; i < parent.length; ++i) {
    const above = place[parent[i]!]!;
    let again: Box | null = null;
    if (matches[name[i]!] === 1) for (let at: Box | null = above; at && at !== all && !again; at = at.above) if (at.name === name[i]) again = at;
    const box = again ?? above.below.get(name[i]!) ?? boxOf(name[i]!, above);
    if (!again) above.below.set(name[i]!, box);
    box.flags |= flags[i]!;
    place.push(box);
  }
  const own = ownOf(parent, value);
  const ownBefore = before && ownOf(parent, before);
  const ownAfter = after && ownOf(parent, after);
  for (let i = 0; i < parent.length; ++i) {
    for (let at: Box | null = place[i]!; at; at = at.above) {
      at.value += own[i]!;
      at.before += ownBefore?.[i] ?? 0;
      at.after += ownAfter?.[i] ?? 0;
    }
  }
  const nodes: FlameAnswer["nodes"] = { parent: [], name: [], value: [], self: [], flags: [], ...(before ? { before: [] } : {}), ...(after ? { after: [] } : {}) };
  // Parents before their children, the heaviest first. Boxes that nothing is left in are gone.
  const list = (box: Box, above: number): void => {
    const number = nodes.parent.length;
    const children = [...box.below.values()].filter((child) => child.value > 0).sort((a, b) => b.value - a.value);
    nodes.parent.push(above);
    nodes.name.push(box.name);
    nodes.value.push(box.value);
    nodes.self.push(Math.max(0, box.value - children.reduce((sum, child) => sum + child.value, 0)));
    nodes.flags.push(box.flags);
    nodes.before?.push(box.before);
    nodes.after?.push(box.after);
    for (const child of children) list(child, number);
  };
  list(all, 0);
  return { ...answer, nodes };
}
