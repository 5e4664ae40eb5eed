// The memory map in a real browser: pages of a trace, regions of a process, with the figures of the command line.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, folder, heapgauge, lineOf, open, picture, runAll, serve, start, stop, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);

const hashOf = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const pagesAt = (...words) => JSON.parse(heapgauge("stats", "--section", "pages", "--json", ...words, TRACE)).pages[0];

// As the page writes them, which is as the command line does.
function bytesText(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  while (bytes >= 1023.5 && unit < 3) {
    bytes /= 1024;
    ++unit;
  }
  return `${bytes.toFixed(unit === 0 || bytes >= 99.95 ? 0 : 1)} ${units[unit]}`;
}

async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

async function mapOf(page) {
  await page.getByTestId("map-canvas").waitFor();
  await until(page, () => !document.querySelector(".memory-body.loading"));
}

test("pages and pins are those of the command line, at any moment", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=memory&source=server.hgt`);
  for (const [button, at] of [["at the end", "end"], ["at the peak", "peak"]]) {
    await page.getByRole("button", { name: button }).click();
    const expected = pagesAt("--at", at);
    await until(page, (text) => document.querySelector("[data-testid=memory-total] b")?.textContent === text, bytesText(expected.bytes));
    await mapOf(page);
    const total = await page.getByTestId("memory-total").innerText();
    assert.ok(total.includes(`${bytesText(expected.pinned_bytes)} free in pages`), total);
    const rows = await page.getByTestId("pins").locator("tbody tr").allInnerTexts();
    assert.equal(rows.length, expected.pins.length);
    rows.forEach((row, i) => {
      assert.ok(row.startsWith(bytesText(expected.pins[i].pinned_bytes)), row);
      assert.ok(row.includes(bytesText(expected.pins[i].block_bytes)), row);
    });
    const fill = await page.getByTestId("fill").locator("tbody tr").allInnerTexts();
    assert.deepEqual(fill.map((row) => row.split("\t")[3]), expected.ranges.map((range) => bytesText(range.free_bytes)));
  }
  await picture(page, "memory-peak-light");
  // A moment that was chosen elsewhere.
  await page.evaluate(() => (location.hash = "view=memory&source=server.hgt&at=2.5s"));
  await until(page, (text) => document.querySelector("[data-testid=memory-total] b")?.textContent === text, bytesText(pagesAt("--at", "2.5s").bytes));
  await quiet(page);
  await server.stop();
});

test("a cell tells what is there, and who holds it", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=memory&source=server.hgt`);
  await mapOf(page);
  const canvas = page.getByTestId("map-canvas");
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + 25, box.y + 35);
  await until(page, () => /^0x[0-9a-f]+ – 0x[0-9a-f]+: /.test(document.querySelector("[data-testid=pointed]").innerText));
  const told = await page.getByTestId("pointed").innerText();
  await page.mouse.click(box.x + 25, box.y + 35);
  await page.getByTestId("holders").waitFor();
  const { addresses } = await hashOf(page);
  assert.match(told, new RegExp(`^${addresses.replace("-", " – ")}`));
  const live = /: (\S+ \S+) live/.exec(told)[1];
  assert.ok((await page.locator(".holders-card h2").innerText()).includes(live), told);
  await picture(page, "memory-light");
  // Somebody else sees the same.
  const other = await open(page.url());
  await other.getByTestId("holders").waitFor();
  assert.equal(await other.getByTestId("holders").innerText(), await page.getByTestId("holders").innerText());
  await quiet(other);
  // Several cells, then its stacks.
  await page.mouse.move(box.x + 5, box.y + 25);
  await page.mouse.down();
  await page.mouse.move(box.x + 305, box.y + 25, { steps: 4 });
  await page.mouse.up();
  await until(page, (before) => !location.hash.includes(before), addresses);
  const range = (await hashOf(page)).addresses.split("-").map(Number);
  assert.ok(range[1] - range[0] > 20 * 4096, String(range));
  await page.getByTestId("holders").getByRole("link").first().click();
  await page.getByTestId("flame-canvas").waitFor();
  assert.match((await hashOf(page)).focus, /^\^.*\$$/);
  await quiet(page);
  await server.stop();
});

