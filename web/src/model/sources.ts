// What kind of thing a source is, where views behave differently.

import type { SourceFacts } from "../api/types";

// A program that runs: profiles can be taken of it.
export function runs(source: SourceFacts | null | undefined): boolean {
  return source?.kind === "process" && source.live;
}

// A trace that is still being written.
export function grows(source: SourceFacts | null | undefined): boolean {
  return source?.kind === "trace" && source.live;
}

// How it is called in a list.
export function labelOf(source: SourceFacts): string {
  if (grows(source)) return `${source.title} (being written)`;
  return `${source.title}${source.live ? " (live)" : ""}`;
}
