// Files of source code and the lines of one.

import type { Figures } from "./types";

export interface SourceSums {
  flat: number;
  cum: number;
  flat_text: string;
  cum_text: string;
  share: string;
}

export interface SourceChosen {
  file: string;
  functions: (SourceSums & { function: string; line: number })[];
  costs: (SourceSums & { line: number })[];
  found: boolean;
  problem: string;
  searched: string[];
  cut: boolean;
  lines: string[];
}

export interface SourceAnswer {
  name: string;
  unit: string;
  total: Figures;
  total_text: string;
  files: { file: string; flat: Figures; cum: Figures }[];
  file_count: number;
  may_read: boolean;
  search_path: string;
  chosen: SourceChosen | null;
}
