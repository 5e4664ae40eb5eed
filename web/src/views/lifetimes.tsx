// How long blocks live: sizes against lifetimes. A cell leads to the blocks in it.

import { useMemo, useState } from "preact/hooks";
import type { BlockCount, LifetimesAnswer } from "../api/types";
import { formatBytes, formatCount, formatShare, formatValue } from "../model/format";
import { stateText, withWords } from "../model/state";
import { useAsk, useFilter, usePage } from "./hooks";
import { Problem, useDark } from "./parts";

type Count = keyof BlockCount;

export function LifetimesView() {
  const { source } = usePage();
  const filter = useFilter();
  const [count, setCount] = useState<Count>("bytes");
  const isTrace = source?.kind === "trace";
  // A moment chooses nothing here, and the figure is this view's own.
  const parameters = useMemo(() => {
    if (!isTrace) return null;
    const words: Record<string, string> = { ...filter };
    for (const word of ["at", "value", "blocks", "sort", "peak"]) delete words[word];
    return words;
  }, [filter, isTrace]);
  const { data, error, loading } = useAsk("lifetimes", parameters);
  if (!isTrace) return <p class="empty">Only a trace knows how long blocks lived: heapgauge run --trace -o FILE.hgt -- COMMAND</p>;
  return (
    <section class="view lifetimes" aria-label="Lifetimes">
      <div class="bar">
        <span class="toggle" role="group">
          {(["bytes", "blocks"] as const).map((word) => <button key={word} type="button" aria-pressed={count === word} onClick={() => setCount(word)}>{word}</button>)}
        </span>
        <span class="grow" />
        {data && <span class="total">{formatCount(data.total.blocks)} blocks, <b>{formatBytes(data.total.bytes)}</b>{data.total.median_ns !== undefined && <> · median {formatValue(data.total.median_ns, "ns")}</>} · never freed {formatBytes(data.total.never_freed.bytes)}</span>}
      </div>
      <Problem error={error} />
      {!data && !error && <p class="empty">reading…</p>}
      {data && (
        <div class={`wide-scroll padded${loading ? " loading" : ""}`}>
          <Heat data={data} count={count} />
          <h2>By function</h2>
          <Rows data={data} />
        </div>
      )}
    </section>
  );
}

function Heat({ data, count }: { data: LifetimesAnswer; count: Count }) {
  const { state, store } = usePage();
  const dark = useDark();
  const most = Math.max(...data.sizes.flatMap((size) => size.by_lifetime.map((cell) => cell[count])), 1);
  const least = 1 + Math.log10(most);
  // Counts differ by orders of magnitude: the colour is by their logarithm.
  const colour = (value: number) => {
    const part = value > 0 ? Math.max(0.08, 1 + (Math.log10(value) - Math.log10(most)) / Math.max(least, 1)) : 0;
    return `rgb(59 120 196 / ${(part * (dark ? 0.95 : 0.9)).toFixed(3)})`;
  };
  const text = (value: number) => (count === "bytes" ? formatBytes(value) : formatCount(value));
  return (
    <table class="heat" data-testid="heat">
      <thead><tr><th>size up to</th>{data.lifetimes.map((step) => <th key={step.name}>{step.name}</th>)}</tr></thead>
      <tbody>
        {data.sizes.map((size) => (
          <tr key={size.up_to}>
            <th>{formatBytes(size.up_to)}</th>
            {size.by_lifetime.map((cell, i) => {
              const step = data.lifetimes[i]!;
              if (cell.blocks === 0) return <td key={step.name} />;
              const words = {
                view: "flame", value: "allocated", at: "", root: "",
                "min-size": String(size.above === 0 ? 0 : size.above + 1), "max-size": String(size.up_to),
                ...(step.from_ns === undefined ? { "not-freed": "1" } : { freed: "1", "min-lifetime": `${step.from_ns}ns`, ...(step.below_ns === undefined ? {} : { "max-lifetime": `${step.below_ns - 1}ns` }) }),
              };
              const title = `${formatCount(cell.blocks)} blocks, ${formatBytes(cell.bytes)}: up to ${formatBytes(size.up_to)}, ${step.name}`;
              const strong = cell[count] > most / 30;
              return <td key={step.name}><button type="button" title={title} aria-label={title} style={{ background: colour(cell[count]), color: strong ? "#ffffff" : "inherit" }} onClick={() => store.set(withWords(state, words))}>{text(cell[count])}</button></td>;
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Rows({ data }: { data: LifetimesAnswer }) {
  const { state } = usePage();
  const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return (
    <table class="plain">
      <thead><tr><th class="right">blocks</th><th class="right">bytes</th><th class="right">share</th><th class="right">median</th><th class="right">mean</th><th class="right">temporary</th><th class="right">never freed</th><th>function</th></tr></thead>
      <tbody>
        {data.rows.map((row) => (
          <tr key={`${row.function}${row.line}`}>
            <td class="right">{formatCount(row.blocks)}</td>
            <td class="right strong">{formatBytes(row.bytes)}</td>
            <td class="right dim">{formatShare(row.bytes, data.total.bytes)}</td>
            <td class="right">{row.median_ns === undefined ? "-" : formatValue(row.median_ns, "ns")}</td>
            <td class="right dim">{row.mean_ns === undefined ? "-" : formatValue(row.mean_ns, "ns")}</td>
            <td class="right">{formatShare(row.temporary.blocks, row.blocks)}</td>
            <td class="right">{row.never_freed.bytes ? formatBytes(row.never_freed.bytes) : "-"}</td>
            <td class="value"><a href={`#${stateText(withWords(state, { view: "flame", focus: `^${escaped(row.function ?? "")}$`, root: "" }))}`}>{row.function ?? "(unknown stack)"}</a></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
