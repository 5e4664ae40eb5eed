// Where memory lies: of a trace how full its pages are and who pins them, of a process the regions it has.

import { usePage } from "./hooks";
import { BlockMap } from "./memory_blocks";
import { RegionMap } from "./memory_regions";
import "./memory.css";

export function MemoryView() {
  const { source } = usePage();
  if (source?.kind === "trace") return <BlockMap />;
  if (source?.kind === "process") return <RegionMap />;
  return <p class="empty">This profile has no addresses. A trace (heapgauge run --trace) and a process that runs do.</p>;
}
