// SQL over the source: a statement, its rows as a table or a picture, and the tables in words. The statement is in
// the address, and so are those that somebody has saved.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, ask, cancel } from "../api/client";
import type { QueryAnswer } from "../api/query";
import { formatCount } from "../model/format";
import { chartOf, chartSvg } from "../model/query_chart";
import { EXAMPLES } from "../model/query_examples";
import { placeOfError, readSaved, savedText, withSaved } from "../model/saved_queries";
import { useOffer } from "./exports";
import { useFilter, usePage } from "./hooks";
import { Problem, Toggle, useDark, useSize } from "./parts";
import "./query.css";
import type { Editor } from "./query_editor";
import { QueryRows } from "./query_rows";

const LIMITS = ["5", "30", "120", "600"];

interface Outcome {
  data: QueryAnswer | null; // of the last statement that ran
  error: string | null;
  running: boolean;
}

// Runs the statement of the address, each time that it is asked for. The server is told when nobody waits any more.
function useStatement(sql: string, round: number): [Outcome, () => void] {
  const { hold: _hold, ...words } = useFilter();
  const { hold, source, state, exports } = usePage();
  const key = JSON.stringify(words);
  const latest = useRef({ words, hold });
  latest.current = { words, hold };
  const [outcome, setOutcome] = useState<Outcome>({ data: null, error: null, running: false });
  const stop = useRef<() => void>(() => undefined);
  useEffect(() => {
    const controller = new AbortController();
    const run = `${Date.now().toString(36)}-${Math.floor(Math.random() * 1e9).toString(36)}`;
    let over = false;
    const parameters = {
      ...latest.current.words,
      ...(source?.live ? { hold: latest.current.hold } : {}),
      ...(sql ? { sql, run, seconds: LIMITS.includes(state.seconds ?? "") ? state.seconds! : "30", rows: "10000" } : {}),
    };
    const { run: _run, ...kept } = parameters as Record<string, string>;
    const forget = exports.note({ resource: "query", parameters: kept });
    setOutcome((before) => ({ ...before, running: sql !== "" }));
    ask("query", parameters, controller.signal).then(
      (data) => setOutcome({ data, error: null, running: false }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        setOutcome((before) => ({ ...before, error: error instanceof ApiError ? error.message : String(error), running: false }));
      },
    ).finally(() => (over = true));
    const tell = () => {
      if (sql && !over) cancel(run).catch(() => undefined); // it has ended by itself
    };
    stop.current = tell;
    return () => {
      controller.abort();
      tell();
      forget();
    };
  }, [sql, round, key, state.seconds]);
  return [outcome, () => stop.current()];
}

