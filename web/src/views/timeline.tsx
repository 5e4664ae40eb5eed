// The heap over time. A range that is brushed here is what all views are about.

import { useMemo } from "preact/hooks";
import type { TimelineAnswer } from "../api/types";
import { SERIES, tint } from "../model/colours";
import { formatBytes, formatDuration, momentText } from "../model/format";
import { Chart } from "./chart";
import type { Line, Mark } from "./chart";
import { useAsk, usePage } from "./hooks";
import { Problem, Toggle, useDark, useSize } from "./parts";

// A moment as the page itself writes them ("1.25s"); null for words that only the server knows.
export function secondsOf(text: string | undefined): number | null {
  const found = /^([0-9.]+)s$/.exec(text ?? "");
  return found ? Number(found[1]) : null;
}

const seconds = (timeline: TimelineAnswer): number[] => timeline.points.map((point) => point.time_ns / 1e9);

function heapLines(timeline: TimelineAnswer, dark: boolean): { lines: Line[]; data: (number | null)[][] } {
  const lines: Line[] = [];
  const data: (number | null)[][] = [seconds(timeline)];
  const stacks = timeline.stacks ?? [];
  if (timeline.points.some((point) => point.resident_bytes)) {
    lines.push({ label: "RSS", colour: SERIES[1]!, dash: [5, 4] });
    data.push(timeline.points.map((point) => point.resident_bytes ?? null));
  }
  lines.push({ label: "live heap", colour: SERIES[0]!, fill: dark ? "#3b78c433" : "#3b78c426", width: 2 });
  data.push(timeline.points.map((point) => point.most_bytes ?? point.live_bytes));
  // Bands lie upon each other: the first is drawn last, over the sums that hold it.
  const sums = stacks.map(() => new Array<number>(timeline.points.length).fill(0));
  stacks.forEach((stack, i) => {
    stack.most_bytes.forEach((bytes, at) => (sums[i]![at] = bytes + (i > 0 ? sums[i - 1]![at]! : 0)));
  });
  for (let i = stacks.length - 1; i >= 0; --i) {
    const colour = SERIES[(i + 2) % SERIES.length]!;
    lines.push({ label: stacks[i]!.frames[0] ?? "(unknown stack)", colour, fill: tint(colour, dark), width: 1, own: stacks[i]!.most_bytes });
    data.push(sums[i]!);
  }
  return { lines, data };
}

function rateData(timeline: TimelineAnswer): number[][] {
  const allocated: number[] = [];
  const freed: number[] = [];
  let before = timeline.from_ns;
  for (const point of timeline.points) {
    const length = (point.time_ns - before) / 1e9;
    allocated.push(length > 0 ? (point.allocated_bytes ?? 0) / length : 0);
    freed.push(length > 0 ? (point.freed_bytes ?? 0) / length : 0);
    before = point.time_ns;
  }
  return [seconds(timeline), allocated, freed];
}

