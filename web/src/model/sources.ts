// What kind of thing a source is, where views behave differently.

import type { SourceFacts } from "../api/types";

// A program that runs: profiles can be taken of it.
export function runs(source: SourceFacts | null | undefined): boolean {
  return source?.kind === "process" && source.live;
}

// A trace that is still being written.
export function grows(source: SourceFacts | null | undefined): boolean {
  return source?.kind === "trace" && source.live;
}

// How it is called in a list.
export function labelOf(source: SourceFacts): string {
  if (grows(source)) return `${source.title} (being written)`;
  return `${source.title}${source.live ? " (live)" : ""}`;
}

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

// What a program is called, as on the command line (Recording::name): by the words it was started with, whatever file
// they lead to.
export function programName({ program, command_line }: { program: string; command_line: string[] }): string {
  // A process that says there what it does: "nginx: master process nginx -c /etc/nginx.conf".
  const shown = baseName((command_line[0] ?? "").split(": ")[0]!).replace(/^-/, ""); // a login shell
  return shown || baseName(program);
}
