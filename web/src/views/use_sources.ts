// The sources that the server has, looked up again as time goes by, and the one that the page is about.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, ask } from "../api/client";
import type { SourceFacts } from "../api/types";
import { useRound } from "./hooks";

const AGAIN_MS = 4000;

export function isSnapshot(id: string | null): boolean {
  return id !== null && id.startsWith("snapshot-");
}

export interface KnownSources {
  sources: SourceFacts[] | null;
  chosen: string | null; // by the server, where the address names none
  error: string | null;
  lookAgain: () => void;
}

export function useSources(wanted: string | undefined): KnownSources {
  const [sources, setSources] = useState<SourceFacts[] | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [looks, setLooks] = useState(0);
  const round = useRound();
  const lookAgain = useCallback(() => setLooks((before) => before + 1), []);
  const newest = useRef(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const number = looks;
    // Answers may be slow: the next look comes after this one, and only an older answer is dropped.
    const then = (use: () => void) => {
      if (number >= newest.current) {
        newest.current = number;
        use();
      }
      if (!over) timer = setTimeout(lookAgain, AGAIN_MS);
    };
    ask("sources", {}).then(
      (answer) => then(() => {
        // The same list is the same object, so that nothing is drawn again.
        setSources((before) => (JSON.stringify(before) === JSON.stringify(answer.sources) ? before : answer.sources));
        setChosen((before) => before ?? answer.chosen);
        setError(null);
      }),
      (problem: unknown) => then(() => {
        if (problem instanceof ApiError && problem.status === 0) return;
        setError(problem instanceof Error ? problem.message : String(problem));
      }),
    );
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [wanted, looks, round, lookAgain]);
  return { sources, chosen, error, lookAgain };
}

// The source by that id. One that was there and is not any more stays as it was last known: a process may end and
// leave nothing, and the page keeps its last figures.
export function useSource(sources: SourceFacts[] | null, id: string | null): { source: SourceFacts | null; gone: boolean } {
  const last = useRef<SourceFacts | null>(null);
  return useMemo(() => {
    const found = sources?.find((one) => one.id === id);
    if (found) {
      last.current = found;
      return { source: found, gone: false };
    }
    if (last.current && last.current.id === id) {
      if (last.current.live) last.current = { ...last.current, live: false };
      return { source: last.current, gone: true };
    }
    return { source: null, gone: false };
  }, [sources, id]);
}
