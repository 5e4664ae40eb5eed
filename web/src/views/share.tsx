// "Share": an address that shows others the same. What a process holds now is another thing a second later, so a
// snapshot is taken of one that runs, and the address is about that. Of a trace that is being written, it is about the
// moment up to which there is one.

import { useEffect, useState } from "preact/hooks";
import { ApiError, ask, takeSnapshot } from "../api/client";
import { grows, runs } from "../model/sources";
import { upTo } from "../model/time";
import { usePage } from "./hooks";

const SAID_MS = 4000;

export function ShareButton() {
  const { state, store, source, hold, lookAgain } = usePage();
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(""), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  if (!source) return null;
  const share = async () => {
    try {
      if (grows(source)) {
        const summary = await ask("summary", { source: source.id, hold, brief: "1" });
        store.change(upTo(state, summary.recording?.duration_ns ?? 0));
      }
      if (runs(source)) {
        const taken = await takeSnapshot(source.id);
        lookAgain();
        store.change({ source: taken.id, at: "", peak: "", ...(state.base === source.id ? { base: "" } : {}) });
      }
      await navigator.clipboard.writeText(window.location.href);
      setSaid(runs(source) ? "a snapshot was taken, its address is copied" : "the address is copied");
    } catch (problem) {
      setSaid(problem instanceof ApiError ? problem.message : "copy the address of this page: it shows others the same");
    }
  };
  return (
    <span class="share">
      <button type="button" title={runs(source) ? "Take a snapshot and copy its address: it shows others what you see" : "Copy the address: it shows others what you see"} onClick={() => void share()}>Share</button>
      {said && <span class="said-small" role="status">{said}</span>}
    </span>
  );
}
