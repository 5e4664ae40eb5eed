// Snapshots of a process, comparing, sharing, processes and their buttons, in a real browser.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, HEAPGAUGE, folder, heapgauge, lineOf, open, picture, runAll, serve, start, stop, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);
const DUMPS = join(folder, "dumps");
mkdirSync(DUMPS);

const hashOf = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const textOf = async (locator) => (await locator.textContent()).trim();

async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

// A program that takes what it is told to: "a 8" another 8 MiB.
async function growing() {
  const program = start(join(BUILD, "bin/targets/grow_on_request"), [], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "64K" });
  await lineOf(program.stdout, /ready/);
  const take = async (mib) => {
    const done = lineOf(program.stdout, /ok/);
    program.stdin.write(`a ${mib}\n`);
    await done;
  };
  await take(8);
  return { program, take };
}

async function serveWithDumps(...sources) {
  return serve("--dump-dir", DUMPS, ...sources);
}

test("a new profile is taken, compared with what comes later, and shared", async () => {
  const { program, take } = await growing();
  const server = await serve(String(program.pid));
  const page = await open(server.url);
  await page.getByTestId("live-total").waitFor();
  // On the overview: the page is then about the snapshot.
  await page.getByRole("button", { name: "New profile" }).click();
  await until(page, () => new URLSearchParams(location.hash.slice(1)).get("source")?.startsWith("snapshot-"));
  await page.getByTestId("state").filter({ hasText: /^snapshot of \d{4}-/ }).waitFor();
  const first = (await hashOf(page)).source;
  const total = await textOf(page.getByTestId("live-total"));
  await take(64);
  // It stays as it was; the process does not.
  const other = await open(page.url());
  await other.getByTestId("live-total").waitFor();
  assert.equal(await textOf(other.getByTestId("live-total")), total);
  await quiet(other);
  await page.getByRole("link", { name: "what changed since" }).click();
  const verdict = page.getByTestId("diff-total");
  await verdict.waitFor();
  await until(page, () => /^\+6\d/.test(document.querySelector("[data-testid=diff-total]")?.textContent ?? ""));
  assert.equal((await hashOf(page)).base, first);
  // And a second one, which becomes the new side.
  await page.locator(".side.new").getByRole("button", { name: "New profile" }).click();
  await until(page, () => new URLSearchParams(location.hash.slice(1)).get("source")?.startsWith("snapshot-"));
  const second = (await hashOf(page)).source;
  assert.notEqual(second, first);
  await page.getByTestId("new-source").locator(`option[value="${second}"]`).waitFor({ state: "attached" });
  assert.ok((await page.getByTestId("base-source").locator("optgroup").count()) > 0);
  await until(page, (id) => document.querySelector("[data-testid=new-source]")?.value === id, second);
  const rows = page.getByTestId("changes").locator("tbody tr");
  await rows.first().waitFor();
  await page.locator(".wide-scroll:not(.loading)").waitFor();
  await picture(page, "compare-snapshots-light");
  // A colleague sees the same, to the letter, whatever the process does meanwhile.
  await take(16);
  const shown = [await textOf(verdict), ...(await rows.allInnerTexts())];
  const colleague = await open(page.url());
  await colleague.getByTestId("changes").waitFor();
  assert.deepEqual([await textOf(colleague.getByTestId("diff-total")), ...(await colleague.getByTestId("changes").locator("tbody tr").allInnerTexts())], shown);
  // Swapped, what grew has shrunk.
  await colleague.getByRole("button", { name: "Swap base and new" }).click();
  await until(colleague, () => document.querySelector("[data-testid=diff-total]")?.textContent.startsWith("-"));
  const swapped = await hashOf(colleague);
  assert.equal(swapped.source, first);
  assert.equal(swapped.base, second);
  await colleague.goBack();
  await until(colleague, (text) => document.querySelector("[data-testid=diff-total]")?.textContent.trim() === text, shown[0]);
  await quiet(colleague);
  // What it leads to.
  assert.match(await page.getByTestId("diff-flame").getAttribute("href"), /base=snapshot-.*view=flame/);
  await quiet(page);
  await stop(program, "SIGKILL");
  await server.stop();
});

