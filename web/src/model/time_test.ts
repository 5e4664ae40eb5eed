import assert from "node:assert/strict";
import { test } from "node:test";
import { moved, rangeA, rangeB, stepAt, TimePointer, upTo, withA, withB, zoomed } from "./time";

const WHOLE = { from: 0, to: 10 };

test("zooming keeps the moment under the pointer where it is", () => {
  const closer = zoomed({ from: 2, to: 6 }, WHOLE, 3, 0.5)!;
  assert.deepEqual(closer, { from: 2.5, to: 4.5 });
  assert.equal((3 - closer.from) / (closer.to - closer.from), (3 - 2) / (6 - 2));
});

test("zooming out ends with all of it, and never leaves it", () => {
  assert.equal(zoomed({ from: 1, to: 9 }, WHOLE, 5, 2), null);
  assert.deepEqual(zoomed({ from: 0, to: 2 }, WHOLE, 0, 2), { from: 0, to: 4 });
  assert.deepEqual(moved({ from: 6, to: 9 }, WHOLE, 5), { from: 7, to: 10 });
  assert.deepEqual(moved({ from: 6, to: 9 }, WHOLE, -50), { from: 0, to: 3 });
});

test("a moment is in the step that ends at or behind it", () => {
  assert.equal(stepAt([1, 2, 3], 0), 0);
  assert.equal(stepAt([1, 2, 3], 1), 0);
  assert.equal(stepAt([1, 2, 3], 1.1), 1);
  assert.equal(stepAt([1, 2, 3], 99), 2);
  assert.equal(stepAt([], 1), -1);
});

test("one range asks for what is left of it, two for what is still live in the second", () => {
  const a = withA({}, { from: 1, to: 2.5 });
  assert.deepEqual([a.from, a.to, a.value], ["1s", "2.5s", "left"]);
  const both = withB({ from: "1s", to: "2.5s", value: "left" }, { from: 4, to: 5 });
  assert.deepEqual([both["live-at"], both.value], ["4s,5s", "allocated"]);
  assert.equal(withB({ from: "1s", to: "2s" }, { from: 4, to: 4 })["live-at"], "4s");
  assert.deepEqual(rangeA({ from: "1s", to: "2.5s" }), { from: 1, to: 2.5 });
  assert.deepEqual(rangeB({ "live-at": "4s,5s" }), { from: 4, to: 5 });
  assert.deepEqual(rangeB({ "live-at": "4s" }), { from: 4, to: 4 });
  assert.equal(rangeB({ "live-at": "peak" }), null);
});

test("a figure that somebody chose stays", () => {
  assert.equal(withA({ value: "freed" }, { from: 1, to: 2 }).value, undefined);
  assert.equal(withA({ value: "left" }, null).value, "");
});

test("a trace that grows is shared up to where it was written", () => {
  assert.deepEqual(upTo({}, 1_500_000_100), { at: "1.500001s" });
  assert.deepEqual(upTo({ value: "allocated" }, 2e9), { to: "2s" });
  assert.deepEqual(upTo({ from: "1s", value: "left" }, 2e9), { to: "2s" });
  for (const chosen of [{ at: "1s" }, { from: "1s", to: "2s" }, { peak: "1" }]) assert.deepEqual(upTo(chosen, 2e9), {});
});

test("the pointer tells of changes alone", () => {
  const pointer = new TimePointer();
  let told = 0;
  const stop = pointer.listen(() => ++told);
  pointer.set({ seconds: 1 });
  pointer.set({ seconds: 1 });
  stop();
  pointer.set({ seconds: 2 });
  assert.equal(told, 1);
});
