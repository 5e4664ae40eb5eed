// Who is to be looked at first, each with the sentence that says why, and its evidence when opened.

import { useState } from "preact/hooks";
import type { LeaksAnswer, Suspect } from "../api/leaks";
import { formatCount, formatDuration, formatShare } from "../model/format";
import { estimateText, probabilityText, rateText } from "../model/leaks";
import { usePage } from "./hooks";
import { AgeChart, AmountLine } from "./leaks_age";
import { Details } from "./leaks_details";

const SHOWN_OTHERS = 5;

export function Suspects({ data }: { data: LeaksAnswer }) {
  const [all, setAll] = useState(false);
  const { suspected, not_suspected: others, suspected_count: count, not_suspected_count: otherCount } = data.suspects;
  if (suspected.length + others.length === 0) return null;
  return (
    <div class="suspects padded">
      <h2>Suspects{count > 0 && <span class="dim"> {count}</span>}</h2>
      {suspected.length === 0 && <p class="dim">{nobody(data)}</p>}
      <ol data-testid="suspects">
        {suspected.map((suspect, i) => <Row key={`${suspect.function}${suspect.record ?? i}`} suspect={suspect} data={data} />)}
      </ol>
      {count > suspected.length && <p class="dim">and {count - suspected.length} more</p>}
      {others.length > 0 && (
        <>
          <h2 class="dim">Not suspected, the largest</h2>
          <ul class="others">
            {(all ? others : others.slice(0, SHOWN_OTHERS)).map((suspect, i) => <Row key={`${suspect.function}${suspect.record ?? i}`} suspect={suspect} data={data} />)}
          </ul>
          {!all && others.length > SHOWN_OTHERS && <button type="button" onClick={() => setAll(true)}>{otherCount - SHOWN_OTHERS} more</button>}
        </>
      )}
    </div>
  );
}

function nobody(data: LeaksAnswer): string {
  const lost = data.check.look === "none" ? "" : "nothing is lost, and ";
  if (data.suspects.not_suspected.every((other) => other.trend === "too short")) return `Nobody is suspected: ${lost}the run is too short to tell what grows. From ten seconds on, births and deaths of blocks are compared.`;
  return `Nobody is suspected: ${lost}nothing grows beyond chance.`;
}

function Row({ suspect, data }: { suspect: Suspect; data: LeaksAnswer }) {
  const { state, store } = usePage();
  // A record that is opened in the table below has no second place here.
  const open = suspect.record !== undefined && state.leak === suspect.record && state.leakin !== "records";
  return (
    <li class={`suspect${open ? " open" : ""}`}>
      <button type="button" class="suspect-head" aria-expanded={open} onClick={() => store.change({ leak: open ? "" : suspect.record, leakin: "" }, true)}>
        <span class="badges">
          {suspect.lost && <span class="badge lost">lost</span>}
          {suspect.grows && <span class="badge grows">grows</span>}
          {!suspect.lost && !suspect.grows && <span class="badge">{suspect.trend}</span>}
        </span>
        <span class="why"><b>{suspect.function}</b> {suspect.sentence}</span>
        <span class="shape">{suspect.least_live_bytes ? <AmountLine values={suspect.least_live_bytes} /> : <AgeChart ages={suspect.ages} />}</span>
      </button>
      {open && suspect.record !== undefined && (
        <Details record={suspect.record} name={suspect.function} check={data.number} looked={data.check.look !== "none"}>
          <Evidence suspect={suspect} exact={data.summary.in_use.sampled_blocks === undefined} />
        </Details>
      )}
    </li>
  );
}

const TRENDS: Record<string, string> = {
  growing: "grows", bounded: "comes and goes: what is old is freed", stopped: "has stopped growing", slowing: "grows ever more slowly", unclear: "no clear trend", "too few": "too few samples to tell",
  "too short": "the run is too short to tell", unknown: "not known",
};

function Evidence({ suspect, exact }: { suspect: Suspect; exact: boolean }) {
  const sampled = exact ? "blocks" : "sampled blocks";
  const rate = suspect.bytes_per_second;
  const live = suspect.live_bytes;
  return (
    <div class="evidence">
      <h3>Evidence</h3>
      <dl>
        <dt>holds</dt><dd>{estimateText(live.value, live.low, live.high)} in {formatCount(suspect.live_blocks_known)} {sampled}{suspect.stack_count > 1 && `, from ${suspect.stack_count} stacks`}</dd>
        {suspect.lost && suspect.lost_bytes && (
          <>
            <dt>lost</dt><dd>{estimateText(suspect.lost_bytes.value, suspect.lost_bytes.low, suspect.lost_bytes.high)}</dd>
            <dt>no pointer leads to</dt><dd>{suspect.lost_blocks_known} of {suspect.live_blocks_known} {sampled}{suspect.lost_share && !exact && <span class="dim"> (95 %: {formatShare(suspect.lost_share.low, 1)} to {formatShare(suspect.lost_share.high, 1)})</span>}</dd>
            {suspect.oldest_lost_age_ns !== undefined && <><dt>oldest lost</dt><dd>{formatDuration(suspect.oldest_lost_age_ns)}</dd></>}
          </>
        )}
        {suspect.possible_blocks_known !== undefined && suspect.possible_blocks_known > 0 && <><dt>possibly lost</dt><dd>{suspect.possible_blocks_known} of {suspect.live_blocks_known} {sampled}</dd></>}
        <dt>trend</dt><dd>{TRENDS[suspect.trend] ?? suspect.trend}{suspect.p < 1 && <span class="dim"> ({probabilityText(suspect.p)})</span>}</dd>
        {rate && <><dt>rate</dt><dd>{rateText(rate.value)} <span class="dim">95 %: {rateText(Math.max(0, rate.low))} to {rateText(Math.max(0, rate.high))}</span></dd></>}
        {suspect.freed_share !== undefined && <><dt>freed</dt><dd>{formatShare(suspect.freed_share, 1)} of what it allocated</dd></>}
        <dt>age</dt><dd>half of it older than {formatDuration(suspect.median_age_ns)}, the oldest {formatDuration(suspect.oldest_age_ns)}</dd>
      </dl>
      <AgeChart ages={suspect.ages} large />
    </div>
  );
}
