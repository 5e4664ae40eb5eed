// Answers of the resources on leaks; docs/formats/leaks-json.md describes what they share with the command line.

import type { Estimate } from "./types";

export type Kind = "definite" | "indirect" | "possible" | "reachable" | "suppressed";

export interface Amount {
  bytes: number;
  blocks: number;
  bytes_low?: number; // of sampled blocks
  bytes_high?: number;
  sampled_blocks?: number;
}

export interface Change {
  new: boolean;
  bytes: number;
  indirect_bytes: number;
  blocks: number;
}

export interface LeakFrame {
  function?: string;
  label?: string; // without template arguments and parameters
  file?: string;
  line?: number;
  inlined?: boolean;
  module?: string;
  address: number;
}

export interface LeakRecord extends Amount {
  key: string;
  number: number;
  kind: Kind | "unknown";
  suppression?: string;
  name: string;
  place: string;
  indirect_bytes: number;
  indirect_blocks: number;
  sampled_blocks_of_stack?: number;
  heuristic?: string;
  oldest_age_ns: number;
  newest_age_ns: number;
  example_address?: number;
  example_size?: number;
  change?: Change;
  frame_count: number;
  stack: LeakFrame[];
}

export interface Ages {
  step_ns: number;
  bytes: number[]; // the oldest first
  lost_bytes?: number[];
}

export interface Suspect {
  function: string;
  sentence: string;
  lost: boolean;
  grows: boolean;
  live_bytes: Estimate;
  live_blocks_known: number;
  lost_bytes?: Estimate;
  lost_blocks_known?: number;
  possible_blocks_known?: number;
  lost_share?: { low: number; high: number };
  oldest_lost_age_ns?: number;
  trend: string;
  p: number;
  bytes_per_second?: Estimate;
  freed_share?: number;
  oldest_age_ns: number;
  median_age_ns: number;
  ages: Ages;
  least_live_bytes?: number[];
  record?: string; // the key of the one that tells most
  record_count: number;
  stack_count: number;
}

export interface LeaksAnswer {
  check: {
    pid: number;
    unix_ns: number;
    exact: boolean;
    missing: "" | "events" | "young blocks" | "end";
    at_exit: boolean;
    look: "copy" | "own copy" | "in place" | "none";
    pause_ns: number;
    threads: number;
    scanned_bytes: number;
    scan_cpu_ns: number;
  };
  number: number; // of the check, from 1; 0: memory was not looked at
  may_look: boolean;
  summary: Record<Kind, Amount> & {
    verdict: string;
    in_use: Amount;
    records: number;
    changes?: Record<Kind, Change> & { gone_records: number; gone_bytes: number };
  };
  suspects: { suspected: Suspect[]; not_suspected: Suspect[]; suspected_count: number; not_suspected_count: number; whole: string; run_ns: number };
  notes: string[];
  record_count: number;
  records: LeakRecord[];
  since: number | null;
  earlier: { number: number; unix_ns: number }[];
}

export interface LeakOwner {
  kind: string;
  address: number;
  size: number;
  path: { place: string; address: number; block?: number; stack?: LeakFrame[] }[];
  left_out: number;
  roots: { root: string; blocks_known: number }[];
}

export interface LeakAnswer {
  record: LeakRecord;
  ages: Ages | null;
  suppressions: { valgrind: string; lsan: string };
  owner: LeakOwner | null;
}

export interface LeakCheckAnswer {
  number: number;
  verdict: string;
  pause_ns: number;
  scan_cpu_ns: number;
  scanned_bytes: number;
}
