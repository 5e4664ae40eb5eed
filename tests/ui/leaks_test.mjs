// The Leaks view in a real browser: a look at the memory of a running program, what it found, and the way to other views.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, folder, HEAPGAUGE, heapgauge, lineOf, open, picture, runAll, serve, start, stop, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);

const hashOf = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const textOf = async (page, id) => (await page.getByTestId(id).innerText()).replace(/\s+/g, " ").trim();

async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

// A program that loses and holds blocks as it is told, sampled so often that figures are nearly exact.
async function leaker(...words) {
  const program = start(join(BUILD, "bin/targets/leaks_on_request"), [], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "256" });
  program.tell = async (word) => {
    const done = lineOf(program.stdout, /done/);
    program.stdin.write(`${word}\n`);
    await done;
  };
  for (const word of words) await program.tell(word);
  return program;
}

async function check(page, name, number) {
  await page.getByRole("button", { name }).click();
  await page.getByRole("status").filter({ hasText: `Check ${number}: the program stood still for` }).waitFor();
  await page.locator(".leaks[aria-busy=false]").waitFor();
}

test("a running program is looked at, and the page says what the command line says", async () => {
  const program = await leaker("lose", "hold");
  const server = await serve();
  const page = await open(`${server.url}#view=leaks&source=${program.pid}`);
  // Before: what the file knows, and how to know more.
  await page.getByText("memory was not looked at").waitFor();
  await page.getByText("copies the program while it stands still").waitFor();
  await page.getByRole("heading", { name: /^What is live \d/ }).waitFor();
  await check(page, "Check now", 1);
  const said = JSON.parse(heapgauge("leaks", "--json", "--error-exitcode", "0", String(program.pid)));
  assert.ok(said.summary.definite.blocks > 0);
  // Nothing changed meanwhile, so both see the same blocks, and print the same texts.
  const printed = heapgauge("leaks", "--error-exitcode", "0", String(program.pid)).replaceAll("~ ", "≈ ").replaceAll("+-", "±");
  for (const [kind, title] of [["definite", "definitely lost"], ["indirect", "indirectly lost"], ["possible", "possibly lost"], ["reachable", "still reachable"]]) {
    const [, bytes, blocks] = new RegExp(`${title}: (.*?) in (.*? blocks)`).exec(printed);
    const shown = await textOf(page, `kind-${kind}`);
    assert.ok(shown.includes(bytes), `${bytes} in ${shown}`);
    if (said.summary[kind].blocks > 0) assert.ok(shown.includes(blocks), `${blocks} in ${shown}`);
  }
  assert.match(await textOf(page, "verdict"), /leaks_on_request leaks: about/);
  assert.match(await textOf(page, "pause"), /^[\d.]+ ms$/);
  const suspects = await page.getByTestId("suspects").locator("li .why").allInnerTexts();
  assert.deepEqual(suspects.map((text) => text.split(" lost ")[0]), said.suspects.suspected.map((suspect) => suspect.function));
  assert.equal(await page.getByTestId("records").locator("tbody tr").count(), said.records.length);
  await picture(page, "leaks-small-light");
  await quiet(page);
  await stop(program, "SIGKILL");
  await server.stop();
});

test("what was known before a check is never shown as what it found", async () => {
  const program = await leaker("lose");
  const server = await serve();
  const page = await open(`${server.url}#view=leaks&source=${program.pid}`);
  await page.getByRole("button", { name: "Check now" }).waitFor();
  await page.locator(".leaks[aria-busy=false]").waitFor();
  // At the very moment that the page says that it has checked, before it can have asked what was found.
  const busy = page.evaluate(() => new Promise((resolve) => {
    new MutationObserver(() => {
      if (document.querySelector("[role=status].said")) resolve(document.querySelector(".leaks").getAttribute("aria-busy"));
    }).observe(document.body, { childList: true, subtree: true });
  }));
  await check(page, "Check now", 1);
  assert.equal(await busy, "true");
  await quiet(page);
  await stop(program, "SIGKILL");
  await server.stop();
});

