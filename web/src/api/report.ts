// The answerer of a report: a page that was saved with the answers of the API inside (heapgauge report). Questions
// that differ from those only in how much they want to see are answered from them: a part of a table, a call of a
// flame graph and what is below it, a stretch of time.

import { mainEstimate } from "../model/figures";
import { matcherOf } from "../model/flame";
import { frameOf, matching, narrowFlame } from "../model/narrow";
import { flameCollapsed } from "../model/narrow_collapse";
import { flameThrough } from "../model/narrow_through";
import { peekOf, treeOf } from "../model/narrow_tree";
import { ApiError } from "./answerer";
import type { Answerer, Parameters } from "./answerer";
import type { DiffAnswer, FlameAnswer, SourcesAnswer, SummaryAnswer, TableAnswer, TableRow, TimelineAnswer } from "./types";

export interface Kept {
  resource: string;
  parameters: Record<string, string>;
  gzip: string; // the answer, packed, in base64
}

export interface ReportData {
  answers: Kept[];
  notes: string[];
  command: string; // that shows the rest
}

// Words that say how much of an answer is wanted; `hold` is about processes that run.
const HOW_MUCH = ["hold", "width", "rows", "first", "steps", "most", "depth", "root", "brief", "only-sure", "match", "reverse", "both", "open", "heaviest", "pattern", "cells", "order"];
// Words that a resource does not look at.
const NOT_LOOKED_AT: Record<string, string[]> = {
  summary: ["focus", "ignore", "granularity", "names", "sort"],
  flame: ["focus", "ignore"],
  frame: ["focus", "ignore"],
  timeline: ["from", "to"],
  sources: ["source"],
};

export function keyOf(resource: string, parameters: Parameters): string {
  const words = new URLSearchParams();
  for (const name of Object.keys(parameters).sort()) {
    const value = parameters[name];
    if (!value || HOW_MUCH.includes(name) || NOT_LOOKED_AT[resource]?.includes(name)) continue;
    if (value === "0" || (name === "granularity" && value === "functions") || (name === "names" && value === "short") || (name === "sort" && value === "live")) continue;
    words.set(name, value);
  }
  return `${resource}?${words.toString()}`;
}

async function unpack(base64: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text()) as unknown;
}

const MOST_UNPACKED = 24;

export class Report implements Answerer {
  readonly served = false;
  readonly notes: string[];
  private readonly kept = new Map<string, Kept>();
  private readonly unpacked = new Map<string, Promise<unknown>>(); // the newest last

  constructor(private readonly data: ReportData) {
    this.notes = data.notes;
    for (const one of data.answers) this.kept.set(keyOf(one.resource, one.parameters), one);
  }

  async answer(resource: string, parameters: Parameters): Promise<unknown> {
    switch (resource) {
      case "sources": {
        const answer = await this.look<SourcesAnswer>(resource, parameters);
        return { ...answer, sources: answer.sources.map((source) => ({ ...source, live: false })) };
      }
      case "summary": {
        const answer = await this.look<SummaryAnswer>(resource, parameters);
        return { ...answer, source: { ...answer.source, live: false } };
      }
      case "flame":
        return this.flame(parameters);
      case "frame":
        return frameOf(await this.flame({ ...parameters, root: "" }), parameters.root ?? "", await this.functions(parameters));
      case "tree":
        return treeOf(
          await this.flame({ ...parameters, root: "" }),
          { root: parameters.root ?? "", open: parameters.open ?? "", heaviest: parameters.heaviest === "1", rows: Number(parameters.rows ?? 200) },
          await this.functions(parameters),
        );
      case "peek":
        return peekOf(await this.flame(parameters), parameters.pattern ?? "", await this.functions(parameters));
      case "table":
        return partOfTable(await this.look<TableAnswer>(resource, parameters), parameters);
      case "timeline":
        return stretchOf(await this.look<TimelineAnswer>(resource, parameters), parameters);
      case "diff": {
        const answer = await this.look<DiffAnswer>(resource, parameters);
        if (parameters["only-sure"] !== "1") return answer;
        const changes = answer.changes.filter((change) => change.beyond_chance);
        return { ...answer, changes, change_count: changes.length };
      }
      default:
        return this.look(resource, parameters);
    }
  }

