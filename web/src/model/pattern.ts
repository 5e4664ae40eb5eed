// Regular expressions (RE2) that mean one thing: what a click on a name asks for.

import type { Entity } from "../api/tree";

export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

export function exactly(text: string): string {
  return `^${escapePattern(text)}$`;
}

// The stacks through a function; by file or module, through that.
export function patternOf(entity: Entity): string {
  return exactly(entity.function ?? entity.file ?? entity.module ?? "");
}
