// What changed: any two sources, snapshots, or moments of a trace.

import { useMemo } from "preact/hooks";
import type { DiffAnswer, DiffChange } from "../api/types";
import { isSame, swapped } from "../model/compare";
import { formatChange, formatCount, formatRange, formatValue } from "../model/format";
import { runs } from "../model/sources";
import { stateText, withWords } from "../model/state";
import { CompareSide } from "./compare_side";
import "./compare.css";
import { useAsk, useFilter, usePage } from "./hooks";
import { NewProfile } from "./new_profile";
import { Problem, Toggle } from "./parts";

// Blue for less, orange for more: told apart by those who do not see red or green.
const MORE = "#d9731a";
const LESS = "#2f74c0";

const BASE_WORDS = ["base", "base-at", "base-from", "base-to", "base-peak"];

const orDash = (value: number, unit: string) => (value === 0 ? "-" : formatValue(value, unit));

export function CompareView() {
  const { state, store, source, sources, hold } = usePage();
  const filter = useFilter();
  const page = source?.id ?? "";
  const same = isSame(state, page);
  const base = sources.find((one) => one.id === (state.base || page));
  const parameters = useMemo(() => {
    if (same) return null;
    const words: Record<string, string> = { ...filter };
    for (const word of [...BASE_WORDS, "cumulative", "only-sure"]) {
      const value = state[word];
      if (value) words[word] = value;
    }
    if (base?.live) words["base-hold"] = hold;
    return words;
  }, [filter, same, state, base?.live, hold]);
  const { data: answer, error, loading } = useAsk("diff", parameters);
  const data = same ? null : answer;

  return (
    <section class="view compare" aria-label="Compare">
      <div class="sides">
        <CompareSide side="base" figure={data ? orDash(data.total.before.value, data.unit) : ""} />
        <button type="button" class="swap" title="Swap base and new" aria-label="Swap base and new" onClick={() => store.change(swapped(state, page))}>⇄</button>
        <CompareSide side="new" figure={data ? orDash(data.total.after.value, data.unit) : ""} />
      </div>
      {!same && <Problem error={error} />}
      {same && <FirstSteps />}
      {!same && !data && !error && <p class="empty">reading…</p>}
      {data && (
        <>
          <Verdict data={data} />
          <div class="bar">
            <Toggle word="cumulative" values={[["", "flat", "what a function itself asked for"], ["1", "cumulative", "with all it calls"]]} />
            <Toggle word="only-sure" values={[["", "all", "every change"], ["1", "beyond chance", "without what sampling explains"]]} />
            <a href={`#${stateText(withWords(state, { view: "flame", root: "" }))}`} data-testid="diff-flame">As a flame graph</a>
            <span class="grow" />
            {data.changes.some((row) => !row.beyond_chance) && <span class="dim">dim and ~: chance explains it</span>}
          </div>
          <Changes data={data} loading={loading} />
        </>
      )}
    </section>
  );
}

// Nothing is chosen yet: what can be done with what there is.
function FirstSteps() {
  const { state, store, source, sources } = usePage();
  const others = sources.filter((one) => one.id !== source?.id && (one.kind !== "process" || one.live));
  const to = (words: Record<string, string>) => `#${stateText(withWords(state, words))}`;
  return (
    <div class="first-steps">
      {source?.kind === "trace" && <p>Compare the end with <a href={to({ "base-at": "peak" })}>the peak</a>, with <a href={to({ "base-at": "50%" })}>half-way</a>, or with any moment or range of this trace.</p>}
      {source && runs(source) && (
        <p>
          <NewProfile source={source.id} title="Take a profile now and see what changes from here on" onTaken={(taken) => store.change({ base: taken.id, peak: "" })} />{" "}
          keeps what {source.title} holds now. Then see what changes from there on.
        </p>
      )}
      {source?.kind === "process" && <p>Or compare with <a href={to({ "base-peak": "1" })}>its peak</a>.</p>}
      {others.length > 0
        ? <p>{source?.kind === "profile" ? "Choose a base, for example " : "Or with another source: "}{others.slice(0, 6).map((one, i) => <span key={one.id}>{i > 0 && ", "}<a href={to({ base: one.id, "base-at": "", "base-peak": "" })}>{one.title}</a></span>)}.</p>
        : source?.kind === "profile" && <p>There is nothing to compare with: start heapgauge ui with two profiles.</p>}
    </div>
  );
}

