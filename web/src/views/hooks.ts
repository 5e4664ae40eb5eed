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

interface Answered<T> {
  question: string | null; // which one the server answered, or could not be asked
  data: T | null;
  error: string | null;
}

// What `look` says of something that tells its listeners of changes. One that comes between the first drawing and the
// listening is not missed.
export function useListened<T>(from: { listen(listener: () => void): () => void }, look: () => T): T {
  const [seen, setSeen] = useState<T>(look);
  useEffect(() => {
    setSeen(look);
    return from.listen(() => setSeen(look));
  }, [from]);
  return seen;
}

// How often the server came back after it was gone: what is on the page is asked for again then.
export function useRound(): number {
  return useListened(connection, () => connection.round);
}

// Asks again whenever the parameters change; null asks nothing. `loading` holds from the first drawing with the new
// parameters on, so that what answered the old ones is never shown as theirs. That the server does not answer is said
// once for the whole page, which keeps what it has.
export function useAsk<R extends Resource>(resource: R, parameters: Parameters | null): Asked<Answers[R]> {
  const round = useRound();
  const question = parameters === null ? null : `${resource} ${round} ${JSON.stringify(parameters)}`;
  const [answered, setAnswered] = useState<Answered<Answers[R]>>({ question: null, data: null, error: null });
  const last = useRef(parameters);
  last.current = parameters;
  const exports = useContext(Page)?.exports;
  useEffect(() => (last.current === null ? undefined : exports?.note({ resource, parameters: last.current })), [exports, question]);
  useEffect(() => {
    const wanted = last.current;
    if (question === null || wanted === null) return;
    const controller = new AbortController();
    ask(resource, wanted, controller.signal).then(
      (data) => setAnswered({ question, data, error: null }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const message = error instanceof ApiError ? error.message : String(error);
        const unreachable = error instanceof ApiError && error.status === 0;
        setAnswered((before) => ({ question, data: before.data, error: unreachable ? before.error : message }));
      },
    );
    return () => controller.abort();
  }, [question]);
  return { data: answered.data, error: answered.error, loading: question !== null && answered.question !== question };
}
