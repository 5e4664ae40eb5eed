import assert from "node:assert/strict";
import { test } from "node:test";
import { chartOf, chartSvg, numberOf } from "./query_chart";
import { placeOfError, readSaved, savedText, withSaved } from "./saved_queries";

test("sizes are numbers as well", () => {
  assert.equal(numberOf("1.5 kB"), 1536);
  assert.equal(numberOf("-2 MB"), -2 * 1024 * 1024);
  assert.equal(numberOf("12"), null);
  assert.equal(numberOf(7), 7);
});

test("names with a number are bars", () => {
  const chart = chartOf(["function", "live", "blocks"], [["f", "2 kB", 3], ["g", "1 kB", 9], ["h", null, 1]])!;
  assert.equal(chart.kind, "bar");
  assert.deepEqual(chart.labels, ["f", "g", "h"]);
  assert.deepEqual(chart.series[0], { name: "live", values: [2048, 1024, null] });
  assert.equal(chart.bytes, true);
});

test("numbers along a column that rises are lines", () => {
  const chart = chartOf(["second", "allocations", "bytes"], [[0, 5, "1 kB"], [1, 7, "2 kB"], [2, 6, "3 kB"]])!;
  assert.equal(chart.kind, "line");
  assert.deepEqual(chart.x, [0, 1, 2]);
  assert.deepEqual(chart.series.map((one) => one.name), ["bytes"]);
  assert.equal(chartOf(["t", "a", "b"], [[0, 1, 2], [1, 2, 3], [2, 2, 2]])!.series.length, 2);
  // Not in order: each row is a bar.
  assert.equal(chartOf(["t", "a"], [[3, 1], [1, 2], [2, 2]])!.kind, "bar");
});

test("what has no numbers is no picture", () => {
  assert.equal(chartOf(["a"], [["x"], ["y"]]), null);
  assert.equal(chartOf(["a"], []), null);
  assert.equal(chartOf([], []), null);
});

test("a chart is an SVG in which names are text", () => {
  const chart = chartOf(["f", "n"], [["<script>", 1], ["b&\"", -2]])!;
  const svg = chartSvg(chart, 600, true);
  assert.match(svg, /^<svg /);
  assert.ok(!svg.includes("<script"));
  assert.ok(svg.includes("&lt;script&gt;"));
});

test("saved statements go with the address", () => {
  const list = withSaved(withSaved([], { name: "a", sql: "SELECT 1" }), { name: "b", sql: "x" });
  assert.deepEqual(readSaved(savedText(list)), list);
  assert.deepEqual(withSaved(list, { name: "a", sql: "2" }).map((one) => one.name), ["b", "a"]);
  for (const text of ["", "{", "{}", "[1]", "[[1,2]]", '[["a"]]']) assert.deepEqual(readSaved(text), []);
  assert.equal(savedText([]), "");
});

test("an error says where it is", () => {
  assert.deepEqual(placeOfError("no such column: x (line 2, column 8 of the query)"), { line: 2, column: 8 });
  assert.equal(placeOfError("it took too long"), null);
});
