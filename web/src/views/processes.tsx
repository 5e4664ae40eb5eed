// Every process that the host serves, with what it holds now.

import { useEffect, useState } from "preact/hooks";
import { ApiError, control } from "../api/client";
import type { Action } from "../api/client";
import type { ProcessAnswer } from "../api/types";
import { formatByteRange, formatBytes, formatCount } from "../model/format";
import { stateText, withSource } from "../model/state";
import { useAsk, usePage } from "./hooks";
import { Problem } from "./parts";

const AGAIN_MS = 2000;

export function ProcessesView() {
  const { state } = usePage();
  const [round, setRound] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setRound((before) => before + 1), AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  const [parameters, setParameters] = useState<Record<string, string>>({ hold: "0" });
  useEffect(() => setParameters({ hold: String(round) }), [round]);
  const { data, error } = useAsk("processes", parameters);
  const [said, setSaid] = useState("");
  return (
    <section class="view processes" aria-label="Processes">
      <Problem error={error} />
      {said && <p class="said" role="status">{said}</p>}
      {data && data.processes.length === 0 && <p class="empty">No process is profiled here. Start one with: heapgauge run -- ./program</p>}
      {data && data.processes.length > 0 && (
        <div class="wide-scroll">
          <table class="plain" data-testid="processes">
            <thead>
              <tr><th class="right">pid</th><th>program</th><th>state</th><th class="right">live</th><th class="right">95 % range</th><th class="right">allocated</th><th class="right">samples</th><th class="right">interval</th><th>change</th><th>command</th></tr>
            </thead>
            <tbody>
              {data.processes.map((process) => (
                <tr key={process.pid}>
                  <td class="right"><a href={`#${stateText({ ...withSource(state, String(process.pid)), view: "overview" })}`}>{process.pid}</a></td>
                  {process.error !== undefined || !process.live_bytes
                    ? <td colSpan={9} class="dim">{process.error}</td>
                    : <>
                        <td>{process.name}</td>
                        <td class={process.state === "live" ? "" : "dim"}>{process.state_text}{process.active ? "" : ", off"}</td>
                        <td class="right strong">{formatBytes(process.live_bytes.value)}</td>
                        <td class="right dim">{formatByteRange(process.live_bytes.low, process.live_bytes.high)}</td>
                        <td class="right">{formatBytes(process.allocated_bytes?.value ?? 0)}</td>
                        <td class="right">{formatCount(process.samples ?? 0)}{process.lost_samples ? `, ${formatCount(process.lost_samples)} lost` : ""}</td>
                        <td class="right dim">{formatBytes(process.interval_in_force ?? 0)}</td>
                        <td><Buttons process={process} onDone={setSaid} /></td>
                        <td class="dim command">{process.command_line?.join(" ")}</td>
                      </>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

// What can be changed of a process that runs.
function Buttons({ process, onDone }: { process: ProcessAnswer; onDone: (text: string) => void }) {
  if (process.state !== "live") return null;
  const act = (action: Action, bytes?: string) => () => {
    control(process.pid, action, bytes).then(
      (done) => onDone(done.file ? `${process.pid} wrote ${done.file}` : `${process.pid}: ${action}${done.seen ? "" : " is noted; the process has not allocated since"}`),
      (problem: unknown) => onDone(problem instanceof ApiError ? problem.message : String(problem)),
    );
  };
  const finer = Math.max(4096, Math.round((process.interval_in_force ?? 524288) / 4));
  return (
    <span class="toggle" role="group" aria-label={`Change process ${process.pid}`}>
      <button type="button" onClick={act(process.active ? "disable" : "enable")}>{process.active ? "disable" : "enable"}</button>
      <button type="button" title={`sample every ${formatBytes(finer)}`} onClick={act("sample", String(finer))}>finer</button>
      <button type="button" title="count from here on" onClick={act("reset")}>reset</button>
      <button type="button" title="write a copy of the profile to the host's dump directory" onClick={act("dump")}>dump</button>
    </span>
  );
}
