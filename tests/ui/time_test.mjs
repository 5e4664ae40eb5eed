// The timeline in a real browser: two ranges, threads, marks, zoom, and the figures of the command line.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, folder, heapgauge, lineOf, open, picture, runAll, serve, start, stop, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);

const hashOf = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const wordIs = (page, word, value) => until(page, ([name, text]) => (new URLSearchParams(location.hash.slice(1)).get(name) ?? "") === text, [word, value]);
const hasWord = (page, word) => until(page, (name) => new URLSearchParams(location.hash.slice(1)).get(name), word);

// "all 94.5 MB", the root of the flame graph in a terminal.
function flameTotal(...words) {
  return /all (\S+ \S+?B)/.exec(heapgauge("flame", "--text", ...words))[1];
}

// All lanes are there, so nothing moves any more.
async function timelineOf(page) {
  await page.getByRole("list", { name: "Threads" }).waitFor();
  await until(page, () => document.querySelectorAll("[data-testid=timeline] .u-legend .u-series").length > 8);
  await until(page, () => !document.querySelector(".charts.loading"));
  const box = await page.locator(".u-over").first().boundingBox();
  return { at: (part) => [box.x + box.width * part, box.y + 60] };
}

async function drag(page, plot, from, to) {
  await page.mouse.move(...plot.at(from));
  await page.mouse.down();
  await page.mouse.move(...plot.at((from + to) / 2), { steps: 3 });
  await page.mouse.move(...plot.at(to), { steps: 3 });
  await page.mouse.up();
}

async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

async function flameShows(page, expected) {
  await page.getByRole("link", { name: "Flame graph" }).click();
  await until(page, (text) => document.querySelector("[data-testid=flame-total] b")?.textContent.trim() === text, expected);
}

test("two ranges ask for what was allocated in one and is still live in the other", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=timeline`);
  const plot = await timelineOf(page);
  await drag(page, plot, 0.2, 0.3);
  await hasWord(page, "from");
  assert.equal((await hashOf(page)).value, "left");
  await page.keyboard.down("Shift");
  await drag(page, plot, 0.4, 0.45);
  await page.keyboard.up("Shift");
  await hasWord(page, "live-at");
  const words = await hashOf(page);
  assert.equal(words.value, "allocated");
  const [b1, b2] = words["live-at"].split(",");
  await page.getByTestId("shade-a").waitFor();
  await page.getByTestId("shade-b").waitFor();
  await picture(page, "timeline-two-ranges-light");
  const asked = ["--from", words.from, "--to", words.to, "--value", "allocated", "--live-at", b1, "--live-at", b2];
  await flameShows(page, flameTotal(...asked, TRACE));
  // Somebody else sees the same.
  const other = await open(page.url());
  await until(other, (text) => document.querySelector("[data-testid=flame-total] b")?.textContent.trim() === text, flameTotal(...asked, TRACE));
  await quiet(other);
  // Without the second one it is what was left.
  await page.getByRole("link", { name: "Timeline" }).click();
  await page.getByRole("button", { name: "Remove range B" }).click();
  await wordIs(page, "live-at", "");
  assert.equal((await hashOf(page)).value, "left");
  await page.getByRole("button", { name: "Remove range A" }).click();
  await wordIs(page, "from", "");
  assert.equal((await hashOf(page)).value, undefined);
  await quiet(page);
  await server.stop();
});

test("the second range can be asked for by a button, and is one moment if it is clicked", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=timeline&from=1s&to=2s&value=left`);
  const plot = await timelineOf(page);
  await page.getByRole("button", { name: "B still live at…" }).click();
  await page.mouse.click(...plot.at(0.8));
  await hasWord(page, "live-at");
  const words = await hashOf(page);
  assert.ok(!words["live-at"].includes(","), words["live-at"]);
  assert.equal(words.from, "1s");
  await flameShows(page, flameTotal("--from", "1s", "--to", "2s", "--value", "allocated", "--live-at", words["live-at"], TRACE));
  await quiet(page);
  await server.stop();
});

