import assert from "node:assert/strict";
import { test } from "node:test";
import { csvText, tableOfAnswer, tableOfFlame, tableOfObjects } from "./csv";
import { example } from "./flame_example";

test("fields that need quotes have them", () => {
  const table = { columns: ["a", "b,c"], rows: [["x\"y", 1.5], ["two\nlines", null], [" blank", true]] };
  assert.equal(csvText(table), "a,\"b,c\"\r\n\"x\"\"y\",1.5\r\n\"two\nlines\",\r\n\" blank\",true\r\n");
});

test("a name is no formula of a spreadsheet, and a number stays one", () => {
  assert.equal(csvText({ columns: ["f"], rows: [["=HYPERLINK(1)"], ["-x"], [-5]] }), "f\r\n'=HYPERLINK(1)\r\n'-x\r\n-5\r\n");
});

test("objects within objects are columns of their own", () => {
  const table = tableOfObjects([{ f: "a", flat: { live: { value: 1 } } }, { f: "b", names: ["x", "y"], flat: { live: { value: 2 } }, more: [1] }]);
  assert.deepEqual(table, { columns: ["f", "flat.live.value", "names"], rows: [["a", 1, null], ["b", 2, "x; y"]] });
});

test("boxes of a flame graph are rows", () => {
  const table = tableOfFlame(example());
  assert.deepEqual(table.rows[0], [0, null, 0, "all", null, 100, 0]);
  assert.deepEqual(table.rows[5], [5, 3, 3, "a", "prog", 10, 10]);
});

test("the table of an answer is its longest list", () => {
  assert.deepEqual(tableOfAnswer({ total: { a: 1 }, few: [{ x: 1 }], rows: [{ y: 1 }, { y: 2 }] })?.columns, ["y"]);
  assert.deepEqual(tableOfAnswer({ columns: ["n"], rows: [[1]], schema: "" }), { columns: ["n"], rows: [[1]] });
  assert.equal(tableOfAnswer({ a: 1 }), null);
  assert.equal(tableOfAnswer([1]), null);
});
