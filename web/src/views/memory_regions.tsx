// The regions of a process: whose they are, what of them is in memory, and what the samples say lives there.

import { useMemo, useState } from "preact/hooks";
import type { OwnerSum, RegionAnswer, RegionMapAnswer } from "../api/memory_map";
import { REST, SERIES } from "../model/colours";
import { formatBytes, formatCount, formatDuration, formatShare } from "../model/format";
import { hex } from "../model/memory_map";
import { stateText, withWords } from "../model/state";
import { useAsk, usePage } from "./hooks";
import { Problem } from "./parts";

const OWNERS: Record<string, [string, string]> = {
  heap: ["heap", SERIES[0]!], mmap: ["mapped by the program", SERIES[1]!], stack: ["stacks", SERIES[2]!], shared: ["shared memory", SERIES[3]!],
  file: ["files", SERIES[4]!], program: ["program and libraries", SERIES[8]!], agent: ["heapgauge itself", SERIES[6]!], kernel: ["kernel", REST], other: ["nobody known", SERIES[5]!],
};
const titleOf = (owner: string): string => OWNERS[owner]?.[0] ?? owner;
const colourOf = (owner: string): string => OWNERS[owner]?.[1] ?? REST;
const nameOf = (region: RegionAnswer): string => region.name || (region.owner === "heap" ? "anonymous, of the allocator" : "anonymous");
const keyOf = (region: RegionAnswer): string => hex(region.start);

export function RegionMap() {
  const { state, source, hold } = usePage();
  const parameters = useMemo(() => (source ? { source: source.id, rows: "400", ...(source.live ? { hold } : {}) } : null), [source, hold]);
  const { data, error, loading } = useAsk("memory-map", parameters);
  const answer = data?.kind === "process" ? data : null;
  const [owner, setOwner] = useState("");
  const chosen = state.addresses ?? "";
  return (
    <section class="view memory" aria-label="Memory map">
      <div class="bar">
        {answer && (
          <span class="total" data-testid="memory-total">
            RSS <b>{formatBytes(answer.resident_bytes)}</b>{answer.swapped_bytes > 0 && <> · swapped {formatBytes(answer.swapped_bytes)}</>} · allocator {answer.allocator || "unknown"}
            {!answer.live && <> · {answer.time_note || "the process is gone"} at {formatDuration(answer.time_ns)}</>}
          </span>
        )}
      </div>
      <Problem error={error} />
      <div class={`memory-body${loading && !answer ? " loading" : ""}`} data-testid="memory">
        {!answer && !error && <p class="empty">reading…</p>}
        {answer && answer.regions.length === 0 && <Parts answer={answer} />}
        {answer && answer.regions.length > 0 && (
          <>
            <h2>In memory, by address <span class="dim">as wide as what is resident; the paler part of the heap is not known to be live</span></h2>
            <Strip answer={answer} owner={owner} chosen={chosen} />
            <div class="memory-tables">
              <Owners answer={answer} owner={owner} onOwner={setOwner} />
              <Parts answer={answer} />
            </div>
            <Table answer={answer} owner={owner} chosen={chosen} />
          </>
        )}
        {answer?.notes.map((note) => <p key={note} class="note">{note}</p>)}
      </div>
    </section>
  );
}

function Strip({ answer, owner, chosen }: { answer: RegionMapAnswer; owner: string; chosen: string }) {
  const { store } = usePage();
  const regions = answer.regions.filter((region) => region.resident_bytes > 0 && (!owner || region.owner === owner));
  const total = regions.reduce((sum, region) => sum + region.resident_bytes, 0) || 1;
  let left = 0;
  return (
    <div class="strip" data-testid="strip" role="group" aria-label="Regions by address">
      {regions.map((region) => {
        const width = (100 * region.resident_bytes) / total;
        const at = left;
        left += width;
        const full = region.owner === "heap" ? Math.min(1, region.live_bytes / region.resident_bytes) : 1;
        const title = `${titleOf(region.owner)}: ${formatBytes(region.resident_bytes)} resident of ${formatBytes(region.end - region.start)}, ${nameOf(region)}, ${hex(region.start)}${region.samples > 0 ? `; about ${formatBytes(region.live_bytes)} live by ${formatCount(region.samples)} samples` : ""}`;
        return (
          <button
            key={keyOf(region)} type="button" class="region" title={title} aria-label={title} aria-pressed={chosen === keyOf(region)}
            style={{ left: `${at}%`, width: `${width}%`, "--region": colourOf(region.owner) }}
            onClick={() => store.change({ addresses: chosen === keyOf(region) ? "" : keyOf(region) })}
          >
            <span style={{ height: `${100 * full}%` }} />
          </button>
        );
      })}
    </div>
  );
}

