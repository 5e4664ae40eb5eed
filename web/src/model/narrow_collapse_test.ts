import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlameAnswer } from "../api/types";
import { example } from "./flame_example";
import { matching } from "./narrow";
import { flameCollapsed } from "./narrow_collapse";

// all: main (parse 90 (list 70 (parse 60 (list 25 (text 25), text 30, self 5)), self 20), text 10)
function recursive(): FlameAnswer {
  const names = ["main", "parse", "list", "text"].map((label) => ({ label, step: label.padEnd(6, "_"), module: "prog" }));
  return {
    ...example(), names, path: [{ name: null, value: 100 }],
    nodes: {
      parent: [0, 0, 1, 1, 2, 4, 5, 5, 7],
      name: [0, 0, 1, 3, 2, 1, 3, 2, 3],
      value: [100, 100, 90, 10, 70, 60, 30, 25, 25],
      self: [0, 0, 20, 10, 10, 5, 30, 0, 25],
      flags: [0, 0, 0, 0, 0, 2, 0, 2, 0],
    },
  };
}

const rows = (answer: FlameAnswer) => answer.nodes.name.map((name, i) => `${i === 0 ? "all" : answer.names[name]!.label} ${answer.nodes.value[i]} ${answer.nodes.self[i]} ${answer.nodes.parent[i]}`);

test("what is between two calls of a function is left out, and nothing is lost", () => {
  const answer = recursive();
  const all = flameCollapsed(answer, matching(answer, ".", new Map()));
  // main;parse;list;parse;list;text is main;parse;list;text: the second list is in the tree below the first parse.
  assert.deepEqual(rows(all), ["all 100 0 0", "main 100 0 0", "parse 90 25 1", "list 35 10 2", "text 25 25 3", "text 30 30 2", "text 10 10 1"]);
  const one = flameCollapsed(answer, matching(answer, "^list$", new Map()));
  assert.deepEqual(rows(one), ["all 100 0 0", "main 100 0 0", "parse 90 20 1", "list 70 10 2", "parse 35 5 3", "text 30 30 4", "text 25 25 3", "text 10 10 1"]);
});

test("without recursion it stays as it was", () => {
  const answer = example();
  assert.deepEqual(rows(flameCollapsed(answer, matching(answer, ".", new Map()))).map((row) => row.replace(/ \d+$/, "")).sort(), rows(answer).map((row) => row.replace(/ \d+$/, "")).sort());
});

test("both sides of a comparison are folded", () => {
  const answer = recursive();
  answer.nodes.before = answer.nodes.value.map((value) => value / 5);
  answer.nodes.after = answer.nodes.value;
  const folded = flameCollapsed(answer, matching(answer, ".", new Map()));
  assert.deepEqual(folded.nodes.before, folded.nodes.value.map((value) => value / 5));
  assert.deepEqual(folded.nodes.after, folded.nodes.value);
});
