// What the source is: the program, whether it still runs, how it was recorded; and what to do with it next.

import type { Recording, SummaryAnswer } from "../api/types";
import { formatBytes, formatCount } from "../model/format";
import { runs } from "../model/sources";
import { stateText, withSource } from "../model/state";
import { usePage } from "./hooks";
import { NewProfile } from "./new_profile";

export function Headline({ summary }: { summary: SummaryAnswer }) {
  const r = summary.recording;
  return (
    <header class="headline">
      <div class="title">
        <h1>{r ? <>{r.name} <span class="dim">pid {r.pid}</span></> : summary.source.title}</h1>
        <Now summary={summary} />
        <span class="grow" />
        <Next summary={summary} />
      </div>
      {r && (
        <>
          <p>
            {r.moment && <b>{r.moment} </b>}{r.filter && <span>{r.filter} </span>}
            <span class="dim">{how(r)}</span>
            {!r.active && <b> · sampling is off</b>}
          </p>
          <code class="command">{r.command_line.join(" ")}</code>
        </>
      )}
    </header>
  );
}

function how(r: Recording): string {
  if (r.exact) return `${r.allocator} · every allocation and free`;
  const lost = Object.keys(r.lost).length > 0 ? ", some lost" : "";
  return `${r.allocator} · 1 sample in ${formatBytes(r.interval_in_force)}, ${formatCount(r.samples)} samples, ${formatCount(r.live_samples)} live${lost}`;
}

// Whether these figures still move.
function Now({ summary }: { summary: SummaryAnswer }) {
  const { source } = usePage();
  if (source?.taken_unix_ns !== undefined) {
    const text = new Date(source.taken_unix_ns / 1e6).toISOString();
    return <span class="badge still" data-testid="state">snapshot of {text.slice(0, 10)} {text.slice(11, 19)} UTC</span>;
  }
  if (!summary.recording) return null;
  return <span class={`badge ${summary.recording.state === "live" ? "runs" : "still"}`} data-testid="state">{summary.state}</span>;
}

function Next({ summary }: { summary: SummaryAnswer }) {
  const { state, store, source, sources } = usePage();
  const snapshot = source?.taken_unix_ns !== undefined;
  const running = runs(source) ? source : snapshot ? sources.find((one) => runs(one) && one.pid === summary.source.pid) : undefined;
  if (!running) return null;
  const here = { ...withSource(state, running.id) };
  return (
    <span class="next">
      {snapshot && source && (
        <>
          <a href={`#${stateText({ ...here, view: "overview" })}`}>what it holds now</a>
          <a href={`#${stateText({ ...here, view: "compare", base: source.id })}`}>what changed since</a>
        </>
      )}
      <NewProfile source={running.id} title="Take a profile now. The server keeps it: its address shows others the same, and it can be compared with later ones" onTaken={(taken) => store.set({ ...withSource(state, taken.id), view: "overview" })} />
    </span>
  );
}
