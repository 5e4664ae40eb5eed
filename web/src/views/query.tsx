// SQL over the source: a statement, its rows, and the tables in words. The statement is in the address.

import { useEffect, useMemo, useState } from "preact/hooks";
import { formatCount } from "../model/format";
import { useAsk, useFilter, usePage } from "./hooks";
import { Problem } from "./parts";

const EXAMPLES: [string, string][] = [
  ["largest stacks", "SELECT function, live_bytes, live_blocks FROM stacks ORDER BY live_bytes DESC LIMIT 20"],
  ["who allocates most", "SELECT function, sum(allocated_bytes) AS bytes FROM stacks GROUP BY function ORDER BY bytes DESC LIMIT 20"],
];

export function QueryView() {
  const { state, store } = usePage();
  const filter = useFilter();
  const sql = state.sql ?? "";
  const [draft, setDraft] = useState(sql);
  useEffect(() => setDraft(sql), [sql]);
  const parameters = useMemo(() => ({ ...filter, ...(sql ? { sql } : {}) }), [filter, sql]);
  const { data, error, loading } = useAsk("query", parameters);
  const run = () => store.change({ sql: draft.trim() });
  return (
    <section class="view query" aria-label="Query">
      <div class="bar">
        {EXAMPLES.map(([title, text]) => <button key={title} type="button" onClick={() => store.change({ sql: text })}>{title}</button>)}
        <span class="grow" />
        {loading && <span class="dim">running…</span>}
        {data && sql && !error && <span class="total" data-testid="query-count">{formatCount(data.rows.length)} rows{data.cut ? ", and more" : ""}</span>}
      </div>
      <div class="statement">
        <textarea
          aria-label="Statement"
          spellcheck={false}
          rows={4}
          placeholder="SELECT … (Ctrl+Enter runs it)"
          value={draft}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            run();
          }}
        />
        <button type="button" onClick={run}>Run</button>
      </div>
      <Problem error={error} />
      {data && sql && !error && (
        <div class={`wide-scroll padded${loading ? " loading" : ""}`}>
          <table class="plain" data-testid="query-rows">
            <thead><tr>{data.columns.map((column, i) => <th key={i} class={isNumber(data.rows[0]?.[i]) ? "right" : ""}>{column}</th>)}</tr></thead>
            <tbody>
              {data.rows.map((row, at) => (
                <tr key={at}>{row.map((value, i) => <td key={i} class={isNumber(value) ? "right" : "value"}>{value === null ? <span class="dim">null</span> : String(value)}</td>)}</tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {data && (
        <details class="schema" open={!sql}>
          <summary>Tables</summary>
          <pre>{data.schema}</pre>
        </details>
      )}
    </section>
  );
}

function isNumber(value: unknown): boolean {
  return typeof value === "number";
}
