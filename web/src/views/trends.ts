// How the rows of the table went over time: of a trace the server knows; of a program that runs, what the page has seen
// since it was opened.

import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api/client";
import type { HistoryAnswer } from "../api/tree";
import type { TableAnswer, TableRow } from "../api/types";
import { mainEstimate } from "../model/figures";
import { withPoint } from "../model/sparkline";
import type { Trend } from "../model/sparkline";
import { usePage } from "./hooks";

const PAGE = 100;
const SEEN = 150; // points that are kept of a program that runs: five minutes

export interface Trends {
  of: (index: number, row: TableRow) => Trend | null;
  explained: string;
}

const nameOf = (row: TableRow) => [row.function, row.file, row.module, row.label, row.place].join("\n");

export function useTrends(first: TableAnswer, parameters: Readonly<Record<string, string>>, pages: ReadonlyMap<number, TableRow[]>): Trends | null {
  const { source } = usePage();
  const [known, setKnown] = useState<ReadonlyMap<number, HistoryAnswer>>(new Map());
  const seen = useRef({ shape: "", trends: new Map<string, Trend>() });
  const cumulative = parameters.cumulative === "1";
  const count = pages.size;
  useEffect(() => setKnown(new Map()), [first]);
  useEffect(() => {
    if (source?.kind !== "trace") return;
    const controller = new AbortController();
    for (const page of pages.keys()) {
      if (known.has(page)) continue;
      ask("history", { ...parameters, first: String(page * PAGE) }, controller.signal).then(
        (answer) => setKnown((before) => new Map(before).set(page, answer)),
        () => undefined, // the table itself says what is wrong
      );
    }
    return () => controller.abort();
  }, [first, count, source?.kind]);
  if (source?.kind === "trace") {
    if (known.get(0)?.known === false) return null;
    return {
      explained: "live bytes from the beginning to the end",
      of: (index) => {
        const answer = known.get(Math.floor(index / PAGE));
        const values = answer?.live_bytes[index % PAGE];
        return answer && values ? { times: answer.times_ns, values } : null;
      },
    };
  }
  if (!source?.live) return null;
  // One point for each look; another figure or filter begins anew.
  const shape = JSON.stringify({ ...parameters, hold: "", order: "", reverse: "", match: "" });
  if (seen.current.shape !== shape) seen.current = { shape, trends: new Map() };
  const { trends } = seen.current;
  const time = Date.now();
  for (const row of first.rows) {
    const trend = trends.get(nameOf(row));
    const value = mainEstimate((cumulative && row.cum) || row.flat).value;
    if (trend && time - trend.times[trend.times.length - 1]! < 1500) continue;
    trends.set(nameOf(row), withPoint(trend, time, value, SEEN));
  }
  return { explained: "live bytes since this page was opened", of: (_, row) => trends.get(nameOf(row)) ?? null };
}