export function TimelineView() {
  const { state, store, source, hold } = usePage();
  const dark = useDark();
  const [area, size] = useSize<HTMLDivElement>();
  const isTrace = source?.kind === "trace";
  const parameters = useMemo(() => {
    if (!source) return null;
    return {
      source: source.id,
      ...(source.live ? { hold } : {}),
      ...(state.zfrom ? { from: state.zfrom } : {}),
      ...(state.zto ? { to: state.zto } : {}),
    };
  }, [source, hold, state.zfrom, state.zto]);
  const { data: total, error, loading } = useAsk("timeline", parameters);
  // Single stacks take longer, and come when they are there.
  const banded = useAsk("timeline", parameters && isTrace && state.bands !== "0" ? { ...parameters, stacks: "6" } : null);
  const bands = banded.data;
  const timeline = bands && total && state.bands !== "0" && bands.from_ns === total.from_ns && bands.to_ns === total.to_ns ? bands : total;
  const heap = useMemo(() => (timeline ? heapLines(timeline, dark) : null), [timeline, dark]);
  const rates = useMemo(() => (timeline?.allocated_bytes !== undefined ? rateData(timeline) : null), [timeline]);
  const from = secondsOf(state.from);
  const to = secondsOf(state.to);
  const at = secondsOf(state.at);
  const range = useMemo(() => (from !== null && to !== null ? { from, to } : null), [from, to]);
  const marks = useMemo(() => {
    if (!timeline) return [];
    const list: Mark[] = [{ seconds: timeline.peak.time_ns / 1e9, text: `peak ${formatBytes(timeline.peak.live_bytes)}`, colour: SERIES[5]! }];
    for (const marker of timeline.markers.slice(0, 200)) list.push({ seconds: marker.time_ns / 1e9, text: marker.text, colour: SERIES[3]! });
    if (at !== null) list.push({ seconds: at, text: "looked at", colour: dark ? "#ffffff" : "#000000" });
    return list;
  }, [timeline, at, dark]);

  const onRange = isTrace
    ? (a: number, b: number) =>
        store.change({ from: momentText(Math.max(0, a) * 1e9), to: momentText(b * 1e9), at: "", value: state.value || "left", root: "" })
    : undefined;
  const onMoment = isTrace ? (moment: number) => store.change({ at: momentText(Math.max(0, moment) * 1e9), from: "", to: "", value: "", root: "" }) : undefined;

  return (
    <section class="view timeline" aria-label="Timeline">
      <div class="bar">
        {isTrace && <Toggle word="bands" values={[["", "stacks", "the largest stacks, one upon the other"], ["0", "total", "the whole heap alone"]]} />}
        {range && (
          <button type="button" onClick={() => store.change({ zfrom: state.from, zto: state.to })}>
            Zoom to the range
          </button>
        )}
        {(state.zfrom || state.zto) && (
          <button type="button" onClick={() => store.change({ zfrom: "", zto: "" })}>
            Whole time
          </button>
        )}
        <span class="grow" />
        {timeline && timeline.points.length > 0 && (
          <span class="total">
            peak <b>{formatBytes(timeline.peak.live_bytes)}</b> at {formatDuration(timeline.peak.time_ns)}
            {timeline.allocated_bytes !== undefined && <> · allocated {formatBytes(timeline.allocated_bytes)}</>}
            {timeline.freed_bytes !== undefined && <> · freed {formatBytes(timeline.freed_bytes)}</>}
          </span>
        )}
      </div>
      <Problem error={error} />
      <div class={`charts${loading ? " loading" : ""}`} ref={area} data-testid="timeline">
        {timeline && timeline.points.length === 0 && <p class="empty">This source does not tell how its heap went over time.</p>}
        {timeline && timeline.points.length > 0 && heap && size.width > 0 && (
          <>
            <h2>Heap</h2>
            <Chart
              name={`Live heap over time, peak ${formatBytes(timeline.peak.live_bytes)}`}
              lines={heap.lines} data={heap.data} width={size.width} height={320} dark={dark}
              range={range} marks={marks} syncKey="time"
              {...(onRange ? { onRange } : {})} {...(onMoment ? { onMoment } : {})}
            />
          </>
        )}
        {rates && rates[0]!.length > 0 && size.width > 0 && (
          <>
            <h2>Bytes per second</h2>
            <Chart
              name="Bytes allocated and freed per second"
              lines={[{ label: "allocated", colour: SERIES[0]!, steps: true }, { label: "freed", colour: SERIES[1]!, steps: true }]}
              data={rates} width={size.width} height={180} dark={dark} unit={(value) => `${formatBytes(value)}/s`}
              range={range} syncKey="time"
              {...(onRange ? { onRange } : {})} {...(onMoment ? { onMoment } : {})}
            />
          </>
        )}
        {!timeline && !error && <p class="empty">reading…</p>}
      </div>
      <p class="hint">
        {isTrace
          ? "Drag over a stretch of time: every view is then about it. Click a moment for what was live then."
          : source?.kind === "profile" ? "" : "A sampled process knows what is live now and at its peak. For any moment and range, record a trace: heapgauge run --trace"}
      </p>
    </section>
  );
}
