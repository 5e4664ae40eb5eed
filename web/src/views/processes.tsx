// Every process that the host serves, with what it holds now, and buttons to change how it is sampled.

import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { ApiError, control } from "../api/client";
import type { Action } from "../api/client";
import { connection } from "../api/connection";
import type { ProcessAnswer } from "../api/types";
import { formatByteRange, formatBytes, formatCount } from "../model/format";
import { matchProcess, sortProcesses } from "../model/processes";
import type { ProcessKey } from "../model/processes";
import { stateText, withSource } from "../model/state";
import { useAsk, usePage } from "./hooks";
import { NewProfile } from "./new_profile";
import { Problem } from "./parts";
import "./processes.css";

const AGAIN_MS = 2000;

type Say = (text: ComponentChildren) => void;

export function ProcessesView() {
  const { state, store } = usePage();
  const [round, setRound] = useState(0);
  const again = () => setRound((before) => before + 1);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && connection.pending === 0) again();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  const { data, error } = useAsk("processes", { hold: String(round) });
  const [said, setSaid] = useState<ComponentChildren>(null);
  const text = state.process ?? "";
  const shown = data ? sortProcesses(data.processes.filter((process) => matchProcess(process, text)), state.order ?? "") : [];
  const say: Say = (what) => {
    setSaid(what);
    again();
  };
  return (
    <section class="view processes" aria-label="Processes">
      <Problem error={error} />
      {data && data.processes.length === 0 && <p class="empty">No process is profiled here. Start one with: heapgauge run -- ./program</p>}
      {data && data.processes.length > 0 && (
        <>
          <div class="bar">
            <input type="search" aria-label="Only processes with" placeholder="name, number, command ( / )" value={text} onInput={(event) => store.change({ process: event.currentTarget.value }, true)} />
            <span class="dim">{shown.length === data.processes.length ? formatCount(shown.length) : `${formatCount(shown.length)} of ${formatCount(data.processes.length)}`} {data.processes.length === 1 ? "process" : "processes"}</span>
          </div>
          {said && <p class="said" role="status">{said}</p>}
          <div class="wide-scroll">
            <table class="plain" data-testid="processes">
              <thead>
                <tr>
                  <Head word="pid" title="pid" right /><Head word="program" title="program" /><Head word="live" title="live heap" right /><th class="dim range">95 % range</th><Head word="rate" title="allocates" right />
                  <Head word="resident" title="RSS" right /><Head word="age" title="state" /><Head word="samples" title="samples" right /><th>sampling</th>
                </tr>
              </thead>
              <tbody>{shown.map((process) => <Row key={process.pid} process={process} say={say} />)}</tbody>
            </table>
          </div>
          {shown.length === 0 && <p class="empty">No process matches.</p>}
        </>
      )}
    </section>
  );
}

function Head({ word, title, right = false }: { word: ProcessKey; title: string; right?: boolean }) {
  const { state, store } = usePage();
  const by = (state.order ?? "").replace(/^-/, "") === word;
  const up = by && state.order !== word;
  return (
    <th class={right ? "right" : ""} aria-sort={by ? (up ? "ascending" : "descending") : undefined}>
      <button type="button" aria-pressed={by} data-up={up} onClick={() => store.change({ order: by ? (up ? "" : `-${word}`) : word }, true)}>{title}</button>
    </th>
  );
}

function Row({ process, say }: { process: ProcessAnswer; say: Say }) {
  const { state } = usePage();
  const link = `#${stateText({ ...withSource(state, process.source), view: "overview" })}`;
  if (process.error !== undefined || !process.live_bytes) {
    return <tr><td class="right pid"><a href={link}>{process.pid}</a></td><td colSpan={8} class="dim">{process.error}</td></tr>;
  }
  const live = process.state === "live";
  const { low, high } = process.live_bytes;
  return (
    <tr class={live ? "" : "ended"}>
      <td class="right pid"><a href={link}>{process.pid}</a></td>
      <td class="program"><a href={link}>{process.name}</a><span class="command" title={process.command_line?.join(" ")}>{process.command_line?.join(" ")}</span></td>
      <td class="right strong">{formatBytes(process.live_bytes.value)}</td>
      <td class="dim range">{high > low ? formatByteRange(low, high) : ""}</td>
      <td class="right nowrap">{live && process.allocation_rate !== undefined ? `${formatBytes(process.allocation_rate)}/s` : ""}</td>
      <td class="right">{process.resident_bytes ? formatBytes(process.resident_bytes) : ""}</td>
      <td class="state">{process.state_text}{live && !process.active && <b>, sampling is off</b>}</td>
      <td class="right">{formatCount(process.samples ?? 0)}{process.lost_samples ? `, ${formatCount(process.lost_samples)} lost` : ""}</td>
      <td>{live ? <Acts process={process} say={say} /> : <span class="dim">1 in {formatBytes(process.interval_in_force ?? 0)}</span>}</td>
    </tr>
  );
}

const INTERVALS = [4096, 16384, 65536, 262144, 524288, 1048576, 4194304, 16777216];

// What can be changed of a process that runs, where the host may do it; else why not.
function Acts({ process, say }: { process: ProcessAnswer; say: Say }) {
  const { state, store } = usePage();
  const [sure, setSure] = useState(false);
  const pid = process.pid;
  const act = (action: Action, bytes?: string) => {
    setSure(false);
    control(pid, action, bytes).then(
      (done) => say(
        done.file
          ? <>{pid} wrote {done.file}{done.source && <>: <a href={`#${stateText({ ...withSource(state, done.source), view: "overview" })}`}>open it</a></>}</>
          : `${pid}: ${action}${bytes ? ` every ${formatBytes(Number(bytes))}` : ""}${done.seen ? " is done" : " is noted; the process has not allocated since"}`,
      ),
      (problem: unknown) => say(`${pid}: ${problem instanceof ApiError ? problem.message : String(problem)}`),
    );
  };
  const locked = process.may_change === false;
  const interval = process.interval ?? process.interval_in_force ?? 0;
  const intervals = INTERVALS.includes(interval) ? INTERVALS : [...INTERVALS, interval].sort((a, b) => a - b);
  const why = [locked ? process.why_no_change : "", process.may_dump === false ? process.why_no_dump : ""];
  return (
    <>
      <span class="acts" role="group" aria-label={`Change process ${pid}`}>
        <select aria-label={`Sample process ${pid} every`} title="mean bytes between two samples: smaller is finer, and costs more" disabled={locked} value={String(interval)} onChange={(event) => act("sample", event.currentTarget.value)}>
          {intervals.map((bytes) => <option key={bytes} value={String(bytes)}>1 in {formatBytes(bytes)}</option>)}
        </select>
        <span class="toggle">
          <button type="button" disabled={locked} title={locked ? why[0] : process.active ? "stop taking samples" : "take samples"} onClick={() => act(process.active ? "disable" : "enable")}>{process.active ? "disable" : "enable"}</button>
          <button type="button" class={sure ? "sure" : ""} disabled={locked} title={locked ? why[0] : "forget all samples and count from here on"} onBlur={() => setSure(false)} onClick={() => (sure ? act("reset") : setSure(true))}>{sure ? "forget all?" : "reset"}</button>
          <button type="button" disabled={process.may_dump === false} title={why[1] || "write a copy of the profile to the host's dump directory"} onClick={() => act("dump")}>dump</button>
        </span>
        <NewProfile source={process.source} title="Take a profile now: the server keeps it" onTaken={(taken) => store.set({ ...withSource(state, taken.id), view: "overview" })} />
      </span>
      {locked && <span class="why">{why[0]}</span>}
    </>
  );
}
