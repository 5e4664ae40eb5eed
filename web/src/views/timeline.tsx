// The heap over time. A range that is brushed here is what all views are about; a second one asks for what is still
// live then.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TimelineAnswer } from "../api/types";
import { SERIES, tint } from "../model/colours";
import { exactTime, formatBytes, formatDuration } from "../model/format";
import { blocksOf } from "../model/state";
import { momentOf, rangeA, rangeB, secondsOf, stepAt, TimePointer, withA, withB, withMoment, zoomed } from "../model/time";
import type { Pointed, Span } from "../model/time";
import { Chart, LEFT, RIGHT } from "./chart";
import type { Line, Mark } from "./chart";
import { useAsk, usePage } from "./hooks";
import { Problem, Toggle, useDark, useSize } from "./parts";
import { laneName, ThreadLanes } from "./thread_lanes";
import { TimeAxis } from "./time_axis";
import "./timeline.css";

const LIMIT_COLOUR = "#cf3b30";
const COMMIT_MS = 160; // the address follows the wheel after so long
const STEP_MS = 1500; // zooming that goes on is one step back
const MOST_MARKS = 500;

const seconds = (timeline: TimelineAnswer): number[] => timeline.points.map((point) => point.time_ns / 1e9);

interface Lines {
  lines: Line[];
  data: (number | null)[][];
}

