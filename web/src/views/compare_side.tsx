// One side of a comparison: which source, and which moment of it.

import { useMemo } from "preact/hooks";
import type { SourceFacts } from "../api/types";
import { chosenOf, momentOf, wordOf, wordsFor } from "../model/compare";
import type { Chosen, Moment, Side } from "../model/compare";
import { formatBytes } from "../model/format";
import { runs } from "../model/sources";
import { useAsk, usePage } from "./hooks";
import { NewProfile } from "./new_profile";
import { SourceOptions } from "./sources";

const TITLES: Record<Side, string> = { base: "Base", new: "New" };

export function CompareSide({ side, figure }: { side: Side; figure: string }) {
  const { state, store, source: page, sources } = usePage();
  const chosen = chosenOf(state, side, page?.id ?? "");
  const source = sources.find((one) => one.id === chosen.source) ?? (side === "new" ? page : null);
  const figures = useFigures(sources);
  // Another source has other moments; the filter stays.
  const choose = (id: string) => store.change({ ...wordsFor(side, { source: id }), root: "" });
  const running = sources.find((one) => runs(one) && one.pid === source?.pid && source?.pid !== undefined);
  return (
    <div class={`side ${side}`} role="group" aria-label={TITLES[side]}>
      <b>{TITLES[side]}</b>
      <label class="what">
        <span class="hidden">{TITLES[side]}: source</span>
        <select value={chosen.source} onChange={(event) => choose(event.currentTarget.value)} data-testid={`${side}-source`}>
          <SourceOptions sources={sources} figures={figures} />
          {!source && <option value={chosen.source}>{chosen.source.startsWith("snapshot-") ? "a snapshot that is gone" : chosen.source}</option>}
        </select>
      </label>
      {source && <When side={side} source={source} chosen={chosen} />}
      {running && <NewProfile source={running.id} title={`Take a profile of ${running.title} now, and have it here`} onTaken={(taken) => choose(taken.id)} />}
      {figure && <span class="figure" data-testid={`${side}-figure`}>{figure}</span>}
    </div>
  );
}

// What each snapshot held, to tell them apart.
function useFigures(sources: SourceFacts[]): Map<string, string> {
  const newest = sources.find((one) => one.taken_unix_ns !== undefined)?.id;
  const count = sources.length;
  const parameters = useMemo(() => (newest ? { hold: `${newest} ${count}` } : null), [newest, count]);
  const { data } = useAsk("snapshots", parameters);
  return useMemo(() => new Map((data?.snapshots ?? []).map((one) => [one.id, formatBytes(one.live_bytes.value)])), [data]);
}

function When({ side, source, chosen }: { side: Side; source: SourceFacts; chosen: Chosen }) {
  const { state, store } = usePage();
  if (source.kind === "profile") return null;
  const moment = momentOf(chosen);
  const name = TITLES[side];
  const set = (words: Partial<Chosen>, more: Record<string, string> = {}) => store.change({ ...wordsFor(side, { source: side === "base" ? (state.base ?? "") : chosen.source, ...words }), root: "", ...more });
  if (source.kind === "process") {
    return (
      <select aria-label={`${name}: when`} value={moment} onChange={(event) => set({ peak: event.currentTarget.value === "peak" ? "1" : "" })}>
        <option value="end">{source.live ? "now" : "at its end"}</option>
        <option value="peak">at its peak</option>
      </select>
    );
  }
  const choose = (to: Moment) => {
    if (to === "end") set({});
    else if (to === "peak") set({ at: "peak" });
    else if (to === "at") set({ at: "50%" });
    else set({ from: "0s", to: "50%" }, state.value ? {} : { value: "left" });
  };
  const field = (word: "at" | "from" | "to", hint: string) => (
    <input
      class="moment"
      key={`${word}${chosen[word]}`}
      defaultValue={chosen[word]}
      placeholder={hint}
      aria-label={`${name}: ${word}`}
      onChange={(event) => store.change({ [wordOf(side, word)]: event.currentTarget.value.trim(), root: "" })}
    />
  );
  return (
    <>
      <select aria-label={`${name}: when`} value={moment} onChange={(event) => choose(event.currentTarget.value as Moment)}>
        <option value="end">{source.live ? "as far as it is written" : "at the end"}</option>
        <option value="peak">at the peak</option>
        <option value="at">at a moment</option>
        <option value="range">in a range</option>
      </select>
      {moment === "at" && field("at", "2s, 40%, peak")}
      {moment === "range" && <>{field("from", "2s, 40%")} to {field("to", "5s, 80%")}</>}
    </>
  );
}
