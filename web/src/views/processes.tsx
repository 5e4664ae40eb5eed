// Every process that the host serves, with what it holds now.

import { useEffect, useState } from "preact/hooks";
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
  return (
    <section class="view processes" aria-label="Processes">
      <Problem error={error} />
      {data && data.processes.length === 0 && <p class="empty">No process is profiled here. Start one with: heapgauge run -- ./program</p>}
      {data && data.processes.length > 0 && (
        <div class="wide-scroll">
          <table class="plain" data-testid="processes">
            <thead>
              <tr><th class="right">pid</th><th>program</th><th>state</th><th class="right">live</th><th class="right">95 % range</th><th class="right">allocated</th><th class="right">samples</th><th class="right">interval</th><th>command</th></tr>
            </thead>
            <tbody>
              {data.processes.map((process) => (
                <tr key={process.pid}>
                  <td class="right"><a href={`#${stateText({ ...withSource(state, String(process.pid)), view: "overview" })}`}>{process.pid}</a></td>
                  {process.error !== undefined || !process.live_bytes
                    ? <td colSpan={8} class="dim">{process.error}</td>
                    : <>
                        <td>{process.name}</td>
                        <td class={process.state === "live" ? "" : "dim"}>{process.state_text}{process.active ? "" : ", off"}</td>
                        <td class="right strong">{formatBytes(process.live_bytes.value)}</td>
                        <td class="right dim">{formatByteRange(process.live_bytes.low, process.live_bytes.high)}</td>
                        <td class="right">{formatBytes(process.allocated_bytes?.value ?? 0)}</td>
                        <td class="right">{formatCount(process.samples ?? 0)}{process.lost_samples ? `, ${formatCount(process.lost_samples)} lost` : ""}</td>
                        <td class="right dim">{formatBytes(process.interval_in_force ?? 0)}</td>
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
