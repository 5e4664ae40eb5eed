// The loss records: all blocks of one kind from one stack, the largest first.

import { Fragment } from "preact";
import type { LeakRecord, LeaksAnswer } from "../api/leaks";
import { formatBytes, formatCount, formatDuration } from "../model/format";
import { blocksText, bytesText, changeText, KIND_TITLES } from "../model/leaks";
import { runs } from "../model/sources";
import { usePage } from "./hooks";
import { Details } from "./leaks_details";

export function Records({ data }: { data: LeaksAnswer }) {
  const { state, store, source } = usePage();
  const looked = data.check.look !== "none";
  const compared = data.since !== null;
  const sampled = data.summary.in_use.sampled_blocks !== undefined;
  const columns = 5 + (looked ? 1 : 0) + (sampled ? 1 : 0) + (compared ? 1 : 0);
  return (
    <div class="records padded">
      <h2>{looked ? "Loss records" : runs(source) ? "What is live" : "What was never freed"} <span class="dim">{formatCount(data.record_count)}{data.record_count !== data.summary.records && ` of ${formatCount(data.summary.records)}`}{data.records.length < data.record_count && `, the largest ${formatCount(data.records.length)}`}</span></h2>
      {data.records.length === 0
        ? <p class="dim">{data.summary.records === 0 ? "There are none." : "None passes the filter."}</p>
        : (
          <div class="wide-scroll">
            <table class="plain" data-testid="records">
              <thead><tr>{looked && <th>kind</th>}<th class="right">bytes</th><th class="right">blocks</th>{sampled && <th class="right">sampled</th>}{compared && <th class="right">change</th>}<th class="right">oldest</th><th class="right">newest</th><th>allocated by</th></tr></thead>
              <tbody>
                {data.records.map((record) => {
                  const open = state.leak === record.key && state.leakin === "records";
                  return (
                    <Fragment key={record.key}>
                      <tr class={open ? "open" : ""}>
                        {looked && <td><KindCell record={record} /></td>}
                        <td class="right"><b>{bareText(bytesText(record))}</b>{record.indirect_bytes > 0 && <span class="dim" title="lost along with it"> + {formatBytes(record.indirect_bytes)}</span>}</td>
                        <td class="right">{bareText(blocksText(record))}</td>
                        {sampled && <td class="right dim" title="sampled blocks of this kind, of all from the same stack">{record.sampled_blocks} of {record.sampled_blocks_of_stack}</td>}
                        {compared && <td class="right"><ChangeCell record={record} /></td>}
                        <td class="right">{formatDuration(record.oldest_age_ns)}</td>
                        <td class="right dim">{formatDuration(record.newest_age_ns)}</td>
                        <td class="value">
                          <button type="button" class="plain-button" aria-expanded={open} title={record.stack.map((frame) => frame.function ?? "?").join("\n")} onClick={() => store.change({ leak: open ? "" : record.key, leakin: open ? "" : "records" }, true)}>{record.name}</button>
                          <span class="dim"> {record.place}</span>
                        </td>
                      </tr>
                      {open && <tr class="open-details"><td colSpan={columns}><Details record={record.key} name={record.name} check={data.number} looked={looked} /></td></tr>}
                    </Fragment>
                  );
                })}
              </tbody>
            </table>
          </div>
        )}
    </div>
  );
}

// Under a heading that says what it counts.
const bareText = (text: string): string => text.replace(/ (bytes|blocks?)$/, "").replace(/ \(95 %: (.*)\)$/, ", $1");

function KindCell({ record }: { record: LeakRecord }) {
  if (record.kind === "unknown") return null;
  return (
    <span class="nowrap">
      <svg class="swatch inline" viewBox="0 0 10 10" aria-hidden="true"><rect class={`fill-${record.kind}`} width="10" height="10" rx="2" /></svg>
      {KIND_TITLES[record.kind]}{record.suppression && <span class="dim"> by {record.suppression}</span>}{record.heuristic && <span class="dim"> ({record.heuristic})</span>}
    </span>
  );
}

function ChangeCell({ record }: { record: LeakRecord }) {
  const change = record.change;
  if (!change) return null;
  if (change.new) return <b class="more">new</b>;
  if (change.bytes === 0 && change.blocks === 0) return <span class="dim">same</span>;
  return <span class={change.bytes > 0 ? "more" : "less"}>{changeText(change.bytes)}</span>;
}
