// What a flame graph is compared with, and what its colours mean.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { State } from "../model/state";
import { changeColours, SHADES } from "../model/flame_change";
import { useAsk, usePage } from "./hooks";
import { useDark } from "./parts";

export const BASE_WORDS = ["base", "base-at", "base-from", "base-to", "base-peak", "base-hold"];

// The words of the address that say what to compare with; null if none does.
export function baseOf(state: State): Record<string, string> | null {
  const words: Record<string, string> = {};
  for (const word of BASE_WORDS) {
    const value = state[word];
    if (value) words[word] = value;
  }
  return Object.keys(words).length > 0 ? words : null;
}

const NO_WORDS = {};

export function CompareBar({ children }: { children: ComponentChildren }) {
  const { state, store, source } = usePage();
  const { data } = useAsk("sources", NO_WORDS);
  const base = state.base ?? "";
  const sources = data?.sources ?? [];
  const kind = sources.find((one) => one.id === (base || source?.id))?.kind ?? source?.kind;
  const same = !base || base === source?.id;
  const none = Object.fromEntries(BASE_WORDS.map((word) => [word, ""]));
  return (
    <div class="bar compare-bar" role="group" aria-label="Compared with">
      <label>
        <span class="dim">compared with </span>
        <select value={base} onChange={(event) => store.change({ ...none, base: event.currentTarget.value })}>
          <option value="">{same && kind === "profile" ? "choose…" : `${source?.title ?? "this source"} at another moment`}</option>
          {sources.filter((one) => one.id !== source?.id).map((one) => <option key={one.id} value={one.id}>{one.title}</option>)}
        </select>
      </label>
      {kind === "trace" && (
        <label>
          <span class="dim">at </span>
          <input
            class="moment"
            key={state["base-at"]}
            defaultValue={state["base-at"] ?? ""}
            placeholder="2s, 40%, peak"
            onChange={(event) => store.change({ "base-at": event.currentTarget.value.trim(), "base-from": "", "base-to": "" })}
          />
        </label>
      )}
      {kind === "process" && (
        <label>
          <input type="checkbox" checked={state["base-peak"] === "1"} onChange={(event) => store.change({ "base-peak": event.currentTarget.checked ? "1" : "" })} /> its peak
        </label>
      )}
      {children}
      <span class="grow" />
      <Legend />
    </div>
  );
}

function Legend() {
  const dark = useDark();
  const colours = useMemo(() => changeColours(dark), [dark]);
  return (
    <span class="change-legend">
      less{" "}
      <svg viewBox={`0 0 ${2 * SHADES + 1} 1`} preserveAspectRatio="none" aria-hidden="true">
        {colours.map((colour, i) => <rect key={i} x={i} width="1.02" height="1" fill={colour} />)}
      </svg>{" "}
      more
    </span>
  );
}
