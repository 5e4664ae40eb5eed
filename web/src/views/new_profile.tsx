// "New profile": has the server take a snapshot of a process and keep it.

import { useState } from "preact/hooks";
import { ApiError, takeSnapshot } from "../api/client";
import type { Snapshot } from "../api/snapshots";
import { usePage } from "./hooks";

export function NewProfile({ source, title, onTaken }: { source: string; title: string; onTaken: (taken: Snapshot) => void }) {
  const { lookAgain } = usePage();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const take = () => {
    setBusy(true);
    setError("");
    takeSnapshot(source)
      .then(
        (taken) => {
          lookAgain();
          onTaken(taken);
        },
        (problem: unknown) => setError(problem instanceof ApiError ? problem.message : String(problem)),
      )
      .finally(() => setBusy(false));
  };
  return (
    <>
      <button type="button" class="new-profile" disabled={busy} title={title} onClick={take}>New profile</button>
      {error && <span class="inline-problem" role="alert">{error}</span>}
    </>
  );
}
