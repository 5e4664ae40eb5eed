// The table: who holds the memory, row by row. Only rows that can be seen are asked for and drawn.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask } from "../api/client";
import type { TableAnswer, TableRow } from "../api/types";
import { treeName, treeValueText } from "../model/figures";
import { formatCount } from "../model/format";
import { sharedFigure } from "../model/rows";
import { columnsOf } from "../model/table";
import type { Column } from "../model/table";
import { useAsk, useFilter, usePage } from "./hooks";
import { Menu } from "./menu";
import { Problem, Toggle } from "./parts";
import { callersLink, rowActions } from "./row_actions";
import { Sparkline } from "./sparkline";
import { useTrends } from "./trends";
import { useRowWindow } from "./window";
import "./table.css";

const HEIGHT = 26; // of a row
const PAGE = 100; // rows asked for at a time

export function TableView() {
  const { state, store } = usePage();
  const filter = useFilter();
  const parameters = useMemo(() => {
    const words: Record<string, string> = { ...filter, rows: String(PAGE), both: "1" };
    if (state.search) words.match = state.search;
    for (const word of ["cumulative", "order", "reverse"] as const) {
      const value = state[word];
      if (value) words[word] = value;
    }
    return words;
  }, [filter, state.search, state.cumulative, state.order, state.reverse]);
  const { data, error, loading } = useAsk("table", parameters);
  return (
    <section class="view table" aria-label="Table">
      <div class="bar">
        <Toggle
          word="granularity"
          values={[
            ["", "functions", "one row for each function"],
            ["lines", "lines", "one row for each source line"],
            ["files", "files", "one row for each source file"],
            ["modules", "modules", "one row for each program or library"],
            ["addresses", "addresses", "one row for each place that calls"],
          ]}
          also={{ root: "", open: "" }}
        />
        <label class="search">
          <span>show</span>
          <input type="search" placeholder="names that match ( / )" value={state.search ?? ""} onInput={(event) => store.change({ search: event.currentTarget.value }, true)} />
        </label>
        <span class="grow" />
        {data && (
          <span class="total">
            {data.count < data.row_count && <>{formatCount(data.count)} of </>}
            {formatCount(data.row_count)} {data.granularity} · {treeName(data.sort, data.name)} <b data-testid="table-total">{treeValueText(sharedFigure(data.selected, data.sort), data.sort, data)}</b>
          </span>
        )}
      </div>
      <Problem error={error} />
      {data && <Rows first={data} parameters={parameters} loading={loading} />}
      {!data && !error && <p class="empty">reading…</p>}
    </section>
  );
}

interface RowsProps {
  first: TableAnswer;
  parameters: Readonly<Record<string, string>>;
  loading: boolean;
}

