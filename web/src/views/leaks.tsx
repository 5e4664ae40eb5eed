// What is lost and what only grows: kinds, suspects with their evidence, loss records, who holds them.

import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, checkLeaks } from "../api/client";
import type { Kind, LeaksAnswer } from "../api/leaks";
import { formatBytes, formatDuration } from "../model/format";
import { blocksText, bytesText, changeText, KIND_HINTS, KIND_TITLES, KINDS, pauseText } from "../model/leaks";
import { grows, runs } from "../model/sources";
import { stateText, withWords } from "../model/state";
import { useAsk, usePage } from "./hooks";
import "./leaks.css";
import { Records } from "./leaks_records";
import { Suspects } from "./leaks_suspects";
import { Problem, Toggle } from "./parts";

export function LeaksView() {
  const { state, source, hold } = usePage();
  const [round, setRound] = useState(0);
  const [said, setSaid] = useState("");
  const parameters = useMemo(() => {
    if (!source) return null;
    const words: Record<string, string> = { source: source.id };
    for (const word of ["focus", "ignore", "kinds", "changes", "since"]) if (state[word]) words[word] = state[word];
    // A new word asks again; the server keeps the check itself.
    return { ...words, hold: grows(source) ? `${round} ${hold}` : String(round) };
  }, [source, state.focus, state.ignore, state.kinds, state.changes, state.since, round, grows(source) ? hold : ""]);
  const { data, error, loading } = useAsk("leaks", parameters);
  const about = ["at", "from", "to", "peak"].filter((word) => state[word]);
  return (
    <section class={`view leaks${loading && data ? " loading" : ""}`} aria-label="Leaks" aria-busy={loading}>
      <Problem error={error} />
      {!data && !error && <p class="empty">reading…</p>}
      {!data && error && <Teach kind={source?.kind} />}
      {data && (
        <>
          <Verdict data={data} said={said} onChecked={(text) => { setSaid(text); setRound((before) => before + 1); }} />
          {about.length > 0 && <p class="hint">A check is about all that is live at the end: {about.join(" and ")} {about.length > 1 ? "do" : "does"} not matter here.</p>}
          {data.check.look === "none" ? <NotLooked data={data} live={runs(source)} /> : <Kinds data={data} />}
          <Suspects data={data} />
          <Records data={data} />
          {data.notes.length > 0 && (
            <details class="notes padded">
              <summary>{data.notes.length === 1 ? "1 note" : `${data.notes.length} notes`}</summary>
              <ul>{data.notes.map((note) => <li key={note}>{note}</li>)}</ul>
            </details>
          )}
        </>
      )}
    </section>
  );
}

