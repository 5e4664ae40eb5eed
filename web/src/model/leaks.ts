// Leak checks in words and shapes: amounts as the command line prints them, ages as bars.

import type { Amount, Kind, LeakFrame } from "../api/leaks";
import { fixed, formatByteRange, formatBytes, formatCount } from "./format";

export const KINDS: Kind[] = ["definite", "indirect", "possible", "reachable", "suppressed"];

export const KIND_TITLES: Record<Kind, string> = {
  definite: "definitely lost", indirect: "indirectly lost", possible: "possibly lost", reachable: "still reachable", suppressed: "suppressed",
};

export const KIND_HINTS: Record<Kind, string> = {
  definite: "no pointer to these blocks is left",
  indirect: "only lost blocks point to them",
  possible: "only pointers to the middle, or in memory that nobody knows",
  reachable: "the program can get at them",
  suppressed: "silenced by a rule",
};

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

// "310 MB ± 40"; with both ends where the range is wider than the figure.
export function estimateText(value: number, low: number, high: number): string {
  const text = formatBytes(value);
  if (!(high > low)) return text;
  const half = (high - low) / 2;
  if (half >= value) return `${text} (95 %: ${formatByteRange(low, high)})`;
  const unit = UNITS.indexOf(text.slice(text.indexOf(" ") + 1));
  const scaled = half / 1024 ** Math.max(0, unit);
  return `${text} ± ${fixed(scaled, scaled < 9.95 && unit > 0 ? 1 : 0)}`;
}

const withCommas = (count: number): string => Math.max(0, Math.round(count)).toString().replace(/\B(?=(\d{3})+$)/g, ",");

export function isSampled(amount: Amount): boolean {
  return amount.bytes_high !== undefined;
}

// "≈ 310 MB ± 40", "1,234 bytes".
export function bytesText(amount: Amount): string {
  if (amount.bytes_low === undefined || amount.bytes_high === undefined || amount.bytes === 0) return `${withCommas(amount.bytes)} bytes`;
  return `≈ ${estimateText(amount.bytes, amount.bytes_low, amount.bytes_high)}`;
}

export function blocksText(amount: Amount): string {
  const one = amount.blocks === 1 ? "block" : "blocks";
  return isSampled(amount) && amount.blocks !== 0 ? `≈ ${formatCount(amount.blocks)} ${one}` : `${withCommas(amount.blocks)} ${one}`;
}

// "+1.2 MB"
export function changeText(bytes: number): string {
  return `${bytes < 0 ? "-" : "+"}${formatBytes(Math.abs(bytes))}`;
}

export function pauseText(ns: number): string {
  const ms = ns / 1e6;
  return `${fixed(ms, ms < 9.95 ? 1 : 0)} ms`;
}

// "30 MB/min": the shortest time in which a megabyte comes together.
export function rateText(bytesPerSecond: number): string {
  for (const [seconds, name] of [[1, "s"], [60, "min"], [3600, "h"]] as const) {
    if (bytesPerSecond * seconds >= 1e6) return `${formatBytes(bytesPerSecond * seconds)}/${name}`;
  }
  return `${formatBytes(bytesPerSecond * 86400)}/d`;
}

export function probabilityText(p: number): string {
  return p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(p < 0.01 ? 3 : 2)}`;
}

// Matches the functions that a suspect is named by: it has no parameters in its name.
export function focusOf(name: string): string {
  return `^${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(\\(|$)`;
}

const ALLOCATES = /^(malloc|calloc|realloc|reallocarray|aligned_alloc|memalign|posix_memalign|valloc|pvalloc|operator new|__gnu_cxx::new_allocator|std::allocator|std::__new_allocator|std::allocator_traits)/;

// The stack without what only allocates and what called main.
export function readableStack(stack: LeakFrame[]): LeakFrame[] {
  let first = 0;
  while (first < stack.length - 1 && ALLOCATES.test(stack[first]!.function ?? "")) ++first;
  const main = stack.findIndex((frame) => frame.function === "main" || frame.function?.startsWith("main("));
  return stack.slice(first, main < 0 ? stack.length : Math.max(main, first) + 1);
}

export function frameName(frame: LeakFrame): string {
  if (frame.function) return frame.label ?? frame.function;
  const module = frame.module?.split("/").pop();
  return `${module ? `${module} ` : ""}0x${frame.address.toString(16)}`;
}

export function framePlace(frame: LeakFrame): string {
  if (frame.file) return `${frame.file.split("/").pop()}${frame.line ? `:${frame.line}` : ""}`;
  return frame.module?.split("/").pop() ?? "";
}
