// The call tree in rows that open: who called whom, from the outermost callers in, or from what allocates out.

import { useEffect, useMemo, useState } from "preact/hooks";
import { ask } from "../api/client";
import type { TreeAnswer } from "../api/tree";
import { hasRange, rangeText, treeValueText } from "../model/figures";
import { matcherOf } from "../model/flame";
import { formatCount, formatDuration } from "../model/format";
import { countOf, plusMinus, rowEstimate, rowName, rowText, sharedFigure, sharePart, shareText } from "../model/rows";
import { openPaths, rowsOf, walkParameter, walkText, withToggled } from "../model/tree";
import type { TreeRow } from "../model/tree";
import { useAsk, useFilter, usePage } from "./hooks";
import { Menu } from "./menu";
import { Problem, Toggle } from "./parts";
import { rowActions } from "./row_actions";
import { ShareBar } from "./share_bar";
import { useRowWindow } from "./window";
import "./tree.css";

const HEIGHT = 24;
const MOST_OPEN = 800; // they are in the address

export function TreeView() {
  const { state, store } = usePage();
  const filter = useFilter();
  const [most, setMost] = useState(100);
  const callers = state.callers === "1";
  const parameters = useMemo(() => {
    const words: Record<string, string> = { ...filter, rows: String(most) };
    if (callers) words.callers = "1";
    // Nobody has opened anything yet: the heaviest calls are a good beginning.
    if (state.open === undefined && !callers) words.heaviest = "1";
    else if (state.open) words.open = walkParameter(state.open);
    return words;
  }, [filter, callers, state.open, most]);
  const { data, error, loading } = useAsk("tree", parameters);
  return (
    <section class="view tree" aria-label="Call tree">
      <div class="bar">
        <Toggle word="callers" values={[["", "top-down", "callers above what they call"], ["1", "bottom-up", "what allocates, then its callers"]]} also={{ root: "", open: "" }} />
        <label class="search">
          <span>find</span>
          <input type="search" placeholder="function ( / )" value={state.search ?? ""} onInput={(event) => store.change({ search: event.currentTarget.value }, true)} />
        </label>
        <span class="grow" />
        {data && <Total data={data} />}
      </div>
      <Problem error={error} />
      {data && data.nodes[0] && data.nodes[0].children > 0 && <Rows data={data} loading={loading} onMore={() => setMost(most * 10)} />}
      {data && !data.nodes[0]?.children && <p class="empty">Nothing here: no stack is left by the filter, or nothing was allocated.</p>}
      {!data && !error && <p class="empty">reading…</p>}
    </section>
  );
}

function Total({ data }: { data: TreeAnswer }) {
  return (
    <span class="total">
      {rowName(data.sort, data.name)} <b data-testid="tree-total">{treeValueText(rowEstimate(data.selected, data.sort).value, data.sort === "allocated" ? "allocated" : "live", data)}</b>
      {data.shrunk < 0 && <>; what shrank is left out: {treeValueText(data.shrunk, "live", data)}</>}
      {data.cut && <> (there are more calls than can be shown)</>}
    </span>
  );
}

