import assert from "node:assert/strict";
import { test } from "node:test";
import { labelOf, layOut, matcherOf, neighbour, nodeAt, pathToNode, search } from "./flame";
import { example } from "./flame_example";
import { frameOf, narrowFlame, nodeOfPath } from "./narrow";
import { flameSvg } from "./svg";

test("boxes lie below their callers, from left to right", () => {
  const flame = layOut(example());
  assert.deepEqual([...flame.depth], [0, 1, 2, 2, 3, 3]);
  assert.deepEqual([...flame.left].map((x) => Math.round(100 * x)), [0, 0, 0, 60, 0, 60]);
  assert.deepEqual(flame.levels.map((level) => [...level]), [[0], [1], [2, 3], [4, 5]]);
});

test("a point is found in its box, and between boxes there is none", () => {
  const flame = layOut(example());
  assert.equal(nodeAt(flame, 2, 0.1), 2);
  assert.equal(nodeAt(flame, 2, 0.61), 3);
  assert.equal(nodeAt(flame, 3, 0.5), -1);
  assert.equal(nodeAt(flame, 9, 0.5), -1);
  assert.equal(labelOf(flame, 0), "all");
});

test("keys lead to neighbours, and stay where there is none", () => {
  const flame = layOut(example());
  assert.equal(neighbour(flame, 0, "in"), 1);
  assert.equal(neighbour(flame, 2, "right"), 3);
  assert.equal(neighbour(flame, 3, "right"), 3);
  assert.equal(neighbour(flame, 5, "out"), 3);
  assert.equal(neighbour(flame, 0, "out"), 0);
  assert.equal(neighbour(flame, 4, "in"), 4);
});

test("a search counts what is in matching calls once", () => {
  const flame = layOut(example());
  assert.equal(search(flame, matcherOf("^a$")!).share, 0.7);
  assert.equal(search(flame, matcherOf("a|c")!).share, 1);
  assert.equal(search(flame, matcherOf("(")!).share, 0);
  assert.equal(matcherOf(""), null);
});

test("a path leads to its node again", () => {
  const answer = example();
  const flame = layOut(answer);
  for (let node = 0; node < flame.count; ++node) assert.equal(nodeOfPath(answer, pathToNode(flame, node)), node);
  assert.equal(nodeOfPath(answer, "nobody"), -1);
});

test("below a call is what the server would show", () => {
  const part = narrowFlame(example(), { root: "main__b_____", focus: "", ignore: "" }, new Map());
  assert.deepEqual(part.path, [{ name: null, value: 100 }, { name: 0, value: 100 }, { name: 2, value: 40 }]);
  assert.deepEqual(part.nodes.value, [40, 10]);
  assert.deepEqual(part.nodes.parent, [0, 0]);
  assert.equal(layOut(part).ancestors, 2);
  assert.equal(narrowFlame(example(), { root: "nobody", focus: "", ignore: "" }, new Map()).found, false);
});

test("filters keep the stacks that the server would keep", () => {
  const values = (focus: string, ignore: string) => {
    const part = narrowFlame(example(), { root: "", focus, ignore }, new Map());
    return part.nodes.name.map((name, i) => `${part.names[name]!.label} ${part.nodes.value[i]}`).slice(1);
  };
  assert.deepEqual(values("^a$", ""), ["main 70", "a 60", "b 10", "c 30", "a 10"]);
  assert.deepEqual(values("", "^a$"), ["main 30", "b 30"]);
  assert.deepEqual(values("b", "^a$"), ["main 30", "b 30"]);
  assert.deepEqual(values("a$", "c"), ["main 40", "a 30", "b 10", "a 10"]);
  assert.deepEqual(values("nothing", ""), []);
});

test("filters are about whole names where these are known", () => {
  const names = new Map([["c", "space::c(int)"]]);
  assert.equal(narrowFlame(example(), { root: "", focus: "^space::c\\(int\\)$", ignore: "" }, names).value, 30);
  assert.deepEqual(frameOf(example(), "main__a_____c_____", names).stack.map((one) => one.function), ["main", "a", "space::c(int)"]);
});

test("a picture has every box, and names stay text", () => {
  const answer = example();
  answer.names[3]!.label = "<script>\"&\u0001";
  const svg = flameSvg(answer, { width: 1000, dark: false, upwards: false, title: "a <b>" });
  assert.equal(svg.match(/<rect /g)!.length, 1 + 6);
  assert.ok(!svg.includes("<script"));
  assert.ok(svg.includes("&lt;script&gt;&quot;&amp;\ufffd"));
  assert.ok(svg.includes("a &lt;b&gt;"));
});
