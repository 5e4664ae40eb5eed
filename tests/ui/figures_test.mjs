// The figures on the page are those of the command line, to the digit: every kind of source, every kind of filter, in
// the views that show tables, trees, totals and changes. What is compared is text with text.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, folder, heapgauge, lineOf, open, runAll, serve, start, stop, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);

// The options of the command line that mean the same as words of the address.
const FLAGS = ["blocks", "freed", "not-freed", "realloc", "mmap-blocks", "peak"];
function optionsOf(words) {
  const options = [];
  for (const [word, value] of Object.entries(words)) {
    if (FLAGS.includes(word)) options.push(`--${word}`);
    else if (word === "granularity") options.push(`--${value}`);
    else if (word === "cumulative") options.push("--cum");
    else if (word === "source-file") options.push("--source", value);
    else if (word === "not-source-file") options.push("--not-source", value);
    else options.push(`--${word}`, value);
  }
  return options;
}

// Columns of a table in a terminal: each heading ends where its figures end.
function tableOf(text) {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => /^ +\S/.test(line) && /  (function|line|file|module|address)\b/.test(line));
  assert.ok(at >= 0, text);
  const columns = [...lines[at].matchAll(/(\S+(?: %| range| freed| peak)*)/g)].map((match) => ({ title: match[1], end: match.index + match[1].length }));
  const what = columns.findIndex((column) => /^(function|line|file|module|address)$/.test(column.title));
  const begin = lines[at].search(/(function|line|file|module|address)( and what it calls)?( +.*)?$/);
  return lines.slice(at + 1).filter((line) => line.trim() !== "" && line.length > begin).map((line) => ({
    name: line.slice(begin).trim(),
    cells: Object.fromEntries(columns.slice(0, what).map(({ title, end }) => [title, /(\S+(?: (?:[kMGTPE]?B)(?:\*s)?)?)$/.exec(line.slice(0, end))?.[1] ?? ""])),
  }));
}

// Rows of the page, each with its cells by the word of their column.
const shownTable = (page) => page.evaluate(() => [...document.querySelectorAll("[data-testid=table] .all .row")].map((row) => Object.fromEntries([...row.querySelectorAll("[data-column]")].map((cell) => [cell.dataset.column, cell.innerText.trim()]))));

// The column of the page that is a column of the terminal; none for ages, which go on, and for what the page has flat
// where a terminal has it with all calls.
function columnOf(title, titles, cumulative) {
  if (title === (titles.includes("live") ? "live" : titles[0])) return cumulative ? "cum" : "flat";
  if (title === "share") return cumulative ? "cum-share" : "share";
  if (cumulative) return undefined;
  return { "95 % range": "range", objects: "objects", allocated: "allocated", "±": "allocated-range" }[title];
}

const addressOf = (server, view, source, words) => `${server.url}#${new URLSearchParams({ view, source, ...words })}`;

// A page that shows this and nothing of what it showed before.
async function show(page, server, view, source, words, until_) {
  await page.goto("about:blank");
  await page.goto(addressOf(server, view, source, words));
  await until(page, until_);
}

const isTable = () => document.querySelector("[data-testid=table]:not(.loading) .all") && ![...document.querySelectorAll("[data-testid=table] .all .name")].some((name) => name.textContent.trim() === "…");
const isTotal = () => document.querySelector("[data-testid=live-total]");
const isFlame = () => document.querySelector("[data-testid=flame-total] b");
const isCompared = () => document.querySelector("[data-testid=changes]:not(.loading), main .view > .empty") && !document.body.textContent.includes("reading…");

let compared = 0;

