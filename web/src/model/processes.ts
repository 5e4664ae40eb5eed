// Sorting and choosing processes.

import type { ProcessAnswer } from "../api/types";

export type ProcessKey = "pid" | "program" | "live" | "rate" | "resident" | "samples" | "age";

function valueOf(process: ProcessAnswer, key: ProcessKey): number | string {
  switch (key) {
    case "pid": return process.pid;
    case "program": return process.name ?? "";
    case "live": return process.live_bytes?.value ?? -1;
    case "rate": return process.allocation_rate ?? -1;
    case "resident": return process.resident_bytes ?? -1;
    case "samples": return process.samples ?? -1;
    case "age": return (process.duration_ns ?? -1) - (process.forked_ns ?? 0);
  }
}

const isText = (key: ProcessKey) => key === "program";

// `word` is a key, the largest (or of texts the first) one at the top; with "-" in front the other way round. Without a
// word they stay as the server has them: running ones first, then the newest.
export function sortProcesses(processes: ProcessAnswer[], word: string): ProcessAnswer[] {
  if (!word) return processes;
  const reverse = word.startsWith("-");
  const key = (reverse ? word.slice(1) : word) as ProcessKey;
  const sign = (isText(key) ? 1 : -1) * (reverse ? -1 : 1);
  return [...processes].sort((a, b) => {
    const x = valueOf(a, key);
    const y = valueOf(b, key);
    return sign * (x < y ? -1 : x > y ? 1 : 0) || a.pid - b.pid;
  });
}

// Every word of the text is in its number, name, state or command line.
export function matchProcess(process: ProcessAnswer, text: string): boolean {
  const all = `${process.pid} ${process.name ?? ""} ${process.state_text ?? ""} ${(process.command_line ?? []).join(" ")}`.toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}
