// The answer of memory-map.

export interface Holder {
  function?: string;
  label: string;
  frames?: string[];
  bytes: number;
  blocks: number;
}

export interface PinRow {
  function?: string;
  frames?: string[];
  pinned_bytes: number;
  blocks: number;
  block_bytes: number;
  ranges_alone: number;
}

export interface CellMap {
  unit: number;
  areas: { start: number; cells: number }[];
  live_bytes: number[];
  blocks: number[];
  largest: number[]; // index of names; -1 nobody
  largest_bytes: number[];
}

export interface BlockMapAnswer {
  kind: "trace";
  filter: string;
  pages: {
    at: string;
    time_ns: number;
    blocks: number;
    bytes: number;
    slack_bytes: number;
    ranges: { unit: number; ranges: number; live_bytes: number; free_bytes: number; by_eighths_full: number[] }[];
    pin_unit: number;
    pinned_ranges: number;
    pinned_bytes: number;
    pins: PinRow[];
  };
  pins: number;
  pin_labels: string[];
  map: CellMap;
  names: { function?: string; label: string }[];
  holders?: { start: number; end: number; bytes: number; blocks: number; groups: number; rows: Holder[] };
  notes: string[];
}

export interface RegionAnswer {
  start: number;
  end: number;
  owner: string;
  name: string;
  permissions: string;
  resident_bytes: number;
  dirty_bytes: number;
  swapped_bytes: number;
  live_bytes: number;
  samples: number;
  largest?: { function: string; label: string; live_bytes: number };
}

export interface OwnerSum {
  owner: string;
  regions: number;
  bytes: number;
  resident_bytes: number;
  dirty_bytes: number;
  swapped_bytes: number;
  live_bytes: number;
}

export interface RegionMapAnswer {
  kind: "process";
  live: boolean;
  time_ns: number;
  time_note: string;
  allocator: string;
  resident_bytes: number;
  swapped_bytes: number;
  parts: { part: string; label: string; bytes: number }[];
  owners: OwnerSum[];
  regions: RegionAnswer[];
  left_out: number;
  left_out_resident_bytes: number;
  notes: string[];
}

export type MemoryMapAnswer = BlockMapAnswer | RegionMapAnswer;
