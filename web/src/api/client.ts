// Asks the server that the page came from. The page may be below any path (/ui/, /pid/4242/ui/, a mount point):
// the API is beside its folder.

import type {
  DiffAnswer, FlameAnswer, FrameAnswer, LifetimesAnswer, ProcessesAnswer, QueryAnswer, SourcesAnswer, SummaryAnswer, TableAnswer, TimelineAnswer,
} from "./types";

export interface Answers {
  sources: SourcesAnswer;
  summary: SummaryAnswer;
  flame: FlameAnswer;
  frame: FrameAnswer;
  table: TableAnswer;
  timeline: TimelineAnswer;
  processes: ProcessesAnswer;
  diff: DiffAnswer;
  query: QueryAnswer;
  lifetimes: LifetimesAnswer;
}
export type Resource = keyof Answers;
export type Parameters = Readonly<Record<string, string>>;

export class ApiError extends Error {
  constructor(message: string, readonly status: number) {
    super(message);
  }
}

export function addressOf(resource: Resource, parameters: Parameters): string {
  const query = new URLSearchParams(parameters).toString();
  return `../api/v1/${resource}${query ? `?${query}` : ""}`;
}

export async function ask<R extends Resource>(
  resource: R,
  parameters: Parameters,
  signal?: AbortSignal,
): Promise<Answers[R]> {
  return (await request(addressOf(resource, parameters), signal ? { signal } : {})) as Answers[R];
}

export type Action = "enable" | "disable" | "sample" | "reset" | "dump";

// Changes how a process is sampled; what the server says of it.
export async function control(pid: number, action: Action, bytes?: string): Promise<{ seen: boolean; file?: string }> {
  const query = new URLSearchParams({ pid: String(pid), action, ...(bytes ? { bytes } : {}) });
  return (await request(`../api/v1/control?${query.toString()}`, { method: "POST" })) as { seen: boolean; file?: string };
}

async function request(address: string, how: RequestInit): Promise<unknown> {
  const signal = how.signal;
  let response: Response;
  try {
    response = await fetch(address, how);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("the server does not answer; was it stopped?", 0);
  }
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