test("a snapshot outlives its process, and one that is gone is said to be", async () => {
  const { program } = await growing();
  const server = await serve(String(program.pid));
  const page = await open(server.url);
  await page.getByRole("button", { name: "Share" }).click();
  await until(page, () => new URLSearchParams(location.hash.slice(1)).get("source")?.startsWith("snapshot-"));
  const total = await textOf(page.getByTestId("live-total"));
  const { source } = await hashOf(page);
  await stop(program, "SIGKILL");
  const later = await open(`${server.url}#view=table&source=${source}`);
  await later.getByTestId("table").locator(".all .row").first().waitFor();
  await quiet(later);
  const again = await open(page.url());
  await again.getByTestId("live-total").waitFor();
  assert.equal(await textOf(again.getByTestId("live-total")), total);
  await quiet(again);
  const missing = await open(`${server.url}#view=flame&source=snapshot-0123456789abcdef`);
  await missing.getByTestId("missing").filter({ hasText: "not kept any more" }).waitFor();
  assert.ok((await missing.getByTestId("missing").getByRole("link").count()) > 0);
  await quiet(missing);
  // As a base, the server says it.
  const gone = await open(`${server.url}#view=compare&source=${source}&base=snapshot-0123456789abcdef`);
  await gone.getByRole("alert").filter({ hasText: "not kept any more" }).waitFor();
  await gone.context().close(); // the browser itself complains of a 404
  await page.context().close();
  await server.stop();
});