test("a suspect shows its evidence, its stack, who holds it and how to silence it", async () => {
  const program = await leaker("lose", "hold");
  const server = await serve();
  const page = await open(`${server.url}#view=leaks&source=${program.pid}`);
  await check(page, "Check now", 1);
  await page.getByRole("button", { name: /LoseList/ }).first().click();
  const details = page.getByTestId("leak-details");
  await details.getByText("no pointer leads to").waitFor();
  await details.locator(".leak-stack .function").first().waitFor();
  assert.match(await details.locator(".leak-stack").first().innerText(), /::LoseList [\s\S]*main/);
  assert.match(await textOf(page, "owner"), /Nothing\. The largest of its blocks is at/);
  await details.getByText("Live with it").click();
  assert.match(await textOf(page, "suppression"), /Memcheck:Leak/);
  await details.getByRole("button", { name: "LeakSanitizer" }).click();
  await until(page, () => document.querySelector("[data-testid=suppression]").textContent.startsWith("leak:"));
  await picture(page, "leaks-details-light");
  // Whoever opens the address sees the same one open.
  const other = await open(page.url());
  await other.getByTestId("leak-details").locator(".leak-stack .function").first().waitFor();
  assert.equal(await other.getByTestId("leak-details").locator(".leak-stack").first().innerText(), await details.locator(".leak-stack").first().innerText());
  await quiet(other);
  // What is held is held by a variable with a name.
  await page.getByTestId("records").getByRole("button", { name: /HoldBlock/ }).click();
  await page.getByTestId("owner").waitFor();
  assert.match(await textOf(page, "owner"), /held by (\(anonymous namespace\)::)?held/);
  await quiet(page);
  await stop(program, "SIGKILL");
  await server.stop();
});

test("what is lost is a figure of the flame graph", async () => {
  const program = await leaker("lose", "hold");
  const server = await serve();
  const page = await open(`${server.url}#view=leaks&source=${program.pid}`);
  await check(page, "Check now", 1);
  await page.getByRole("button", { name: /LoseList/ }).first().click();
  await page.getByRole("link", { name: "of what is lost" }).click();
  await page.getByTestId("flame-canvas").waitFor();
  assert.equal((await hashOf(page)).value, "lost");
  const figure = page.getByRole("combobox", { name: "figure" });
  await until(page, () => [...document.querySelectorAll(".filters option")].some((option) => option.textContent === "lost"));
  assert.equal(await figure.evaluate((select) => select.selectedOptions[0].textContent), "lost");
  await quiet(page);
  // The overview leads back.
  const overview = await open(`${server.url}#view=overview&source=${program.pid}`);
  await overview.getByRole("link", { name: /LoseList lost/ }).click();
  await overview.getByTestId("leak-details").waitFor();
  await quiet(overview);
  await stop(program, "SIGKILL");
  await server.stop();
});

test("the next check tells what has changed, and kinds can be chosen", async () => {
  const program = await leaker("lose");
  const server = await serve();
  const page = await open(`${server.url}#view=leaks&source=${program.pid}`);
  await check(page, "Check now", 1);
  await program.tell("lose");
  await program.tell("hold");
  await check(page, "Check again", 2);
  await page.getByRole("button", { name: "new", exact: true }).click();
  const records = page.getByTestId("records").locator("tbody tr");
  await until(page, () => [...document.querySelectorAll("[data-testid=records] tbody tr")].every((row) => /new/.test(row.textContent)));
  assert.match((await records.allInnerTexts()).join("\n"), /HoldBlock/);
  await page.getByRole("button", { name: "increased" }).click();
  await page.getByTestId("records").getByText("LoseList").waitFor();
  assert.match(await textOf(page, "kind-definite"), /\+\d/);
  await page.getByTestId("kind-definite").click();
  await until(page, () => [...document.querySelectorAll("[data-testid=records] tbody tr")].every((row) => /definitely lost/.test(row.textContent)));
  const { kinds, changes } = await hashOf(page);
  assert.deepEqual([kinds, changes], ["definite", "increased"]);
  // It ends: what was found stays, and nobody can look again.
  await stop(program, "SIGKILL");
  await page.reload();
  await page.getByTestId("verdict").waitFor();
  assert.equal(await page.getByRole("button", { name: /Check/ }).count(), 0);
  assert.match(await textOf(page, "verdict"), /leaks: about/);
  await quiet(page);
  await server.stop();
});

