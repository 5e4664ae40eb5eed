// A function among its neighbours: who calls it above, what it calls below, each a step further.

import { useMemo } from "preact/hooks";
import type { PeekAnswer, PeekFunction, PeekNeighbour } from "../api/tree";
import { hasRange, rangeText } from "../model/figures";
import { formatCount } from "../model/format";
import { patternOf } from "../model/pattern";
import { plusMinus, rowEstimate, rowName, rowText, sharedFigure, sharePart, shareText } from "../model/rows";
import { stateText, withWords } from "../model/state";
import { useAsk, useFilter, usePage } from "./hooks";
import { Problem } from "./parts";
import { rowActions } from "./row_actions";
import { ShareBar } from "./share_bar";
import "./callers.css";

export function CallersView() {
  const { state, store } = usePage();
  const filter = useFilter();
  const list = useMemo(() => ({ ...filter, cumulative: "1", rows: "100", ...(state.search ? { match: state.search } : {}) }), [filter, state.search]);
  const names = useAsk("table", list);
  // Without a choice, the heaviest that has callers as well as callees in view: the first of the list.
  const first = names.data?.rows[0];
  const of = state.of ?? (first ? patternOf(first) : null);
  const parameters = useMemo(() => (of === null ? null : { ...filter, pattern: of }), [filter, of]);
  const { data, error, loading } = useAsk("peek", parameters);
  const linkOf = (pattern: string) => `#${stateText(withWords(state, { of: pattern }))}`;
  return (
    <section class="view callers" aria-label="Callers and callees">
      <div class="callers-sides">
        <nav class="choices" aria-label="Functions">
          <label class="search">
            <span class="hidden">find</span>
            <input type="search" placeholder="function ( / )" value={state.search ?? ""} onInput={(event) => store.change({ search: event.currentTarget.value }, true)} />
          </label>
          {names.data && (
            <ol>
              {names.data.rows.map((row, i) => (
                <li key={i}>
                  <a href={linkOf(patternOf(row))} title={row.function ?? row.label} aria-current={patternOf(row) === of ? "true" : undefined}>
                    <span class="label">{row.label}</span>
                    <span class="dim">{shareText(sharedFigure(row.cum ?? row.flat, state.sort ?? ""), sharedFigure(names.data!.total, state.sort ?? ""))}</span>
                  </a>
                </li>
              ))}
              {names.data.count > names.data.rows.length && <li class="dim">… {formatCount(names.data.count - names.data.rows.length)} more</li>}
              {names.data.count === 0 && <li class="dim">no name matches</li>}
            </ol>
          )}
        </nav>
        <div class={`neighbours${loading ? " loading" : ""}`} aria-busy={loading} data-testid="neighbours">
          <Problem error={names.error ?? error} />
          {data?.functions.map((one, i) => <Among key={i} data={data} one={one} linkOf={linkOf} />)}
          {data && data.matching > data.functions.length && <p class="hint">{formatCount(data.matching - data.functions.length)} more functions match.</p>}
          {data && data.functions.length === 0 && <p class="empty">No stack that the filter leaves goes through it.</p>}
          {!data && !error && !names.error && <p class="empty">{names.data?.count === 0 ? "Nothing here." : "reading…"}</p>}
        </div>
      </div>
    </section>
  );
}

interface AmongProps {
  data: PeekAnswer;
  one: PeekFunction;
  linkOf: (pattern: string) => string;
}

function Among({ data, one, linkOf }: AmongProps) {
  const { store } = usePage();
  const { sort, unit } = data;
  const whole = rowEstimate(one.cum, sort);
  const all = rowEstimate(data.total, sort);
  const ranged = [one.cum, ...one.callers.map((n) => n.figures), ...one.callees.map((n) => n.figures)].some((f) => hasRange(rowEstimate(f, sort)));
  const flat = rowEstimate(one.flat, sort);
  const side = (list: PeekNeighbour[], count: number, nobody: string) => (
    <>
      {list.filter((n) => rowEstimate(n.figures, sort).value !== 0).map((neighbour, i) => {
        const estimate = rowEstimate(neighbour.figures, sort);
        return (
          <tr key={i}>
            <td class="right nowrap">{rowText(estimate, sort, data)}</td>
            {ranged && <td class="right nowrap dim" title={rangeText(estimate, unit)}>{plusMinus(estimate)}</td>}
            <td class="part"><ShareBar part={sharePart(estimate.value, whole.value)} text={shareText(estimate.value, whole.value)} /></td>
            <td class="name">
              {neighbour.label === null
                ? <span class="dim">{nobody}</span>
                : <a href={linkOf(patternOf(neighbour))} title={neighbour.function ?? neighbour.label}>{neighbour.label}</a>}
            </td>
          </tr>
        );
      })}
      {count > list.length && <tr><td /><td colSpan={3} class="dim">… {formatCount(count - list.length)} more</td></tr>}
    </>
  );
  return (
    <article class="among" aria-label={one.label}>
      <table>
        <thead>
          <tr>
            <th class="right value">{rowName(sort, data.name)}</th>
            {ranged && <th class="right sure">±</th>}
            <th class="part">share</th>
            <th class="name">callers</th>
          </tr>
        </thead>
        <tbody class="above" data-testid="callers">{side(one.callers, one.caller_count, "(nobody: stacks begin here)")}</tbody>
        <tbody class="middle">
          <tr data-testid="peeked">
            <td class="right nowrap">{rowText(whole, sort, data)}</td>
            {ranged && <td class="right nowrap dim" title={rangeText(whole, unit)}>{plusMinus(whole)}</td>}
            <td class="part"><ShareBar part={sharePart(whole.value, all.value)} text={shareText(whole.value, all.value)} /></td>
            <td class="name">
              <b title={one.function ?? one.label}>{one.label}</b> <span class="dim">{one.place}</span>
            </td>
          </tr>
        </tbody>
        <tbody class="below" data-testid="callees">
          <tr class="between"><th colSpan={ranged ? 3 : 2} /><th class="name">callees</th></tr>
          {side(one.callees, one.callee_count, "(itself)")}
        </tbody>
      </table>
      <p class="actions">
        <span class="dim">{flat.value > 0 && <>itself {rowText(flat, sort, data)} · </>}shares of callers and callees are of the function</span>
        {rowActions(store, one).map((item) => <button key={item.title} type="button" onClick={item.act}>{item.title}</button>)}
      </p>
    </article>
  );
}