function Verdict({ data }: { data: DiffAnswer }) {
  const [before, after] = data.profiles;
  const { change } = data.total;
  return (
    <p class="verdict" data-testid="diff-total">
      <b class={`large ${change.value > 0 ? "more" : change.value < 0 ? "less" : ""}`}>{change.value === 0 ? "no change" : formatChange(change.value, data.unit)}</b>
      {change.high > change.low && <span class="dim"> (95 %: {formatRange(change.low, change.high, data.unit)})</span>}
      <span class="dim"> from {before?.source} to {after?.source}</span>
    </p>
  );
}

function Changes({ data, loading }: { data: DiffAnswer; loading: boolean }) {
  const { state } = usePage();
  const most = Math.max(...data.changes.map((row) => Math.abs(row.change.value)), 1);
  if (data.changes.length === 0) return <p class="empty">Nothing changed.</p>;
  const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const nameOf = (row: DiffChange) => row.function ?? row.file ?? row.module ?? row.label;
  const ranges = data.changes.some((row) => row.change.high > row.change.low);
  const objects = data.changes.some((row) => row.objects_after !== undefined);
  return (
    <div class={`wide-scroll padded${loading ? " loading" : ""}`}>
      <table class="plain changes" data-testid="changes">
        <thead>
          <tr>
            <th class="right">change</th><th class="middle wide-only">less | more</th>{ranges && <th class="right wide-only">95 % range</th>}
            <th class="right">before</th><th class="right">after</th>{objects && <th class="right wide-only">objects</th>}<th class="wide-only"><span class="hidden">kind</span></th><th>{data.granularity.replace(/s$/, "")}</th>
          </tr>
        </thead>
        <tbody>
          {data.changes.map((row, i) => (
            <tr key={`${nameOf(row)} ${String(row.line)} ${i}`} class={row.beyond_chance ? "" : "unsure"}>
              <td class="right strong">{formatChange(row.change.value, data.unit)}</td>
              <td class="middle wide-only"><ChangeBar part={row.change.value / most} /></td>
              {ranges && <td class="right dim wide-only">{row.change.high > row.change.low ? formatRange(row.change.low, row.change.high, data.unit) : ""}{row.beyond_chance ? "" : " ~"}</td>}
              <td class="right">{orDash(row.before.value, data.unit)}</td>
              <td class="right">{orDash(row.after.value, data.unit)}</td>
              {objects && <td class="right wide-only">{formatChange((row.objects_after ?? 0) - (row.objects_before ?? 0), "count")}</td>}
              <td class="kind wide-only">{row.kind}</td>
              <td class="name" title={nameOf(row)}><a href={`#${stateText(withWords(state, { view: "flame", focus: `^${escaped(nameOf(row))}$`, root: "" }))}`}>{row.label}</a> <span class="dim">{row.place}</span></td>
            </tr>
          ))}
        </tbody>
      </table>
      {data.change_count > data.changes.length && <p class="hint">{formatCount(data.change_count - data.changes.length)} more</p>}
    </div>
  );
}

function ChangeBar({ part }: { part: number }) {
  const width = 50 * Math.min(1, Math.abs(part));
  return (
    <svg class="change-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect x={part < 0 ? 50 - width : 50} width={Math.max(width, 0.5)} height="10" fill={part < 0 ? LESS : MORE} />
      <rect x="49.75" width="0.5" height="10" fill="currentColor" />
    </svg>
  );
}
