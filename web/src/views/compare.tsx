// What changed: two sources, or two moments of one.

import { useMemo } from "preact/hooks";
import type { DiffAnswer, DiffChange } from "../api/types";
import { formatCount, formatRange, formatValue } from "../model/format";
import { stateText, withWords } from "../model/state";
import { useAsk, useFilter, usePage } from "./hooks";
import { Problem, Toggle } from "./parts";

// Blue for less, orange for more: told apart by those who do not see red or green.
const MORE = "#d9731a";
const LESS = "#2f74c0";

function signed(value: number, unit: string): string {
  return value > 0 ? `+${formatValue(value, unit)}` : formatValue(value, unit);
}

export function CompareView() {
  const { state, store, source } = usePage();
  const filter = useFilter();
  const { data: sources } = useAsk("sources", NO_WORDS);
  const isTrace = source?.kind === "trace";
  const base = state.base ?? "";
  const same = !base || base === source?.id;
  const chosen = !same || Boolean(state["base-at"] || state["base-peak"]);
  const parameters = useMemo(() => {
    if (!chosen) return null;
    const words: Record<string, string> = { ...filter };
    for (const word of ["base", "base-at", "base-peak", "cumulative", "only-sure"]) {
      const value = state[word];
      if (value) words[word] = value;
    }
    return words;
  }, [filter, chosen, state]);
  const { data, error, loading } = useAsk("diff", parameters);
  const others = (sources?.sources ?? []).filter((one) => one.id !== source?.id);

  return (
    <section class="view compare" aria-label="Compare">
      <div class="bar">
        <label>
          compare with{" "}
          <select value={base} onChange={(event) => store.change({ base: event.currentTarget.value, "base-at": "", "base-peak": "" })}>
            <option value="">{source?.title ?? "this source"} at another moment</option>
            {others.map((one) => <option key={one.id} value={one.id}>{one.title}</option>)}
          </select>
        </label>
        {isTrace && same && (
          <label>
            at{" "}
            <input class="moment" key={state["base-at"]} defaultValue={state["base-at"] ?? ""} placeholder="2s, 40%, peak" onChange={(event) => store.change({ "base-at": event.currentTarget.value.trim() })} />
          </label>
        )}
        {!isTrace && same && source?.kind === "process" && <Toggle word="base-peak" values={[["", "choose", "nothing yet"], ["1", "its peak", "the largest heap so far"]]} />}
        <Toggle word="cumulative" values={[["", "flat", "what a function itself asked for"], ["1", "cumulative", "with all it calls"]]} />
        <Toggle word="only-sure" values={[["", "all", "every change"], ["1", "beyond chance", "without what sampling explains"]]} />
        <span class="grow" />
        {data && <Total data={data} />}
      </div>
      <Problem error={error} />
      {!chosen && <p class="empty">Choose what to compare with: another source{isTrace ? ", or a moment of this trace" : source?.kind === "process" ? ", or its own peak" : ""}.</p>}
      {chosen && !data && !error && <p class="empty">reading…</p>}
      {data && <Changes data={data} loading={loading} />}
    </section>
  );
}

const NO_WORDS = {};

function Total({ data }: { data: DiffAnswer }) {
  const [before, after] = data.profiles;
  return (
    <span class="total" data-testid="diff-total">
      {before?.source} → {after?.source}: <b>{signed(data.total.change.value, data.unit)}</b>
      {data.total.change.high > data.total.change.low && <> (95 %: {formatRange(data.total.change.low, data.total.change.high, data.unit)})</>}
    </span>
  );
}

function Changes({ data, loading }: { data: DiffAnswer; loading: boolean }) {
  const { state } = usePage();
  const most = Math.max(...data.changes.map((row) => Math.abs(row.change.value)), 1);
  if (data.changes.length === 0) return <p class="empty">Nothing changed.</p>;
  const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const nameOf = (row: DiffChange) => row.function ?? row.file ?? row.module ?? "";
  return (
    <div class={`wide-scroll padded${loading ? " loading" : ""}`}>
      <table class="plain changes" data-testid="changes">
        <thead>
          <tr><th class="right">change</th><th class="middle">less | more</th><th class="right">95 % range</th><th class="right">before</th><th class="right">after</th><th class="right">objects</th><th>function</th></tr>
        </thead>
        <tbody>
          {data.changes.map((row) => (
            <tr key={nameOf(row) + String(row.line)} class={row.beyond_chance ? "" : "unsure"}>
              <td class="right strong">{signed(row.change.value, data.unit)}</td>
              <td class="middle"><ChangeBar part={row.change.value / most} /></td>
              <td class="right dim">{row.change.high > row.change.low ? formatRange(row.change.low, row.change.high, data.unit) : ""}{row.beyond_chance ? "" : " ~"}</td>
              <td class="right">{formatValue(row.before.value, data.unit)}</td>
              <td class="right">{formatValue(row.after.value, data.unit)}</td>
              <td class="right dim">{row.objects_after !== undefined && row.objects_before !== undefined ? `${formatCount(row.objects_before)} → ${formatCount(row.objects_after)}` : ""}</td>
              <td class="name" title={nameOf(row)}><a href={`#${stateText(withWords(state, { view: "flame", focus: `^${escaped(nameOf(row))}$`, root: "" }))}`}>{nameOf(row)}</a></td>
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
