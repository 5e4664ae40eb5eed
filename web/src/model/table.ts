// The columns of the table: which there are, what stands in them, and what sorts by them. As `heapgauge top` has them.

import type { Figures, TableAnswer, TableRow } from "../api/types";
import { hasRange, mainCountText, mainEstimate, mainText, rangeText } from "./figures";
import { formatBytes, formatDuration, formatPlusMinus } from "./format";
import { countOf, sharedFigure, shareText } from "./rows";
import type { State } from "./state";

export interface Column {
  word: string;
  title: string;
  explained: string;
  class: string;
  text: (row: TableRow) => string;
  hint?: (row: TableRow) => string;
  words?: Record<string, string>; // of the address, which sort by it
  isSorted?: (state: State) => boolean;
}

export function columnsOf(table: TableAnswer): Column[] {
  const { unit, total, sort } = table;
  const both = table.rows.some((row) => row.cum);
  const cum = (row: TableRow): Figures => row.cum ?? row.flat;
  const share = (f: Figures) => shareText(sharedFigure(f, sort), sharedFigure(total, sort));
  // Not beside the figure that it is of, unless that is the first.
  const shares = { allocated: ["of alloc.", "share of all that was ever allocated"], count: ["of objects", "share of all blocks"] }[sort as string] ?? ["share", "of all"];
  const count = (f: Figures) => countOf(f) ?? 0;
  // What grew and shrank by the same is 0; where there was nothing at all is a dash.
  const orNothing = (f: Figures, text: string) => (mainEstimate(f).value === 0 && count(f) === 0 ? "-" : text);
  const main = (f: Figures) => orNothing(f, mainText(mainEstimate(f).value, table));
  const byFigure = (key: string, cumulative: boolean) => (state: State) =>
    !state.order && sort === key && (state.cumulative === "1") === cumulative;
  const columns: Column[] = [
    {
      word: "flat", title: table.name, explained: "what it asked for itself", class: "", text: (row) => main(row.flat),
      words: { sort: "" }, isSorted: byFigure("live", false),
    },
    {
      word: "range", title: "95 % range", explained: "where the true figure is, 95 times in 100; sorts by how unsure it is", class: "broad dim",
      text: (row) => rangeText(mainEstimate(row.flat), unit), words: { order: "range" }, isSorted: (state) => state.order === "range",
    },
    { word: "share", title: shares[0]!, explained: shares[1]!, class: "narrow dim", text: (row) => share(row.flat) },
  ];
  if (both) {
    columns.push({
      word: "cum", title: "cum", explained: "with all it calls", class: "", text: (row) => main(cum(row)),
      hint: (row) => rangeText(mainEstimate(cum(row)), unit), words: { sort: "", cumulative: "1" }, isSorted: byFigure("live", true),
    });
    columns.push({ word: "cum-share", title: shares[0]!, explained: `${shares[1]!}, with all it calls`, class: "narrow dim", text: (row) => share(cum(row)) });
  }
  if (countOf(total) !== undefined) {
    columns.push({
      word: "objects", title: "objects", explained: "blocks", class: "slim", text: (row) => orNothing(row.flat, mainCountText(count(row.flat), table)),
      words: { sort: "count" }, isSorted: byFigure("count", false),
    });
  }
  if (total.allocated_bytes && total.live_bytes) {
    columns.push({
      word: "allocated", title: "allocated", explained: "ever, also what was freed since", class: "", text: (row) => formatBytes(row.flat.allocated_bytes?.value ?? 0),
      words: { sort: "allocated" }, isSorted: byFigure("allocated", false),
    });
    columns.push({
      word: "allocated-range", title: "±", explained: "of what was allocated", class: "narrow dim",
      text: (row) => (row.flat.allocated_bytes ? formatPlusMinus(row.flat.allocated_bytes.value, row.flat.allocated_bytes.low, row.flat.allocated_bytes.high) : ""),
    });
  }
  if (total.mean_age_ns !== undefined) {
    columns.push({
      word: "age", title: "age", explained: "mean age of what is live", class: "narrow",
      text: (row) => (row.flat.mean_age_ns === undefined ? "-" : formatDuration(row.flat.mean_age_ns)),
      hint: (row) => (row.flat.oldest_age_ns === undefined ? "" : `the oldest: ${formatDuration(row.flat.oldest_age_ns)}`),
      words: { sort: "age" }, isSorted: byFigure("age", false),
    });
  }
  // Figures that are exact have no range.
  const unsure = (f: Figures) => hasRange(mainEstimate(f)) || (f.allocated_bytes !== undefined && hasRange(f.allocated_bytes));
  const exact = !table.rows.some((row) => unsure(row.flat));
  return exact ? columns.filter((column) => !column.word.endsWith("range")) : columns;
}