// What cannot be told apart by blocks is that of the whole process, and says so.
function heapLines(timeline: TimelineAnswer, dark: boolean): Lines {
  const ofAll = timeline.filter ? " (whole process)" : "";
  const lines: Line[] = [];
  const data: (number | null)[][] = [seconds(timeline)];
  const { points, stacks = [] } = timeline;
  const add = (line: Line, values: (number | null)[]) => {
    lines.push(line);
    data.push(values);
  };
  if (timeline.cgroup_limit) add({ label: "cgroup limit", colour: LIMIT_COLOUR, dash: [8, 4], width: 1.5, beside: true }, points.map((point) => point.cgroup_limit ?? null));
  if (points.some((point) => point.resident_bytes)) add({ label: `RSS${ofAll}`, colour: SERIES[1]!, dash: [5, 4] }, points.map((point) => point.resident_bytes ?? null));
  if (points.some((point) => point.proportional_bytes)) add({ label: `PSS${ofAll}`, colour: SERIES[3]!, dash: [2, 3] }, points.map((point) => point.proportional_bytes ?? null));
  add({ label: timeline.filter ? "live, of the filter" : "live heap", colour: SERIES[0]!, fill: dark ? "#3b78c433" : "#3b78c426", width: 2, own: points.map((point) => point.live_bytes) }, points.map((point) => point.most_bytes ?? point.live_bytes));
  // Bands lie upon each other: the first is drawn last, over the sums that hold it.
  const sums = stacks.map(() => new Array<number>(points.length).fill(0));
  stacks.forEach((stack, i) => {
    stack.most_bytes.forEach((bytes, at) => (sums[i]![at] = bytes + (i > 0 ? sums[i - 1]![at]! : 0)));
  });
  for (let i = stacks.length - 1; i >= 0; --i) {
    const colour = SERIES[(i + 2) % SERIES.length]!;
    add({ label: stacks[i]!.frames[0] ?? "(unknown stack)", colour, fill: tint(colour, dark), width: 1, own: stacks[i]!.most_bytes }, sums[i]!);
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

const RATE_LINES: Line[] = [
  { label: "allocated", colour: SERIES[0]!, steps: true },
  { label: "freed", colour: SERIES[1]!, steps: true },
];
const rateText = (value: number): string => `${formatBytes(value)}/s`;
const spanOf = (timeline: TimelineAnswer): Span => ({ from: timeline.from_ns / 1e9, to: Math.max(timeline.to_ns, timeline.from_ns + 1) / 1e9 });

// What is seen: as the address says, and ahead of it while somebody zooms.
function useZoom(): { zoom: Span | null; onZoom: (span: Span | null, turning?: boolean) => void } {
  const { state, store } = usePage();
  const from = secondsOf(state.zfrom);
  const to = secondsOf(state.zto);
  const [ahead, setAhead] = useState<Span | null | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const last = useRef(0);
  useEffect(() => setAhead(undefined), [state.zfrom, state.zto]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const write = (span: Span | null, turning: boolean) => {
    const words = span ? { zfrom: momentOf(span.from), zto: momentOf(span.to) } : { zfrom: "", zto: "" };
    const now = Date.now();
    if (words.zfrom === (store.state.zfrom ?? "") && words.zto === (store.state.zto ?? "")) setAhead(undefined);
    else store.change(words, turning && now - last.current < STEP_MS);
    last.current = turning ? now : 0;
  };
  const onZoom = (span: Span | null, turning = false) => {
    setAhead(span);
    clearTimeout(timer.current);
    if (turning) timer.current = setTimeout(() => write(span, true), COMMIT_MS);
    else write(span, false);
  };
  const written = from !== null && to !== null && to > from ? { from, to } : null;
  return { zoom: ahead === undefined ? written : ahead, onZoom };
}

export function TimelineView() {
  const { state, store, source, hold } = usePage();
  const dark = useDark();
  const [area, size] = useSize<HTMLDivElement>();
  const pointer = useMemo(() => new TimePointer(), []);
  const [second, setSecond] = useState(false);
  const { zoom, onZoom } = useZoom();
  const isTrace = source?.kind === "trace";
  const blocks = isTrace ? blocksOf(state) : {};
  const base = useMemo(() => (source ? { source: source.id, ...blocks, ...(source.live ? { hold } : {}) } : null), [source, hold, JSON.stringify(blocks)]);
  const parameters = useMemo(
    () => (base ? { ...base, ...(state.zfrom ? { from: state.zfrom } : {}), ...(state.zto ? { to: state.zto } : {}) } : null),
    [base, state.zfrom, state.zto],
  );
  const isZoomed = Boolean(state.zfrom || state.zto);
  const { data: total, error, loading } = useAsk("timeline", parameters);
  const overall = useAsk("timeline", base && isZoomed ? { ...base, steps: "400" } : null);
  // Single stacks and threads take longer, and come when they are there.
  const banded = useAsk("timeline", parameters && isTrace && state.bands !== "0" ? { ...parameters, stacks: "6" } : null);
  const threaded = useAsk("timeline", parameters && isTrace ? { ...parameters, steps: "400", threads: "8" } : null);
  const bands = banded.data;
  const timeline = bands && total && state.bands !== "0" && bands.from_ns === total.from_ns && bands.to_ns === total.to_ns ? bands : total;
  const heap = useMemo(() => (timeline ? heapLines(timeline, dark) : null), [timeline, dark]);
  const rates = useMemo(() => (timeline?.allocated_bytes !== undefined ? rateData(timeline) : null), [timeline]);
  const lanes = threaded.data;
  const ends = useMemo(() => (lanes ? seconds(lanes) : []), [lanes]);
  const a = useMemo(() => rangeA(state), [state.from, state.to]);
  const b = useMemo(() => rangeB(state), [state["live-at"]]);
  const at = secondsOf(state.at);
  const marks = useMemo(() => (timeline ? marksOf(timeline) : []), [timeline]);
  const read = useMemo(() => (timeline ? reader(timeline, lanes ?? null, marks) : null), [timeline, lanes, marks]);
  const describe = useMemo(() => (moment: number) => (read ? read(moment, -1).map(([name, value]) => `${name} ${value}`).join(", ") : ""), [read]);

  const known = timeline && timeline.points.length > 0;
  const seen = zoom ?? (timeline ? spanOf(timeline) : { from: 0, to: 1 });
  const whole = isZoomed && overall.data ? spanOf(overall.data) : timeline ? spanOf(timeline) : seen;
  const all = isZoomed && !overall.data ? { from: Math.min(seen.from, whole.from), to: Math.max(seen.to, whole.to) } : whole;
  const plotWidth = Math.max(0, size.width - LEFT - RIGHT);

  const onRange = (span: Span, isB: boolean) => {
    if (!isTrace) return onZoom(span);
    store.change(isB ? withB(store.state, span) : withA(store.state, span));
    setSecond(false);
  };
  const onMoment = (moment: number, isB: boolean) => {
    if (!isTrace) return;
    store.change(isB ? withB(store.state, { from: moment, to: moment }) : withMoment(moment));
    setSecond(false);
  };
  const onEscape = () => {
    if (second) setSecond(false);
    else if (state["live-at"]) store.change(withB(state, null));
    else if (state.from || state.to) store.change(withA(state, null));
    else if (state.at) store.change({ at: "" });
    else if (isZoomed) onZoom(null);
  };

  return (
    <section class="view timeline" aria-label="Timeline">
      <div class="bar">
        {isTrace && <Toggle word="bands" values={[["", "stacks", "the largest stacks, one upon the other"], ["0", "total", "the whole heap alone"]]} />}
        {known && <span class="toggle" role="group" aria-label="Zoom">
          <button type="button" aria-label="Zoom in" title="closer (+, or the wheel)" onClick={() => onZoom(zoomed(seen, all, middleOf(seen, a ?? b), 0.5))}>+</button>
          <button type="button" aria-label="Zoom out" title="less close (-)" disabled={!zoom} onClick={() => onZoom(zoomed(seen, all, middleOf(seen, null), 2))}>−</button>
          {a && <button type="button" onClick={() => onZoom(a)}>Zoom to the range</button>}
          <button type="button" disabled={!zoom} onClick={() => onZoom(null)}>Whole time</button>
        </span>}
        {isTrace && <Ranges a={a} b={b} second={second} onSecond={setSecond} />}
      </div>
      <Problem error={error} />
      <div class={`charts${loading ? " loading" : ""}`} ref={area} data-testid="timeline">
        {timeline && !known && <Unknown notes={timeline.notes} />}
        {isZoomed && overall.data && size.width > 0 && <Whole timeline={overall.data} seen={seen} width={size.width} dark={dark} onZoom={onZoom} />}
        {known && heap && size.width > 0 && (
          <>
            <ReadOut pointer={pointer} read={read} fallback={seen.to} />
            <TimeAxis
              seen={seen} whole={all} pointer={pointer} a={a} b={b} at={at} second={second} describe={describe}
              onRange={onRange} onMoment={isTrace ? onMoment : undefined} onZoom={onZoom} onEscape={onEscape}
              onSecond={isTrace ? () => setSecond(!second) : undefined}
            >
              {timeline.filter && <p class="about" role="note" data-testid="timeline-filter">Only blocks of the filter: <b>{timeline.filter}</b>. RSS, PSS and cgroup are those of the whole process.</p>}
              <h2>
                Heap{" "}
                <span class="total" data-testid="timeline-total">
                  peak <b>{formatBytes(timeline.peak.live_bytes)}</b> at {formatDuration(timeline.peak.time_ns)}
                  {timeline.allocated_bytes !== undefined && <> · allocated {formatBytes(timeline.allocated_bytes)}</>}
                  {timeline.freed_bytes !== undefined && <> · freed {formatBytes(timeline.freed_bytes)}</>}
                  {limitNote(timeline, heap)}
                </span>
              </h2>
              <Chart
                name={`Live heap over time, peak ${formatBytes(timeline.peak.live_bytes)}`} pointer={pointer} seen={seen}
                lines={heap.lines} data={heap.data} width={size.width} height={240} dark={dark} marks={marks}
              />
              {rates && rates[0]!.length > 0 && (
                <>
                  <h2>Bytes per second</h2>
                  <Chart
                    name="Bytes allocated and freed per second" pointer={pointer} seen={seen}
                    lines={RATE_LINES} data={rates} width={size.width} height={84} dark={dark} unit={rateText} timeless
                  />
                </>
              )}
              {lanes?.threads && lanes.threads.length > 0 && (
                <>
                  <h2>Threads <span class="dim">allocated above, freed below the line</span></h2>
                  <ThreadLanes
                    threads={lanes.threads} ends={ends} begin={lanes.from_ns / 1e9} seen={seen} width={plotWidth} dark={dark}
                    chosen={state.thread ?? ""} onChoose={(thread) => store.change({ thread, root: "" })}
                  />
                </>
              )}
            </TimeAxis>
            <Marks marks={marks} onMoment={isTrace ? (moment) => onMoment(moment, false) : undefined} />
          </>
        )}
        {!timeline && !error && <p class="empty">reading…</p>}
      </div>
      <p class="hint">
        {isTrace
          ? "Drag: every view is then about that time. Shift and drag: what of it is still live then. Click: what was live at that moment. Wheel: zoom. A thread's name: only its blocks."
          : Object.keys(blocksOf(state)).length > 0 ? "Only a trace knows single stacks and blocks over time: this is all of it, whatever the filter leaves. heapgauge run --trace"
          : source?.kind === "process" ? "A sampled process knows what is live now and at its peak: drag or turn the wheel to zoom. For any moment and range, record a trace: heapgauge run --trace" : ""}
      </p>
    </section>
  );
}

// Why there is nothing to draw, and what there is instead.
function Unknown({ notes }: { notes: string[] }) {
  return (
    <div class="empty" data-testid="no-timeline">
      <p>This source does not tell how its heap went over time{notes.length > 0 && <>: {notes.join("; ")}</>}.</p>
      <p>A trace does: <code>heapgauge run --trace -o FILE.hgt -- COMMAND</code>. So does a program that is sampled, while it runs and afterwards: <code>heapgauge run -- COMMAND</code></p>
    </div>
  );
}

const middleOf = (seen: Span, chosen: Span | null): number => {
  const span = chosen && chosen.to >= seen.from && chosen.from <= seen.to ? chosen : seen;
  return (span.from + span.to) / 2;
};

// A limit far above all else would make the rest flat: it is told, not drawn.
function limitNote(timeline: TimelineAnswer, { lines, data }: Lines): string {
  const limit = timeline.cgroup_limit;
  if (!limit) return "";
  let high = 0;
  lines.forEach((line, i) => {
    if (!line.beside) for (const value of data[i + 1]!) high = Math.max(high, value ?? 0);
  });
  return limit > high * 2.5 ? ` · its cgroup may have ${formatBytes(limit)}` : "";
}

function marksOf(timeline: TimelineAnswer): Mark[] {
  const list: Mark[] = [{ seconds: timeline.peak.time_ns / 1e9, text: `peak ${formatBytes(timeline.peak.live_bytes)}`, colour: SERIES[5]! }];
  for (const marker of timeline.markers.slice(0, MOST_MARKS)) list.push({ seconds: marker.time_ns / 1e9, text: marker.text, colour: SERIES[3]! });
  return list;
}

// The two ranges, each with what it asks for.
function Ranges({ a, b, second, onSecond }: { a: Span | null; b: Span | null; second: boolean; onSecond: (second: boolean) => void }) {
  const { state, store } = usePage();
  const text = (span: Span) => (span.from === span.to ? exactTime(span.from) : `${exactTime(span.from)} – ${exactTime(span.to)}`);
  return (
    <span class="ranges" role="group" aria-label="Ranges of time">
      <span class="toggle">
        <button type="button" class="pick-a" aria-pressed={!second} title="what is dragged is the time in which blocks were allocated" onClick={() => onSecond(false)}>
          A{a ? ` allocated ${text(a)}` : " allocated in…"}
        </button>
        {a && <button type="button" class="pick-a" aria-label="Remove range A" onClick={() => store.change(withA(state, null))}>×</button>}
      </span>
      <span class="toggle">
        <button type="button" class="pick-b" aria-pressed={second} title="what is dragged next is the time at which they are still live (as shift and drag, or the key b)" onClick={() => onSecond(!second)}>
          B{b ? ` still live ${text(b)}` : " still live at…"}
        </button>
        {b && <button type="button" class="pick-b" aria-label="Remove range B" onClick={() => store.change(withB(state, null))}>×</button>}
      </span>
    </span>
  );
}

type Read = (moment: number, lane: number) => [string, string, string?][];

// What all lanes say about one moment.
function reader(timeline: TimelineAnswer, lanes: TimelineAnswer | null, marks: Mark[]): Read {
  const ends = seconds(timeline);
  const rates = rateData(timeline);
  const laneEnds = lanes ? seconds(lanes) : [];
  const near = (timeline.to_ns - timeline.from_ns) / 1e9 / 150;
  return (moment, lane) => {
    const step = stepAt(ends, moment);
    const point = timeline.points[step];
    if (!point) return [];
    const list: [string, string, string?][] = [["at", exactTime(moment)], ["live", formatBytes(point.live_bytes)]];
    if (point.resident_bytes) list.push([timeline.filter ? "RSS of all" : "RSS", formatBytes(point.resident_bytes)]);
    if (point.cgroup_limit) list.push(["cgroup", `${formatBytes(point.cgroup_bytes ?? 0)} of ${formatBytes(point.cgroup_limit)}`]);
    if (timeline.allocated_bytes !== undefined) list.push(["allocated", rateText(rates[1]![step]!)], ["freed", rateText(rates[2]![step]!)]);
    const stacks = timeline.stacks ?? [];
    const largest = stacks.reduce<(typeof stacks)[number] | null>((best, one) => (!best || one.most_bytes[step]! > best.most_bytes[step]! ? one : best), null);
    const threads = lanes?.threads ?? [];
    const at = stepAt(laneEnds, moment);
    const busiest = threads[lane] ?? threads.reduce<(typeof threads)[number] | null>((best, one) => (!best || one.over_time.allocated_bytes[at]! > best.over_time.allocated_bytes[at]! ? one : best), null);
    if (busiest && at >= 0) {
      const bytes = busiest.over_time.allocated_bytes[at]!;
      if (bytes > 0 || lane >= 0) list.push([lane >= 0 ? "thread" : "busiest", `${laneName(busiest)} ${formatBytes(bytes)}`]);
    }
    if (largest && largest.most_bytes[step]! > 0) list.push(["largest", `${formatBytes(largest.most_bytes[step]!)} ${largest.frames[0] ?? ""}`, "long"]);
    const mark = marks.find((one) => Math.abs(one.seconds - moment) <= near);
    if (mark) list.push(["mark", mark.text, "long"]);
    return list;
  };
}

function ReadOut({ pointer, read, fallback }: { pointer: TimePointer; read: Read | null; fallback: number }) {
  const [now, setNow] = useState<Pointed>(pointer.now);
  useEffect(() => pointer.listen(setNow), [pointer]);
  const list = read ? read(now.seconds ?? fallback, now.lane) : [];
  return (
    <dl class={`read-out${now.seconds === null ? " dim" : ""}`} data-testid="read-out">
      {list.map(([name, value, kind]) => (
        <div key={name} class={kind ?? ""}>
          <dt>{name}</dt>
          <dd title={value}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

// All of the time, where a part of it is seen: a click goes there.
function Whole({ timeline, seen, width, dark, onZoom }: { timeline: TimelineAnswer; seen: Span; width: number; dark: boolean; onZoom: (span: Span | null) => void }) {
  const data = useMemo(() => [seconds(timeline), timeline.points.map((point) => point.most_bytes ?? point.live_bytes)], [timeline]);
  const lines = useMemo(() => [{ label: "live", colour: SERIES[0]!, fill: dark ? "#3b78c455" : "#3b78c433" }], [dark]);
  const whole = spanOf(timeline);
  const part = (moment: number) => (100 * (moment - whole.from)) / (whole.to - whole.from);
  const left = Math.max(0, part(seen.from));
  return (
    <button
      type="button" class="whole" data-testid="whole" aria-label={`All of the time; ${exactTime(seen.from)} to ${exactTime(seen.to)} is seen. Click to see another part.`}
      onClick={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const middle = whole.from + ((event.clientX - box.left) / box.width) * (whole.to - whole.from);
        const half = (seen.to - seen.from) / 2;
        const from = Math.min(Math.max(whole.from, middle - half), whole.to - 2 * half);
        onZoom({ from, to: from + 2 * half });
      }}
    >
      <Chart name="All of the time" compact lines={lines} data={data} width={width - LEFT - RIGHT} height={34} dark={dark} seen={whole} />
      <span class="window" style={{ left: `${left}%`, width: `${Math.max(0.3, Math.min(100, part(seen.to)) - left)}%` }} />
    </button>
  );
}

function Marks({ marks, onMoment }: { marks: Mark[]; onMoment?: ((seconds: number) => void) | undefined }) {
  return (
    <details class="marks" open={marks.length <= 6}>
      <summary>Marks <span class="dim">{marks.length}</span></summary>
      <ul data-testid="marks">
        {marks.map((mark, i) => (
          <li key={i}>
            <span class="swatch" style={{ background: mark.colour }} />
            {onMoment ? <button type="button" class="plain-link" title="what was live then" onClick={() => onMoment(mark.seconds)}>{exactTime(mark.seconds)}</button> : <span>{exactTime(mark.seconds)}</span>}
            <span class="mark-text">{mark.text}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