test("a program that is traced is looked at with every block known", async () => {
  const recorder = start(HEAPGAUGE, ["run", "--trace", "--quiet", "-o", join(folder, "live.hgt"), "--", join(BUILD, "bin/targets/leaks_on_request")]);
  for (const word of ["lose", "hold"]) {
    const done = lineOf(recorder.stdout, /done/);
    recorder.stdin.write(`${word}\n`);
    await done;
  }
  const pid = JSON.parse(heapgauge("ps", "--json")).find((process) => process.state === "live" && process.file.startsWith(folder) && /leaks_on_request/.test(process.program)).pid;
  const server = await serve();
  const page = await open(`${server.url}#view=leaks&source=${pid}`);
  await page.getByText("the trace (FILE.hgt) has them all").first().waitFor();
  await check(page, "Check now", 1);
  assert.match(await textOf(page, "kind-definite"), /300,000 bytes 100 blocks/);
  assert.match(await textOf(page, "kind-indirect"), /100,000 bytes 100 blocks/);
  await page.getByText("every block is known").waitFor();
  await quiet(page);
  recorder.stdin.end();
  await new Promise((resolve) => recorder.on("exit", resolve));
  await server.stop();
});

test("a trace tells growth and ages, and other profiles how to get a verdict", async () => {
  const other = join(folder, "stacks.txt");
  writeFileSync(other, "main;f 12\nmain;g 5\n");
  const server = await serve(TRACE, other);
  const page = await open(`${server.url}#view=leaks&source=server.hgt`);
  await page.getByTestId("records").waitFor();
  const said = JSON.parse(heapgauge("leaks", "--json", TRACE));
  assert.equal(await textOf(page, "verdict"), said.summary.verdict);
  assert.equal(await page.getByTestId("records").locator("tbody tr").count(), Math.min(100, said.records.length));
  const first = await page.getByTestId("records").locator("tbody tr").first().innerText();
  assert.ok(first.includes(said.records[0].bytes.toString().replace(/\B(?=(\d{3})+$)/g, ",")), first);
  await page.getByRole("heading", { name: /^What was never freed \d/ }).waitFor();
  await page.getByText("heapgauge run --leaks").waitFor();
  await picture(page, "leaks-trace-light");
  await quiet(page);
  const teaching = await open(`${server.url}#view=leaks&source=stacks.txt`);
  await teaching.getByText("How to look for leaks").waitFor();
  teaching.complaints = teaching.complaints.filter((text) => !/status of 4/.test(text));
  await quiet(teaching);
  await server.stop();
});

test("dark, on a narrow screen, at twice the size", async () => {
  const program = await leaker("lose", "hold");
  const server = await serve();
  const first = await open(`${server.url}#view=leaks&source=${program.pid}`);
  await check(first, "Check now", 1);
  await first.getByRole("button", { name: /LoseList/ }).first().click();
  await first.getByTestId("leak-details").locator(".leak-stack .function").first().waitFor();
  const url = first.url();
  await quiet(first);
  for (const [name, options] of [["dark", { colorScheme: "dark" }], ["phone", { viewport: { width: 390, height: 800 } }], ["large", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }]]) {
    const page = await open(url, options);
    await page.getByTestId("leak-details").locator(".leak-stack .function").first().waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} pixels wider than the screen (${name})`);
    await picture(page, `leaks-details-${name}`);
    await quiet(page);
  }
  await stop(program, "SIGKILL");
  await server.stop();
});

// For the documentation: a server that forgets sessions and remembers too much, after more than ten seconds' work.
if (process.env.HEAPGAUGE_SHOTS) {
  test("pictures", async () => {
    const command = join(BUILD, "bin/targets/forgetful_server");
    const program = start(command, ["serve"], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "64K" });
    const [, port] = await lineOf(program.stdout, /port (\d+)/);
    const server = await serve();
    const page = await open(`${server.url}#view=leaks&source=${program.pid}`);
    const load = start(command, ["load", port, "4000", "80000"]);
    const ended = lineOf(load.stdout, /served/);
    for (const [number, requests] of [[1, 50_000], [2, 70_000]]) {
      while (Number(spawnSync(command, ["ask", port], { encoding: "utf8" }).stdout.split(" ")[0]) < requests) await page.waitForTimeout(200);
      await check(page, /^Check/, number);
    }
    await ended;
    await picture(page, "leaks-light");
    await page.getByRole("button", { name: /remember/ }).first().click();
    await page.getByTestId("owner").waitFor();
    await picture(page, "leaks-owner-light");
    await page.getByTestId("records").scrollIntoViewIfNeeded();
    await page.getByTestId("records").getByRole("button").last().scrollIntoViewIfNeeded();
    await picture(page, "leaks-records-light");
    const dark = await open(page.url(), { colorScheme: "dark" });
    await dark.getByTestId("owner").waitFor();
    await picture(dark, "leaks-dark");
    await dark.context().close();
    await page.context().close();
    await stop(program, "SIGKILL");
    await server.stop();
  });
}

await runAll();