async function checkTable(page, server, source, id, words) {
  const text = heapgauge("top", "-n", "25", ...optionsOf(words), source);
  const expected = tableOf(text);
  await show(page, server, "table", id, words, isTable);
  const shown = await shownTable(page);
  const what = `${id} ${JSON.stringify(words)}`;
  assert.ok(shown.length >= Math.min(expected.length, 10), `${what}: ${shown.length} rows of ${expected.length}`);
  for (const [i, row] of expected.slice(0, Math.min(shown.length, expected.length)).entries()) {
    // A terminal may cut long names; whatever of it there is is the same.
    const name = row.name.split("…")[0].trim().replace(/\s+/g, " ").slice(0, 40);
    const isIt = (one) => one.name.replace(/\s+/g, " ").startsWith(name);
    // Rows that have the same figures come in any order.
    const alike = (one) => Object.keys(one).every((column) => column === "name" || one[column] === shown[i][column]);
    const mine = isIt(shown[i]) ? shown[i] : shown.find((one) => isIt(one) && alike(one));
    assert.ok(mine, `${what}: row ${i} is '${shown[i].name}', not '${row.name}'`);
    let columns = 0;
    for (const [title, cell] of Object.entries(row.cells)) {
      const column = columnOf(title, Object.keys(row.cells), words.cumulative !== undefined);
      if (column === undefined || mine[column] === undefined) continue;
      assert.equal(mine[column], cell, `${what}: ${title} of ${row.name}\n${text}`);
      ++columns;
      ++compared;
    }
    assert.ok(columns > 1, `${what}: no columns of ${Object.keys(row.cells)} in ${Object.keys(mine)}`);
  }
}

async function checkFlame(page, server, source, id, words) {
  const { cumulative, ...rest } = words;
  const found = /all (\S+(?: [kMGTPE]?B(?:\*s)?)?)/.exec(heapgauge("flame", "--text", ...optionsOf(rest), source));
  await show(page, server, "flame", id, rest, isFlame);
  const shown = (await page.evaluate(() => document.querySelector("[data-testid=flame-total] b")?.textContent ?? "")).trim();
  assert.equal(shown, found[1], `flame ${id} ${JSON.stringify(words)}`);
  ++compared;
}

// The first lines of a report: "live  7.6 MB in 600 blocks; peak 20.5 MB at 3.6s".
async function checkOverview(page, server, source, id, words) {
  const text = heapgauge("top", ...optionsOf(words), source);
  await show(page, server, "overview", id, words, isTotal);
  const card = await page.evaluate(() => {
    const total = document.querySelector("[data-testid=live-total]");
    return { name: total.closest("article").querySelector("h2").textContent, total: total.textContent, text: total.closest("article").innerText };
  });
  const name = card.name === "Live heap" ? "live" : card.name;
  // A count of blocks has no line of its own: it ends that of the bytes.
  const line = name === "alloc_objects" ? /^allocated .* in (\S+) blocks/m.exec(text)?.[1] : new RegExp(`^${name} +(.*)$`, "m").exec(text)?.[1];
  assert.ok(line, `no ${name} in ${text}`);
  assert.ok(line.startsWith(card.total), `${id} ${JSON.stringify(words)}: '${card.total}' and '${line}'`);
  const peak = /peak (\S+ \S+) at (\S+)/.exec(line);
  if (peak && name === "live") assert.ok(card.text.includes(peak[1]), `${peak[1]} in ${card.text}`);
  const range = /(\S+-\S+ [kMGT]?B)/.exec(line);
  if (range) assert.ok(card.text.includes(range[1]), `${range[1]} in ${card.text}`);
  ++compared;
}

const ofTrace = [
  {}, { at: "1s" }, { at: "peak" }, { at: "40%" }, { from: "1s", to: "2s", value: "left" }, { from: "20%", to: "60%", value: "growth" },
  { value: "allocated" }, { value: "freed" }, { value: "temporary" }, { value: "never-freed" }, { value: "peak" }, { value: "lifetime" },
  { blocks: "1" }, { value: "allocated", blocks: "1" }, { at: "2s", "min-size": "8K" }, { value: "allocated", "max-size": "16K" },
  { value: "allocated", "min-lifetime": "10ms" }, { value: "allocated", "max-lifetime": "1ms" }, { value: "allocated", temporary: "0" },
  { "not-freed": "1", value: "allocated" }, { freed: "1", value: "allocated" }, { value: "allocated", "live-at": "1s" }, { value: "allocated", function: "Request" },
  { value: "allocated", "not-function": "Cache" }, { value: "allocated", stack: "cache" }, { value: "allocated", "source-file": "cache" },
];
const ofRows = [
  {}, { sort: "count" }, { focus: "a" }, { ignore: "Cache|Fill" }, { granularity: "lines" }, { granularity: "files" }, { granularity: "modules" }, { cumulative: "1" }, { names: "whole" }, { focus: "nothing at all" },
];

