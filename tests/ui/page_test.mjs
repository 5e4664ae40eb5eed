// The page of heapgauge ui in a real browser: it opens, moves, and shows the figures of the command line.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { BUILD, folder, heapgauge, lineOf, open, picture, runAll, serve, start, stop, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);

// "all 94.5 MB", the root of the flame graph in a terminal.
function flameTotal(...words) {
  return /all (\S+ \S+?B)/.exec(heapgauge("flame", "--text", ...words))[1];
}

const hashOf = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const canvasOf = (page) => page.getByTestId("flame-canvas");
const totalOf = async (page) => (await page.getByTestId("flame-total").locator("b").textContent()).trim();

// Where something is, once it stays there: charts are drawn again when more of their data comes.
async function placeOf(locator) {
  for (let tries = 0, last = ""; tries < 100; ++tries) {
    await locator.waitFor();
    const box = await locator.boundingBox();
    if (box && JSON.stringify(box) === last) return box;
    last = JSON.stringify(box);
    await locator.page().waitForTimeout(300);
  }
  throw new Error("it does not come to rest");
}

async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

test("the overview shows what the command line says", async () => {
  const server = await serve(TRACE);
  const page = await open(server.url);
  const live = /live\s+(\S+ \S+) in/.exec(heapgauge("top", TRACE))[1];
  await page.getByTestId("live-total").waitFor();
  assert.equal(await page.getByTestId("live-total").textContent(), live);
  assert.match(await page.title(), /server\.hgt/);
  await page.getByText("Who holds it").waitFor();
  await picture(page, "overview-light");
  await quiet(page);
  await server.stop();
});

test("a range that is brushed is what every view is about", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=timeline`);
  const over = page.locator(".u-over").first();
  const box = await placeOf(over);
  await page.mouse.move(box.x + box.width * 0.25, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 110, { steps: 5 });
  await page.mouse.up();
  await until(page, () => location.hash.includes("from="));
  const { from, to, value } = await hashOf(page);
  assert.equal(value, "left");
  await picture(page, "timeline-range-light");
  await page.getByRole("link", { name: "Flame graph" }).click();
  await canvasOf(page).waitFor();
  assert.equal(await totalOf(page), flameTotal("--from", from, "--to", to, "--value", "left", TRACE));
  // A moment in place of it.
  await page.getByRole("link", { name: "Timeline" }).click();
  await placeOf(over);
  await page.mouse.click(box.x + box.width * 0.7, box.y + 100);
  await until(page, () => location.hash.includes("at="));
  const { at } = await hashOf(page);
  await page.getByRole("link", { name: "Flame graph" }).click();
  const expected = flameTotal("--at", at, TRACE);
  await until(page, (text) => document.querySelector("[data-testid=flame-total] b")?.textContent === text, expected);
  await quiet(page);
  await server.stop();
});

test("the flame graph zooms, goes back, searches and turns over", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=flame&value=allocated`);
  const box = await placeOf(canvasOf(page));
  await picture(page, "flame-light");
  await page.mouse.move(box.x + 20, box.y + 50);
  await page.getByTestId("flame-details").waitFor();
  await page.mouse.click(box.x + 20, box.y + 50);
  await until(page, () => location.hash.includes("root="));
  const crumbs = page.getByRole("navigation", { name: "Where this is" });
  await crumbs.waitFor();
  assert.match(await crumbs.textContent(), /^allmain/);
  const zoomed = await hashOf(page);
  assert.equal(zoomed.root.length % 6, 0);
  // A colleague opens the same address.
  const other = await open(page.url());
  await other.getByRole("navigation", { name: "Where this is" }).waitFor();
  assert.equal(await other.getByRole("navigation", { name: "Where this is" }).textContent(), await crumbs.textContent());
  assert.equal(await totalOf(other), await totalOf(page));
  await quiet(other);
  // By keyboard: out, then in again.
  await canvasOf(page).focus();
  await page.keyboard.press("Escape");
  await until(page, (root) => new URLSearchParams(location.hash.slice(1)).get("root") !== root, zoomed.root);
  await page.goBack();
  await until(page, (root) => new URLSearchParams(location.hash.slice(1)).get("root") === root, zoomed.root);
  // Keys are about the picture that is there, so the new one has to be there first.
  const answered = page.waitForResponse((response) => response.url().includes("/flame?") && response.url().includes("callers=1"));
  await page.getByRole("button", { name: "bottom-up" }).click();
  await until(page, () => !location.hash.includes("root="));
  await answered;
  await page.locator("[data-testid=flame-canvas][aria-busy=false]").waitFor();
  await canvasOf(page).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await crumbs.waitFor();
  await page.getByRole("button", { name: "top-down" }).click();
  await page.keyboard.press("/");
  await page.keyboard.type("Request");
  const functions = JSON.parse(heapgauge("top", "--json", "--value", "allocated", "--focus", "Request", TRACE));
  const share = (100 * functions.selected.allocated_bytes.value) / functions.total.allocated_bytes.value;
  // Up to when the other picture is there, it is about the one before.
  await until(page, (expected) => {
    const shown = /matched (\S+)%/.exec(document.querySelector("main").textContent);
    return shown && Math.abs(Number(shown[1]) - expected) < 0.1;
  }, share);
  await picture(page, "flame-search-light");
  await quiet(page);
  await server.stop();
});

