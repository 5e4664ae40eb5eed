// How long blocks live: sizes against lifetimes. Cells that are brushed choose the blocks of all views.

import { useMemo, useRef, useState } from "preact/hooks";
import type { BlockCount, LifetimesAnswer } from "../api/types";
import { formatBytes, formatCount, formatShare, formatValue } from "../model/format";
import { CELL_WORDS, isInside, rectBetween, rectOfWords, SHADE_DECADES, shadeOf, sumOfRect, wordsOfRect } from "../model/lifetimes";
import type { Rect } from "../model/lifetimes";
import { stateText, withWords } from "../model/state";
import { useAsk, useFilter, usePage } from "./hooks";
import { Problem, Toggle, useDark } from "./parts";
import "./lifetimes.css";

type Count = keyof BlockCount;
interface Cell {
  row: number;
  step: number;
}

export function LifetimesView() {
  const { state, source } = usePage();
  const filter = useFilter();
  const isTrace = source?.kind === "trace";
  const count: Count = state.count === "blocks" ? "blocks" : "bytes";
  // A moment chooses nothing here, and the figure is this view's own. The map shows all sizes and lifetimes; rows are of those that are chosen.
  const parameters = useMemo(() => {
    const words: Record<string, string> = { ...filter };
    for (const word of ["at", "value", "blocks", "sort", "peak", "granularity"]) delete words[word];
    const rows = { ...words, rows: "50", order: state.order || count, ...(state.by ? { by: state.by } : {}) };
    for (const word of CELL_WORDS) delete words[word];
    return isTrace ? { map: { ...words, rows: "0" }, rows } : { map: null, rows: null };
  }, [filter, isTrace, state.by, state.order, count]);
  const { data, error, loading } = useAsk("lifetimes", parameters.map);
  const rows = useAsk("lifetimes", parameters.rows);
  if (!isTrace) return <p class="empty">Only a trace knows how long blocks lived: heapgauge run --trace -o FILE.hgt -- COMMAND</p>;
  return (
    <section class="view lifetimes" aria-label="Lifetimes">
      <div class="bar">
        <Toggle word="count" values={[["", "bytes", "how many bytes"], ["blocks", "blocks", "how many blocks"]]} />
        <Toggle word="by" values={[["", "function", "rows by function"], ["stack", "stack", "a row for each stack"], ["thread", "thread", "by the thread that allocated"]]} />
        <span class="grow" />
        {data && <span class="total">{formatCount(data.total.blocks)} blocks, <b>{formatBytes(data.total.bytes)}</b>{data.total.median_ns !== undefined && <> · median {formatValue(data.total.median_ns, "ns")}</>} · never freed {formatBytes(data.total.never_freed.bytes)}</span>}
      </div>
      <Problem error={error ?? rows.error} />
      {!data && !error && <p class="empty">reading…</p>}
      {data && (
        <div class={`padded${loading ? " loading" : ""}`}>
          <Heat data={data} count={count} />
          {rows.data && <Rows data={rows.data} count={count} />}
        </div>
      )}
    </section>
  );
}