  private async flame(parameters: Parameters): Promise<FlameAnswer> {
    const { root = "", focus = "", ignore = "", through = "", callers = "", collapse = "", ...rest } = parameters;
    // From some functions on, both halves are made of the tree from the outermost callers in.
    const fromInside = callers === "1" && !through;
    if (fromInside && collapse) throw new ApiError(`This report collapses recursion from the callers in only. The profile itself has both: ${this.data.command}`, 404);
    const whole = await this.look<FlameAnswer>("flame", { ...rest, ...(fromInside ? { callers } : {}) });
    if (!root && !focus && !ignore && !through && !collapse) return whole;
    const functions = focus || ignore || through || collapse ? await this.functions(parameters) : new Map<string, string>();
    if (!through && !collapse) return narrowFlame(whole, { root, focus, ignore }, functions);
    const chosen = focus || ignore ? narrowFlame(whole, { root: "", focus, ignore }, functions) : whole;
    const left = collapse ? flameCollapsed(chosen, matching(chosen, collapse, functions)) : chosen;
    if (!through) return narrowFlame(left, { root, focus: "", ignore: "" }, functions);
    return narrowFlame(flameThrough(left, matching(left, through, functions), callers === "1"), { root, focus: "", ignore: "" }, functions);
  }

  // Boxes have short names, and filters are about whole ones. The table knows both.
  private async functions(parameters: Parameters): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    const key = keyOf("table", parameters.source ? { source: parameters.source } : {});
    if (!this.kept.has(key)) return names;
    const table = (await this.open(key)) as TableAnswer;
    for (const row of table.rows) if (row.function) names.set(row.label, row.function);
    return names;
  }

  private async look<T>(resource: string, parameters: Parameters): Promise<T> {
    const key = keyOf(resource, parameters);
    if (!this.kept.has(key)) throw new ApiError(`This report has no answer to that. The profile itself has: ${this.data.command}`, 404);
    return (await this.open(key)) as T;
  }

  private open(key: string): Promise<unknown> {
    const known = this.unpacked.get(key) ?? unpack(this.kept.get(key)!.gzip);
    this.unpacked.delete(key);
    this.unpacked.set(key, known);
    if (this.unpacked.size > MOST_UNPACKED) this.unpacked.delete(this.unpacked.keys().next().value!);
    return known;
  }
}

function partOfTable(table: TableAnswer, parameters: Parameters): TableAnswer {
  const first = Number(parameters.first ?? 0);
  const matches = matcherOf(parameters.match ?? "");
  let rows = matches ? table.rows.filter((row) => matches(row.function ?? "") || matches(row.label)) : table.rows;
  const nameOf = (row: TableRow) => row.function ?? row.label;
  const unsureness = (row: TableRow) => {
    const { value, low, high } = mainEstimate((parameters.cumulative === "1" && row.cum) || row.flat);
    return value > 0 ? (high - low) / value : 0;
  };
  if (parameters.order === "name") rows = [...rows].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
  if (parameters.order === "range") rows = [...rows].sort((a, b) => unsureness(b) - unsureness(a));
  if (parameters.reverse === "1") rows = [...rows].reverse();
  return { ...table, first, count: rows.length, rows: rows.slice(first, first + Number(parameters.rows ?? 200)) };
}

const secondsOf = (text: string | undefined): number | null => {
  const found = /^([0-9.]+)s$/.exec(text ?? "");
  return found ? Number(found[1]) * 1e9 : null;
};

// Of the points that are there; no finer than they are.
function stretchOf(timeline: TimelineAnswer, parameters: Parameters): TimelineAnswer {
  const from = secondsOf(parameters.from) ?? timeline.from_ns;
  const to = secondsOf(parameters.to) ?? timeline.to_ns;
  if (from <= timeline.from_ns && to >= timeline.to_ns) return timeline;
  const inside = timeline.points.map((point) => point.time_ns >= from && point.time_ns <= to);
  const points = timeline.points.filter((_, i) => inside[i]);
  const stacks = timeline.stacks?.map((stack) => ({ ...stack, most_bytes: stack.most_bytes.filter((_, i) => inside[i]) }));
  return { ...timeline, from_ns: from, to_ns: to, points, ...(stacks ? { stacks } : {}) };
}

// The report that a document is; null for a page that a server sent.
export function reportIn(document: Document | undefined): Report | null {
  const element = document?.getElementById("heapgauge-report");
  return element ? new Report(JSON.parse(element.textContent ?? "") as ReportData) : null;
}