test("keys move, choose ranges, zoom and go back", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=timeline`);
  await timelineOf(page);
  const axis = page.getByRole("slider");
  await axis.focus();
  await page.keyboard.press("Home");
  for (let i = 0; i < 3; ++i) await page.keyboard.press("PageDown");
  await page.keyboard.down("Shift");
  await page.keyboard.press("PageDown");
  await page.keyboard.up("Shift");
  await hasWord(page, "from");
  const chosen = await hashOf(page);
  const end = JSON.parse(heapgauge("timeline", "--json", "--points", "1", TRACE)).to_ns / 1e9;
  assert.ok(Math.abs(parseFloat(chosen.from) - 0.3 * end) < 1e-3, chosen.from);
  assert.ok(Math.abs(parseFloat(chosen.to) - 0.4 * end) < 1e-3, chosen.to);
  assert.match(await axis.getAttribute("aria-valuetext"), /live \d/);
  await page.keyboard.press("b");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await hasWord(page, "live-at");
  await page.keyboard.press("+");
  await hasWord(page, "zfrom");
  await page.getByTestId("whole").waitFor();
  await page.keyboard.press("0");
  await wordIs(page, "zfrom", "");
  await page.keyboard.press("Escape");
  await wordIs(page, "live-at", "");
  await page.keyboard.press("Escape");
  await wordIs(page, "from", "");
  await page.keyboard.press("Enter");
  await hasWord(page, "at");
  await quiet(page);
  await server.stop();
});

test("the wheel zooms where the pointer is, and the figures are those of that part", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=timeline`);
  const plot = await timelineOf(page);
  await page.mouse.move(...plot.at(0.5));
  await page.mouse.wheel(0, -600);
  await hasWord(page, "zfrom");
  await page.getByTestId("whole").waitFor();
  const { zfrom, zto } = await hashOf(page);
  const part = JSON.parse(heapgauge("timeline", "--json", "--from", zfrom, "--to", zto, TRACE));
  const peak = (part.peak.live_bytes / 1024 / 1024).toFixed(1);
  await until(page, (text) => document.querySelector("[data-testid=timeline-total] b").textContent === text, `${peak} MB`);
  await picture(page, "timeline-zoomed-light");
  await page.getByRole("button", { name: "Whole time" }).click();
  await wordIs(page, "zfrom", "");
  await page.goBack();
  await wordIs(page, "zfrom", zfrom);
  await quiet(page);
  await server.stop();
});

test("all lanes tell about the moment that is pointed at", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=timeline`);
  const plot = await timelineOf(page);
  await page.mouse.move(...plot.at(0.5));
  const told = page.getByTestId("read-out");
  await until(page, () => !document.querySelector("[data-testid=read-out]").classList.contains("dim"));
  const text = await told.innerText();
  const timeline = JSON.parse(heapgauge("timeline", "--json", TRACE));
  const at = parseFloat(/at\s+([0-9.]+)s/.exec(text)[1]) * 1e9;
  // The pointer is between two pixels: the step, or one beside it.
  const near = timeline.points.filter((point) => Math.abs(point.time_ns - at) < 3 * (timeline.to_ns / 1000));
  const live = /live\s+(\S+) MB/.exec(text)[1];
  assert.ok(near.some((point) => (point.live_bytes / 1024 / 1024).toFixed(1) === live), `${live} at ${at}`);
  assert.match(text, /cgroup\s+\S+ MB of 48\.0 MB/);
  assert.match(text, /busiest\s+worker-/);
  assert.match(text, /allocated\s+\S+ [kM]B\/s/);
  // The legend of the heap says the same, wherever one points.
  for (const part of [0.15, 0.3, 0.45, 0.6, 0.75, 0.9]) {
    await page.mouse.move(...plot.at(part));
    await until(page, () => {
      const live = /live\s+(\S+ [kM]?B)/.exec(document.querySelector("[data-testid=read-out]").innerText)?.[1];
      const told = [...document.querySelectorAll(".u-legend .u-series")].find((row) => row.textContent.startsWith("live heap"));
      return live !== undefined && told.querySelector(".u-value").textContent === live;
    });
  }
  // A lane: that thread.
  const lane = await page.locator("canvas[data-lane-plot='1']").boundingBox();
  await page.mouse.move(lane.x + lane.width / 2, lane.y + 8);
  await until(page, () => /thread\s+worker-/.test(document.querySelector("[data-testid=read-out]").innerText));
  await quiet(page);
  await server.stop();
});

test("threads are those of the command line, and one can be chosen", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=timeline`);
  await timelineOf(page);
  const { threads } = JSON.parse(heapgauge("timeline", "--json", "--threads", "8", "--points", "400", TRACE));
  const rows = page.getByRole("list", { name: "Threads" }).getByRole("listitem");
  assert.equal(await rows.count(), threads.length);
  assert.deepEqual(await rows.locator(".lane-name").allInnerTexts(), threads.map((thread) => thread.thread_name));
  const mb = (bytes) => `${(bytes / 1024 / 1024).toFixed(bytes / 1024 / 1024 >= 99.95 ? 0 : 1)} MB`;
  assert.ok((await rows.first().getByRole("button").getAttribute("aria-label")).includes(`allocated ${mb(threads[0].allocated_bytes)}`));
  await rows.first().getByRole("button").click();
  await wordIs(page, "thread", String(threads[0].thread));
  await page.getByRole("link", { name: "Flame graph" }).click();
  await until(page, (text) => document.querySelector("[data-testid=flame-total] b")?.textContent.trim() === text, flameTotal("--thread", String(threads[0].thread), TRACE));
  await quiet(page);
  await server.stop();
});

