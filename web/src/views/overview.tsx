// The overview: what it is, how much it holds, where that is, and what stands out.

import { useMemo } from "preact/hooks";
import type { Figures, MemoryAnswer, SummaryAnswer } from "../api/types";
import { REST, SERIES } from "../model/colours";
import { mainCountText, mainEstimate, mainText, rangeText, treeName, treeValueText } from "../model/figures";
import { formatBytes, formatCount, formatDuration, formatShare } from "../model/format";
import { rowEstimate, sharedFigure } from "../model/rows";
import { stateText, withWords } from "../model/state";
import { Chart } from "./chart";
import { useAsk, useFilter, usePage } from "./hooks";
import "./overview.css";
import { Headline } from "./overview_headline";
import { Problem, useDark, useSize } from "./parts";

const PART_TITLES: Record<string, string> = {
  live: "live heap", rounding: "rounding", not_sampled: "not sampled", allocator_metadata: "allocator's metadata", allocator_free: "free in the allocator",
  stacks: "thread stacks", mapped: "mapped", program: "program and libraries", files: "files", shared: "shared", agent: "heapgauge itself",
  kernel: "vdso", rest: "the rest",
};

// The totals are known at once; what stands out takes longer, and comes into the picture when it is known.
export function OverviewView() {
  const filter = useFilter();
  const brief = useMemo(() => ({ ...filter, brief: "1" }), [filter]);
  const { data: totals, error } = useAsk("summary", brief);
  const { data: whole } = useAsk("summary", filter);
  const summary = totals ?? whole;
  return (
    <section class="view overview" aria-label="Overview">
      <Problem error={error} />
      {!summary && !error && <p class="empty">reading…</p>}
      {summary && (
        <>
          <Headline summary={summary} />
          <div class="cards">
            <Heap summary={summary} />
            {whole?.memory && whole.memory.resident_bytes > 0 && <Resident memory={whole.memory} />}
            <Sparkline />
            {whole && <Findings summary={whole} />}
            <Holders />
          </div>
          {summary.notes.length > 0 && (
            <details class="notes">
              <summary>{summary.notes.length === 1 ? "1 note" : `${summary.notes.length} notes`}</summary>
              <ul>{summary.notes.map((note) => <li key={note}>{note}</li>)}</ul>
            </details>
          )}
        </>
      )}
    </section>
  );
}

function Number({ title, figure, note }: { title: string; figure: string; note?: string }) {
  return (
    <div class="number">
      <span class="dim">{title}</span>
      <b>{figure}</b>
      {note && <span class="dim">{note}</span>}
    </div>
  );
}

function Heap({ summary }: { summary: SummaryAnswer }) {
  const main = mainEstimate(summary.total);
  const range = rangeText(main, summary.unit);
  const t: Figures = summary.total;
  const r = summary.recording;
  const objects = t.live_objects ?? t.objects;
  // The agent notes a peak when it has passed: a heap that still grows holds more.
  const isMost = r !== null && !r.exact && !r.is_peak && summary.name === "live" && main.value > r.peak_bytes;
  return (
    <article class="card">
      <h2>{summary.name === "live" ? "Live heap" : summary.name}</h2>
      <p class="large" data-testid="live-total">{mainText(main.value, summary)}</p>
      {range && <p class="dim">95 %: {range}</p>}
      <div class="numbers">
        {objects !== undefined && <Number title="objects" figure={mainCountText(objects, summary)} />}
        {t.allocated_bytes && t.live_bytes && <Number title="ever allocated" figure={formatBytes(t.allocated_bytes.value)} />}
        {r && r.peak_bytes > 0 && (isMost ? <Number title="peak" figure={mainText(main.value, summary)} note="never more before" /> : <Number title="peak" figure={formatBytes(r.peak_bytes)} note={`at ${formatDuration(r.peak_ns)}`} />)}
        {t.mean_age_ns !== undefined && <Number title="mean age" figure={formatDuration(t.mean_age_ns)} />}
        <Number title="stacks" figure={formatCount(summary.stacks)} />
      </div>
    </article>
  );
}

function Findings({ summary }: { summary: SummaryAnswer }) {
  const { state } = usePage();
  const findings = summary.findings ?? [];
  if (findings.length === 0) return null;
  return (
    <article class="card findings">
      <h2>What stands out</h2>
      <ul>
        {findings.map((finding) => (
          <li key={finding.text} class={finding.kind}>
            {Object.keys(finding.parameters).length > 0
              ? <a href={`#${stateText(withWords(state, { root: "", ...finding.parameters }))}`}>{finding.text}</a>
              : finding.text}
          </li>
        ))}
      </ul>
    </article>
  );
}

