import assert from "node:assert/strict";
import { test } from "node:test";
import { example } from "./flame_example";
import { matching, narrowFlame } from "./narrow";
import { flameThrough } from "./narrow_through";
import { peekOf, treeOf } from "./narrow_tree";

const words = { root: "", open: "", heaviest: false, rows: 100 };
const NONE = new Map<string, string>();

test("a tree has the rows that are open, the heaviest first", () => {
  const rows = (more: Partial<typeof words>) => treeOf(example(), { ...words, ...more }, NONE).nodes.map((node) => `${node.label} ${node.value} ${node.parent}`);
  assert.deepEqual(rows({}), ["all 100 null", "main 100 0"]);
  assert.deepEqual(rows({ open: "main__" }), ["all 100 null", "main 100 0", "a 60 1", "b 40 1"]);
  assert.deepEqual(rows({ open: "main__a_____.b_____" }), ["all 100 null", "main 100 0", "a 60 1", "c 30 2", "b 40 1", "a 10 4"]);
  assert.deepEqual(rows({ heaviest: true }), ["all 100 null", "main 100 0", "a 60 1", "c 30 2", "b 40 1"]);
  assert.deepEqual(rows({ root: "main__b_____" }), ["b 40 null", "a 10 0"]);
  assert.deepEqual(rows({ open: "nobodymain__" }), ["all 100 null", "main 100 0"]);
  assert.equal(treeOf(example(), { ...words, root: "nobody" }, NONE).found, false);
});

test("only so many calls of each are told", () => {
  const tree = treeOf(example(), { ...words, open: "main__", rows: 1 }, NONE);
  assert.deepEqual(tree.nodes.map((node) => [node.label, node.children]), [["all", 1], ["main", 2], ["a", 1]]);
});

test("a function has the callers and callees of all its calls", () => {
  const peek = peekOf(example(), "^a$", NONE);
  assert.equal(peek.matching, 1);
  const [one] = peek.functions;
  assert.deepEqual([one!.flat, one!.cum].map((figures) => figures.value?.value), [40, 70]);
  assert.deepEqual(one!.callers.map((caller) => [caller.label, caller.figures.value?.value]), [["main", 60], ["b", 10]]);
  assert.deepEqual(one!.callees.map((callee) => [callee.label, callee.figures.value?.value]), [[null, 40], ["c", 30]]);
  assert.equal(peekOf(example(), "(", NONE).matching, 0);
});

test("from a function on, both what it calls and who calls it add up", () => {
  const answer = example();
  const rows = (callers: boolean) => {
    const part = flameThrough(answer, matching(answer, "^a$", NONE), callers);
    return part.nodes.name.map((name, i) => `${part.names[name]!.label} ${part.nodes.value[i]} ${part.nodes.parent[i]}`);
  };
  assert.deepEqual(rows(false), ["a 70 0", "c 30 0"]);
  assert.deepEqual(rows(true), ["a 70 0", "main 60 0", "b 10 0", "main 10 2"]);
  const part = flameThrough(answer, matching(answer, "^a$", NONE), false);
  assert.deepEqual(part.path, [{ name: 1, value: 70 }]);
  assert.deepEqual(narrowFlame(part, { root: "c_____", focus: "", ignore: "" }, NONE).path, [{ name: 1, value: 70 }, { name: 3, value: 30 }]);
  assert.equal(flameThrough(answer, matching(answer, "nobody", NONE), false).value, 0);
});

test("figures that are not known of single calls are not there at all", () => {
  const answer = example();
  answer.total = { live_bytes: { value: 100, low: 90, high: 110 }, live_objects: 7, mean_age_ns: 5 };
  const tree = treeOf(answer, words, NONE);
  assert.deepEqual(tree.total, { live_bytes: { value: 100, low: 90, high: 110 } });
  assert.deepEqual(tree.nodes[1]!.figures, { live_bytes: { value: 100, low: 100, high: 100 } });
  assert.deepEqual(peekOf(answer, "a", NONE).total, tree.total);
});
