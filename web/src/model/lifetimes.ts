// The map of sizes and lifetimes: which of its cells the filter of the page chooses, and the words that choose some.

import type { BlockCount, LifetimesAnswer } from "../api/types";
import type { State } from "./state";

export interface Rect {
  top: number; // rows, both within it
  bottom: number;
  left: number; // steps of lifetimes
  right: number;
}

// The words of the filter that this map sets.
export const CELL_WORDS = ["min-size", "max-size", "min-lifetime", "max-lifetime", "freed", "not-freed"];

export function rectBetween(a: { row: number; step: number }, b: { row: number; step: number }, never: number): Rect {
  const rect = { top: Math.min(a.row, b.row), bottom: Math.max(a.row, b.row), left: Math.min(a.step, b.step), right: Math.max(a.step, b.step) };
  // Freed after a while or never: no filter says that, unless it is all of them.
  if (rect.right === never && rect.left > 0 && rect.left < never) {
    if (b.step === never) rect.left = never;
    else rect.right = never - 1;
  }
  return rect;
}

export function wordsOfRect(data: LifetimesAnswer, rect: Rect): Record<string, string> {
  const words: Record<string, string> = Object.fromEntries(CELL_WORDS.map((word) => [word, ""]));
  const never = data.lifetimes.length - 1;
  const low = data.sizes[rect.top]!;
  const high = data.sizes[rect.bottom]!;
  if (low.above > 0) words["min-size"] = String(low.above + 1);
  words["max-size"] = String(high.up_to);
  if (rect.left === never) words["not-freed"] = "1";
  if (rect.left === never || (rect.left === 0 && rect.right === never)) return words;
  words.freed = "1";
  const from = data.lifetimes[rect.left]!.from_ns ?? 0;
  const below = data.lifetimes[rect.right]!.below_ns;
  if (from > 0) words["min-lifetime"] = `${from}ns`;
  if (below !== undefined) words["max-lifetime"] = `${below - 1}ns`;
  return words;
}

const nsOf = (text: string | undefined): number | null => (text ? Number(/^([0-9]+)ns$/.exec(text)?.[1] ?? NaN) : null);

// The cells that the words of the page choose; null if they choose none, or not along cells.
export function rectOfWords(data: LifetimesAnswer, state: State): Rect | null {
  if (!CELL_WORDS.some((word) => state[word])) return null;
  const never = data.lifetimes.length - 1;
  const least = state["min-size"] ? Number(state["min-size"]) - 1 : 0;
  const top = data.sizes.findIndex((size) => size.above >= least);
  const most = state["max-size"] ? Number(state["max-size"]) : Infinity;
  const bottom = data.sizes.map((size) => size.up_to <= most).lastIndexOf(true);
  if (top < 0 || bottom < top || Number.isNaN(least) || Number.isNaN(most)) return null;
  if (state["not-freed"]) return { top, bottom, left: never, right: never };
  const from = nsOf(state["min-lifetime"]) ?? 0;
  const to = nsOf(state["max-lifetime"]);
  const left = data.lifetimes.findIndex((step) => step.from_ns === from);
  const right = to === null ? (state.freed ? never - 1 : never) : data.lifetimes.findIndex((step) => step.below_ns === to + 1);
  return left < 0 || right < left ? null : { top, bottom, left, right };
}

export function sumOfRect(data: LifetimesAnswer, rect: Rect): BlockCount {
  const sum = { blocks: 0, bytes: 0 };
  for (let row = rect.top; row <= rect.bottom; ++row) {
    for (let step = rect.left; step <= rect.right; ++step) {
      const cell = data.sizes[row]!.by_lifetime[step]!;
      sum.blocks += cell.blocks;
      sum.bytes += cell.bytes;
    }
  }
  return sum;
}

export const isInside = (rect: Rect | null, row: number, step: number): boolean =>
  rect !== null && row >= rect.top && row <= rect.bottom && step >= rect.left && step <= rect.right;

// Counts differ by orders of magnitude: shades are by their logarithm, over the last SHADE_DECADES of them.
export const SHADE_DECADES = 5;
export function shadeOf(value: number, most: number): number {
  if (value <= 0 || most <= 0) return 0;
  return Math.max(0.06, 1 + Math.log10(value / most) / SHADE_DECADES);
}
