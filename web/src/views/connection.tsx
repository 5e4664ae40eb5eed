// That the server does not answer, and what the page does about it.

import { useEffect } from "preact/hooks";
import { ask } from "../api/client";
import { connection } from "../api/connection";
import { useListened } from "./hooks";

const AGAIN_MS = 1000;

export function ConnectionBanner() {
  const since = useListened(connection, () => connection.lostAt);
  useEffect(() => {
    if (!since) return;
    // Whatever it answers: it is there again.
    const timer = setInterval(() => void ask("sources", {}).catch(() => undefined), AGAIN_MS);
    return () => clearInterval(timer);
  }, [since]);
  if (!since) return null;
  return (
    <p class="banner" role="alert" data-testid="lost">
      <b>The server does not answer</b> since {since.toLocaleTimeString()}. What is shown is from before; the page goes on by itself when the server is back.
    </p>
  );
}
