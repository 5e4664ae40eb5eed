// The table: who holds the memory, row by row. Only rows that can be seen are asked for and drawn.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask } from "../api/client";
import type { Figures, TableAnswer, TableRow } from "../api/types";
import { hasRange, mainEstimate, rangeText } from "../model/figures";
import { formatBytes, formatCount, formatDuration, formatPlusMinus, formatShare, formatValue } from "../model/format";
import { stateText, withWords } from "../model/state";
import { useAsk, useFilter, usePage } from "./hooks";
import { Problem, Toggle } from "./parts";

const HEIGHT = 26; // of a row
const PAGE = 100; // rows asked for at a time
const WIDTHS: Record<string, string> = { "95 % range": "broad", share: "narrow", "±": "narrow", age: "narrow" };
const GRANULARITIES = ["functions", "lines", "files", "modules", "addresses"];

export function TableView() {
  const { state, store } = usePage();
  const filter = useFilter();
  const cumulative = state.cumulative === "1";
  const parameters = useMemo(() => ({ ...filter, rows: String(PAGE), ...(cumulative ? { cumulative: "1" } : {}) }), [filter, cumulative]);
  const { data, error, loading } = useAsk("table", parameters);
  return (
    <section class="view table" aria-label="Table">
      <div class="bar">
        <Toggle word="cumulative" values={[["", "flat", "what a function itself asked for"], ["1", "cumulative", "with all it calls"]]} />
        <label>
          by{" "}
          <select value={state.granularity ?? "functions"} onChange={(event) => store.change({ granularity: event.currentTarget.value })}>
            {GRANULARITIES.map((word) => <option key={word} value={word}>{word}</option>)}
          </select>
        </label>
        <span class="grow" />
        {data && <span class="total">{formatCount(data.count)} {data.granularity} · {data.name} <b>{formatValue(mainEstimate(data.selected).value, data.unit)}</b></span>}
      </div>
      <Problem error={error} />
      {data && <Rows first={data} parameters={parameters} cumulative={cumulative} loading={loading} />}
      {!data && !error && <p class="empty">reading…</p>}
    </section>
  );
}

interface Column {
  title: string;
  sort?: string;
  text: (figures: Figures, row: TableRow) => string;
  class?: string;
}

// As the command line writes it: nothing is a dash.
const orDash = (value: number, text: string) => (value === 0 ? "-" : text);

function columnsOf(table: TableAnswer, sort: string): Column[] {
  // What the rows are sorted by is what they have a share of.
  const shared = (f: Figures) =>
    sort === "allocated" ? (f.allocated_bytes?.value ?? 0) : sort === "count" ? (f.live_objects ?? f.objects ?? 0) : mainEstimate(f).value;
  const total = shared(table.total);
  const columns: Column[] = [
    { title: table.name, sort: "live", text: (f) => orDash(mainEstimate(f).value, formatValue(mainEstimate(f).value, table.unit)), class: "strong" },
    { title: "95 % range", text: (f) => rangeText(mainEstimate(f), table.unit), class: "dim" },
    { title: "share", text: (f) => orDash(shared(f), formatShare(shared(f), total)), class: "dim" },
  ];
  if (table.total.live_objects !== undefined) columns.push({ title: "objects", sort: "count", text: (f) => orDash(f.live_objects ?? 0, formatCount(f.live_objects ?? 0)) });
  if (table.total.allocated_bytes && table.total.live_bytes) {
    columns.push({ title: "allocated", sort: "allocated", text: (f) => formatBytes(f.allocated_bytes?.value ?? 0) });
    columns.push({ title: "±", text: (f) => (f.allocated_bytes ? formatPlusMinus(f.allocated_bytes.value, f.allocated_bytes.low, f.allocated_bytes.high) : ""), class: "dim" });
  }
  if (table.total.mean_age_ns !== undefined) columns.push({ title: "age", sort: "age", text: (f) => (f.mean_age_ns === undefined ? "-" : formatDuration(f.mean_age_ns)) });
  // Figures that are exact have no range.
  const exact = !table.rows.some((row) => hasRange(mainEstimate(row.flat)) || (row.flat.allocated_bytes && hasRange(row.flat.allocated_bytes)));
  return exact ? columns.filter((column) => column.title !== "±" && column.title !== "95 % range") : columns;
}