test("the timeline is about the blocks of the filter, as on the command line, and says what is not", async () => {
  const server = await serve(TRACE);
  const whole = JSON.parse(heapgauge("timeline", "--json", TRACE));
  for (const [words, ...asked] of [
    ["focus=Cache", "--focus", "Cache"],
    ["min-size=8K&max-lifetime=50ms", "--min-size", "8K", "--max-lifetime", "50ms"],
    ["thread=worker", "--thread", "worker"],
    ["not-function=Cache&from=1s&to=2s&value=left", "--not-function", "Cache"],
  ]) {
    const page = await open(`${server.url}#view=timeline&${words}`);
    await page.getByTestId("timeline-filter").waitFor();
    const part = JSON.parse(heapgauge("timeline", "--json", ...asked, TRACE));
    assert.ok(part.peak.live_bytes < whole.peak.live_bytes);
    await until(page, ([peak, allocated]) => {
      const text = document.querySelector("[data-testid=timeline-total]").textContent;
      return text.includes(`peak ${peak} at`) && text.includes(`allocated ${allocated}`);
    }, [bytesText(part.peak.live_bytes), bytesText(part.allocated_bytes)]);
    assert.ok((await page.getByTestId("timeline-filter").innerText()).includes(part.filter));
    assert.ok(await page.evaluate(() => [...document.querySelectorAll(".u-legend")].some((legend) => legend.textContent.includes("RSS (whole process)"))));
    // Threads and stacks are of these blocks too.
    const { threads } = JSON.parse(heapgauge("timeline", "--json", "--threads", "8", "--points", "400", ...asked, TRACE));
    await until(page, (names) => JSON.stringify([...document.querySelectorAll("[aria-label=Threads] .lane-name")].map((one) => one.textContent)) === names, JSON.stringify(threads.map((thread) => thread.thread_name)));
    if (words === "focus=Cache") await picture(page, "timeline-filtered-light");
    await quiet(page);
  }
  await server.stop();
});

test("a source that does not know its heap over time says why, and what does", async () => {
  const file = join(folder, "massif.out.1");
  const snapshot = (number, time, bytes) => `#-----------\nsnapshot=${number}\n#-----------\ntime=${time}\nmem_heap_B=${bytes}\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n`;
  writeFileSync(file, `desc: (none)\ncmd: ./server\ntime_unit: i\n${snapshot(0, 0, 0)}${snapshot(1, 5000, 900)}`);
  const stacks = join(folder, "stacks.txt");
  writeFileSync(stacks, "main;f 12\nmain;g 5\n");
  const server = await serve(file, stacks);
  const page = await open(`${server.url}#view=timeline&source=massif.out.1`);
  await page.getByTestId("no-timeline").filter({ hasText: "count instructions, not time: heapgauge timeline shows them" }).waitFor();
  await page.goto(`${server.url}#view=timeline&source=stacks.txt`);
  await page.getByTestId("no-timeline").filter({ hasText: "A trace does" }).waitFor();
  // Nothing to zoom in.
  assert.equal(await page.getByRole("group", { name: "Zoom" }).count(), 0);
  await quiet(page);
  await server.stop();
});