function Rows({ data, loading, onMore }: { data: TreeAnswer; loading: boolean; onMore: () => void }) {
  const { state, store } = usePage();
  const filter = useFilter();
  const callers = state.callers === "1";
  const rows = useMemo(() => rowsOf(data), [data]);
  const open = useMemo(() => openPaths(rows), [rows]);
  const view = useRowWindow(rows.length, HEIGHT);
  const [chosen, setChosen] = useState("");
  const [menu, setMenu] = useState<{ x: number; y: number; row: TreeRow } | null>(null);
  const found = useMemo(() => {
    const matches = matcherOf(state.search ?? "");
    return matches ? new Set(rows.filter((row) => row.node && matches(row.node.label)).map((row) => row.path)) : null;
  }, [rows, state.search]);
  const at = Math.max(0, rows.findIndex((row) => row.path === chosen && row.node));

  const choose = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (!row) return;
    setChosen(row.path);
    view.show(rows.indexOf(row));
  };
  const setOpen = (paths: ReadonlySet<string>) => {
    if (paths.size <= MOST_OPEN) store.change({ open: walkText(paths) });
  };
  const toggle = (row: TreeRow) => {
    if (!row.node) return onMore();
    if (row.node.children > 0) setOpen(withToggled(open, row.path));
  };
  // Opens the heaviest call below it, and the heaviest below that, to the end.
  const openHeaviest = (row: TreeRow) => {
    const words = { ...filter, root: row.path, heaviest: "1", ...(callers ? { callers: "1" } : {}) };
    ask("tree", words).then(
      (answer) => {
        const below = rowsOf(answer);
        setOpen(new Set([...open, row.path, ...[...openPaths(below)].map((path) => row.path + path)]));
        // The first row below the last that is open is where the path ends.
        const last = below.map((one) => one.open).lastIndexOf(true);
        setChosen(row.path + (below[last + 1]?.path ?? ""));
      },
      () => undefined, // the source went away, which the view itself will say
    );
  };
  const goToMatch = (step: number) => {
    if (!found || found.size === 0) return;
    for (let i = 1; i <= rows.length; ++i) {
      const index = (at + step * i + rows.length * 2) % rows.length;
      if (found.has(rows[index]!.path)) return choose(index);
    }
  };
  // Enter in the search field goes on to the next row that matches.
  useEffect(() => {
    const input = document.querySelector<HTMLInputElement>(".tree input[type=search]");
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Enter") goToMatch(event.shiftKey ? -1 : 1);
    };
    input?.addEventListener("keydown", onKey);
    return () => input?.removeEventListener("keydown", onKey);
  });

  const onKey = (event: KeyboardEvent) => {
    const row = rows[at];
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    switch (event.key) {
      case "ArrowDown": choose(at + 1); break;
      case "ArrowUp": choose(at - 1); break;
      case "Home": choose(0); break;
      case "End": choose(rows.length - 1); break;
      case "PageDown": choose(at + 20); break;
      case "PageUp": choose(at - 20); break;
      case "ArrowRight":
        if (row.open) choose(at + 1);
        else toggle(row);
        break;
      case "ArrowLeft":
        if (row.open) toggle(row);
        else if (row.parent >= 0) choose(row.parent);
        break;
      case "Enter": case " ": toggle(row); break;
      case "*": case "h": openHeaviest(row); break;
      case "n": goToMatch(1); break;
      case "N": goToMatch(-1); break;
      case "ContextMenu": case "m": {
        const box = document.getElementById(`tree-row-${at}`)?.getBoundingClientRect();
        if (row.node && box) setMenu({ x: box.left + 40, y: box.bottom, row });
        break;
      }
      default: return;
    }
    event.preventDefault();
  };

  const whole = sharedFigure(data.total, data.sort);
  const ranged = rows.some((row) => row.node && hasRange(rowEstimate(row.node.figures, data.sort)));
  const counted = countOf(data.total) !== undefined;
  const aged = data.total.mean_age_ns !== undefined;
  const cells = (row: TreeRow) => {
    const { node } = row;
    if (!node) return null;
    const estimate = rowEstimate(node.figures, data.sort);
    const part = sharedFigure(node.figures, data.sort);
    const objects = data.sort === "allocated" ? node.figures.allocated_objects : countOf(node.figures);
    return (
      <>
        <span role="gridcell" class="cell strong">{rowText(estimate, data.sort, data)}</span>
        {ranged && <span role="gridcell" class="cell narrow dim" title={rangeText(estimate, data.sort === "allocated" ? "bytes" : data.unit)}>{plusMinus(estimate)}</span>}
        <span role="gridcell" class="cell bar-cell"><ShareBar part={sharePart(part, whole)} text={shareText(part, whole)} /></span>
        <span role="gridcell" class="cell self">{node.self > 0 ? treeValueText(node.self, data.sort, data) : "-"}</span>
        {counted && <span role="gridcell" class="cell slim objects">{objects ? formatCount(objects) : "-"}</span>}
        {aged && <span role="gridcell" class="cell narrow age">{node.figures.mean_age_ns === undefined ? "-" : formatDuration(node.figures.mean_age_ns)}</span>}
      </>
    );
  };
  const shown = [];
  for (let i = view.begin; i < view.end; ++i) {
    const row = rows[i]!;
    const can = row.node !== null && row.node.children > 0;
    shown.push(
      <div
        key={`${row.path}${row.node ? "" : "+"}`}
        id={`tree-row-${i}`}
        class={`row${i === at ? " chosen" : ""}${found?.has(row.path) && row.node ? " found" : ""}`}
        role="row"
        aria-level={row.level}
        aria-rowindex={i + 2}
        aria-expanded={can ? row.open : undefined}
        aria-selected={i === at}
        style={{ top: `${i * HEIGHT}px` }}
        onClick={() => setChosen(row.path)}
        onDblClick={() => toggle(row)}
        onContextMenu={(event) => {
          if (!row.node) return;
          event.preventDefault();
          setChosen(row.path);
          setMenu({ x: event.clientX, y: event.clientY, row });
        }}
      >
        {cells(row)}
        <span role="gridcell" class="cell name" title={row.node?.function ?? row.node?.label ?? ""}>
          <span class="indent" style={{ width: `${(row.level - 1) * 14}px` }} />
          {row.node ? (
            <>
              <button type="button" class="twisty" tabIndex={-1} aria-hidden="true" disabled={!can} onClick={() => toggle(row)}>{can ? (row.open ? "▾" : "▸") : ""}</button>
              <span class="label">{row.node.label}</span>
              <span class="dim place">
                {row.node.place}
                {row.node.inlined ? " (inlined)" : ""}
                {row.node.recursive ? " (calls itself)" : ""}
              </span>
            </>
          ) : (
            <button type="button" class="more" tabIndex={-1} onClick={onMore}>… {formatCount(row.more)} more</button>
          )}
        </span>
      </div>,
    );
  }
  return (
    <>
      <div
        class={`rows tree-rows${loading ? " loading" : ""}`}
        role="treegrid"
        aria-label={callers ? "What allocates, then its callers" : "Calls"}
        aria-rowcount={rows.length + 1}
        aria-readonly="true"
        aria-activedescendant={`tree-row-${at}`}
        aria-busy={loading}
        tabIndex={0}
        onKeyDown={onKey}
        data-testid="tree"
      >
        <div class="row head" role="row">
          <span role="columnheader" class="cell">{rowName(data.sort, data.name)}</span>
          {ranged && <span role="columnheader" class="cell narrow">±</span>}
          <span role="columnheader" class="cell bar-cell">share</span>
          <span role="columnheader" class="cell self">self</span>
          {counted && <span role="columnheader" class="cell slim objects">objects</span>}
          {aged && <span role="columnheader" class="cell narrow age">age</span>}
          <span role="columnheader" class="cell name">{callers ? "what allocates, then its callers" : "calls"}</span>
        </div>
        <div class="scroll" ref={view.scroll} onScroll={view.onScroll}>
          <div class="all" style={{ height: `${rows.length * HEIGHT}px` }}>{shown}</div>
        </div>
      </div>
      <p class="hint">
        Arrow keys move and open, <kbd>*</kbd> opens the heaviest path, <kbd>m</kbd> or right click for more.
        {found && <span role="status"> {formatCount(found.size)} of the open rows match; Enter goes on.</span>}
      </p>
      {menu?.row.node && (
        <Menu
          x={menu.x}
          y={menu.y}
          items={[
            { title: "Open the heaviest path", act: () => openHeaviest(menu.row) },
            ...rowActions(store, menu.row.node, menu.row.path),
          ]}
          onClose={() => setMenu(null)}
        />
      )}
    </>
  );
}
