// What is known of the call under the pointer: the figure at once, its range and place when the server has told.

import { useEffect, useState } from "preact/hooks";
import { ask } from "../api/client";
import type { FrameAnswer } from "../api/types";
import { mainEstimate, rangeText, treeValueText } from "../model/figures";
import { labelOf, pathToNode } from "../model/flame";
import { formatBytes, formatCount, formatDuration, formatShare } from "../model/format";
import type { Pointed } from "./flame_graph";

const QUIET_MS = 120; // a pointer that only passes asks for nothing

// "+1.2 MB (+40.0%)".
export function changeText(before: number, after: number, sort: string, unit: string): string {
  const of = { name: "", unit }; // a difference has its sign already
  const change = after - before;
  const sign = change > 0 ? "+" : change < 0 ? "-" : "";
  const share = before === 0 ? (after === 0 ? "" : " (new)") : after === 0 ? " (gone)" : ` (${sign}${formatShare(Math.abs(change), Math.abs(before))})`;
  return `${sign}${treeValueText(Math.abs(change), sort, of)}${share}`;
}

export function FrameDetails({ pointed }: { pointed: Pointed | null }) {
  const [known, setKnown] = useState<{ words: unknown; path: string; frame: FrameAnswer } | null>(null);
  const path = pointed ? pathToNode(pointed.flame, pointed.node) : "";
  const words = pointed?.words;
  const stale = pointed?.stale ?? false;
  useEffect(() => {
    if (!words || stale) return; // a path of the old tree need not be in the new one
    const controller = new AbortController();
    const timer = setTimeout(() => {
      ask("frame", { ...words, root: path }, controller.signal).then(
        (frame) => setKnown({ words, path, frame }),
        () => undefined, // it went away while the pointer was there
      );
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [words, path, stale]);

  if (!pointed) return <footer class="details dim" role="status">Point at a box for its figures; click to zoom in, right click for more, Ctrl and the wheel for a closer look.</footer>;
  const { flame, node } = pointed;
  const { answer } = flame;
  const value = answer.nodes.value[node]!;
  const frame = known && known.words === words && known.path === path ? known.frame : null;
  const estimate = frame ? mainEstimate(frame.figures) : null;
  const range = estimate && answer.sort === "live" ? rangeText(estimate, answer.unit) : "";
  const text = (figure: number) => treeValueText(figure, answer.sort, answer);
  const before = answer.nodes.before?.[node];
  const after = answer.nodes.after?.[node];
  return (
    <footer class="details" role="status" data-testid="flame-details">
      <b class="name">{frame?.function ?? labelOf(flame, node)}</b>
      <span class="figure">
        {before !== undefined && after !== undefined
          ? <><b>{changeText(before, after, answer.sort, answer.unit)}</b> · {text(before)} → {text(after)}</>
          : <>{text(value)} · {formatShare(value, answer.value)}</>}
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