test("marks can be read and followed", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=timeline`);
  await timelineOf(page);
  const { markers, peak } = JSON.parse(heapgauge("timeline", "--json", "--points", "1", TRACE));
  const marks = page.getByTestId("marks").getByRole("listitem");
  assert.equal(await marks.count(), markers.length + 1);
  assert.match(await marks.first().innerText(), /peak/);
  assert.match(await marks.nth(1).innerText(), new RegExp(markers[0].text));
  await marks.first().getByRole("button").click();
  await hasWord(page, "at");
  assert.ok(Math.abs(parseFloat((await hashOf(page)).at) * 1e9 - peak.time_ns) < 1000);
  await quiet(page);
  await server.stop();
});

// Rows of the heat map have a size each, columns a step of lifetimes.
const cellOf = (page, row, step) => page.getByTestId("heat").locator(`button[data-row="${row}"][data-step="${step}"]`);
const bytesText = (bytes) => (bytes < 1023.5 ? `${bytes} B` : bytes < 1023.5 * 1024 ? `${(bytes / 1024).toFixed(bytes / 1024 >= 99.95 ? 0 : 1)} kB` : `${(bytes / 1024 / 1024).toFixed(bytes / 1024 / 1024 >= 99.95 ? 0 : 1)} MB`);

test("cells of the lifetimes that are brushed choose the blocks of all views", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=lifetimes`);
  await page.getByTestId("heat").waitFor();
  await page.getByTestId("lifetime-rows").waitFor();
  const report = JSON.parse(heapgauge("lifetimes", "--json", "--sort", "bytes", TRACE));
  assert.equal(await page.getByTestId("heat").locator("tbody tr").count(), report.sizes.length);
  const largest = [0, 0];
  report.sizes.forEach((size, row) => size.by_lifetime.forEach((cell, step) => {
    if (cell.bytes > report.sizes[largest[0]].by_lifetime[largest[1]].bytes) largest.splice(0, 2, row, step);
  }));
  assert.equal(await cellOf(page, ...largest).innerText(), bytesText(report.sizes[largest[0]].by_lifetime[largest[1]].bytes));
  const first = await page.getByTestId("lifetime-rows").locator("tbody tr").first().innerText();
  assert.ok(first.includes(bytesText(report.rows[0].bytes)), first);
  await picture(page, "lifetimes-light");
  // Over all sizes from a cell on, and two steps of lifetimes.
  const from = cellOf(page, largest[0], 4);
  const to = cellOf(page, report.sizes.length - 1, 5);
  await from.hover();
  await page.mouse.down();
  await to.hover();
  await page.mouse.up();
  await hasWord(page, "min-lifetime");
  const words = await hashOf(page);
  const asked = ["--min-size", words["min-size"], "--max-size", words["max-size"], "--min-lifetime", words["min-lifetime"], "--max-lifetime", words["max-lifetime"], "--freed"];
  const part = JSON.parse(heapgauge("lifetimes", "--json", ...asked, TRACE));
  let blocks = 0;
  report.sizes.slice(largest[0]).forEach((size) => [4, 5].forEach((step) => (blocks += size.by_lifetime[step].blocks)));
  assert.equal(part.total.blocks, blocks);
  assert.ok((await page.getByTestId("chosen").innerText()).startsWith(`${bytesText(part.total.bytes)} in ${blocks.toLocaleString("en-US")} blocks`));
  await until(page, (text) => document.querySelector("[data-testid=lifetime-rows] tbody tr td:nth-child(2)")?.innerText === text, bytesText(part.rows[0].bytes));
  await picture(page, "lifetimes-brushed-light");
  // Somebody else sees the same cells chosen; the flame graph has the same blocks.
  const other = await open(page.url());
  await other.getByTestId("chosen").waitFor();
  assert.equal(await other.getByTestId("chosen").innerText(), await page.getByTestId("chosen").innerText());
  await quiet(other);
  await page.getByTestId("chosen").getByRole("link", { name: "Flame graph" }).click();
  await until(page, (text) => document.querySelector("[data-testid=flame-total] b")?.textContent.trim() === text, flameTotal("--value", "allocated", ...asked, TRACE));
  await quiet(page);
  await server.stop();
});