function Heat({ data, count }: { data: LifetimesAnswer; count: Count }) {
  const { state, store } = usePage();
  const dark = useDark();
  const chosen = useMemo(() => rectOfWords(data, state), [data, state]);
  const [draft, setDraft] = useState<Rect | null>(null);
  const [focused, setFocused] = useState<Cell>({ row: 0, step: 0 });
  const begun = useRef<Cell | null>(null); // of a drag
  const anchor = useRef<Cell | null>(null); // of a range by keys
  const table = useRef<HTMLTableElement>(null);
  const never = data.lifetimes.length - 1;
  const most = Math.max(...data.sizes.flatMap((size) => size.by_lifetime.map((cell) => cell[count])), 1);
  const text = (value: number) => (count === "bytes" ? formatBytes(value) : formatCount(value));
  const colour = (value: number, part = 1) => `rgb(${dark ? "98 160 234" : "31 94 168"} / ${(part * shadeOf(value, most)).toFixed(3)})`;
  const shown = draft ?? chosen;

  const choose = (rect: Rect | null) => {
    const none = Object.fromEntries(CELL_WORDS.map((word) => [word, ""]));
    const isOwn = !state.value || state.value === "allocated";
    store.change({ ...(rect ? wordsOfRect(data, rect) : none), root: "", at: "", ...(isOwn ? { value: rect ? "allocated" : "" } : {}) });
  };
  const cellOf = (target: EventTarget | null): Cell | null => {
    const button = (target as Element | null)?.closest?.("button[data-step]");
    return button ? { row: Number(button.getAttribute("data-row")), step: Number(button.getAttribute("data-step")) } : null;
  };
  const focus = (cell: Cell) => {
    setFocused(cell);
    table.current?.querySelector<HTMLButtonElement>(`button[data-row="${cell.row}"][data-step="${cell.step}"]`)?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    const at = cellOf(event.target);
    if (!at) return;
    const moves: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (move) {
      const next = { row: Math.min(data.sizes.length - 1, Math.max(0, at.row + move[0])), step: Math.min(never, Math.max(0, at.step + move[1])) };
      if (event.shiftKey) {
        anchor.current ??= at;
        setDraft(rectBetween(anchor.current, next, never));
      } else {
        anchor.current = null;
        setDraft(null);
      }
      focus(next);
    } else if (event.key === "Enter" || event.key === " ") {
      choose(draft ?? rectBetween(at, at, never));
      anchor.current = null;
      setDraft(null);
    } else if (event.key === "Escape") {
      anchor.current = null;
      if (draft) setDraft(null);
      else choose(null);
    } else {
      return;
    }
    event.preventDefault();
  };

  return (
    <>
      <div class="wide-scroll">
        <table
          class="heat" data-testid="heat" ref={table} role="grid" aria-label="Sizes against lifetimes. Arrow keys move, with shift they choose several cells, Enter takes them as the filter, Escape takes that back."
          onKeyDown={onKey}
          onPointerDown={(event) => {
            const cell = cellOf(event.target);
            if (!cell || event.button !== 0) return;
            begun.current = cell;
            setFocused(cell);
          }}
          onPointerMove={(event) => {
            const cell = begun.current && event.pointerType !== "touch" ? cellOf(event.target) : null;
            if (cell && begun.current) setDraft(rectBetween(begun.current, cell, never));
          }}
          onPointerUp={(event) => {
            const from = begun.current;
            const to = cellOf(event.target) ?? from;
            begun.current = null;
            setDraft(null);
            if (!from || !to) return;
            const rect = rectBetween(from, event.pointerType === "touch" ? from : to, never);
            const again = chosen && JSON.stringify(rect) === JSON.stringify(chosen);
            choose(again ? null : rect);
          }}
          onPointerLeave={() => { begun.current = null; setDraft(null); }}
          onPointerCancel={() => { begun.current = null; setDraft(null); }}
        >
          <thead><tr><th>size up to</th>{data.lifetimes.map((step) => <th key={step.name}>{step.name}</th>)}</tr></thead>
          <tbody>
            {data.sizes.map((size, row) => (
              <tr key={size.up_to}>
                <th>{formatBytes(size.up_to)}</th>
                {size.by_lifetime.map((cell, i) => {
                  const step = data.lifetimes[i]!;
                  const title = `${formatCount(cell.blocks)} blocks, ${formatBytes(cell.bytes)}: up to ${formatBytes(size.up_to)}, ${step.name}`;
                  const isIn = isInside(shown, row, i);
                  const isFaint = shown !== null && !isIn;
                  const strong = !isFaint && shadeOf(cell[count], most) > (dark ? 0.75 : 0.82);
                  return (
                    <td key={step.name} role="gridcell" aria-selected={isIn}>
                      <button
                        type="button" data-row={row} data-step={i} title={title} aria-label={title} tabIndex={focused.row === row && focused.step === i ? 0 : -1}
                        class={isIn ? "in" : ""}
                        style={cell.blocks === 0 ? {} : { background: colour(cell[count], isFaint ? 0.3 : 1), color: strong ? (dark ? "#0c1420" : "#ffffff") : "inherit" }}
                      >
                        {cell.blocks === 0 ? "" : text(cell[count])}
                      </button>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="scale" aria-hidden="true">
        <span class="dim">{count} in a cell</span>
        {Array.from({ length: SHADE_DECADES + 1 }, (_, i) => most / 10 ** (SHADE_DECADES - i)).filter((value) => value >= 1).map((value) => (
          <span key={value}><i style={{ background: colour(value) }} />{text(value)}</span>
        ))}
        <span class="dim">each shade ten times the one before</span>
      </div>
      <Chosen data={data} rect={shown} onClear={() => choose(null)} />
    </>
  );
}

function Chosen({ data, rect, onClear }: { data: LifetimesAnswer; rect: Rect | null; onClear: () => void }) {
  const { state } = usePage();
  if (!rect) return <p class="dim chosen-hint">Drag over cells, or click one: all views are then about these blocks.</p>;
  const sum = sumOfRect(data, rect);
  const steps = rect.left === rect.right ? data.lifetimes[rect.left]!.name : `${data.lifetimes[rect.left]!.name} to ${data.lifetimes[rect.right]!.name}`;
  const to = (view: string) => `#${stateText(withWords(state, { view, root: "" }))}`;
  return (
    <p class="chosen-cells" role="status" data-testid="chosen">
      <span>
        <b>{formatBytes(sum.bytes)}</b> in <b>{formatCount(sum.blocks)}</b> blocks ({formatShare(sum.bytes, data.total.bytes)}): {data.sizes[rect.top]!.above > 0 ? `${formatBytes(data.sizes[rect.top]!.above)} to ` : "up to "}{formatBytes(data.sizes[rect.bottom]!.up_to)}, {steps}
      </span>
      <a href={to("flame")}>Flame graph</a>
      <a href={to("table")}>Table</a>
      <button type="button" onClick={onClear}>All blocks</button>
    </p>
  );
}

const COLUMNS: [string, string, string][] = [
  ["blocks", "blocks", "how many"], ["bytes", "bytes", "of all of them"], ["", "share", ""], ["", "median", "half of the blocks that were freed lived shorter"], ["lifetime", "mean", "lifetime of those that were freed"],
  ["temporary", "temporary", "freed before the next allocation of the thread"], ["never", "never freed", "bytes"],
];

function Rows({ data, count }: { data: LifetimesAnswer; count: Count }) {
  const { state, store } = usePage();
  const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const order = state.order || count;
  const name = (row: LifetimesAnswer["rows"][number]): string => {
    if (row.frames) return row.frames.slice(0, 4).join(" < ") || "(unknown stack)";
    if (row.thread !== undefined) return row.thread === null ? "(unknown thread)" : `${row.thread_name || "thread"} ${row.thread}`;
    return row.label ?? row.function ?? "(unknown stack)";
  };
  const words = (row: LifetimesAnswer["rows"][number]): Record<string, string> =>
    row.thread ? { thread: String(row.thread) } : { focus: `^${escaped(row.function ?? "")}$` };
  return (
    <>
      <h2>By {state.by || "function"}</h2>
      <div class="wide-scroll">
        <table class="plain" data-testid="lifetime-rows">
          <thead>
            <tr>
              {COLUMNS.map(([word, title, hint]) => (
                <th key={title} class="right" title={hint} aria-sort={word === order ? "descending" : undefined}>
                  {word ? <button type="button" onClick={() => store.change({ order: word === count ? "" : word })}>{title}{word === order ? " ▾" : ""}</button> : title}
                </th>
              ))}
              <th title="from below a microsecond to never freed">lifetimes</th><th>{state.by || "function"}</th>
            </tr>
          </thead>
          <tbody>
            {data.rows.map((row, i) => {
              const most = Math.max(...row.by_lifetime.map((cell) => cell[count]), 1);
              return (
                <tr key={i}>
                  <td class="right">{formatCount(row.blocks)}</td>
                  <td class="right strong">{formatBytes(row.bytes)}</td>
                  <td class="right dim">{formatShare(row.bytes, data.total.bytes)}</td>
                  <td class="right">{row.median_ns === undefined ? "-" : formatValue(row.median_ns, "ns")}</td>
                  <td class="right dim">{row.mean_ns === undefined ? "-" : formatValue(row.mean_ns, "ns")}</td>
                  <td class="right">{formatShare(row.temporary.blocks, row.blocks)}</td>
                  <td class="right">{row.never_freed.bytes ? formatBytes(row.never_freed.bytes) : "-"}</td>
                  <td>
                    <svg class="lifetime-bars" viewBox="0 0 91 18" aria-hidden="true">
                      {row.by_lifetime.map((cell, step) => {
                        const height = cell[count] > 0 ? Math.max(1.5, (16 * cell[count]) / most) : 0;
                        return <rect key={step} x={step * 7} width={6} y={17 - height} height={height} fill={step === row.by_lifetime.length - 1 ? "#d9701a" : "#3b78c4"} />;
                      })}
                    </svg>
                  </td>
                  <td class="value"><a title={row.frames?.join("\n") ?? row.function} href={`#${stateText(withWords(state, { view: "flame", ...words(row), value: state.value || "allocated", root: "" }))}`}>{name(row)}</a></td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {data.rows.length === 0 && <p class="dim">Nothing is left by the filter.</p>}
    </>
  );
}
