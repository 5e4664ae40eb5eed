// What is known of the call under the pointer: the figure at once, its range and place when the server has told.

import { useEffect, useState } from "preact/hooks";
import { ask } from "../api/client";
import type { FrameAnswer } from "../api/types";
import { mainEstimate, rangeText, treeValueText } from "../model/figures";
import { pathToNode } from "../model/flame";
import type { Flame } from "../model/flame";
import { formatBytes, formatCount, formatDuration, formatShare } from "../model/format";
import { useFilter } from "./hooks";

const QUIET_MS = 120; // a pointer that only passes asks for nothing

interface Props {
  flame: Flame;
  node: number;
  callers: boolean;
  label: string;
}

export function FrameDetails({ flame, node, callers, label }: Props) {
  const filter = useFilter();
  const [known, setKnown] = useState<{ path: string; frame: FrameAnswer } | null>(null);
  const path = node >= 0 ? pathToNode(flame, node) : "";
  useEffect(() => {
    if (node < 0) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      ask("frame", { ...filter, root: path, ...(callers ? { callers: "1" } : {}) }, controller.signal).then(
        (frame) => setKnown({ path, frame }),
        () => undefined, // it went away while the pointer was there
      );
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [filter, path, node, callers]);

  if (node < 0) return <footer class="details dim" role="status">Point at a box for its figures; click to zoom in, right click for more.</footer>;
  const { answer } = flame;
  const value = answer.nodes.value[node]!;
  const frame = known && known.path === path ? known.frame : null;
  const estimate = frame ? mainEstimate(frame.figures) : null;
  const range = estimate && answer.sort === "live" ? rangeText(estimate, answer.unit) : "";
  return (
    <footer class="details" role="status" data-testid="flame-details">
      <b class="name">{frame?.function ?? label}</b>
      <span class="figure">
        {treeValueText(value, answer.sort, answer.unit)} · {formatShare(value, answer.value)}
        {range && <span class="dim"> · 95 %: {range}</span>}
        {frame?.figures.live_objects !== undefined && <span class="dim"> · {formatCount(frame.figures.live_objects)} objects</span>}
        {frame?.figures.allocated_bytes && answer.sort !== "allocated" && <span class="dim"> · allocated {formatBytes(frame.figures.allocated_bytes.value)}</span>}
        {frame?.figures.mean_age_ns !== undefined && <span class="dim"> · {formatDuration(frame.figures.mean_age_ns)} old</span>}
      </span>
      {frame && (
        <span class="dim place">
          {frame.place} {frame.module}
          {frame.inlined ? " (inlined)" : ""}
          {frame.recursive ? " (calls itself)" : ""}
        </span>
      )}
    </footer>
  );
}
