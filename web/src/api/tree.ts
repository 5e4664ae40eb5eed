// Answers about functions and calls: over time, the tree, callers and callees.

import type { Figures } from "./types";

// What a row or call stands for, as far as the granularity has it.
export interface Entity {
  function?: string | null;
  file?: string;
  module?: string;
  line?: number;
}

export interface TreeNode extends Entity {
  label: string;
  step: string;
  parent: number | null;
  place: string;
  inlined?: boolean;
  recursive?: boolean;
  value: number;
  self: number;
  children: number;
  figures: Figures;
}

export interface TreeAnswer {
  name: string;
  unit: string;
  sort: string;
  granularity: string;
  total: Figures;
  selected: Figures;
  shrunk: number;
  found: boolean;
  cut: boolean;
  nodes: TreeNode[];
}

export interface PeekNeighbour extends Entity {
  label: string | null; // null: nobody, or the function itself
  figures: Figures;
}

export interface PeekFunction extends Entity {
  label: string;
  place: string;
  flat: Figures;
  cum: Figures;
  callers: PeekNeighbour[];
  caller_count: number;
  callees: PeekNeighbour[];
  callee_count: number;
}

export interface PeekAnswer {
  name: string;
  unit: string;
  sort: string;
  granularity: string;
  total: Figures;
  matching: number;
  functions: PeekFunction[];
}

export interface HistoryAnswer {
  known: boolean;
  why_not: string;
  times_ns: number[];
  live_bytes: number[][]; // by row of the page
}
