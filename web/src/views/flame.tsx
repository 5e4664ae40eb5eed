// The flame graph: who called whom to hold the memory. From either end, from one function both ways, or two
// profiles at once.

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { mainEstimate, treeName, treeValueText } from "../model/figures";
import { layOut, matcherOf, search } from "../model/flame";
import type { Flame } from "../model/flame";
import type { ChangeScale } from "../model/flame_change";
import { formatShare } from "../model/format";
import { baseOf, CompareBar } from "./flame_compare";
import { Crumbs } from "./flame_crumbs";
import { FlameGraph } from "./flame_graph";
import type { Pointed } from "./flame_graph";
import { FunctionList, Sandwich } from "./flame_sandwich";
import { changeText, FrameDetails } from "./frame_details";
import { useAsk, useFilter, usePage } from "./hooks";
import { Problem, Toggle, useSize } from "./parts";
import "./flame.css";

export function FlameView() {
  const { state } = usePage();
  const filter = useFilter();
  const [area, size] = useSize<HTMLDivElement>();
  const width = Math.max(200, Math.round(size.width / 100) * 100);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const change = state.diff === "absolute" || state.diff === "relative" ? state.diff : null;
  const base = useMemo(() => (change ? baseOf(state) : null), [change, state]);
  const sandwich = Boolean(state.through) || state.callers === "both";
  const words = useMemo(
    () => ({ ...filter, ...(state.collapse ? { collapse: state.collapse } : {}), ...(sandwich && state.through ? { through: state.through } : {}), ...base }),
    [filter, state.collapse, state.through, sandwich, base],
  );
  const ready = size.width > 0 && (!change || base !== null);
  const scale = base ? (change as ChangeScale) : null;
  const [total, setTotal] = useState<Flame | null>(null);
  return (
    <section class={`view flame${sandwich ? " has-list" : ""}`} aria-label="Flame graph">
      <div class="bar">
        <Shape sandwich={sandwich} />
        {!sandwich && <Toggle word="upwards" values={[["", "icicle", "the root at the top"], ["1", "flame", "the root at the bottom"]]} />}
        <Toggle word="diff" values={[["", "figures", "what there is"], ["absolute", "change", "what changed, the largest change in full colour"], ["relative", "change in %", "what changed, against what it was"]]} also={{ root: "", above: "" }} />
        <Collapse />
        <Search />
        {!sandwich && total && <Matched flame={total} />}
        <span class="grow" />
        {ready && !change && total && <Total flame={total} />}
      </div>
      {change && <CompareBar>{ready && total && <Total flame={total} />}</CompareBar>}
      <div class="flame-sides">
        {sandwich && <FunctionList />}
        <div class="flame-area" ref={area}>
          {change && !base && <p class="empty">Choose what to compare with.</p>}
          {ready && sandwich && state.through && <Sandwich words={words} width={size.width} change={scale} onPoint={setPointed} onTotal={setTotal} />}
          {ready && sandwich && !state.through && <p class="empty">Choose a function: its callers will be above it, what it calls below.</p>}
          {ready && !sandwich && <Whole words={words} pixels={width * 2} width={size.width} change={scale} onPoint={setPointed} onTotal={setTotal} />}
          {ready && (!sandwich || state.through) && <FrameDetails pointed={pointed} />}
        </div>
      </div>
    </section>
  );
}

// From which end; and the words that only one of the shapes has.
function Shape({ sandwich }: { sandwich: boolean }) {
  const { state, store } = usePage();
  const now = sandwich ? "both" : (state.callers ?? "");
  const shapes = [
    ["", "top-down", "callers above what they call"],
    ["1", "bottom-up", "what allocates, then its callers"],
    ["both", "sandwich", "callers and callees of one function"],
  ] as const;
  return (
    <span class="toggle" role="group">
      {shapes.map(([value, title, hint]) => (
        <button key={value} type="button" title={hint} aria-pressed={now === value} onClick={() => store.change({ callers: value, root: "", above: "", ...(value === "both" ? {} : { through: "" }) })}>
          {title}
        </button>
      ))}
    </span>
  );
}

