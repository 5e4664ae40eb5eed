// The time axis that all lanes of the timeline share: what part of it is seen, where the pointer is, and the two
// ranges that people choose: A, in which blocks were allocated, and B, in which they are still live.

import { momentText } from "./format";
import type { State } from "./state";

export interface Span {
  from: number; // seconds
  to: number;
}

// A moment as the page itself writes them ("1.25s"); null for words that only the server knows.
export function secondsOf(text: string | undefined): number | null {
  const found = /^([0-9.]+)s$/.exec(text ?? "");
  return found ? Number(found[1]) : null;
}

export const momentOf = (seconds: number): string => momentText(Math.max(0, seconds) * 1e9);

// Zooming in further shows nothing more.
const LEAST_SECONDS = 1e-6;

function within(span: Span, whole: Span): Span {
  const length = Math.min(Math.max(span.to - span.from, LEAST_SECONDS), whole.to - whole.from);
  const from = Math.min(Math.max(span.from, whole.from), whole.to - length);
  return { from, to: from + length };
}

// By `factor` (below 1: closer), so that `at` stays where it is. Null: all of it.
export function zoomed(seen: Span, whole: Span, at: number, factor: number): Span | null {
  const length = (seen.to - seen.from) * factor;
  if (length >= (whole.to - whole.from) * 0.999) return null;
  const part = (at - seen.from) / Math.max(seen.to - seen.from, LEAST_SECONDS);
  return within({ from: at - part * length, to: at + (1 - part) * length }, whole);
}

export function moved(seen: Span, whole: Span, seconds: number): Span {
  return within({ from: seen.from + seconds, to: seen.to + seconds }, whole);
}

// The index of the step that a moment is in: each ends at its time. -1 if there is none.
export function stepAt(ends: readonly number[], at: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return Math.min(low, ends.length - 1);
}

// Range A and what is asked of it: words of the address.
export function rangeA(state: State): Span | null {
  const from = secondsOf(state.from);
  const to = secondsOf(state.to);
  return from !== null && to !== null ? { from, to } : null;
}

// "live-at" has one moment, or two: live at both is live all the time between.
export function rangeB(state: State): Span | null {
  const [first, last] = (state["live-at"] ?? "").split(",");
  const from = secondsOf(first);
  if (from === null) return null;
  return { from, to: secondsOf(last) ?? from };
}

// A figure that was chosen for another reason stays.
const isOfRange = (value: string | undefined): boolean => !value || value === "left" || value === "allocated";

export function withA(state: State, span: Span | null): Record<string, string> {
  const words = span ? { from: momentOf(span.from), to: momentOf(span.to), at: "", peak: "" } : { from: "", to: "" };
  const value = span ? (state["live-at"] ? "allocated" : "left") : "";
  return { ...words, root: "", ...(isOfRange(state.value) ? { value } : {}) };
}

export function withB(state: State, span: Span | null): Record<string, string> {
  const from = span ? momentOf(span.from) : "";
  const to = span ? momentOf(span.to) : "";
  const value = state.from ? (span ? "allocated" : "left") : "";
  return { "live-at": from === to ? from : `${from},${to}`, at: "", peak: "", root: "", ...(isOfRange(state.value) ? { value } : {}) };
}

export function withMoment(seconds: number): Record<string, string> {
  return { at: momentOf(seconds), from: "", to: "", "live-at": "", peak: "", value: "", root: "" };
}

// The same figures when more has been written: a moment or range that ends at `ns`, unless one is chosen.
export function upTo(state: State, ns: number): Record<string, string> {
  if (state.at || state.to || state.peak || ns <= 0) return {};
  const end = momentText(Math.ceil(ns / 1000) * 1000);
  return !state.from && (!state.value || state.value === "live") ? { at: end } : { to: end };
}

export interface Pointed {
  seconds: number | null; // where the pointer is
  lane: number; // which thread's lane; -1 none
  draft: (Span & { second: boolean }) | null; // a range that is being drawn
}

// Where the pointer is, for all who draw: told at once, past the state of the page, as it changes with every move.
export class TimePointer {
  private listeners = new Set<(now: Pointed) => void>();
  now: Pointed = { seconds: null, lane: -1, draft: null };

  set(change: Partial<Pointed>): void {
    const next = { ...this.now, ...change };
    if (next.seconds === this.now.seconds && next.lane === this.now.lane && next.draft === this.now.draft) return;
    this.now = next;
    for (const listener of this.listeners) listener(next);
  }

  listen(listener: (now: Pointed) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
