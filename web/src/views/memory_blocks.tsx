// The blocks of a trace at one moment, over the addresses that they have.

import { useMemo, useState } from "preact/hooks";
import type { BlockMapAnswer, PinRow } from "../api/memory_map";
import { formatBytes, formatCount, formatDuration, formatShare } from "../model/format";
import { addressOfCell, FILL_DARK, FILL_LIGHT, FILL_NAMES, hex, layoutMap, parseAddresses } from "../model/memory_map";
import { stateText, withWords } from "../model/state";
import { useAsk, useFilter, usePage } from "./hooks";
import { MapCanvas } from "./memory_canvas";
import { Problem, Toggle, useDark, useSize } from "./parts";

const ROWS_SHOWN = 24; // of the picture, about

export function BlockMap() {
  const { state, store } = usePage();
  const filter = useFilter();
  const dark = useDark();
  const [area, size] = useSize<HTMLDivElement>();
  const chosen = parseAddresses(state.addresses);
  // In steps, so that a window that grows does not ask all the time.
  const cells = Math.max(400, Math.ceil((size.width / 10) * ROWS_SHOWN / 500) * 500);
  const parameters = useMemo(() => {
    if (size.width === 0) return null;
    const words: Record<string, string> = { ...filter };
    // A map is of one moment: of a range, its end. Figure and order are this view's own.
    if (!words.at && words.to) words.at = words.to;
    for (const word of ["from", "to", "value", "blocks", "sort", "granularity"]) delete words[word];
    return {
      ...words, cells: String(cells), rows: "50",
      ...(state.by ? { by: state.by } : {}),
      ...(chosen ? { start: String(chosen.start), end: String(chosen.end) } : {}),
    };
  }, [filter, cells, size.width === 0, state.by, state.addresses]);
  const { data, error, loading } = useAsk("memory-map", parameters);
  const answer = data?.kind === "trace" ? data : null;
  const moment = state.at ? "" : state.peak ? "peak" : state.to ? "" : "end";
  const go = (words: Record<string, string>) => store.change({ at: "", peak: "", from: "", to: "", "live-at": "", ...words });
  return (
    <section class="view memory" aria-label="Memory map">
      <div class="bar">
        <span class="toggle" role="group" aria-label="Moment">
          <button type="button" aria-pressed={moment === "end"} onClick={() => go({})}>at the end</button>
          <button type="button" aria-pressed={moment === "peak"} onClick={() => go({ peak: "1" })}>at the peak</button>
          {moment === "" && <button type="button" aria-pressed>at {state.at ?? state.to}</button>}
        </span>
        <Toggle word="by" values={[["", "function", "whom blocks are counted for"], ["stack", "stack", "each stack by itself"], ["thread", "thread", "who allocated them"]]} />
        <span class="grow" />
        {answer && <Totals answer={answer} />}
      </div>
      <Problem error={error} />
      <div class={`memory-body${loading ? " loading" : ""}`} ref={area} data-testid="memory">
        {!answer && !error && <p class="empty">reading…</p>}
        {answer && answer.map.live_bytes.length === 0 && <p class="empty">Nothing was live then{answer.filter ? ` (${answer.filter})` : ""}.</p>}
        {answer && answer.map.live_bytes.length > 0 && (
          <>
            {answer.filter && <p class="note">Only blocks that are {answer.filter}: others count as free here.</p>}
            <Map answer={answer} width={size.width} dark={dark} />
            <div class="memory-tables">
              {answer.holders && <Holders answer={answer} />}
              <Pins answer={answer} />
              <Fill answer={answer} dark={dark} />
            </div>
          </>
        )}
      </div>
    </section>
  );
}

function Totals({ answer }: { answer: BlockMapAnswer }) {
  const { pages } = answer;
  const range = pages.ranges[0];
  if (!range) return null;
  const touched = range.ranges * range.unit;
  return (
    <span class="total" data-testid="memory-total">
      live <b>{formatBytes(pages.bytes)}</b> in {formatBytes(touched)} of pages ({formatShare(range.live_bytes, touched)} full) · <b>{formatBytes(pages.pinned_bytes)}</b> free in pages that little keeps · at {formatDuration(pages.time_ns)}
    </span>
  );
}