function Owners({ answer, owner, onOwner }: { answer: RegionMapAnswer; owner: string; onOwner: (owner: string) => void }) {
  return (
    <div>
      <h2>By owner</h2>
      <div class="wide-scroll">
        <table class="plain" data-testid="owners">
          <thead><tr><th>owner</th><th class="right">resident</th><th class="right">share</th><th class="right">changed</th><th class="right">swapped</th><th class="right">addresses</th><th class="right">regions</th></tr></thead>
          <tbody>
            {answer.owners.map((sum: OwnerSum) => (
              <tr key={sum.owner} class={owner === sum.owner ? "chosen" : ""}>
                <td>
                  <button type="button" class="plain-link" aria-pressed={owner === sum.owner} title="only these" onClick={() => onOwner(owner === sum.owner ? "" : sum.owner)}>
                    <span class="swatch" style={{ background: colourOf(sum.owner) }} /> {titleOf(sum.owner)}
                  </button>
                </td>
                <td class="right strong">{formatBytes(sum.resident_bytes)}</td><td class="right dim">{formatShare(sum.resident_bytes, answer.resident_bytes)}</td>
                <td class="right">{formatBytes(sum.dirty_bytes)}</td><td class="right">{sum.swapped_bytes ? formatBytes(sum.swapped_bytes) : "-"}</td>
                <td class="right">{formatBytes(sum.bytes)}</td><td class="right">{formatCount(sum.regions)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

// The RSS as `heapgauge memory` has it.
function Parts({ answer }: { answer: RegionMapAnswer }) {
  const parts = answer.parts.filter((part) => part.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  return (
    <div>
      <h2>What the RSS is</h2>
      <table class="plain" data-testid="memory-parts">
        <tbody>
          {parts.map((part) => (
            <tr key={part.part}><td class="right strong">{formatBytes(part.bytes)}</td><td class="right dim">{formatShare(part.bytes, answer.resident_bytes)}</td><td>{part.label}</td></tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

function Table({ answer, owner, chosen }: { answer: RegionMapAnswer; owner: string; chosen: string }) {
  const { state } = usePage();
  const rows = answer.regions.filter((region) => !owner || region.owner === owner).sort((a, b) => b.resident_bytes - a.resident_bytes || a.start - b.start);
  const first = rows.filter((region) => keyOf(region) === chosen);
  const shown = [...first, ...rows.filter((region) => keyOf(region) !== chosen).slice(0, 100)];
  const more = rows.length - shown.length + (owner ? 0 : answer.left_out);
  return (
    <>
      <h2>Regions</h2>
      <div class="wide-scroll">
        <table class="plain" data-testid="regions">
          <thead><tr><th>owner</th><th class="right">resident</th><th class="right">changed</th><th class="right">swapped</th><th class="right">addresses</th><th class="right" title="by samples">live</th><th>most of it</th><th>name</th><th>at</th><th /></tr></thead>
          <tbody>
            {shown.map((region) => (
              <tr key={keyOf(region)} class={keyOf(region) === chosen ? "chosen" : ""}>
                <td><span class="swatch inline" style={{ background: colourOf(region.owner) }} /> {titleOf(region.owner)}</td>
                <td class="right strong">{formatBytes(region.resident_bytes)}</td><td class="right">{formatBytes(region.dirty_bytes)}</td>
                <td class="right">{region.swapped_bytes ? formatBytes(region.swapped_bytes) : "-"}</td><td class="right">{formatBytes(region.end - region.start)}</td>
                <td class="right">{region.samples ? formatBytes(region.live_bytes) : "-"}</td>
                <td class="value who">
                  {region.largest && <a title={region.largest.function} href={`#${stateText(withWords(state, { view: "flame", focus: `^${escaped(region.largest.function)}$`, root: "", addresses: "" }))}`}>{region.largest.label || "(unknown stack)"}</a>}
                </td>
                <td class="value" title={region.name}>{nameOf(region)}</td><td class="value">{hex(region.start)}</td><td class="value">{region.permissions}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 && <p class="dim">and {formatCount(more)} smaller ones</p>}
    </>
  );
}