function Collapse() {
  const { state, store } = usePage();
  const one = state.collapse && state.collapse !== ".";
  return (
    <>
      <button type="button" aria-pressed={state.collapse === "."} title="Where a function is on the stack again, leave out what is between" onClick={() => store.change({ collapse: state.collapse === "." ? "" : ".", root: "", above: "" })}>
        collapse recursion
      </button>
      {one && (
        <span class="chip">
          <span class="dim">collapsed</span> {state.collapse}
          <button type="button" aria-label="Show its recursion" onClick={() => store.change({ collapse: "", root: "", above: "" })}>×</button>
        </span>
      )}
    </>
  );
}

function Search() {
  const { state, store } = usePage();
  return (
    <label class="search">
      <span class="hidden">search</span>
      <input id="flame-search" type="search" placeholder="search function ( / )" value={state.search ?? ""} onInput={(event) => store.change({ search: event.currentTarget.value }, true)} />
    </label>
  );
}

function useMatches(flame: Flame | null) {
  const { state } = usePage();
  return useMemo(() => {
    const matcher = matcherOf(state.search ?? "");
    return flame && matcher ? search(flame, matcher) : null;
  }, [flame, state.search]);
}

function Matched({ flame }: { flame: Flame }) {
  const matches = useMatches(flame);
  return matches ? <span class="matched" role="status">matched {formatShare(matches.share, 1)}</span> : null;
}

function Total({ flame }: { flame: Flame }) {
  const { answer } = flame;
  const text = (value: number) => treeValueText(value, answer.sort, answer);
  if (answer.compared) {
    const { before, after, profiles } = answer.compared;
    return (
      <span class="total" data-testid="flame-total" title={`${profiles[0]} → ${profiles[1]}`}>
        {treeName(answer.sort, answer.name)} {text(before)} → {text(after)}: <b>{changeText(before, after, answer.sort, answer.unit)}</b>
      </span>
    );
  }
  return (
    <span class="total" data-testid="flame-total">
      {treeName(answer.sort, answer.name)} <b>{text(answer.value)}</b>
      {mainEstimate(answer.selected).value !== mainEstimate(answer.total).value && answer.sort === "live" && (
        <> of {treeValueText(mainEstimate(answer.total).value, "live", answer)}</>
      )}
      {answer.shrunk < 0 && <>; what shrank is left out: {treeValueText(answer.shrunk, "live", answer)}</>}
      {answer.cut && <> (the smallest boxes are left out)</>}
    </span>
  );
}

interface WholeProps {
  words: Record<string, string>;
  pixels: number;
  width: number;
  change: ChangeScale | null;
  onPoint: (pointed: Pointed | null) => void;
  onTotal: (flame: Flame | null) => void;
}

// All stacks from one end.
function Whole({ words, pixels, width, change, onPoint, onTotal }: WholeProps) {
  const { state, store } = usePage();
  const root = state.root ?? "";
  const [detail, setDetail] = useState(1);
  useEffect(() => setDetail(1), [root, words]);
  const tree = useMemo(() => ({ ...words, ...(state.callers === "1" ? { callers: "1" } : {}) }), [words, state.callers]);
  const parameters = useMemo(() => ({ ...tree, ...(root ? { root } : {}), width: String(Math.min(100_000, pixels * detail)) }), [tree, root, pixels, detail]);
  const { data, error, loading } = useAsk("flame", parameters);
  const flame = useMemo(() => (data ? layOut(data) : null), [data]);
  const matches = useMatches(flame);
  useEffect(() => onTotal(flame), [flame, onTotal]);
  useEffect(() => () => onTotal(null), [onTotal]);
  // The call that was zoomed into is not there any more: show the whole.
  useEffect(() => {
    if (data && !data.found && root && !loading) store.change({ root: "" }, true);
  }, [data, loading, root, store]);
  const onDetail = useCallback((times: number) => setDetail((before) => Math.max(before, times)), []);
  return (
    <>
      {flame && <Crumbs flame={flame} word="root" />}
      <Problem error={error} />
      {flame && flame.answer.value > 0 && (
        <div class={`flame-scroll${loading ? " loading" : ""}`}>
          <FlameGraph flame={flame} words={tree} rootWord="root" title="Flame graph" testid="flame-canvas" upwards={state.upwards === "1"} width={width} matches={matches?.names ?? null} change={change} loading={loading} onPoint={onPoint} onDetail={onDetail} />
        </div>
      )}
      {flame && !(flame.answer.value > 0) && <p class="empty">Nothing here: no stack is left by the filter, or nothing was allocated.</p>}
      {!flame && !error && <p class="empty">reading…</p>}
    </>
  );
}
