// A function between those that call it, above, and what it calls, below; and a list of functions to choose from.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Figures } from "../api/types";
import { mainEstimate } from "../model/figures";
import { exactly, layOut, matcherOf, search } from "../model/flame";
import type { Flame } from "../model/flame";
import type { ChangeScale } from "../model/flame_change";
import { formatShare } from "../model/format";
import { stateText, withWords } from "../model/state";
import { ROW } from "./flame_canvas";
import { FlameGraph } from "./flame_graph";
import type { Pointed } from "./flame_graph";
import { Crumbs } from "./flame_crumbs";
import { useAsk, useFilter, usePage } from "./hooks";
import { Problem } from "./parts";

interface Props {
  words: Record<string, string>; // of the tree, without its direction
  width: number;
  change: ChangeScale | null;
  onPoint: (pointed: Pointed | null) => void;
  onTotal: (flame: Flame | null) => void;
}

export function Sandwich({ words, width, change, onPoint, onTotal }: Props) {
  const { state, store } = usePage();
  const [detail, setDetail] = useState([1, 1]);
  const halves = [useHalf(words, "1", state.above ?? "", width * 2 * detail[0]!), useHalf(words, "", state.root ?? "", width * 2 * detail[1]!)] as const;
  const [above, below] = halves;
  const scroll = useRef<HTMLDivElement>(null);
  useEffect(() => onTotal(below.flame), [below.flame, onTotal]);
  useEffect(() => () => onTotal(null), [onTotal]);
  // The function itself in sight, however deep its callers are.
  const rowsOf = (half: Flame | null) => (half ? half.ancestors + half.levels.length : 0);
  const callerRows = rowsOf(above.flame);
  const calleeRows = rowsOf(below.flame);
  useEffect(() => {
    const box = scroll.current;
    const frame = requestAnimationFrame(() => {
      if (box) box.scrollTop = Math.max(0, callerRows * ROW - Math.max(box.clientHeight * 0.45, box.clientHeight - calleeRows * ROW));
    });
    return () => cancelAnimationFrame(frame);
  }, [callerRows, calleeRows, words.through]);
  useEffect(() => {
    for (const [half, word] of [[above, "above"], [below, "root"]] as const) {
      if (half.flame && !half.flame.answer.found && state[word] && !half.loading) store.change({ [word]: "" }, true);
    }
  }, [above, below, state, store]);
  const matched = [above.matches, below.matches].map((matches) => (matches ? formatShare(matches.share, 1) : null));
  return (
    <div class="sandwich">
      <Problem error={above.error ?? below.error} />
      {matched[0] && <p class="matched" role="status">matched {matched[0]} of the callers, {matched[1]} of the callees</p>}
      {above.flame && <Crumbs flame={above.flame} word="above" title="Callers" />}
      {below.flame && <Crumbs flame={below.flame} word="root" title="Callees" />}
      <div class="flame-scroll" ref={scroll}>
        {above.flame && above.flame.answer.value > 0 && (
          <FlameGraph flame={above.flame} words={above.words} rootWord="above" title="Callers" testid="flame-callers" upwards center width={width} matches={above.matches?.names ?? null} change={change} loading={above.loading} onPoint={onPoint} onDetail={(times) => setDetail(([_, other]) => [times, other!])} />
        )}
        {below.flame && below.flame.answer.value > 0 && (
          <FlameGraph flame={below.flame} words={below.words} rootWord="root" title="Callees" testid="flame-callees" upwards={false} hideRoot width={width} matches={below.matches?.names ?? null} change={change} loading={below.loading} onPoint={onPoint} onDetail={(times) => setDetail(([other]) => [other!, times])} />
        )}
        {above.flame && !(above.flame.answer.value > 0) && <p class="empty">No stack passes it.</p>}
        {!above.flame && !above.error && <p class="empty">reading…</p>}
      </div>
    </div>
  );
}

function useHalf(words: Record<string, string>, callers: string, root: string, pixels: number) {
  const { state } = usePage();
  const tree = useMemo(() => ({ ...words, ...(callers ? { callers } : {}) }), [words, callers]);
  const parameters = useMemo(() => ({ ...tree, ...(root ? { root } : {}), width: String(Math.min(100_000, pixels)) }), [tree, root, pixels]);
  const { data, error, loading } = useAsk("flame", parameters);
  const flame = useMemo(() => (data ? layOut(data) : null), [data]);
  const matches = useMemo(() => {
    const matcher = matcherOf(state.search ?? "");
    return flame && matcher ? search(flame, matcher) : null;
  }, [flame, state.search]);
  return { words: tree, flame, matches, error, loading };
}

const ROWS = 200;

// Functions by what passes through them; the search narrows the list.
export function FunctionList() {
  const { state } = usePage();
  const filter = useFilter();
  const parameters = useMemo(() => ({ ...filter, cumulative: "1", rows: String(ROWS) }), [filter]);
  const { data, error } = useAsk("table", parameters);
  const matcher = useMemo(() => matcherOf(state.search ?? ""), [state.search]);
  const rows = (data?.rows ?? []).filter((row) => !matcher || matcher(row.label));
  const chosen = useRef<HTMLAnchorElement>(null);
  useEffect(() => chosen.current?.scrollIntoView({ block: "nearest" }), [state.through, data]);
  // Of a profile about what was allocated, live bytes are only beside it.
  const sort = state.sort ?? (state.value === "allocated" && !state.blocks ? "allocated" : "live");
  const valueOf = (figures: Figures) =>
    sort === "allocated" ? (figures.allocated_bytes?.value ?? 0) : sort === "count" ? (figures.live_objects ?? figures.objects ?? 0) : mainEstimate(figures).value;
  const total = data ? valueOf(data.total) : 0;
  return (
    <nav class="function-list" aria-label="Functions">
      <Problem error={error} />
      {!data && !error && <p class="empty">reading…</p>}
      <ol>
        {rows.map((row, i) => {
          const pattern = exactly(row.function ?? row.file ?? row.module ?? "");
          const value = valueOf(row.cum ?? row.flat);
          return (
            <li key={i}>
              <a
                {...(pattern === state.through ? { ref: chosen } : {})}
                href={`#${stateText(withWords(state, { through: pattern, callers: "both", root: "", above: "" }))}`}
                aria-current={pattern === state.through ? "true" : undefined}
                title={row.function ?? row.label}
              >
                <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width={total > 0 ? Math.min(100, (100 * value) / total) : 0} height="1" /></svg>
                <span class="share">{formatShare(value, total)}</span>
                <span class="label">{row.label}</span>
              </a>
            </li>
          );
        })}
        {data && rows.length === 0 && <li class="dim">no name matches</li>}
      </ol>
    </nav>
  );
}