function Map({ answer, width, dark }: { answer: BlockMapAnswer; width: number; dark: boolean }) {
  const { state, store } = usePage();
  const [pointed, setPointed] = useState(-1);
  const { map } = answer;
  const layout = useMemo(() => layoutMap(map, width), [map, width]);
  const chosen = parseAddresses(state.addresses);
  const text = (cell: number): string => {
    if (cell < 0 || cell >= map.live_bytes.length) return "";
    const start = addressOfCell(map, layout, cell);
    const live = map.live_bytes[cell]!;
    const largest = answer.names[map.largest[cell]!];
    const what = live === 0 ? "nothing live" : `${formatBytes(live)} live (${formatShare(live, map.unit)}) in ${formatCount(map.blocks[cell]!)} ${map.blocks[cell] === 1 ? "block" : "blocks"}`;
    return `${hex(start)} – ${hex(start + map.unit)}: ${what}${largest ? `, most of it ${largest.label}: ${formatBytes(map.largest_bytes[cell]!)}` : ""}`;
  };
  return (
    <>
      <div class="fill-legend">
        {FILL_NAMES.map((name, i) => <span key={name}><i style={{ background: (dark ? FILL_DARK : FILL_LIGHT)[i]! }} />{name}</span>)}
        <span class="dim">a cell is {formatBytes(map.unit)}{map.areas.length > 1 ? `, ${formatCount(map.areas.length)} areas` : ""}</span>
      </div>
      <MapCanvas
        map={map} layout={layout} width={width} dark={dark} chosen={chosen} text={text} onPoint={setPointed}
        onChoose={(start, end) => store.change({ addresses: start === end ? "" : `${hex(start)}-${hex(end)}` })}
      />
      <p class="pointed" data-testid="pointed">{text(pointed) || <span class="dim">Point at a cell for what is there; click it, or drag over several, for who holds them.</span>}</p>
    </>
  );
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

// To the stacks of a function, at the moment of the map.
function NameLink({ name, label }: { name: string | undefined; label: string }) {
  const { state } = usePage();
  if (!name) return <>{label}</>;
  const words = { view: "flame", focus: `^${escaped(name)}$`, root: "", addresses: "" };
  return <a href={`#${stateText(withWords(state, words))}`} title={name}>{label}</a>;
}

function Holders({ answer }: { answer: BlockMapAnswer }) {
  const { store } = usePage();
  const holders = answer.holders!;
  return (
    <div class="holders-card">
      <h2>
        Who holds {hex(holders.start)} – {hex(holders.end)} <span class="dim">{formatBytes(holders.bytes)} of {formatBytes(holders.end - holders.start)} in {formatCount(holders.blocks)} {holders.blocks === 1 ? "block" : "blocks"}</span>
        <button type="button" class="close" aria-label="Close" onClick={() => store.change({ addresses: "" })}>×</button>
      </h2>
      {holders.rows.length === 0 ? <p class="dim">Nobody: nothing is live there.</p> : (
        <div class="wide-scroll">
          <table class="plain" data-testid="holders">
            <thead><tr><th class="right">bytes</th><th class="right">share</th><th class="right">blocks</th><th>who</th></tr></thead>
            <tbody>
              {holders.rows.map((row, i) => (
                <tr key={i}>
                  <td class="right strong">{formatBytes(row.bytes)}</td><td class="right dim">{formatShare(row.bytes, holders.bytes)}</td>
                  <td class="right">{formatCount(row.blocks)}</td><td class="value"><NameLink name={row.function} label={row.label} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {holders.groups > holders.rows.length && <p class="dim">and {formatCount(holders.groups - holders.rows.length)} more</p>}
    </div>
  );
}

function Pins({ answer }: { answer: BlockMapAnswer }) {
  const { pages } = answer;
  return (
    <div>
      <h2>Who pins pages <span class="dim">{formatCount(pages.pinned_ranges)} of {formatBytes(pages.pin_unit)} are at most a quarter full</span></h2>
      {pages.pins.length === 0 ? <p class="dim">Nobody: no page is kept by little.</p> : (
        <div class="wide-scroll">
          <table class="plain" data-testid="pins">
            <thead><tr><th class="right" title="free bytes of such pages, shared out among their blocks">pinned</th><th class="right">share</th><th class="right">blocks</th><th class="right">their bytes</th><th class="right" title="pages that one block keeps by itself">alone</th><th>who</th></tr></thead>
            <tbody>
              {pages.pins.map((row: PinRow, i) => (
                <tr key={i}>
                  <td class="right strong">{formatBytes(row.pinned_bytes)}</td><td class="right dim">{formatShare(row.pinned_bytes, pages.pinned_bytes)}</td>
                  <td class="right">{formatCount(row.blocks)}</td><td class="right">{formatBytes(row.block_bytes)}</td><td class="right">{formatCount(row.ranges_alone)}</td>
                  <td class="value"><NameLink name={row.function} label={answer.pin_labels[i] ?? ""} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {answer.pins > pages.pins.length && <p class="dim">and {formatCount(answer.pins - pages.pins.length)} more</p>}
    </div>
  );
}

// How full pages and larger ranges are: what would be free if the allocator gave back whole ones.
function Fill({ answer, dark }: { answer: BlockMapAnswer; dark: boolean }) {
  const colours = dark ? FILL_DARK : FILL_LIGHT;
  return (
    <div>
      <h2>How full ranges are <span class="dim">from an eighth to full</span></h2>
      <div class="wide-scroll">
        <table class="plain" data-testid="fill">
          <thead><tr><th class="right">range</th><th class="right">touched</th><th class="right">live</th><th class="right">free</th><th>by fill</th></tr></thead>
          <tbody>
            {answer.pages.ranges.map((range) => {
              const most = Math.max(...range.by_eighths_full, 1);
              const title = range.by_eighths_full.map((count, i) => `up to ${i + 1}/8: ${formatCount(count)}`).join(", ");
              return (
                <tr key={range.unit}>
                  <td class="right strong">{formatBytes(range.unit)}</td><td class="right">{formatBytes(range.ranges * range.unit)}</td>
                  <td class="right">{formatShare(range.live_bytes, range.ranges * range.unit)}</td><td class="right">{formatBytes(range.free_bytes)}</td>
                  <td>
                    <svg class="fill-bars" viewBox="0 0 96 22" role="img" aria-label={title}>
                      <title>{title}</title>
                      {range.by_eighths_full.map((count, i) => {
                        const height = count > 0 ? Math.max(1.5, (20 * count) / most) : 0;
                        return <rect key={i} x={i * 12} width={10} y={21 - height} height={height} fill={colours[i < 2 ? 1 : i < 7 ? 3 : 5]!} />;
                      })}
                    </svg>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}
