// Source code with what its lines hold, when the files are found.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { SourceAnswer, SourceChosen } from "../api/source";
import { formatCount } from "../model/format";
import { exactly } from "../model/pattern";
import { rowEstimate, shareText } from "../model/rows";
import { hotRows, nextHot, rowsOfSource, shortPath } from "../model/source";
import type { SourceRow } from "../model/source";
import { stateText, withWords } from "../model/state";
import { useAsk, useFilter, usePage } from "./hooks";
import { Problem } from "./parts";
import type { Lines } from "./source_lines";
import "./source.css";

export function SourceView() {
  const { state } = usePage();
  const filter = useFilter();
  const parameters = useMemo(() => {
    const words: Record<string, string> = { ...filter };
    delete words.granularity; // it is always by line
    if (state.file) words.file = state.file;
    else if (state.of) words.of = state.of;
    return words;
  }, [filter, state.file, state.of]);
  const { data, error, loading } = useAsk("source", parameters);
  return (
    <section class="view source-view" aria-label="Source">
      <Problem error={error} />
      {data && (
        <div class="source-sides">
          <Files data={data} />
          <div class={`source-text${loading ? " loading" : ""}`} aria-busy={loading} data-testid="source">
            {data.chosen && <Listing key={data.chosen.file} data={data} chosen={data.chosen} />}
            {!data.chosen && <Nothing data={data} />}
          </div>
        </div>
      )}
      {!data && !error && <p class="empty">reading…</p>}
    </section>
  );
}

function Nothing({ data }: { data: SourceAnswer }) {
  const { state } = usePage();
  if (data.file_count === 0) {
    return <p class="empty">No source files are known: the program was compiled without debug information (-g), or nothing is left by the filter.</p>;
  }
  return <p class="empty">{state.file || state.of ? `No line of ${state.file ?? state.of} holds anything that the filter leaves.` : "Choose a file."}</p>;
}

function Files({ data }: { data: SourceAnswer }) {
  const { state } = usePage();
  const [typed, setTyped] = useState("");
  const sort = state.sort ?? "";
  const whole = rowEstimate(data.total, sort);
  const files = data.files.filter((one) => one.file.toLowerCase().includes(typed.toLowerCase()));
  return (
    <nav class="choices" aria-label="Files">
      <label class="search">
        <span class="hidden">find</span>
        <input type="search" placeholder="file ( / )" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
      <ol>
        <li class="head dim"><span class="grow">file</span><span class="two"><span title="what its functions asked for themselves">flat</span><span title="with all they call">cum</span></span></li>
        {files.map((one) => (
          <li key={one.file}>
            <a href={`#${stateText(withWords(state, { file: one.file, line: "", of: "" }))}`} title={one.file} aria-current={one.file === data.chosen?.file ? "true" : undefined}>
              <span class="label">{shortPath(one.file, 34)}</span>
              <span class="dim two"><span>{shareText(rowEstimate(one.flat, sort).value, whole.value)}</span><span>{shareText(rowEstimate(one.cum, sort).value, whole.value)}</span></span>
            </a>
          </li>
        ))}
        {data.file_count > data.files.length && <li class="dim">… {formatCount(data.file_count - data.files.length)} more</li>}
        {files.length === 0 && <li class="dim">no file</li>}
      </ol>
    </nav>
  );
}

