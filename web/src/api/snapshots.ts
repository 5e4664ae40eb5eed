// Profiles of processes that the server keeps.

import type { Estimate } from "./types";

export interface Snapshot {
  id: string; // a source
  title: string;
  pid: number;
  name: string;
  type: string;
  taken_unix_ns: number;
  live_bytes: Estimate;
  allocated_bytes: Estimate;
  samples: number;
  live_samples: number;
}

export interface SnapshotsAnswer {
  most: number;
  snapshots: Snapshot[];
}