test("moments and ranges of a trace are compared as the command line compares them", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=compare`);
  await page.getByRole("link", { name: "the peak" }).click();
  const rows = page.getByTestId("changes").locator("tbody tr");
  const check = async (words) => {
    const diff = JSON.parse(heapgauge("diff", "--json", ...words));
    const text = heapgauge("diff", ...words);
    const total = /^\w+ +(\S+ \S+) → (\S+ \S+?),? (?:([+-]\S+ \S+))?/m.exec(text);
    await until(page, (figures) => ["base", "new"].every((side, i) => document.querySelector(`[data-testid=${side}-figure]`)?.textContent === figures[i]), [total[1], total[2].replace(/,$/, "")]);
    assert.ok((await textOf(page.getByTestId("diff-total"))).startsWith(total[3]), `${total[3]} in ${await textOf(page.getByTestId("diff-total"))}`);
    assert.equal(await rows.count(), diff.changes.length);
    const shown = await rows.allInnerTexts();
    for (const [i, change] of diff.changes.entries()) {
      const line = text.split("\n").find((one) => one.includes(`${change.label} `) && one.includes(change.kind));
      assert.ok(line, `${change.label} in ${text}`);
      const cells = shown[i].split("\t").map((cell) => cell.trim()).filter((cell) => cell !== "");
      for (const cell of cells) assert.ok(line.includes(cell), `'${cell}' of the page in '${line}'`);
    }
  };
  await check([`${TRACE}@peak`, TRACE]);
  await picture(page, "compare-light");
  // A moment, typed.
  await page.getByLabel("Base: when").selectOption("at");
  await page.getByLabel("Base: at").fill("0.5s");
  await page.keyboard.press("Enter");
  await check([`${TRACE}@0.5s`, TRACE]);
  // Both sides.
  await page.getByLabel("New: when").selectOption("at");
  await page.getByLabel("New: at").fill("2s");
  await page.keyboard.press("Enter");
  await check([`${TRACE}@0.5s`, `${TRACE}@2s`]);
  await page.getByRole("button", { name: "Swap base and new" }).click();
  await check([`${TRACE}@2s`, `${TRACE}@0.5s`]);
  assert.equal((await hashOf(page))["base-at"], "2s");
  // Ranges: what each left behind.
  await page.getByLabel("Base: when").selectOption("range");
  await page.getByLabel("New: when").selectOption("range");
  for (const [label, text] of [["Base: from", "0s"], ["Base: to", "1s"], ["New: from", "1s"], ["New: to", "3s"]]) {
    await page.getByLabel(label).fill(text);
    await page.keyboard.press("Enter");
    await until(page, ([name, value]) => [...document.querySelectorAll("input")].some((input) => input.ariaLabel === name && input.value === value), [label, text]);
  }
  const words = await hashOf(page);
  assert.deepEqual([words["base-from"], words["base-to"], words.from, words.to, words.value], ["0s", "1s", "1s", "3s", "left"]);
  const profileOf = (from, to) => JSON.parse(heapgauge("top", "--json", "--from", from, "--to", to, "--value", "left", TRACE));
  const bytes = (top) => top.total.value?.value ?? top.total.live_bytes.value;
  await page.getByTestId("diff-total").waitFor();
  const change = (bytes(profileOf("1s", "3s")) - bytes(profileOf("0s", "1s"))) / 2 ** 20;
  await until(page, (sign) => document.querySelector("[data-testid=diff-total]")?.textContent.startsWith(sign), change < 0 ? "-" : "+");
  await quiet(page);
  await server.stop();
});

test("processes are sorted, chosen, and changed where the host may", async () => {
  const one = await growing();
  const two = await growing();
  await two.take(64);
  const server = await serveWithDumps();
  const page = await open(`${server.url}#view=processes`);
  const rows = page.getByTestId("processes").locator("tbody tr");
  const rowOf = (pid) => page.getByTestId("processes").getByRole("row", { name: new RegExp(`^${pid} `) });
  await rowOf(one.program.pid).waitFor();
  // Others may be profiled on this machine.
  await page.getByLabel("Only processes with").fill("grow_on_request running");
  const inOrder = (pids) => until(page, (wanted) => {
    const shown = [...document.querySelectorAll("[data-testid=processes] tbody tr")].map((row) => row.firstChild.textContent);
    return wanted.every((pid) => shown.includes(pid)) && shown.filter((pid) => wanted.includes(pid)).join() === wanted.join();
  }, pids.map(String));
  await page.getByRole("button", { name: "live heap" }).click();
  await inOrder([two.program.pid, one.program.pid]);
  await page.getByRole("button", { name: "live heap" }).click();
  await inOrder([one.program.pid, two.program.pid]);
  assert.equal((await hashOf(page)).order, "-live");
  await page.getByLabel("Only processes with").fill(String(two.program.pid));
  await until(page, () => document.querySelectorAll("[data-testid=processes] tbody tr").length === 1);
  const row = rowOf(two.program.pid);
  assert.match(await row.innerText(), /grow_on_request/);
  // The figures of the command line.
  const listed = JSON.parse(heapgauge("top", "--json", String(two.program.pid)));
  const live = /live\s+(\S+ \S+)/.exec(heapgauge("top", String(two.program.pid)))[1];
  assert.ok((await row.innerText()).includes(live), `${live} in ${await row.innerText()}`);
  assert.ok(listed.total.live_bytes.value > 60 * 2 ** 20);
  // Each button, and what the program makes of it.
  const said = (text) => page.getByRole("status").filter({ hasText: text }).waitFor();
  await row.getByLabel(/^Sample process/).selectOption("16384");
  await said(`${two.program.pid}: sample every 16.0 kB`);
  await two.take(1);
  await until(page, () => document.querySelector("[data-testid=processes] .acts select")?.value === "16384");
  await row.getByRole("button", { name: "disable" }).click();
  await said(`${two.program.pid}: disable`);
  await two.take(1);
  await row.getByText("sampling is off").waitFor();
  await row.getByRole("button", { name: "enable" }).click();
  await said(`${two.program.pid}: enable`);
  await two.take(1);
  await row.getByRole("button", { name: "disable" }).waitFor();
  await picture(page, "processes-light");
  // A dump opens as a source.
  await row.getByRole("button", { name: "dump" }).click();
  await said(`${two.program.pid} wrote ${DUMPS}`);
  assert.equal(readdirSync(DUMPS).length, 1);
  await page.getByRole("link", { name: "open it" }).click();
  await page.getByTestId("live-total").waitFor();
  const dump = join(DUMPS, readdirSync(DUMPS)[0]);
  await until(page, (text) => document.querySelector("[data-testid=live-total]")?.textContent === text, /live\s+(\S+ \S+)/.exec(heapgauge("top", dump))[1]);
  // The process itself is still there.
  await page.goBack();
  await row.getByRole("link", { name: String(two.program.pid) }).click();
  await page.getByTestId("state").filter({ hasText: /running/ }).waitFor();
  await page.goBack();
  await row.getByRole("button", { name: "reset" }).click();
  await row.getByRole("button", { name: "forget all?" }).click();
  await said(`${two.program.pid}: reset`);
  await quiet(page);
  await server.stop();
  // Without a directory for dumps, the button says why it does nothing.
  const bare = await serve();
  const other = await open(`${bare.url}#view=processes&process=${one.program.pid}`);
  const button = other.getByTestId("processes").getByRole("button", { name: "dump" });
  await button.waitFor();
  assert.ok(await button.isDisabled());
  assert.match(await button.getAttribute("title"), /--dump-dir/);
  await quiet(other);
  // One that ends is said to have ended, and has no buttons.
  const last = await open(`${bare.url}#view=processes&process=${one.program.pid}`);
  await last.getByTestId("processes").getByRole("button", { name: "dump" }).waitFor();
  await stop(one.program, "SIGKILL");
  await last.getByText(/killed after/).waitFor();
  assert.equal(await last.getByTestId("processes").getByRole("button", { name: "dump" }).count(), 0);
  await quiet(last);
  await stop(two.program, "SIGKILL");
  await bare.stop();
});

