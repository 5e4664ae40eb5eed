// What changed from one profile to another, as colours of a flame graph: blue for less, orange for more, which
// those who do not tell red from green tell apart, and paler the less there is of it.

import type { Flame } from "./flame";

export type ChangeScale = "absolute" | "relative";

// Shades of each hue; index 0 is no change.
export const SHADES = 12;

export function changeOf(flame: Flame, node: number): number {
  const { before, after } = flame.answer.nodes;
  return before && after ? after[node]! - before[node]! : 0;
}

// By node, from -SHADES (less) to SHADES (more). Absolute: against the largest change in the picture. Relative:
// against the larger of the two sides, so that what is new or gone has the full hue.
export function shadesOf(flame: Flame, scale: ChangeScale): Int8Array {
  const shades = new Int8Array(flame.count);
  const { before, after } = flame.answer.nodes;
  if (!before || !after) return shades;
  let most = 0;
  for (let i = 0; i < flame.count; ++i) most = Math.max(most, Math.abs(changeOf(flame, i)));
  for (let i = 0; i < flame.count; ++i) {
    const change = changeOf(flame, i);
    if (Math.abs(change) < 0.5) continue; // rounding in a file is no change
    const whole = scale === "absolute" ? most : Math.max(Math.abs(before[i]!), Math.abs(after[i]!));
    // The eye tells small differences of a pale colour better than those of a strong one.
    const part = Math.sqrt(Math.min(1, Math.abs(change) / whole));
    shades[i] = Math.sign(change) * Math.max(1, Math.round(part * SHADES));
  }
  return shades;
}

const NONE = { light: [230, 227, 219], dark: [48, 51, 57] };
const MORE = { light: [242, 146, 58], dark: [170, 84, 12] };
const LESS = { light: [104, 164, 232], dark: [38, 98, 170] };

// The colours of shades, from -SHADES on.
export function changeColours(dark: boolean): string[] {
  const look = dark ? "dark" : "light";
  const colours: string[] = [];
  for (let shade = -SHADES; shade <= SHADES; ++shade) {
    const end = shade < 0 ? LESS[look] : MORE[look];
    const part = Math.abs(shade) / SHADES;
    const channels = NONE[look].map((from, i) => Math.round(from + (end[i]! - from) * part));
    colours.push(`rgb(${channels.join(" ")})`);
  }
  return colours;
}