test("the table has the rows of the command line, and leads to callers", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=table&sort=allocated`);
  const first = page.getByTestId("table").locator(".all .row").first();
  await first.waitFor();
  const row = JSON.parse(heapgauge("top", "--json", "--sort", "allocated", "-n", "1", TRACE)).functions[0];
  assert.ok((await first.innerText()).includes(row.label));
  await picture(page, "table-light");
  await first.getByRole("link").click();
  await page.getByTestId("peeked").waitFor();
  assert.match((await hashOf(page)).of, /^\^.*\$$/);
  await quiet(page);
  await server.stop();
});

test("a finding leads to its stacks", async () => {
  const server = await serve(TRACE);
  const page = await open(server.url);
  const finding = page.getByRole("link", { name: /^LoadTables grew to/ });
  await finding.click();
  await canvasOf(page).waitFor();
  assert.equal((await hashOf(page)).focus, "^LoadTables$");
  assert.equal(await totalOf(page), flameTotal("--focus", "^LoadTables$", TRACE));
  await quiet(page);
  await server.stop();
});

test("two moments are compared as the command line compares them", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=compare`);
  await page.getByLabel("Base: when").selectOption("at");
  await page.getByLabel("Base: at").fill("0.5s");
  await page.keyboard.press("Enter");
  await page.getByTestId("changes").waitFor();
  const diff = JSON.parse(heapgauge("diff", "--json", `${TRACE}@0.5s`, TRACE));
  const rows = page.getByTestId("changes").locator("tbody tr");
  await until(page, (text) => document.querySelector("[data-testid=diff-total]")?.textContent.includes(text), "at 500ms");
  assert.equal(await rows.count(), diff.changes.length);
  assert.ok((await rows.first().innerText()).includes(diff.changes[0].label));
  await picture(page, "compare-light");
  await quiet(page);
  await server.stop();
});

test("a process that runs is followed, also when it ends", async () => {
  const program = start(join(BUILD, "bin/targets/grow_on_request"), [], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "64K" });
  await lineOf(program.stdout, /ready/);
  program.stdin.write("a 8\n");
  await lineOf(program.stdout, /ok/);
  const server = await serve();
  const page = await open(`${server.url}#view=processes`);
  const row = page.getByTestId("processes").getByRole("row", { name: new RegExp(`${program.pid}`) });
  await row.waitFor();
  assert.match(await row.innerText(), /grow_on_request/);
  // It may sleep, and notice later; that it was asked to is said at once.
  await row.getByLabel(/^Sample process/).selectOption("16384");
  await page.getByRole("status").filter({ hasText: `${program.pid}: sample` }).waitFor();
  await picture(page, "processes-light");
  await row.getByRole("link").first().click();
  const live = page.getByTestId("live-total");
  await live.waitFor();
  const before = await live.textContent();
  program.stdin.write("a 64\n");
  await until(page, (text) => document.querySelector("[data-testid=live-total]").textContent !== text, before);
  await stop(program, "SIGKILL");
  await page.getByText(/killed after/).waitFor();
  assert.deepEqual(page.complaints, []);
  // The server goes as well.
  await server.stop();
  await page.getByRole("link", { name: "Table" }).click();
  await page.getByText("the server does not answer").first().waitFor();
  await page.context().close();
});

test("a figure can be chosen in the views that show it, and only there", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=table&value=allocated`);
  const figure = page.getByRole("combobox", { name: "figure" });
  await figure.waitFor();
  for (const view of ["Leaks", "Lifetimes", "Memory map"]) {
    await page.getByRole("link", { name: view, exact: true }).click();
    await page.locator(`section.view[aria-label="${view}"]`).waitFor();
    await figure.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Flame graph", exact: true }).click();
    await figure.waitFor();
    await until(page, () => document.querySelector(".filters select").selectedOptions[0].textContent === "allocated");
  }
  await quiet(page);
  await server.stop();
});

test("dark, on a narrow screen, at twice the size", async () => {
  const server = await serve(TRACE);
  const views = ["overview", "timeline", "flame", "table", "compare", "query"];
  const looks = [
    ["dark", { colorScheme: "dark" }],
    ["phone", { viewport: { width: 390, height: 800 } }],
    ["large", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
  ];
  for (const [name, options] of looks) {
    for (const view of views) {
      const page = await open(`${server.url}#view=${view}`, options);
      await until(page, () => document.querySelector("section.view") && !document.body.textContent.includes("reading…"));
      await page.waitForTimeout(200);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${view} is ${wide} pixels wider than the screen (${name})`);
      await picture(page, `${view}-${name}`);
      await quiet(page);
    }
  }
  await server.stop();
});

await runAll();