test("lifetimes by keys, blocks, stacks, and never freed", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=lifetimes`, { colorScheme: "dark" });
  await page.getByTestId("lifetime-rows").waitFor();
  const report = JSON.parse(heapgauge("lifetimes", "--json", TRACE));
  await page.getByTitle("how many blocks").click();
  const cell = report.sizes[0].by_lifetime.findIndex((one) => one.blocks > 0);
  await until(page, ([step, text]) => document.querySelector(`[data-testid=heat] button[data-row="0"][data-step="${step}"]`).innerText === text, [cell, report.sizes[0].by_lifetime[cell].blocks.toLocaleString("en-US")]);
  await page.getByTitle("a row for each stack").click();
  const stacks = JSON.parse(heapgauge("lifetimes", "--json", "--by", "stack", TRACE));
  await until(page, (count) => document.querySelectorAll("[data-testid=lifetime-rows] tbody tr").length === count, stacks.rows.length);
  await picture(page, "lifetimes-dark");
  await cellOf(page, 0, 0).focus();
  for (let i = 0; i < report.lifetimes.length - 1; ++i) await page.keyboard.press("ArrowRight");
  for (let i = 0; i < report.sizes.length - 1; ++i) await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Enter");
  await wordIs(page, "not-freed", "1");
  await until(page, (text) => document.querySelector("[data-testid=chosen]")?.innerText.includes(text), `in ${report.total.never_freed.blocks.toLocaleString("en-US")} blocks`);
  await page.keyboard.press("Escape");
  await wordIs(page, "not-freed", "");
  await quiet(page);
  const phone = await open(`${server.url}#view=lifetimes`, { viewport: { width: 400, height: 800 } });
  await phone.getByTestId("lifetime-rows").waitFor();
  assert.ok((await phone.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0);
  await picture(phone, "lifetimes-phone");
  await quiet(phone);
  await server.stop();
});

test("in other light, on a narrow screen and by touch", async () => {
  const server = await serve(TRACE);
  const dark = await open(`${server.url}#view=timeline&from=1s&to=1.6s&live-at=3s&value=allocated`, { colorScheme: "dark" });
  await timelineOf(dark);
  await picture(dark, "timeline-dark");
  await quiet(dark);
  const phone = await open(`${server.url}#view=timeline`, { viewport: { width: 400, height: 800 }, hasTouch: true });
  const plot = await timelineOf(phone);
  assert.ok((await phone.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0);
  await phone.touchscreen.tap(...plot.at(0.5));
  await hasWord(phone, "at");
  // All that is told of a moment has room.
  await until(phone, () => {
    const told = document.querySelector("[data-testid=read-out]");
    return told.scrollHeight <= told.clientHeight;
  });
  await picture(phone, "timeline-phone");
  await quiet(phone);
  await server.stop();
});

test("the timeline of a process grows by itself, and stands still where one looks closer", async () => {
  const program = start(join(BUILD, "bin/targets/grow_on_request"), [], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "64K" });
  await lineOf(program.stdout, /ready/);
  program.stdin.write("a 8\n");
  await lineOf(program.stdout, /ok/);
  const server = await serve();
  const page = await open(`${server.url}#view=timeline&source=${program.pid}`);
  const axis = page.getByRole("slider");
  await axis.waitFor();
  const end = async () => Number(await axis.getAttribute("aria-valuemax"));
  const first = await end();
  await until(page, (before) => Number(document.querySelector("[role=slider]").getAttribute("aria-valuemax")) > before, first);
  await until(page, () => /RSS\s+\S+ [kM]B/.test(document.querySelector("[data-testid=read-out]").innerText));
  // What was allocated meanwhile is seen.
  program.stdin.write("a 64\n");
  await lineOf(program.stdout, /ok/);
  await until(page, () => parseFloat(/live\s+(\S+) MB/.exec(document.querySelector("[data-testid=read-out]").innerText)?.[1] ?? 0) > 40);
  await picture(page, "timeline-process-light");
  await axis.focus();
  await page.keyboard.press("+");
  await hasWord(page, "zfrom");
  // The axis runs ahead of the address, which rounds to microseconds.
  await until(page, () => {
    const words = new URLSearchParams(location.hash.slice(1));
    const axis = document.querySelector("[role=slider]");
    return `${axis.getAttribute("aria-valuemin")}s` === words.get("zfrom") && `${axis.getAttribute("aria-valuemax")}s` === words.get("zto");
  });
  const seen = [await axis.getAttribute("aria-valuemin"), await axis.getAttribute("aria-valuemax")];
  for (let i = 0; i < 2; ++i) await page.waitForResponse((response) => response.url().includes("/timeline?"));
  assert.deepEqual([await axis.getAttribute("aria-valuemin"), await axis.getAttribute("aria-valuemax")], seen);
  await page.keyboard.press("0");
  await wordIs(page, "zfrom", "");
  // It ends while it is watched: what was seen stays.
  await stop(program, "SIGKILL");
  await page.reload();
  await axis.waitFor();
  assert.ok((await end()) >= Number(seen[1]));
  await quiet(page);
  await server.stop();
});

await runAll();
