// How views see the state and the API.

import { createContext } from "preact";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, ask } from "../api/client";
import { connection } from "../api/connection";
import type { Answers, Parameters, Resource } from "../api/client";
import type { SourceFacts } from "../api/types";
import { filterOf } from "../model/state";
import type { State, Store } from "../model/state";
import type { Exports } from "./exports";

export interface PageContext {
  store: Store;
  state: State;
  source: SourceFacts | null;
  sources: SourceFacts[];
  hold: string; // which snapshot of a process that runs; changes as time goes by
  exports: Exports; // what can be saved of the view
  lookAgain: () => void; // there may be other sources now
}

export const Page = createContext<PageContext | null>(null);

export function usePage(): PageContext {
  const page = useContext(Page);
  if (!page) throw new Error("a view outside of the page");
  return page;
}

// The filter of the page, as parameters of any resource.
export function useFilter(): Parameters {
  const { state, source, hold } = usePage();
  return useMemo(() => {
    const filter: Record<string, string> = { ...filterOf(state) };
    if (source) filter.source = source.id;
    if (source?.live) filter.hold = hold;
    return filter;
  }, [state, source, hold]);
}

export interface Asked<T> {
  data: T | null; // of the last question that was answered, while the next is under way
  error: string | null;
  loading: boolean;
}

// How often the server came back after it was gone: what is on the page is asked for again then.
export function useRound(): number {
  const [round, setRound] = useState(connection.round);
  useEffect(() => connection.listen(() => setRound(connection.round)), []);
  return round;
}

// Asks again whenever the parameters change; null asks nothing. That the server does not answer is said once for the
// whole page, which keeps what it has.
export function useAsk<R extends Resource>(resource: R, parameters: Parameters | null): Asked<Answers[R]> {
  const [asked, setAsked] = useState<Asked<Answers[R]>>({ data: null, error: null, loading: parameters !== null });
  const key = parameters === null ? null : JSON.stringify(parameters);
  const last = useRef(parameters);
  last.current = parameters;
  const exports = useContext(Page)?.exports;
  useEffect(() => (last.current === null ? undefined : exports?.note({ resource, parameters: last.current })), [exports, resource, key]);
  const round = useRound();
  useEffect(() => {
    const wanted = last.current;
    if (key === null || wanted === null) return;
    const controller = new AbortController();
    setAsked((before) => ({ ...before, loading: true }));
    ask(resource, wanted, controller.signal).then(
      (data) => setAsked({ data, error: null, loading: false }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const message = error instanceof ApiError ? error.message : String(error);
        const unreachable = error instanceof ApiError && error.status === 0;
        setAsked((before) => (unreachable ? { ...before, loading: false } : { ...before, error: message, loading: false }));
      },
    );
    return () => controller.abort();
  }, [resource, key, round]);
  return asked;
}