test("cells can be reached by keys", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=memory&source=server.hgt`);
  await mapOf(page);
  await page.getByTestId("map-canvas").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await until(page, () => /0x[0-9a-f]+ – /.test(document.querySelector("[data-testid=map-canvas]").getAttribute("aria-label")));
  await page.keyboard.press("Enter");
  await until(page, () => location.hash.includes("addresses="));
  await page.keyboard.press("Escape");
  await until(page, () => !location.hash.includes("addresses="));
  await quiet(page);
  await server.stop();
});

test("the filter of the page is that of the map", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=memory&source=server.hgt&function=Cache`);
  await mapOf(page);
  const expected = pagesAt("--at", "end", "--function", "Cache");
  assert.equal(await page.getByTestId("memory-total").locator("b").first().innerText(), bytesText(expected.bytes));
  await page.getByText("others count as free here").waitFor();
  await page.evaluate(() => (location.hash = "view=memory&source=server.hgt&function=NobodyHasThisName"));
  await page.getByText("Nothing was live then").waitFor();
  await quiet(page);
  await server.stop();
});

test("the regions of a process are those of the command line", async () => {
  const program = start(join(BUILD, "bin/targets/grow_on_request"), [], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "64K" });
  await lineOf(program.stdout, /ready/);
  program.stdin.write("a 8\n");
  await lineOf(program.stdout, /ok/);
  const server = await serve();
  const page = await open(`${server.url}#view=memory&source=${program.pid}`);
  await page.getByTestId("regions").waitFor();
  const memory = JSON.parse(heapgauge("memory", "--json", "--mappings", "--no-statistics", String(program.pid)));
  const owners = new Set(memory.mappings.map((mapping) => mapping.owner));
  assert.equal(await page.getByTestId("owners").locator("tbody tr").count(), owners.size);
  // A stack may grow by a page meanwhile; the heap does not.
  const heap = memory.mappings.filter((mapping) => mapping.owner === "heap").reduce((sum, mapping) => sum + mapping.resident_bytes, 0);
  const row = await page.getByTestId("owners").getByRole("row", { name: /^heap / }).innerText();
  assert.ok(row.includes(bytesText(heap)), `${row} ${heap}`);
  await page.getByTestId("regions").getByRole("link").first().waitFor();
  await page.getByTestId("strip").getByRole("button", { name: /^heap: / }).first().click();
  await page.locator("[data-testid=regions] tr.chosen").waitFor();
  await picture(page, "memory-process-light");
  await page.getByTestId("owners").getByRole("button", { name: "heap", exact: true }).click();
  await until(page, () => [...document.querySelectorAll("[data-testid=regions] tbody tr:not(.chosen) td:first-child")].every((cell) => cell.innerText.trim() === "heap"));
  // It ends while it is watched.
  await stop(program, "SIGKILL");
  await until(page, () => /gone|last/.test(document.querySelector("[data-testid=memory-total]")?.innerText ?? "") || document.querySelector("[role=alert]"));
  await quiet({ complaints: page.complaints.filter((text) => !/status of 4/.test(text)), context: () => page.context() });
  await server.stop();
});

test("a profile without addresses says so", async () => {
  const file = join(folder, "plain.txt");
  writeFileSync(file, "main;other 5\n");
  const server = await serve(file);
  const page = await open(`${server.url}#view=memory&source=plain.txt`);
  await page.getByText("This profile has no addresses").waitFor();
  await quiet(page);
  await server.stop();
});

test("in other light and on a narrow screen", async () => {
  const server = await serve(TRACE);
  for (const [name, options] of [["dark", { colorScheme: "dark" }], ["phone", { viewport: { width: 400, height: 800 } }], ["large", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }]]) {
    const page = await open(`${server.url}#view=memory&source=server.hgt`, options);
    await mapOf(page);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0, name);
    await picture(page, `memory-${name}`);
    await quiet(page);
  }
  await server.stop();
});

await runAll();
