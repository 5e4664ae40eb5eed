// What each thread allocated (up) and freed (down) over time, the busiest first, all on one scale.

import { useEffect, useRef } from "preact/hooks";
import type { ThreadLane } from "../api/types";
import { SERIES } from "../model/colours";
import { formatBytes, formatCount } from "../model/format";
import type { Span } from "../model/time";

const HEIGHT = 24;

export interface ThreadLanesProps {
  threads: ThreadLane[];
  ends: number[]; // seconds at which steps end
  begin: number;
  seen: Span;
  width: number; // of the plot
  dark: boolean;
  chosen: string; // the filter's thread
  onChoose: (thread: string) => void;
}

export function laneName(lane: ThreadLane): string {
  if (lane.thread === null) return lane.threads === 1 ? "1 other" : `${formatCount(lane.threads)} others`;
  return lane.thread_name || String(lane.thread);
}

export function ThreadLanes(props: ThreadLanesProps) {
  const { threads, chosen, onChoose } = props;
  let most = 1;
  for (const lane of threads) for (const values of [lane.over_time.allocated_bytes, lane.over_time.freed_bytes]) for (const value of values) most = Math.max(most, value);
  return (
    <ul class="lanes" aria-label="Threads">
      {threads.map((lane, i) => {
        const id = lane.thread === null ? "" : String(lane.thread);
        const figures = `allocated ${formatBytes(lane.allocated_bytes)} in ${formatCount(lane.allocated_blocks)} blocks, freed ${formatBytes(lane.freed_bytes)}`;
        const title = `${laneName(lane)}${id ? ` (${id})` : ""}: ${figures}`;
        return (
          <li key={id} class={chosen && chosen !== id ? "faint" : ""}>
            {id ? (
              <button type="button" class="lane-name" aria-pressed={chosen === id} title={`${title}. Click: only this thread`} aria-label={title} onClick={() => onChoose(chosen === id ? "" : id)}>
                {laneName(lane)}
              </button>
            ) : (
              <span class="lane-name dim" title={title}>{laneName(lane)}</span>
            )}
            <Lane {...props} lane={lane} most={most} index={i} title={title} />
          </li>
        );
      })}
    </ul>
  );
}

function Lane({ lane, ends, begin, seen, width, dark, most, index, title }: ThreadLanesProps & { lane: ThreadLane; most: number; index: number; title: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || width <= 0) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(HEIGHT * ratio);
    context.scale(ratio, ratio);
    const middle = HEIGHT * 0.6;
    context.fillStyle = dark ? "#343840" : "#dedbd2";
    context.fillRect(0, middle, width, 1);
    const { allocated_bytes: allocated, freed_bytes: freed } = lane.over_time;
    const scale = width / Math.max(seen.to - seen.from, 1e-9);
    // Little is still something: at least a pixel.
    const bar = (bytes: number, room: number) => (bytes > 0 ? Math.max(1, Math.sqrt(bytes / most) * room) : 0);
    for (let i = 0; i < ends.length; ++i) {
      const left = ((i > 0 ? ends[i - 1]! : begin) - seen.from) * scale;
      const right = (ends[i]! - seen.from) * scale;
      if (right < 0 || left > width) continue;
      const wide = Math.max(1, right - left);
      const up = bar(allocated[i]!, middle - 1);
      const down = bar(freed[i]!, HEIGHT - middle - 2);
      context.fillStyle = SERIES[0]!;
      if (up > 0) context.fillRect(left, middle - up, wide, up);
      context.fillStyle = SERIES[1]!;
      if (down > 0) context.fillRect(left, middle + 1, wide, down);
    }
  }, [lane, ends, begin, seen.from, seen.to, width, dark, most]);
  return <canvas ref={canvas} data-lane-plot={index} role="img" aria-label={title} style={{ width: `${width}px`, height: `${HEIGHT}px` }} />;
}
