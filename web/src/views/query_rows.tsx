// Rows of a result: a table of which only what can be seen is in the page.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { QueryAnswer } from "../api/query";
import { numberOf } from "../model/query_chart";

const HEIGHT = 27; // of a row, as the style sheet has it
const SPARE = 8; // rows above and below what can be seen
const MOST_WIDTH = 60; // letters

export function QueryRows({ data }: { data: QueryAnswer }) {
  const scroll = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(500);
  useEffect(() => {
    const observer = new ResizeObserver((entries) => setHeight(entries[0]!.contentRect.height));
    observer.observe(scroll.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (scroll.current) scroll.current.scrollTop = 0;
  }, [data]);
  // All rows decide, so that columns stay where they are while one scrolls.
  const widths = useMemo(
    () => data.columns.map((name, i) => Math.min(MOST_WIDTH, data.rows.reduce((most, row) => Math.max(most, String(row[i] ?? "null").length), name.length))),
    [data],
  );
  const numeric = useMemo(() => data.columns.map((_, i) => data.rows.every((row) => row[i] === null || numberOf(row[i]) !== null) && data.rows.length > 0), [data]);
  const begin = Math.max(0, Math.floor(top / HEIGHT) - SPARE);
  const end = Math.min(data.rows.length, Math.ceil((top + height) / HEIGHT) + SPARE);
  const above = begin * HEIGHT;
  const below = (data.rows.length - end) * HEIGHT;
  return (
    <div class="query-scroll" ref={scroll} tabIndex={0} aria-label="Rows" role="region" onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <table class="plain query-table" data-testid="query-rows" aria-rowcount={data.rows.length + 1}>
        <colgroup>{widths.map((letters, i) => <col key={i} style={{ width: `calc(${letters}ch + 24px)` }} />)}</colgroup>
        <thead><tr>{data.columns.map((name, i) => <th key={i} class={numeric[i] ? "right" : ""} title={name}>{name}</th>)}</tr></thead>
        {above > 0 && <thead aria-hidden="true"><tr style={{ height: `${above}px` }} /></thead>}
        <tbody>
          {data.rows.slice(begin, end).map((row, i) => (
            <tr key={begin + i} aria-rowindex={begin + i + 2}>
              {row.map((value, column) => <td key={column} class={numeric[column] ? "right" : ""} title={typeof value === "string" && value.length > 20 ? value : undefined}>{value === null ? <span class="dim">null</span> : String(value)}</td>)}
            </tr>
          ))}
        </tbody>
        {below > 0 && <tfoot aria-hidden="true"><tr style={{ height: `${below}px` }} /></tfoot>}
      </table>
    </div>
  );
}
