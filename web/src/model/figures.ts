// Which number of an answer is the main one, and how it is written.

import type { Estimate, Figures } from "../api/types";
import { formatCount, formatRange, formatValue } from "./format";

export function mainEstimate(figures: Figures): Estimate {
  return figures.live_bytes ?? figures.value ?? figures.allocated_bytes ?? { value: 0, low: 0, high: 0 };
}

export function hasRange(estimate: Estimate): boolean {
  return estimate.high > estimate.low;
}

export function rangeText(estimate: Estimate, unit: string): string {
  return hasRange(estimate) ? formatRange(estimate.low, estimate.high, unit) : "";
}

// The figure that a tree is about: its sort says which of those in the answer.
export function treeValueText(value: number, sort: string, unit: string): string {
  if (sort === "count") return formatCount(value);
  return formatValue(value, sort === "allocated" ? "bytes" : unit);
}

export function treeName(sort: string, name: string): string {
  if (sort === "count") return `${name} objects`;
  return sort === "allocated" ? "allocated" : name;
}
