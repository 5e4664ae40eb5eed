import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { keyOf, Report } from "./report";
import type { FlameAnswer, SourcesAnswer, TableAnswer, TimelineAnswer } from "./types";

function report(answers: [string, Record<string, string>, unknown][]): Report {
  return new Report({
    answers: answers.map(([resource, parameters, answer]) => ({ resource, parameters, gzip: gzipSync(JSON.stringify(answer)).toString("base64") })),
    notes: ["something"],
    command: "heapgauge ui x",
  });
}

test("questions that differ in how much they want have one answer", () => {
  assert.equal(keyOf("flame", { source: "a", width: "2000", root: "AAAAAA", hold: "x" }), keyOf("flame", { source: "a", callers: "0", sort: "live" }));
  assert.notEqual(keyOf("flame", { source: "a", callers: "1" }), keyOf("flame", { source: "a" }));
  assert.notEqual(keyOf("table", { source: "a", focus: "x" }), keyOf("table", { source: "a" }));
  assert.equal(keyOf("summary", { source: "a", focus: "x", brief: "1" }), keyOf("summary", { source: "a" }));
});

test("a report does not change by itself", async () => {
  const sources = { sources: [{ id: "1", title: "t", kind: "process", live: true }], chosen: "1" };
  const answer = (await report([["sources", {}, sources]]).answer("sources", {})) as SourcesAnswer;
  assert.equal(answer.sources[0]!.live, false);
});

test("parts of a table and of time are taken from the whole", async () => {
  const rows = Array.from({ length: 10 }, (_, i) => ({ label: `f${i}`, place: "", flat: {} }));
  const points = [0, 1, 2, 3].map((s) => ({ time_ns: s * 1e9, live_bytes: s }));
  const made = report([
    ["table", { source: "a" }, { rows, count: 50, first: 0 }],
    ["timeline", { source: "a", stacks: "6" }, { from_ns: 0, to_ns: 3e9, points, markers: [], stacks: [{ frames: [], peak_bytes: 1, most_bytes: [1, 2, 3, 4] }] }],
  ]);
  const table = (await made.answer("table", { source: "a", first: "8", rows: "5" })) as TableAnswer;
  assert.deepEqual([table.rows.map((row) => row.label), table.count], [["f8", "f9"], 10]);
  const found = (await made.answer("table", { source: "a", match: "F[23]", order: "name", reverse: "1" })) as TableAnswer;
  assert.deepEqual(found.rows.map((row) => row.label), ["f3", "f2"]);
  const timeline = (await made.answer("timeline", { source: "a", stacks: "6", from: "1s", to: "2.5s" })) as TimelineAnswer;
  assert.deepEqual(timeline.points.map((point) => point.live_bytes), [1, 2]);
  assert.deepEqual(timeline.stacks![0]!.most_bytes, [2, 3]);
});

test("what is not there says what to do", async () => {
  await assert.rejects(report([]).answer("table", { source: "a", focus: "x" }), /heapgauge ui x/);
});

test("the filter of a flame graph knows whole names from the table", async () => {
  const flame: FlameAnswer = {
    name: "live", unit: "bytes", sort: "live", total: {}, selected: {}, shrunk: 0, value: 3, found: true, cut: false, path: [{ name: null, value: 3 }],
    names: [{ label: "f", step: "AAAAAA" }, { label: "g", step: "BBBBBB" }],
    nodes: { parent: [0, 0, 0], name: [0, 0, 1], value: [3, 2, 1], self: [0, 2, 1], flags: [0, 0, 0] },
  };
  const made = report([
    ["flame", { source: "a" }, flame],
    ["table", { source: "a" }, { rows: [{ label: "g", function: "space::g(int)", place: "", flat: {} }], count: 1 }],
  ]);
  const part = (await made.answer("flame", { source: "a", focus: "^space::g\\(int\\)$", width: "100" })) as FlameAnswer;
  assert.equal(part.value, 1);
});