function Listing({ data, chosen }: { data: SourceAnswer; chosen: SourceChosen }) {
  const { state, store } = usePage();
  const rows = useMemo(() => rowsOfSource(chosen), [chosen]);
  const hot = useMemo(() => hotRows(rows), [rows]);
  const wanted = Number(state.line ?? 0);
  const at = wanted > 0 ? rows.findIndex((row) => row.number === wanted) : -1;
  const go = (row: number) => {
    const number = rows[row]?.number;
    if (number) store.change({ line: String(number), file: chosen.file, of: "" }, true);
  };
  // To the line that is asked for, else to the heaviest.
  const heaviest = useMemo(() => hot.reduce((best, row) => (best < 0 || rows[row]!.heat > rows[best]!.heat ? row : best), -1), [hot, rows]);
  const onKey = (event: KeyboardEvent): boolean => {
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    if (event.key === "n") go(nextHot(hot, at, 1));
    else if (event.key === "p" || event.key === "N") go(nextHot(hot, at, -1));
    else return false;
    event.preventDefault();
    return true;
  };
  const functions = [...chosen.functions].sort((a, b) => a.line - b.line);
  const told = rows[at]?.cost;
  return (
    <>
      <header class="source-head">
        <b class="file" title={chosen.file}>{chosen.file}</b>
        <span class="grow" />
        {functions.length > 0 && (
          <label>
            <span class="hidden">Function</span>
            <select
              value=""
              onChange={(event) => {
                const one = functions[Number(event.currentTarget.value)];
                if (one) store.change({ line: String(one.line), file: chosen.file, of: "" });
              }}
            >
              <option value="">{formatCount(functions.length)} {functions.length === 1 ? "function" : "functions"}…</option>
              {functions.map((one, i) => <option key={i} value={String(i)}>{one.line}: {one.function} · {one.cum_text}</option>)}
            </select>
          </label>
        )}
        <button type="button" title="p" disabled={hot.length === 0} onClick={() => go(nextHot(hot, at, -1))}>▲ hot line</button>
        <button type="button" title="n" disabled={hot.length === 0} onClick={() => go(nextHot(hot, at, 1))}>▼ hot line</button>
        {functions.length > 0 && <a href={`#${stateText(withWords(state, { view: "callers", of: exactly(nameAt(functions, rows[at]?.number ?? 0)), search: "", file: "", line: "" }))}`}>callers</a>}
      </header>
      {!chosen.found && <Missing data={data} chosen={chosen} />}
      <p class="hidden" role="status">{at >= 0 ? `line ${rows[at]!.number}${told ? `: flat ${told.flat_text}, with what it calls ${told.cum_text}, ${told.share} of all` : ""}` : ""}</p>
      <div class="code">
        <div class="line head">
          <span class="cost" title="what the line itself asked for">flat</span>
          <span class="cost" title="with all that it calls">cum</span>
          <span class="number">line</span>
          <span class="text">of {data.total_text}{chosen.cut ? "; only the beginning of the file" : ""}</span>
        </div>
        <LinesOf chosen={chosen} rows={rows} at={at} first={heaviest} onChoose={go} onKey={onKey} />
      </div>
    </>
  );
}

interface LinesOfProps {
  chosen: SourceChosen;
  rows: readonly SourceRow[];
  at: number; // the row that is asked for; -1 none
  first: number; // the row that is shown if none is
  onChoose: (row: number) => void;
  onKey: (event: KeyboardEvent) => boolean;
}

// The lines themselves, by a part of the page that is loaded for them.
function LinesOf({ chosen, rows, at, first, onChoose, onKey }: LinesOfProps) {
  const place = useRef<HTMLDivElement>(null);
  const lines = useRef<Lines | null>(null);
  const [state, setState] = useState<"coming" | "there" | "lost">("coming");
  const latest = useRef({ rows, onChoose, onKey });
  latest.current = { rows, onChoose, onKey };
  useEffect(() => {
    let gone = false;
    import("./source_lines").then(
      ({ makeLines }) => {
        if (gone || !place.current) return;
        lines.current = makeLines(place.current, {
          rows: latest.current.rows,
          file: chosen.file,
          label: `Lines of ${chosen.file}`,
          onChoose: (row) => latest.current.onChoose(row),
          onKey: (event) => latest.current.onKey(event),
        });
        setState("there");
      },
      () => setState("lost"),
    );
    return () => {
      gone = true;
      lines.current?.destroy();
    };
  }, []);
  const drawn = useRef(rows);
  useEffect(() => {
    if (state !== "there" || drawn.current === rows) return;
    drawn.current = rows;
    lines.current?.set(rows);
  }, [rows, state]);
  const shown = useRef(-2);
  useEffect(() => {
    const row = at >= 0 ? at : first;
    const key = at >= 0 ? at : -1;
    if (state !== "there" || (shown.current === row && at < 0)) return;
    shown.current = row;
    lines.current?.show(row, key >= 0);
  }, [at, first, state]);
  return (
    <>
      {state === "lost" && <Problem error="The part of the page that shows lines could not be loaded. Is the server still there?" />}
      <div class="lines" ref={place} data-testid="source-lines" data-state={state} />
    </>
  );
}

function nameAt(functions: readonly { function: string; line: number }[], line: number): string {
  return ([...functions].reverse().find((one) => one.line <= line) ?? functions[0]!).function;
}

function Missing({ data, chosen }: { data: SourceAnswer; chosen: SourceChosen }) {
  return (
    <div class="missing" role="note" data-testid="source-missing">
      <p><b>The file was not found</b>, so only the figures of its lines are shown: {chosen.problem}.</p>
      {chosen.searched.length > 0 && (
        <details open={chosen.searched.length < 8}>
          <summary>{formatCount(chosen.searched.length)} {chosen.searched.length === 1 ? "place was" : "places were"} searched</summary>
          <ul>{chosen.searched.map((path) => <li key={path}><code>{path}</code></li>)}</ul>
        </details>
      )}
      {data.may_read && <p>Say where sources are: <code>heapgauge ui --source-path DIR …</code>; what the build machine has in front of paths is cut by <code>--trim-path PREFIX</code>.</p>}
    </div>
  );
}
