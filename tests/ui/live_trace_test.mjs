// A trace that is looked at while heapgauge run --trace writes it: every view goes along, and it is final in the end.

import assert from "node:assert/strict";
import { join } from "node:path";
import { BUILD, folder, heapgauge, HEAPGAUGE, lineOf, open, picture, runAll, serve, start, test, until } from "./harness.mjs";

const TRACE = join(folder, "growing.hgt");

// The recorder writes what there is once a second if there are a thousand events.
async function grow(program, megabytes) {
  const done = lineOf(program.stdout, /ok/);
  program.stdin.write(`a ${megabytes}\n`);
  await done;
}

const ended = (child) => new Promise((resolve) => child.on("exit", resolve));
const peakOf = (page) => page.evaluate(() => parseFloat(document.querySelector("[data-testid=timeline-total] b").textContent));

test("timeline, overview and flame graph advance, and become final when the program ends", async () => {
  const run = start(HEAPGAUGE, ["run", "--trace", "-o", TRACE, "--", join(BUILD, "bin/targets/grow_on_request")]);
  await lineOf(run.stdout, /ready/);
  await grow(run, 100);
  for (let i = 0; i < 100 && heapgauge("timeline", "--json", "--points", "1", TRACE).includes('"allocated_blocks": 0'); ++i) await new Promise((go) => setTimeout(go, 100));
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=timeline`);
  await until(page, () => /^1\d\d MB/.test(document.querySelector("[data-testid=timeline-total] b")?.textContent ?? ""));
  assert.match(await page.getByRole("combobox", { name: "Source" }).locator("option").first().innerText(), /growing\.hgt \(being written\)/);
  const before = await peakOf(page);
  const allocated = await page.getByTestId("timeline-total").innerText();
  await grow(run, 60);
  await until(page, (peak) => parseFloat(document.querySelector("[data-testid=timeline-total] b").textContent) > peak + 50, before);
  assert.notEqual(await page.getByTestId("timeline-total").innerText(), allocated);
  // The overview says that it is being written, and offers no profile to be taken of it.
  await page.getByRole("link", { name: "Overview" }).click();
  await until(page, () => /^being written, \d/.test(document.querySelector("[data-testid=state]")?.textContent ?? ""));
  assert.equal(await page.getByRole("button", { name: "New profile" }).count(), 0);
  const total = page.getByTestId("live-total");
  const now = parseFloat(await total.innerText());
  await grow(run, 70);
  await until(page, (live) => parseFloat(document.querySelector("[data-testid=live-total]").textContent) > live + 60, now);
  await picture(page, "overview-growing-light");
  // Paused, it stands still.
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("link", { name: "Flame graph" }).click();
  const flame = () => page.evaluate(() => document.querySelector("[data-testid=flame-total] b")?.textContent.trim() ?? "");
  await until(page, () => document.querySelector("[data-testid=flame-total] b"));
  const still = await flame();
  await grow(run, 80);
  await page.getByRole("button", { name: "Go on" }).click();
  await until(page, (text) => document.querySelector("[data-testid=flame-total] b").textContent.trim() !== text, still);
  // The end.
  run.stdin.end();
  await ended(run);
  await until(page, () => !/being written/.test(document.querySelector("header select").textContent));
  const all = /all (\S+ \S+?B)/.exec(heapgauge("flame", "--text", TRACE))[1];
  await until(page, (text) => document.querySelector("[data-testid=flame-total] b").textContent.trim() === text, all);
  assert.equal(await page.getByRole("button", { name: "Pause" }).count(), 0);
  await page.getByRole("link", { name: "Overview" }).click();
  await until(page, () => /^ended after/.test(document.querySelector("[data-testid=state]")?.textContent ?? ""));
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  await server.stop();
});

await runAll();