interface RowsProps {
  first: TableAnswer;
  parameters: Readonly<Record<string, string>>;
  cumulative: boolean;
  loading: boolean;
}

function Rows({ first, parameters, cumulative, loading }: RowsProps) {
  const { state, store } = usePage();
  const scroll = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [pages, setPages] = useState<Map<number, TableRow[]>>(new Map());
  const asked = useRef(new Set<number>());
  useEffect(() => {
    asked.current = new Set([0]);
    setPages(new Map([[0, first.rows]]));
    if (scroll.current) scroll.current.scrollTop = 0;
  }, [first]);
  useEffect(() => {
    const observer = new ResizeObserver((entries) => setHeight(entries[0]!.contentRect.height));
    observer.observe(scroll.current!);
    return () => observer.disconnect();
  }, []);
  const begin = Math.max(0, Math.floor(top / HEIGHT) - 5);
  const end = Math.min(first.count, Math.ceil((top + height) / HEIGHT) + 5);
  useEffect(() => {
    let current = true;
    for (let page = Math.floor(begin / PAGE); page * PAGE < end; ++page) {
      if (asked.current.has(page)) continue;
      asked.current.add(page);
      ask("table", { ...parameters, first: String(page * PAGE) }).then(
        (answer) => current && setPages((before) => new Map(before).set(page, answer.rows)),
        () => asked.current.delete(page),
      );
    }
    return () => {
      current = false;
    };
  }, [begin, end, parameters]);

  const columns = useMemo(() => columnsOf(first, state.sort ?? "live"), [first, state.sort]);
  const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const linkOf = (row: TableRow) => {
    const focus = row.function ? `^${escaped(row.function)}$` : escaped(row.file ?? row.module ?? "");
    return `#${stateText(withWords(state, { view: "flame", focus, callers: cumulative ? "" : "1", root: "" }))}`;
  };
  const rows = [];
  for (let i = begin; i < end; ++i) {
    const row = pages.get(Math.floor(i / PAGE))?.[i % PAGE];
    rows.push(
      <div class="row" role="row" key={i} aria-rowindex={i + 2} style={{ top: `${i * HEIGHT}px` }}>
        {columns.map((column) => <span key={column.title} role="cell" class={`cell ${column.class ?? ""} ${WIDTHS[column.title] ?? ""}`}>{row ? column.text((cumulative && row.cum) || row.flat, row) : ""}</span>)}
        <span role="cell" class="cell name">
          {row ? <><a href={linkOf(row)} title={row.function ?? row.label}>{row.label}</a> <span class="dim">{row.place}</span></> : "…"}
        </span>
      </div>,
    );
  }
  return (
    <div class={`rows${loading ? " loading" : ""}`} role="table" aria-rowcount={first.count + 1} data-testid="table">
      <div class="row head" role="row">
        {columns.map((column) => (
          <span key={column.title} role="columnheader" class={`cell ${WIDTHS[column.title] ?? ""}`} aria-sort={(state.sort ?? "live") === column.sort ? "descending" : "none"}>
            {column.sort
              ? <button type="button" onClick={() => store.change({ sort: column.sort === "live" ? "" : column.sort })}>{column.title}{(state.sort ?? "live") === column.sort ? " ▾" : ""}</button>
              : column.title}
          </span>
        ))}
        <span role="columnheader" class="cell name">{first.granularity.replace(/s$/, "")}</span>
      </div>
      <div class="scroll" ref={scroll} tabIndex={0} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <div class="all" style={{ height: `${first.count * HEIGHT}px` }}>{rows}</div>
      </div>
      {first.count === 0 && <p class="empty">Nothing here: no stack is left by the filter, or nothing was allocated.</p>}
    </div>
  );
}
