// Asks for what the page shows. Who answers is one of two: the server that the page came from, or the page itself,
// where it is a report that has its answers inside (report.ts).

import { ApiError } from "./answerer";
import type { Answerer, Parameters } from "./answerer";
import { connection } from "./connection";
import type { LeakAnswer, LeakCheckAnswer, LeaksAnswer } from "./leaks";
import type { QueryAnswer } from "./query";
import { reportIn } from "./report";
import type { Snapshot, SnapshotsAnswer } from "./snapshots";
import type { MemoryMapAnswer } from "./memory_map";
import type {
  DiffAnswer, FlameAnswer, FrameAnswer, LifetimesAnswer, ProcessesAnswer, SourcesAnswer, SummaryAnswer, TableAnswer, TimelineAnswer,
} from "./types";
import type { GraphAnswer } from "./graph";
import type { SourceAnswer } from "./source";
import type { HistoryAnswer, PeekAnswer, TreeAnswer } from "./tree";

export { ApiError } from "./answerer";
export type { Parameters } from "./answerer";

export interface Answers {
  sources: SourcesAnswer;
  summary: SummaryAnswer;
  flame: FlameAnswer;
  frame: FrameAnswer;
  table: TableAnswer;
  history: HistoryAnswer;
  tree: TreeAnswer;
  peek: PeekAnswer;
  graph: GraphAnswer;
  source: SourceAnswer;
  timeline: TimelineAnswer;
  processes: ProcessesAnswer;
  diff: DiffAnswer;
  query: QueryAnswer;
  lifetimes: LifetimesAnswer;
  leaks: LeaksAnswer;
  "leaks/record": LeakAnswer;
  snapshots: SnapshotsAnswer;
  "memory-map": MemoryMapAnswer;
}
export type Resource = keyof Answers;

// The page may be below any path (/ui/, /pid/4242/ui/, a mount point): the API is beside its folder.
export function addressOf(resource: string, parameters: Parameters): string {
  const words = new URLSearchParams(parameters);
  // Live at each of several moments: the page has them in one word.
  const moments = parameters["live-at"]?.split(",") ?? [];
  if (moments.length > 1) words.delete("live-at");
  if (moments.length > 1) for (const moment of moments) words.append("live-at", moment);
  const query = words.toString();
  return `../api/v1/${resource}${query ? `?${query}` : ""}`;
}

const server: Answerer = {
  served: true,
  notes: [],
  answer: (resource, parameters, signal) => request(addressOf(resource, parameters), signal ? { signal } : {}),
};

export const answerer: Answerer = reportIn(globalThis.document) ?? server;

export async function ask<R extends Resource>(
  resource: R,
  parameters: Parameters,
  signal?: AbortSignal,
): Promise<Answers[R]> {
  return (await answerer.answer(resource, parameters, signal)) as Answers[R];
}

export type Action = "enable" | "disable" | "sample" | "reset" | "dump";

export interface Done {
  seen: boolean;
  file?: string; // of a dump
  source?: string; // the source that it is now
}

// Changes how a process is sampled; what the server says of it.
export async function control(pid: number, action: Action, bytes?: string): Promise<Done> {
  const query = new URLSearchParams({ pid: String(pid), action, ...(bytes ? { bytes } : {}) });
  return (await request(`../api/v1/control?${query.toString()}`, { method: "POST" })) as Done;
}

// Takes a profile of a process now; the server keeps it.
export async function takeSnapshot(source: string): Promise<Snapshot> {
  const query = new URLSearchParams({ source });
  return (await request(`../api/v1/snapshots?${query.toString()}`, { method: "POST" })) as Snapshot;
}

// Looks at the memory of a process for leaks, which stops it for a moment.
export async function checkLeaks(source: string): Promise<LeakCheckAnswer> {
  return (await request(`../api/v1/leaks/check?${new URLSearchParams({ source }).toString()}`, { method: "POST" })) as LeakCheckAnswer;
}

// Ends the query that was asked with this word.
export async function cancel(run: string): Promise<void> {
  await request(`../api/v1/cancel?${new URLSearchParams({ run }).toString()}`, { method: "POST" });
}

async function request(address: string, how: RequestInit): Promise<unknown> {
  if (!answerer.served) throw new ApiError("A saved report cannot do that: open the profile itself with heapgauge ui.", 409);
  ++connection.pending;
  try {
    return await answerOf(address, how);
  } finally {
    --connection.pending;
  }
}

async function answerOf(address: string, how: RequestInit): Promise<unknown> {
  const signal = how.signal;
  let response: Response;
  try {
    response = await fetch(address, how);
  } catch (error) {
    if (signal?.aborted) throw error;
    connection.lost();
    throw new ApiError("the server does not answer; was it stopped?", 0);
  }
  connection.answered();
  let answer: unknown;
  try {
    answer = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(`the server answered ${response.status}, and no JSON`, response.status);
  }
  if (!response.ok) {
    const message = (answer as { error?: unknown }).error;
    throw new ApiError(typeof message === "string" ? message : `the server answered ${response.status}`, response.status);
  }
  return answer;
}
