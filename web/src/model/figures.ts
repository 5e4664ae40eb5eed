// Which number of an answer is the main one, and how it is written.

import type { Estimate, Figures } from "../api/types";
import { formatBytes, formatChange, formatCount, formatRange, formatValue } from "./format";

export function mainEstimate(figures: Figures): Estimate {
  return figures.live_bytes ?? figures.value ?? figures.allocated_bytes ?? { value: 0, low: 0, high: 0 };
}

export function hasRange(estimate: Estimate): boolean {
  return estimate.high > estimate.low;
}

export function rangeText(estimate: Estimate, unit: string): string {
  return hasRange(estimate) ? formatRange(estimate.low, estimate.high, unit) : "";
}

// What an answer counts.
export interface Measured {
  name: string;
  unit: string;
}

// Growth has a sign: as the command line prints it.
const isChange = (of: Measured): boolean => of.name === "growth";

export function mainText(value: number, of: Measured): string {
  return isChange(of) ? formatChange(value, of.unit) : formatValue(value, of.unit);
}

export function mainCountText(count: number, of: Measured): string {
  return isChange(of) ? formatChange(count, "count") : formatCount(count);
}

// The figure that a tree is about: its sort says which of those in the answer.
export function treeValueText(value: number, sort: string, of: Measured): string {
  if (sort === "count") return mainCountText(value, of);
  return sort === "allocated" ? formatBytes(value) : mainText(value, of);
}

export function treeName(sort: string, name: string): string {
  if (sort === "count") return `${name} objects`;
  return sort === "allocated" ? "allocated" : name;
}
