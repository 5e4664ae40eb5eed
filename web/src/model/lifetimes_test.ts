import assert from "node:assert/strict";
import { test } from "node:test";
import type { LifetimesAnswer } from "../api/types";
import { CELL_WORDS, rectBetween, rectOfWords, shadeOf, sumOfRect, wordsOfRect } from "./lifetimes";

const cells = (first: number) => [0, 1, 2, 3].map((i) => ({ blocks: first + i, bytes: 10 * (first + i) }));
const count = { blocks: 0, bytes: 0 };
const DATA = {
  lifetimes: [{ name: "<1us", from_ns: 0, below_ns: 1000 }, { name: "<10us", from_ns: 1000, below_ns: 10_000 }, { name: ">10us", from_ns: 10_000 }, { name: "never freed" }],
  total: { ...count, never_freed: count, temporary: count },
  sizes: [{ ...count, above: 0, up_to: 1, by_lifetime: cells(1) }, { ...count, above: 8, up_to: 16, by_lifetime: cells(5) }, { ...count, above: 64, up_to: 128, by_lifetime: cells(9) }],
  rows: [],
} as unknown as LifetimesAnswer;

test("the words that choose cells choose the same cells again", () => {
  for (let top = 0; top < 3; ++top) {
    for (let bottom = top; bottom < 3; ++bottom) {
      for (const [left, right] of [[0, 0], [0, 1], [1, 2], [2, 2], [3, 3], [0, 3], [0, 2]] as const) {
        const rect = { top, bottom, left, right };
        assert.deepEqual(rectOfWords(DATA, wordsOfRect(DATA, rect)), rect);
      }
    }
  }
});

test("words are those of the command line", () => {
  const words = wordsOfRect(DATA, { top: 1, bottom: 2, left: 1, right: 1 });
  assert.deepEqual(CELL_WORDS.map((word) => words[word]), ["9", "128", "1000ns", "9999ns", "1", ""]);
  assert.equal(wordsOfRect(DATA, { top: 0, bottom: 0, left: 3, right: 3 })["not-freed"], "1");
});

test("what never died stands alone, unless all lifetimes are meant", () => {
  assert.deepEqual(rectBetween({ row: 0, step: 1 }, { row: 1, step: 3 }, 3), { top: 0, bottom: 1, left: 3, right: 3 });
  assert.deepEqual(rectBetween({ row: 1, step: 3 }, { row: 0, step: 1 }, 3), { top: 0, bottom: 1, left: 1, right: 2 });
  assert.deepEqual(rectBetween({ row: 0, step: 0 }, { row: 0, step: 3 }, 3), { top: 0, bottom: 0, left: 0, right: 3 });
});

test("a filter that does not go along cells chooses none of them", () => {
  assert.equal(rectOfWords(DATA, {}), null);
  assert.equal(rectOfWords(DATA, { "min-lifetime": "5ms" }), null);
  assert.equal(rectOfWords(DATA, { "max-size": "4K" }), null);
});

test("sums and shades", () => {
  assert.deepEqual(sumOfRect(DATA, { top: 0, bottom: 1, left: 0, right: 1 }), { blocks: 1 + 2 + 5 + 6, bytes: 140 });
  assert.equal(shadeOf(0, 100), 0);
  assert.equal(shadeOf(100, 100), 1);
  assert.ok(shadeOf(10, 100) > shadeOf(1, 100) && shadeOf(1, 1e12) > 0);
});
