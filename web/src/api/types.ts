// Answers of the API as far as the page reads them; docs/api/openapi.json describes all of it.

export interface Estimate {
  value: number;
  low: number;
  high: number;
}

export interface Figures {
  live_bytes?: Estimate;
  allocated_bytes?: Estimate;
  value?: Estimate;
  live_objects?: number;
  allocated_objects?: number;
  objects?: number;
  samples?: number;
  live_samples?: number;
  mean_age_ns?: number;
  oldest_age_ns?: number;
}

export interface SourceFacts {
  id: string;
  title: string;
  kind: "process" | "trace" | "profile";
  live: boolean;
  pid?: number;
  taken_unix_ns?: number; // a snapshot of a process
}

export interface SourcesAnswer {
  sources: SourceFacts[];
  chosen: string | null;
}

export interface Recording {
  program: string;
  name: string; // what people call it
  command_line: string[];
  pid: number;
  state: string;
  active: boolean;
  start_unix_ns: number;
  duration_ns: number;
  allocator: string;
  interval: number;
  interval_in_force: number;
  samples: number;
  live_samples: number;
  lost: Record<string, number>;
  lost_bytes: number;
  is_peak: boolean;
  peak_bytes: number;
  peak_ns: number;
  exact: boolean;
  moment: string;
  filter: string;
}

export interface MemoryAnswer {
  resident_bytes: number;
  live: boolean;
  parts: Record<string, number>;
  heap: { allocator: string };
}

export interface Choice {
  title: string;
  parameters: Record<string, string>;
}

export interface Finding {
  kind: string;
  text: string;
  weight: number;
  parameters: Record<string, string>;
}

export interface SummaryAnswer {
  source: SourceFacts;
  recording: Recording | null;
  state: string;
  name: string;
  unit: string;
  total: Figures;
  stacks: number;
  choices: Choice[];
  findings?: Finding[];
  notes: string[];
  memory?: MemoryAnswer | null;
}

export interface FlameName {
  label: string;
  step: string;
  module?: string;
}

export interface FlameAnswer {
  name: string;
  unit: string;
  sort: string;
  total: Figures;
  selected: Figures;
  shrunk: number;
  value: number;
  found: boolean;
  cut: boolean;
  path: { name: number | null; value: number }[];
  names: FlameName[];
  // Where two profiles are compared, a value is the larger of two sides.
  nodes: { parent: number[]; name: number[]; value: number[]; self: number[]; flags: number[]; before?: number[]; after?: number[] };
  compared?: { profiles: [string, string]; before: number; after: number };
}

export interface FrameAnswer {
  function?: string;
  file?: string;
  module?: string;
  place?: string;
  line?: number;
  inlined: boolean;
  recursive: boolean;
  value: number;
  before?: number;
  after?: number;
  figures: Figures;
  stack: { function?: string; file?: string; module?: string }[];
}

export interface TableRow {
  function?: string;
  file?: string;
  module?: string;
  line?: number;
  label: string;
  place: string;
  flat: Figures;
  cum?: Figures; // if both are asked for
}

export interface TableAnswer {
  name: string;
  unit: string;
  sort: string; // by which figure; rows have a share of it
  granularity: string;
  total: Figures;
  selected: Figures;
  first: number;
  count: number; // rows that match
  row_count: number;
  rows: TableRow[];
}

export interface TimelinePoint {
  time_ns: number;
  live_bytes: number;
  live_blocks?: number;
  most_bytes?: number;
  least_bytes?: number;
  allocated_bytes?: number;
  freed_bytes?: number;
  resident_bytes?: number;
  proportional_bytes?: number;
  cgroup_bytes?: number;
  cgroup_limit?: number;
}

export interface ThreadLane {
  thread: number | null; // null: all that have no lane of their own
  thread_name: string;
  threads: number;
  allocated_bytes: number;
  allocated_blocks: number;
  freed_bytes: number;
  over_time: { allocated_bytes: number[]; allocated_blocks: number[]; freed_bytes: number[] };
}

export interface TimelineAnswer {
  exact: boolean;
  filter?: string; // which blocks it is about, where these are not all
  from_ns: number;
  to_ns: number;
  peak: { time_ns: number; live_bytes: number };
  end: { time_ns: number; live_bytes: number };
  allocated_bytes?: number;
  freed_bytes?: number;
  most_resident_bytes?: number;
  cgroup_limit?: number;
  points: TimelinePoint[];
  markers: { time_ns: number; text: string }[];
  notes: string[];
  stacks?: { frames: string[]; peak_bytes: number; most_bytes: number[] }[];
  threads?: ThreadLane[];
}

export interface ProcessAnswer {
  pid: number;
  source: string; // its id
  error?: string;
  name?: string;
  program?: string;
  command_line?: string[];
  state?: string;
  state_text?: string;
  active?: boolean;
  live_bytes?: Estimate;
  allocated_bytes?: Estimate;
  samples?: number;
  live_samples?: number;
  lost_samples?: number;
  interval?: number;
  interval_in_force?: number;
  duration_ns?: number;
  forked_ns?: number;
  allocation_rate?: number;
  resident_bytes?: number;
  may_change?: boolean;
  why_no_change?: string;
  may_dump?: boolean;
  why_no_dump?: string;
}

export interface ProcessesAnswer {
  processes: ProcessAnswer[];
}

export interface DiffChange {
  function?: string;
  file?: string;
  module?: string;
  line?: number;
  label: string;
  place: string;
  kind: string;
  before: Estimate;
  after: Estimate;
  change: Estimate;
  beyond_chance: boolean;
  objects_before?: number;
  objects_after?: number;
}

export interface DiffAnswer {
  unit: string;
  granularity: string;
  profiles: { source: string; figure: number }[];
  notes: string[];
  total: DiffChange;
  change_count: number;
  changes: DiffChange[];
}

export interface BlockCount {
  blocks: number;
  bytes: number;
}

export interface LifetimesAnswer {
  lifetimes: { name: string; from_ns?: number; below_ns?: number }[];
  total: BlockCount & { never_freed: BlockCount; temporary: BlockCount; median_ns?: number };
  sizes: (BlockCount & { above: number; up_to: number; by_lifetime: BlockCount[] })[];
  rows: (BlockCount & { function?: string; label?: string; line?: number; frames?: string[]; thread?: number | null; thread_name?: string; never_freed: BlockCount; temporary: BlockCount; mean_ns?: number; median_ns?: number; by_lifetime: BlockCount[] })[];
}
