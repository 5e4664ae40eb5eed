// One loss record: its stack, who holds it, texts that silence it, and the way to other views.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { LeakAnswer, LeakFrame, LeakOwner, LeakRecord } from "../api/leaks";
import { formatBytes } from "../model/format";
import { focusOf, frameName, framePlace, readableStack } from "../model/leaks";
import { stateText, withWords } from "../model/state";
import { useAsk, usePage } from "./hooks";
import { AgeChart } from "./leaks_age";
import { Problem } from "./parts";

const MOST_FRAMES = 14;

interface Props {
  record: string;
  name: string; // of the function that is to blame
  check: number; // another one asks again
  looked: boolean;
  children?: ComponentChildren; // evidence, of a suspect
}

export function Details({ record, name, check, looked, children }: Props) {
  const { source } = usePage();
  const parameters = useMemo(() => (source ? { source: source.id, record, hold: String(check) } : null), [source, record, check]);
  const { data, error } = useAsk("leaks/record", parameters);
  return (
    <div class="leak-details" data-testid="leak-details">
      <Problem error={error} />
      <Links name={name} looked={looked} lost={data ? data.record.kind === "definite" || data.record.kind === "indirect" : false} />
      <div class="leak-columns">
        {children}
        {!children && data?.ages && <div class="evidence"><h3>Age</h3><AgeChart ages={data.ages} large /></div>}
        <div>
          <h3>Stack</h3>
          {data ? <Stack stack={data.record.stack} name={name} /> : <p class="dim">reading…</p>}
        </div>
      </div>
      {data?.owner && <Owner owner={data.owner} record={data.record} />}
      {data && <Suppression data={data} />}
    </div>
  );
}

function Links({ name, looked, lost }: { name: string; looked: boolean; lost: boolean }) {
  const { state, source } = usePage();
  if (!name || name === "?") return null;
  const base = { focus: focusOf(name), root: "", leak: "", leakin: "", kinds: "", changes: "", since: "", at: "", from: "", to: "" };
  const figure = { value: "", blocks: "", sort: "", type: "" };
  const link = (words: Record<string, string>) => `#${stateText(withWords(state, { ...base, ...figure, ...words }))}`;
  return (
    <p class="links">
      <a href={link({ view: "flame" })}>flame graph of what it holds</a>
      {looked && lost && <a href={link({ view: "flame", value: "lost" })}>of what is lost</a>}
      <a href={link({ view: "table" })}>table</a>
      {source?.kind === "trace" && <a href={link({ view: "flame", value: "never-freed" })}>never freed</a>}
      <a href={link({ view: "timeline" })}>timeline</a>
    </p>
  );
}

function Stack({ stack, name }: { stack: LeakFrame[]; name?: string }) {
  const [all, setAll] = useState(false);
  const readable = all ? stack : readableStack(stack).slice(0, MOST_FRAMES);
  const blamed = readable.findIndex((frame) => frame.function === name || frame.function?.startsWith(`${name}(`));
  return (
    <ol class="leak-stack">
      {readable.map((frame, i) => (
        <li key={i} class={i === Math.max(0, blamed) ? "blamed" : ""}><span class="function" title={frame.function}>{frameName(frame)}</span> <span class="dim">{framePlace(frame)}{frame.inlined ? ", inlined" : ""}</span></li>
      ))}
      {!all && readable.length < stack.length && <li class="more-frames"><button type="button" class="plain-button" onClick={() => setAll(true)}>all {stack.length} frames</button></li>}
      {stack.length === 0 && <li class="dim">not known</li>}
    </ol>
  );
}

function Owner({ owner, record }: { owner: LeakOwner; record: LeakRecord }) {
  const blocks = record.sampled_blocks ?? record.blocks;
  const what = record.sampled_blocks === undefined ? "blocks" : "sampled blocks";
  return (
    <div class="owner" data-testid="owner">
      <h3>Who points at it</h3>
      {owner.path.length === 0
        ? <p>Nothing. The largest of its blocks is at <code>0x{owner.address.toString(16)}</code> ({formatBytes(owner.size)}).</p>
        : (
          <>
            {owner.roots.length > 0 && (
              <p>held by {owner.roots.slice(0, 5).map((root, i) => <span key={root.root}>{i > 0 && ", "}<b>{root.root}</b> <span class="dim">({root.blocks_known} of {blocks} {what})</span></span>)}{owner.roots.length > 5 && ` and ${owner.roots.length - 5} more`}</p>
            )}
            <ol class="path">
              {owner.path.map((step, i) => (
                <li key={i}>
                  <span class={i === 0 ? "root" : ""}>{step.place}</span>
                  {step.stack && <AllocatedBy stack={step.stack} />}
                </li>
              ))}
              {owner.left_out > 0 && <li class="dim">({owner.left_out} more blocks on the way)</li>}
              <li>this block, at <code>0x{owner.address.toString(16)}</code> ({formatBytes(owner.size)})</li>
            </ol>
          </>
        )}
    </div>
  );
}

function AllocatedBy({ stack }: { stack: LeakFrame[] }) {
  const readable = readableStack(stack);
  const inner = readable[0];
  if (!inner) return null;
  return (
    <details class="allocated-by">
      <summary class="dim">allocated by {frameName(inner)} {framePlace(inner)}</summary>
      <Stack stack={stack} />
    </details>
  );
}

function Suppression({ data }: { data: LeakAnswer }) {
  const [syntax, setSyntax] = useState<"valgrind" | "lsan">("valgrind");
  const [copied, setCopied] = useState(false);
  const text = data.suppressions[syntax];
  if (!data.suppressions.valgrind && !data.suppressions.lsan) return null;
  const copy = () => {
    navigator.clipboard.writeText(text).then(() => setCopied(true), () => setCopied(false));
  };
  return (
    <details class="suppression">
      <summary>Live with it: suppression to copy</summary>
      <div class="bar">
        <span class="toggle" role="group" aria-label="Syntax">
          {(["valgrind", "lsan"] as const).map((one) => <button key={one} type="button" aria-pressed={syntax === one} onClick={() => { setSyntax(one); setCopied(false); }}>{one === "valgrind" ? "Valgrind" : "LeakSanitizer"}</button>)}
        </span>
        <button type="button" onClick={copy}>{copied ? "copied" : "copy"}</button>
        <span class="dim">into a file for <code>heapgauge leaks --suppressions FILE</code></span>
      </div>
      <pre data-testid="suppression">{text || "The stack has nothing to go by."}</pre>
    </details>
  );
}
