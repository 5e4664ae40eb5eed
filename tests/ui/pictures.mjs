// Pictures of every view that the page has, light and dark, for docs/ui:
//
//   HEAPGAUGE_BUILD=$PWD/build node tests/ui/pictures.mjs docs/ui
//
// The views are those of the tabs, so that none is forgotten.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, folder, lineOf, open, runAll, serve, start, stop, test, until } from "./harness.mjs";

const to = process.argv[2];
process.argv.splice(2);
assert.ok(to, "give the directory that they go to");

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);

// What a view is shown with, where its beginning is not much to look at.
const WORDS = {
  flame: { value: "allocated" },
  table: { sort: "allocated", cumulative: "1" },
  tree: { value: "allocated" },
  compare: { "base-at": "0.5s", at: "2s" },
  query: { sql: "SELECT function, live_bytes, allocated_bytes FROM stacks ORDER BY allocated_bytes DESC LIMIT 10" },
};

const settled = () => document.querySelector("main section.view, main .empty, main .problem") && !document.querySelector("[aria-busy=true], main .loading") && !document.body.textContent.includes("reading…");

test("pictures of all views", async () => {
  // Not from the folder of the build: its path would be in the pictures.
  const copy = join(folder, "grow_on_request");
  copyFileSync(join(BUILD, "bin/targets/grow_on_request"), copy);
  const program = start(copy, ["--cache", "64M"], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "64K" });
  await lineOf(program.stdout, /ready/);
  const done = lineOf(program.stdout, /ok/);
  program.stdin.write("a 48\n");
  await done;
  const server = await serve(TRACE, String(program.pid));
  const first = await open(server.url);
  await until(first, settled);
  const views = await first.locator("nav[aria-label=Views] a").evaluateAll((links) => links.map((link) => new URLSearchParams(link.hash.slice(1)).get("view")));
  const [trace, live] = await first.locator(".source option").evaluateAll((list) => list.map((option) => option.value));
  await first.context().close();
  for (const theme of ["light", "dark"]) {
    for (const view of views) {
      // A program that runs where a trace has nothing to show, and only this one: others are nobody's business.
      const words = view === "processes" ? { process: `grow_on_request running ${program.pid}` } : (WORDS[view] ?? {});
      const source = view === "processes" || view === "leaks" ? live : trace;
      const page = await open(`${server.url}#${new URLSearchParams({ view, source, ...words })}`, { colorScheme: theme });
      await until(page, settled);
      await page.waitForLoadState("networkidle").catch(() => undefined);
      await page.screenshot({ path: join(to, `${view}-${theme}.png`) });
      await page.context().close();
    }
  }
  await stop(program, "SIGKILL");
  await server.stop();
});

await runAll();