function Resident({ memory }: { memory: MemoryAnswer }) {
  const parts = Object.entries(memory.parts).filter(([, bytes]) => bytes > 0).sort((a, b) => b[1] - a[1]);
  const colour = (i: number, key: string) => (key === "rest" ? REST : SERIES[i % SERIES.length]!);
  return (
    <article class="card">
      <h2>Resident memory</h2>
      <p class="large">{formatBytes(memory.resident_bytes)}</p>
      <svg class="parts" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="Parts of the resident memory">
        {parts.map(([key, bytes], i) => {
          const before = parts.slice(0, i).reduce((sum, part) => sum + part[1], 0);
          return <rect key={key} x={(100 * before) / memory.resident_bytes} width={Math.max(0, (100 * bytes) / memory.resident_bytes - 0.2)} height="6" fill={colour(i, key)} />;
        })}
      </svg>
      <table class="legend">
        <tbody>
          {parts.slice(0, 8).map(([key, bytes], i) => (
            <tr key={key}>
              <td><svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" fill={colour(i, key)} /></svg></td>
              <td>{PART_TITLES[key] ?? key}</td>
              <td class="right nowrap">{formatBytes(bytes)}</td>
              <td class="right nowrap dim">{formatShare(bytes, memory.resident_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </article>
  );
}

function Sparkline() {
  const { state, source, hold } = usePage();
  const dark = useDark();
  const [area, size] = useSize<HTMLDivElement>();
  const parameters = useMemo(() => (source ? { source: source.id, steps: "200", ...(source.live ? { hold } : {}) } : null), [source, hold]);
  const { data: timeline } = useAsk("timeline", parameters);
  const data = useMemo(() => timeline && [timeline.points.map((p) => p.time_ns / 1e9), timeline.points.map((p) => p.most_bytes ?? p.live_bytes)], [timeline]);
  return (
    <article class="card over-time" hidden={!timeline || timeline.points.length === 0}>
      <h2><a href={`#${stateText(withWords(state, { view: "timeline" }))}`}>Over time</a></h2>
      <div class="sparkline" ref={area}>
        {timeline && data && timeline.points.length > 0 && size.width > 0 && (
          <Chart name="Live heap over time" compact lines={[{ label: "live", colour: SERIES[0]!, fill: dark ? "#3b78c455" : "#3b78c433", width: 2 }]} data={data} width={size.width} height={110} dark={dark} />
        )}
      </div>
      {timeline && <p class="dim">{formatDuration(timeline.to_ns - timeline.from_ns)}; peak {formatBytes(timeline.peak.live_bytes)} at {formatDuration(timeline.peak.time_ns)}</p>}
    </article>
  );
}

function Holders() {
  const { state } = usePage();
  const filter = useFilter();
  const parameters = useMemo(() => ({ ...filter, rows: "8" }), [filter]);
  const { data: table } = useAsk("table", parameters);
  const sort = table?.sort ?? "";
  const rows = table?.rows.filter((row) => sharedFigure(row.flat, sort) !== 0) ?? [];
  if (!table || rows.length === 0) return null;
  const most = Math.max(...rows.map((row) => sharedFigure(row.flat, sort)), 1);
  const total = sharedFigure(table.total, sort);
  const name = treeName(sort, table.name);
  return (
    <article class="card wide">
      <h2><a href={`#${stateText(withWords(state, { view: "table" }))}`}>{name === "live" ? "Who holds it" : `By function: ${name}`}</a></h2>
      <table class="holders">
        <tbody>
          {rows.map((row) => {
            const value = sharedFigure(row.flat, sort);
            const range = sort === "count" ? "" : rangeText(rowEstimate(row.flat, sort), sort === "allocated" ? "bytes" : table.unit);
            return (
              <tr key={row.label}>
                <td class="right nowrap">{treeValueText(value, sort, table)}</td>
                <td class="right nowrap dim">{range}</td>
                <td class="right nowrap dim">{formatShare(value, total)}</td>
                <td class="meter"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width={(100 * Math.max(0, value)) / most} height="10" rx="1" fill={SERIES[0]} /></svg></td>
                <td class="name" title={row.function ?? row.label}>{row.label} <span class="dim">{row.place}</span></td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </article>
  );
}