test("a trace: every moment, range, figure and filter", async () => {
  const server = await serve(TRACE);
  const page = await open(server.url);
  const id = "server.hgt";
  for (const words of ofTrace) {
    await checkTable(page, server, TRACE, id, words);
    await checkFlame(page, server, TRACE, id, words);
    await checkOverview(page, server, TRACE, id, words);
  }
  for (const words of [...ofRows, { sort: "allocated" }].slice(1)) {
    if (words.focus === "nothing at all") continue;
    await checkTable(page, server, TRACE, id, words);
    if (!words.cumulative && !words.granularity) await checkFlame(page, server, TRACE, id, words);
    await checkTable(page, server, TRACE, id, { ...words, at: "2s" });
  }
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  await server.stop();
});

// What other tools wrote.
function jemallocText() {
  return "heap_v2/524288\n  t*: 30: 3145728 [0: 0]\n@ 0x1000 0x2000\n  t*: 20: 1048576 [0: 0]\n@ 0x1100 0x2000\n  t*: 10: 2097152 [0: 0]\n\nMAPPED_LIBRARIES:\n";
}
function gperftoolsText() {
  return "heap profile:     12:  3000000 [    20:  9000000] @ heap_v2/524288\n     8:  2000000 [    12:  5000000] @ 0x1000 0x2000\n     4:  1000000 [     8:  4000000] @ 0x1100 0x2000\n\nMAPPED_LIBRARIES:\n";
}
function collapsedText() {
  return "main;Load;alloc 500\nmain;Serve;alloc 300\nmain;Serve;Cache<int>::put 1200\nother 7\n";
}

// DHAT's files would rather have what was allocated first.
test("views and the choice of figures are about the same, whatever a file has first", async () => {
  const file = join(folder, "d.dhat");
  heapgauge("dhat", "-o", file, TRACE);
  const server = await serve(file);
  const page = await open(`${server.url}#view=flame`);
  const figure = page.locator(".filters select");
  const total = page.getByTestId("flame-total");
  const bytes = (type) => new RegExp(`^${type}\\s+(.*?),`, "m").exec(heapgauge("top", file))[1];
  const allocated = /^allocated\s+(.*?) in/m.exec(heapgauge("top", file))[1];
  await total.filter({ hasText: `live ${bytes("live")}` }).waitFor();
  assert.equal(await figure.locator("option:checked").textContent(), "live");
  await figure.selectOption("allocated");
  await total.filter({ hasText: `allocated ${allocated}` }).waitFor();
  await page.getByRole("link", { name: "Table", exact: true }).click();
  await page.locator(".total", { hasText: `allocated ${allocated}` }).waitFor();
  await page.getByRole("columnheader", { name: "live" }).getByRole("button").click();
  await page.locator(".total", { hasText: `live ${bytes("live")}` }).waitFor();
  assert.equal(await figure.locator("option:checked").textContent(), "live");
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await page.getByText("Who holds it").waitFor();
  await figure.selectOption("allocated");
  await page.getByText("By function: allocated").waitFor();
  const first = JSON.parse(heapgauge("top", "--json", "-n", "1", "--sort", "allocated", file)).functions[0];
  const mb = `${Math.round(first.flat.allocated_bytes.value / 1024 / 1024)} MB`;
  await page.locator(".holders tr").first().filter({ hasText: mb }).waitFor();
  // What else it knows can be chosen too.
  await figure.selectOption("peak_space");
  await page.getByText("By function: at peak").waitFor();
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  await server.stop();
});

