// Two sides of a comparison as words of the address: what is new has the words of every view (source, at, from, to,
// peak), its base the same words with "base" in front.

import type { SourceFacts } from "../api/types";
import type { State } from "./state";

export type Side = "base" | "new";

const WHEN = ["at", "from", "to", "peak"] as const;
type When = (typeof WHEN)[number];

export function wordOf(side: Side, word: When): string {
  return side === "new" ? word : `base-${word}`;
}

export interface Chosen {
  source: string;
  at: string;
  from: string;
  to: string;
  peak: string;
}

// `page` is the source of the page: the base is another moment of it unless it says otherwise.
export function chosenOf(state: State, side: Side, page: string): Chosen {
  const when = (word: When) => state[wordOf(side, word)] ?? "";
  const source = side === "base" ? state.base || page : page;
  return { source, at: when("at"), from: when("from"), to: when("to"), peak: when("peak") };
}

// The words that make this the choice of a side.
export function wordsFor(side: Side, chosen: Partial<Chosen>): Record<string, string> {
  const words: Record<string, string> = { [side === "base" ? "base" : "source"]: chosen.source ?? "" };
  for (const word of WHEN) words[wordOf(side, word)] = chosen[word] ?? "";
  return words;
}

export function swapped(state: State, page: string): Record<string, string> {
  const base = chosenOf(state, "base", page);
  const now = chosenOf(state, "new", page);
  return { ...wordsFor("new", base), ...wordsFor("base", now), root: "" };
}

export function isSame(state: State, page: string): boolean {
  return JSON.stringify(chosenOf(state, "base", page)) === JSON.stringify(chosenOf(state, "new", page));
}

export type Moment = "end" | "peak" | "at" | "range";

export function momentOf(chosen: Chosen): Moment {
  if (chosen.from || chosen.to) return "range";
  if (chosen.peak || chosen.at === "peak") return "peak";
  return chosen.at && chosen.at !== "end" ? "at" : "end";
}

// What one side can be, by what it is: the file or process itself, then what is kept of each process.
export interface Group {
  title: string;
  sources: SourceFacts[];
}

export function grouped(sources: SourceFacts[]): Group[] {
  const groups: Group[] = [{ title: "", sources: [] }];
  const add = (title: string, one: SourceFacts) => {
    const group = groups.find((other) => other.title === title);
    if (group) group.sources.push(one);
    else groups.push({ title, sources: [one] });
  };
  const ended = sources.filter((one) => one.kind === "process" && !one.live);
  for (const one of sources) {
    if (one.taken_unix_ns !== undefined) add(`snapshots of ${one.title.replace(/ at [\d:]+ UTC.*$/, "")}`, one);
    else if (!ended.includes(one)) add("", one);
  }
  for (const one of ended) add("ended", one);
  return groups.filter((group) => group.sources.length > 0);
}