// "3m ago", kept up to date.
function Ago({ unixNs }: { unixNs: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const ns = Math.max(0, now * 1e6 - unixNs);
  return <span title={new Date(unixNs / 1e6).toLocaleString()}>{ns < 1e9 ? "just now" : `${formatDuration(Math.floor(ns / 1e9) * 1e9)} ago`}</span>;
}

const LOOKS = {
  copy: "a copy of the stopped program was searched",
  "own copy": "the program may not be traced, so its agent made the copy",
  "in place": "it stood still while it was searched",
  none: "",
};

function Verdict({ data, said, onChecked }: { data: LeaksAnswer; said: string; onChecked: (said: string) => void }) {
  const { source } = usePage();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const check = data.check;
  const look = () => {
    if (!source) return;
    setBusy(true);
    setProblem(null);
    checkLeaks(source.id).then(
      (done) => {
        setBusy(false);
        onChecked(`Check ${done.number}: the program stood still for ${pauseText(done.pause_ns)}; ${formatBytes(done.scanned_bytes)} were searched in ${pauseText(done.scan_cpu_ns)} of CPU time.`);
        window.dispatchEvent(new Event("heapgauge-check"));
      },
      (error: unknown) => {
        setBusy(false);
        setProblem(error instanceof ApiError ? error.message : String(error));
      },
    );
  };
  const lost = data.summary.definite.bytes + data.summary.indirect.bytes > 0;
  const grows = data.suspects.suspected.some((suspect) => suspect.grows);
  return (
    <header class="verdict">
      <div class="verdict-text">
        <h1 class={lost ? "lost" : grows ? "grows" : ""} data-testid="verdict">{data.summary.verdict}</h1>
        {check.look !== "none" && (
          <p class="dim">
            checked <Ago unixNs={check.unix_ns} /> · stood still for <b data-testid="pause">{pauseText(check.pause_ns)}</b> · <span title={LOOKS[check.look]}>{formatBytes(check.scanned_bytes)} searched</span>
            {check.threads > 0 && ` · ${check.threads} ${check.threads === 1 ? "thread" : "threads"}`} · {check.exact ? "every block is known" : data.summary.in_use.sampled_blocks === undefined ? "not every block is known" : `${data.summary.in_use.sampled_blocks} sampled blocks`}
          </p>
        )}
        {data.suspects.whole && <p class="dim">{data.suspects.whole[0]!.toUpperCase()}{data.suspects.whole.slice(1)}.</p>}
      </div>
      {data.may_look && (
        <button type="button" class="check-now" disabled={busy} onClick={look} title="Stops the program for some milliseconds to copy it; the copy is searched for pointers">
          {busy ? "checking…" : check.look === "none" ? "Check now" : "Check again"}
        </button>
      )}
      <Problem error={problem} />
      {said && !problem && <p class="said" role="status">{said}</p>}
    </header>
  );
}

// Memory was not looked at: what is known all the same, and what to do for more.
function NotLooked({ data, live }: { data: LeaksAnswer; live: boolean }) {
  return (
    <div class="teach card padded">
      {data.summary.in_use.blocks > 0
        ? <p><b>{bytesText(data.summary.in_use)}</b> in {blocksText(data.summary.in_use)} {live ? "are live" : "were never freed"}. Below is what ages and growth tell; whether a block is lost, only its memory tells.</p>
        : <p>No live block is known without a look at its memory{data.notes.length > 0 ? `: ${data.notes[0]}` : ""}.</p>}
      {data.may_look
        ? <p class="dim">“Check now” copies the program while it stands still for some milliseconds, and looks for pointers to its blocks. If it may not be traced (containers, other users), its agent makes the copy instead.</p>
        : live
          ? <p class="dim">This page is served by the program itself, which cannot stop and search itself: <code>heapgauge leaks {data.check.pid}</code> does it from outside.</p>
          : <p class="dim">For a verdict look while it runs, <code>heapgauge ui PID</code> or <code>heapgauge leaks PID</code>; or at its end, with every block known: <code>heapgauge run --leaks -- COMMAND</code></p>}
    </div>
  );
}

// No check of such a source can be made at all.
function Teach({ kind }: { kind: string | undefined }) {
  return (
    <div class="teach card padded">
      <h2>How to look for leaks</h2>
      <ul>
        {kind !== "process" && <li>of a running program: <code>heapgauge ui PID</code>, then “Check now” here</li>}
        <li>at its end, with every block known: <code>heapgauge run --leaks -- COMMAND</code></li>
        <li>growth and ages, at any later time: <code>heapgauge run --trace -o FILE.hgt -- COMMAND</code>, then <code>heapgauge ui FILE.hgt</code></li>
      </ul>
      <p class="dim">If the program may not be traced (ptrace is forbidden in many containers), the agent inside of it makes the copy that is searched; nothing has to be set for that.</p>
    </div>
  );
}

function Kinds({ data }: { data: LeaksAnswer }) {
  const { state, store } = usePage();
  const chosen = state.kinds ? state.kinds.split(",") : [];
  const toggle = (kind: Kind) => {
    const next = chosen.includes(kind) ? chosen.filter((one) => one !== kind) : [...chosen, kind];
    store.change({ kinds: KINDS.filter((one) => next.includes(one)).join(",") });
  };
  const total = Math.max(1, ...[KINDS.reduce((sum, kind) => sum + data.summary[kind].bytes, 0)]);
  let x = 0;
  return (
    <div class="kinds padded">
      <svg class="kind-bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        {KINDS.map((kind) => {
          const width = (1000 * data.summary[kind].bytes) / total;
          const at = x;
          x += width;
          return width > 0 ? <rect key={kind} class={`fill-${kind}`} x={at} width={Math.max(3, width)} height="10" /> : null;
        })}
      </svg>
      <div class="kind-tiles" role="group" aria-label="Kinds">
        {KINDS.map((kind) => {
          const amount = data.summary[kind];
          const change = data.summary.changes?.[kind];
          return (
            <button key={kind} type="button" class={`kind ${amount.blocks === 0 ? "none" : kind}`} aria-pressed={chosen.includes(kind)} title={`${KIND_HINTS[kind]}; press for only these records`} onClick={() => toggle(kind)} data-testid={`kind-${kind}`}>
              <span class="kind-name"><svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect class={`fill-${kind}`} width="10" height="10" rx="2" /></svg>{KIND_TITLES[kind]}</span>
              <b>{bytesText(amount)}</b>
              <span class="dim">{amount.blocks > 0 ? blocksText(amount) : "none"}{change && change.bytes !== 0 && <span class={change.bytes > 0 ? "more" : "less"}> {changeText(change.bytes)}</span>}</span>
            </button>
          );
        })}
      </div>
      {data.earlier.length > 0 && <Since data={data} />}
    </div>
  );
}

// Against which earlier check, and which records of the comparison.
function Since({ data }: { data: LeaksAnswer }) {
  const { state, store } = usePage();
  const changes = data.summary.changes;
  return (
    <div class="since">
      <label>
        <span class="dim">changes since </span>
        <select value={String(data.since ?? "")} onChange={(event) => store.change({ since: event.currentTarget.value })}>
          {data.earlier.map((one) => <option key={one.number} value={String(one.number)}>check {one.number}, {formatDuration(data.check.unix_ns - one.unix_ns)} before</option>)}
        </select>
      </label>
      <Toggle word="changes" values={[["", "all", "All records"], ["new", "new", "Records that were not there then"], ["increased", "increased", "Records that are new or grew"], ["changed", "changed", "Records that are new, grew or shrank"]]} />
      {changes && changes.gone_records > 0 && <span class="dim">{changes.gone_records} {changes.gone_records === 1 ? "record is" : "records are"} gone ({formatBytes(changes.gone_bytes)})</span>}
      {(state.since || state.changes) && <a href={`#${stateText(withWords(state, { since: "", changes: "" }))}`}>since the last one, all</a>}
    </div>
  );
}