test("profiles of other tools", async () => {
  const files = { "a.heap": jemallocText(), "b.heap": gperftoolsText(), "c.txt": collapsedText() };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const pb = join(folder, "trace.pb.gz");
  heapgauge("proto", "-o", pb, TRACE);
  const server = await serve(...Object.keys(files).map((name) => join(folder, name)), pb);
  const page = await open(server.url);
  for (const name of [...Object.keys(files), "trace.pb.gz"]) {
    const source = join(folder, name);
    for (const words of ofRows) {
      if (words.focus === "nothing at all") continue;
      if (words.sort === "count" && name === "c.txt") continue; // it has no objects
      const functions = ["a.heap", "b.heap"].includes(name);
      if (functions && (words.granularity || words.focus || words.names)) continue; // it has no names
      await checkTable(page, server, source, name, words);
      if (!words.cumulative && !words.granularity) await checkFlame(page, server, source, name, words);
    }
    if (name !== "c.txt") await checkOverview(page, server, source, name, {});
    // What was freed is known where all allocations are counted.
    if (!["b.heap", "trace.pb.gz"].includes(name)) continue;
    for (const words of [{ value: "freed" }, { value: "freed", blocks: "1" }, { value: "freed", cumulative: "1" }]) await checkTable(page, server, source, name, words);
    await checkFlame(page, server, source, name, { value: "freed" });
    await checkOverview(page, server, source, name, { value: "freed" });
  }
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  await server.stop();
});

test("a process that runs, its dump, and a snapshot of it", async () => {
  const program = start(join(BUILD, "bin/targets/grow_on_request"), [], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "64K" });
  await lineOf(program.stdout, /ready/);
  for (const mib of [8, 32]) {
    const done = lineOf(program.stdout, /ok/);
    program.stdin.write(`a ${mib}\n`);
    await done;
  }
  const early = join(folder, "early.hg");
  heapgauge("ctl", String(program.pid), "dump", "-o", early);
  const done = lineOf(program.stdout, /ok/);
  program.stdin.write("b 20\n");
  await done;
  const dump = join(folder, "now.hg");
  heapgauge("ctl", String(program.pid), "dump", "-o", dump);
  // It waits for its next order: what it holds is the same for all that follows.
  const server = await serve(String(program.pid), dump, early);
  const page = await open(server.url);
  await until(page, isTotal);
  const [live] = await page.locator(".source option").evaluateAll((list) => list.map((option) => option.value));
  const taken = await page.request.post(`${server.url}../api/v1/snapshots?source=${live}`);
  const snapshot = (await taken.json()).id;
  for (const [id, source] of [[live, String(program.pid)], ["now.hg", dump], [snapshot, dump]]) {
    for (const words of [{}, { sort: "allocated" }, { sort: "count" }, { focus: "Fill" }, { granularity: "lines" }, { granularity: "modules" }, { cumulative: "1" }]) {
      await checkTable(page, server, source, id, words);
      if (!words.cumulative && !words.granularity) await checkFlame(page, server, source, id, words);
    }
    await checkOverview(page, server, source, id, {});
    if (id === live) {
      await checkTable(page, server, source, id, { peak: "1" });
      await checkOverview(page, server, source, id, { peak: "1" });
    }
  }
  // What changed, with ranges: the lines of heapgauge diff.
  for (const [base, source, words] of [["early.hg", dump, {}], ["early.hg", dump, { cumulative: "1" }], ["early.hg", dump, { sort: "allocated" }], ["early.hg", dump, { "only-sure": "1" }]]) {
    const { "only-sure": sure, ...rest } = words;
    const text = heapgauge("diff", "-n", "25", ...optionsOf(rest), ...(sure ? ["--sure"] : []), early, source);
    const expected = tableOf(text);
    await show(page, server, "compare", "now.hg", { ...words, base }, isCompared);
    const shown = await page.getByTestId("changes").locator("tbody tr").allInnerTexts();
    assert.equal(shown.length, expected.length, text);
    for (const [i, row] of expected.entries()) {
      for (const cell of Object.values(row.cells)) assert.ok(shown[i].split("\t").map((one) => one.trim()).some((one) => one === cell || one.replace(/ ~$/, "") === cell), `'${cell}' of\n${text}\nin ${shown[i]}`);
      ++compared;
    }
  }
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  await stop(program, "SIGKILL");
  await server.stop();
});

test("there was something to compare", () => {
  console.log(`        ${compared} figures`);
  assert.ok(process.argv[2] !== undefined || compared > 1000, `${compared}`);
});

await runAll();
