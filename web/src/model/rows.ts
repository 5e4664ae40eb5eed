// Figures of rows as the command line prints them: which estimate a table, tree or listing of callers is about, its
// text, its share.

import type { Estimate, Figures } from "../api/types";
import { mainEstimate, mainText } from "./figures";
import type { Measured } from "./figures";
import { formatBytes, formatPlusMinus, formatShare } from "./format";

// Sorted by what was allocated, a row is about that; otherwise about the main figure.
export function rowEstimate(figures: Figures, sort: string): Estimate {
  return (sort === "allocated" ? figures.allocated_bytes : undefined) ?? mainEstimate(figures);
}

export function rowText(estimate: Estimate, sort: string, of: Measured): string {
  if (estimate.value === 0) return "-";
  return sort === "allocated" ? formatBytes(estimate.value) : mainText(estimate.value, of);
}

export function rowName(sort: string, name: string): string {
  return sort === "allocated" ? "allocated" : name;
}

export function plusMinus(estimate: Estimate): string {
  return formatPlusMinus(estimate.value, estimate.low, estimate.high);
}

export function countOf(figures: Figures): number | undefined {
  return figures.live_objects ?? figures.objects;
}

// What rows of a table or tree have a share of: what they are sorted by.
export function sharedFigure(figures: Figures, sort: string): number {
  return (sort === "count" ? countOf(figures) : undefined) ?? rowEstimate(figures, sort).value;
}

export function shareText(part: number, whole: number): string {
  return part === 0 ? "-" : formatShare(part, whole);
}

// As a part of a bar.
export function sharePart(value: number, whole: number): number {
  return whole > 0 ? Math.min(1, Math.max(0, value / whole)) : 0;
}