function Rows({ first, parameters, loading }: RowsProps) {
  const { state, store } = usePage();
  const [pages, setPages] = useState<Map<number, TableRow[]>>(new Map());
  const asked = useRef(new Set<number>());
  const view = useRowWindow(first.count, HEIGHT);
  const [chosen, setChosen] = useState(0);
  const [menu, setMenu] = useState<{ x: number; y: number; row: TableRow } | null>(null);
  // Another order is read from its beginning; the same one a moment later stays where it is.
  const shape = JSON.stringify({ ...parameters, hold: "" });
  const last = useRef(shape);
  useEffect(() => {
    asked.current = new Set([0]);
    setPages(new Map([[0, first.rows]]));
    if (last.current !== shape && view.scroll.current) {
      view.scroll.current.scrollTop = 0;
      setChosen(0);
    }
    last.current = shape;
  }, [first]);
  useEffect(() => {
    let current = true;
    for (let page = Math.floor(view.begin / PAGE); page * PAGE < view.end; ++page) {
      if (asked.current.has(page)) continue;
      asked.current.add(page);
      ask("table", { ...parameters, first: String(page * PAGE) }).then(
        (answer) => current && setPages((before) => new Map(before).set(page, answer.rows)),
        () => asked.current.delete(page),
      );
    }
    return () => {
      current = false;
    };
  }, [view.begin, view.end, parameters, first]);

  const trends = useTrends(first, parameters, pages);
  const columns = useMemo(() => columnsOf(first), [first]);
  const sorted = (column: Column) => column.isSorted?.(state) ?? false;
  // A click sorts by it; another one turns it over.
  const sortBy = (column: Column) => {
    if (sorted(column)) store.change({ reverse: state.reverse ? "" : "1" });
    else store.change({ order: "", reverse: "", cumulative: "", ...column.words });
  };
  const rowAt = (i: number) => pages.get(Math.floor(i / PAGE))?.[i % PAGE];
  const choose = (i: number) => {
    const row = Math.min(first.count - 1, Math.max(0, i));
    setChosen(row);
    view.show(row);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.target !== view.scroll.current || event.ctrlKey || event.altKey || event.metaKey) return;
    const row = rowAt(chosen);
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Home") choose(0);
    else if (event.key === "End") choose(first.count - 1);
    else if (event.key === "Enter" && row) location.hash = callersLink(state, row).slice(1);
    else if ((event.key === "ContextMenu" || event.key === "m") && row) {
      const box = document.getElementById(`table-row-${chosen}`)?.getBoundingClientRect();
      if (box) setMenu({ x: box.left + 40, y: box.bottom, row });
    } else return;
    event.preventDefault();
  };

  const rows = [];
  for (let i = view.begin; i < view.end; ++i) {
    const row = rowAt(i);
    rows.push(
      <div
        class={`row${i === chosen ? " chosen" : ""}`}
        id={`table-row-${i}`}
        role="row"
        key={i}
        aria-rowindex={i + 2}
        aria-selected={i === chosen}
        style={{ top: `${i * HEIGHT}px` }}
        onClick={() => setChosen(i)}
        onContextMenu={(event) => {
          if (!row) return;
          event.preventDefault();
          setChosen(i);
          setMenu({ x: event.clientX, y: event.clientY, row });
        }}
      >
        {columns.map((column) => (
          <span key={column.word} role="gridcell" data-column={column.word} class={`cell ${column.class}${sorted(column) ? " strong" : ""}`} title={row ? column.hint?.(row) : undefined}>
            {row ? column.text(row) : ""}
          </span>
        ))}
        {trends && (
          <span role="gridcell" class="cell trend" data-column="trend">
            {row && <Sparkline trend={trends.of(i, row)} />}
          </span>
        )}
        <span role="gridcell" class="cell name" data-column="name">
          {row ? <><a tabIndex={-1} href={callersLink(state, row)} title={row.function ?? row.label}>{row.label}</a> <span class="dim">{row.place}</span></> : "…"}
        </span>
      </div>,
    );
  }
  const head = (column: Column) => (
    <span key={column.word} role="columnheader" class={`cell ${column.class.replace("dim", "")}`} aria-sort={sorted(column) ? (Boolean(state.reverse) === (column.word === "name") ? "descending" : "ascending") : "none"}>
      {column.words
        ? <button type="button" title={column.explained} onClick={() => sortBy(column)}>{column.title}{sorted(column) ? (Boolean(state.reverse) === (column.word === "name") ? " ▾" : " ▴") : ""}</button>
        : <span title={column.explained}>{column.title}</span>}
    </span>
  );
  const name: Column = {
    word: "name",
    title: first.granularity === "addresses" ? "address" : first.granularity.replace(/s$/, ""),
    explained: "by name",
    class: "name",
    words: { order: "name" },
    isSorted: (at) => at.order === "name",
    text: (row) => row.label,
  };
  return (
    <div class={`rows${loading ? " loading" : ""}`} role="grid" aria-readonly="true" aria-busy={loading} aria-rowcount={first.count + 1} data-testid="table">
      <div class="row head" role="row">
        {columns.map(head)}
        {trends && <span role="columnheader" class="cell trend" title={trends.explained}>over time</span>}
        {head(name)}
      </div>
      <div class="scroll" ref={view.scroll} tabIndex={0} aria-activedescendant={`table-row-${chosen}`} onScroll={view.onScroll} onKeyDown={onKey}>
        <div class="all" style={{ height: `${first.count * HEIGHT}px` }}>{rows}</div>
      </div>
      {first.count === 0 && <p class="empty">{first.row_count > 0 ? "No name matches." : "Nothing here: no stack is left by the filter, or nothing was allocated."}</p>}
      {menu && <Menu x={menu.x} y={menu.y} items={rowActions(store, menu.row)} onClose={() => setMenu(null)} />}
    </div>
  );
}