test("sources of every kind open", async () => {
  const { program } = await growing();
  const pb = join(folder, "grow.pb.gz");
  heapgauge("proto", "-o", pb, String(program.pid));
  const text = join(folder, "jemalloc.heap");
  writeFileSync(text, "heap_v2/524288\n  t*: 2: 3000 [0: 0]\n@ 0x1000 0x2000\n  t*: 2: 3000 [0: 0]\n\nMAPPED_LIBRARIES:\n");
  const host = start(HEAPGAUGE, ["serve", "--http", "127.0.0.1:0", String(program.pid)]);
  const [, address] = await lineOf(host.stderr, /serving (http:\S+?)\/ /);
  const url = `${address}/debug/pprof/heap`;
  const server = await serve(TRACE, pb, text, String(program.pid), url);
  const page = await open(server.url);
  await page.getByTestId("live-total").waitFor();
  const ids = await page.locator(".source option").evaluateAll((options) => options.map((option) => option.value));
  assert.ok(ids.length >= 5, ids.join(" "));
  for (const [i, source] of [TRACE, pb, text, String(program.pid), url].entries()) {
    await page.locator(".source select").selectOption(ids[i]);
    const [, expected] = /live\s+(\S+ \S+)/.exec(heapgauge("top", source));
    await until(page, (figure) => document.querySelector("[data-testid=live-total]")?.textContent === figure, expected);
  }
  await quiet(page);
  await server.stop();
  await stop(host);
  await stop(program, "SIGKILL");
});

test("a directory shows its processes as they come, and its dumps", async () => {
  const place = join(folder, "gauges");
  mkdirSync(place);
  const startThere = async () => {
    const program = start(join(BUILD, "bin/targets/grow_on_request"), [], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "64K", HEAPGAUGE_DIR: place });
    await lineOf(program.stdout, /ready/);
    const done = lineOf(program.stdout, /ok/);
    program.stdin.write("a 8\n");
    await done;
    return program;
  };
  const first = await startThere();
  assert.equal(spawnSync(HEAPGAUGE, ["ctl", String(first.pid), "dump", "-o", join(place, "kept.hg")], { env: { ...process.env, HEAPGAUGE_DIR: place } }).status, 0);
  const server = await serve(place);
  const page = await open(`${server.url}#view=processes`);
  const rows = page.getByTestId("processes").locator("tbody tr");
  await rows.first().waitFor();
  assert.equal(await rows.count(), 1); // and none of other directories
  const second = await startThere();
  await until(page, (pid) => [...document.querySelectorAll("[data-testid=processes] tbody tr")].some((row) => row.textContent.startsWith(pid)), String(second.pid));
  const titles = await page.locator(".source option").allInnerTexts();
  assert.equal(titles.filter((title) => title.includes(String(first.pid))).length, 2, titles.join(", ")); // itself, and its dump
  await page.goto(`${server.url}#view=overview&source=kept.hg`);
  await page.getByTestId("live-total").waitFor();
  assert.equal(await textOf(page.getByTestId("live-total")), /live\s+(\S+ \S+)/.exec(heapgauge("top", join(place, "kept.hg")))[1]);
  await quiet(page);
  await stop(first, "SIGKILL");
  await stop(second, "SIGKILL");
  await server.stop();
});

await runAll();