export function QueryView() {
  const { state, store, source } = usePage();
  const dark = useDark();
  const sql = state.sql ?? "";
  const [draft, setDraft] = useState(sql);
  // What the editor is told to hold; what somebody types comes from it, and must not go back.
  const [given, setGiven] = useState({ text: sql });
  useEffect(() => {
    setDraft(sql);
    setGiven({ text: sql });
  }, [sql]);
  const [round, setRound] = useState(0);
  const [{ data, error, running }, stop] = useStatement(sql, round);
  const [area, size] = useSize<HTMLDivElement>();
  const run = () => {
    if (draft.trim() === sql) setRound((before) => before + 1);
    else store.change({ sql: draft.trim() });
  };
  const choose = (text: string) => {
    setDraft(text);
    setGiven({ text });
    store.change({ sql: text });
  };
  const result = data && data.columns.length > 0 && sql ? data : null;
  const chart = useMemo(() => (result ? chartOf(result.columns, result.rows) : null), [result]);
  const asChart = state.as === "chart" && chart !== null;
  const svg = useMemo(() => (chart ? chartSvg(chart, Math.max(320, size.width - 26), dark) : null), [chart, size.width, dark]);
  useOffer({ ...(asChart ? { svg: () => svg } : {}), ...(result ? { table: () => result } : {}) });
  return (
    <section class="view query" aria-label="Query" ref={area}>
      <Picker trace={source?.kind === "trace"} draft={draft} onChoose={choose} />
      <Statement draft={draft} given={given} schema={data} error={error} onDraft={setDraft} onRun={run}>
        <button type="button" class="run" onClick={run} title="Ctrl+Enter">Run</button>
        {running && <button type="button" onClick={stop}>Stop</button>}
      </Statement>
      <Problem error={error} />
      {(result || running) && (
        <div class="bar">
          {chart && <Toggle word="as" values={[["", "table", "rows and columns"], ["chart", "chart", "bars or lines"]]} />}
          <span class="grow" />
          <span class="total" role="status" data-testid="query-count">
            {running ? "running…" : result && !error ? `${formatCount(result.rows.length)} ${result.rows.length === 1 ? "row" : "rows"}${result.cut ? ", and more" : ""}` : ""}
          </span>
        </div>
      )}
      {result && !error && !asChart && <QueryRows data={result} />}
      {result && !error && asChart && svg && (
        <div class="query-chart"><img src={`data:image/svg+xml,${encodeURIComponent(svg)}`} alt={`Chart of ${chart.series.map((one) => one.name).join(", ")}; the table has its figures`} data-testid="query-chart" data-kind={chart.kind} /></div>
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

// Worked questions, and statements that were saved in the address.
function Picker({ trace, draft, onChoose }: { trace: boolean; draft: string; onChoose: (sql: string) => void }) {
  const { state, store } = usePage();
  const saved = useMemo(() => readSaved(state.saved), [state.saved]);
  const [name, setName] = useState("");
  const examples = EXAMPLES.filter((one) => one.any || trace);
  return (
    <div class="bar">
      <select
        class="query-pick"
        aria-label="Questions"
        value=""
        onChange={(event) => {
          const [kind, at] = event.currentTarget.value.split(" ");
          const one = kind === "saved" ? saved[Number(at)] : examples[Number(at)];
          event.currentTarget.value = "";
          if (one) onChoose(one.sql);
        }}
      >
        <option value="">Questions…</option>
        {saved.length > 0 && <optgroup label="Saved in this address">{saved.map((one, i) => <option key={one.name} value={`saved ${i}`}>{one.name}</option>)}</optgroup>}
        <optgroup label="Worked questions">{examples.map((one, i) => <option key={one.title} value={`example ${i}`}>{one.title}</option>)}</optgroup>
      </select>
      <form
        class="query-save"
        onSubmit={(event) => {
          event.preventDefault();
          if (!name.trim() || !draft.trim()) return;
          store.change({ saved: savedText(withSaved(saved, { name: name.trim().slice(0, 80), sql: draft.trim() })) });
          setName("");
        }}
      >
        <input aria-label="Name to save it under" placeholder="save as…" value={name} onInput={(event) => setName(event.currentTarget.value)} />
        <button type="submit" disabled={!name.trim() || !draft.trim()}>Save</button>
      </form>
      {saved.map((one) => (
        <span key={one.name} class="chip">
          <a href="#" onClick={(event) => { event.preventDefault(); onChoose(one.sql); }}>{one.name}</a>
          <button type="button" aria-label={`Remove ${one.name}`} onClick={() => store.change({ saved: savedText(saved.filter((other) => other !== one)) })}>×</button>
        </span>
      ))}
      <span class="grow" />
      <label>
        <span class="dim">at most </span>
        <select value={LIMITS.includes(state.seconds ?? "") ? state.seconds! : "30"} onChange={(event) => store.change({ seconds: event.currentTarget.value === "30" ? "" : event.currentTarget.value })}>
          {LIMITS.map((seconds) => <option key={seconds} value={seconds}>{seconds} s</option>)}
        </select>
      </label>
    </div>
  );
}

interface StatementProps {
  draft: string;
  given: { text: string };
  schema: QueryAnswer | null;
  error: string | null;
  onDraft: (text: string) => void;
  onRun: () => void;
  children: ComponentChildren;
}

// CodeMirror when it is there; a plain field where it cannot be had.
function Statement({ draft, given, schema, error, onDraft, onRun, children }: StatementProps) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const [state, setState] = useState<"loading" | "there" | "plain">("loading");
  const latest = useRef({ onDraft, onRun, draft });
  latest.current = { onDraft, onRun, draft };
  useEffect(() => {
    let gone = false;
    import("./query_editor").then(
      ({ makeEditor }) => {
        if (gone || !place.current) return;
        editor.current = makeEditor(place.current, {
          text: latest.current.draft,
          label: "Statement",
          hint: "SELECT … (Ctrl+Enter runs it)",
          onChange: (text) => latest.current.onDraft(text),
          onRun: () => latest.current.onRun(),
        });
        setState("there");
      },
      () => setState("plain"),
    );
    return () => {
      gone = true;
      editor.current?.destroy();
    };
  }, []);
  useEffect(() => editor.current?.setText(given.text), [given]);
  const tables = schema ? JSON.stringify(schema.tables.map((table) => table.name)) : "";
  useEffect(() => {
    if (schema) editor.current?.setSchema(schema);
  }, [tables, state]);
  useEffect(() => editor.current?.mark(error ? placeOfError(error) : null), [error, state]);
  return (
    <div class="statement">
      {state === "plain"
        ? (
          <textarea
            class="query-editor" aria-label="Statement" spellcheck={false} rows={4} placeholder="SELECT … (Ctrl+Enter runs it)" value={draft}
            onInput={(event) => onDraft(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              onRun();
            }}
          />
        )
        : <div class="query-editor" ref={place} data-testid="query-editor" data-state={state} />}
      <div class="query-buttons">{children}</div>
    </div>
  );
}
