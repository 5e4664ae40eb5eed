// heapgauge report: one file that opens from disk, with no server, and shows what the page shows.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, folder, heapgauge, lineOf, open, picture, runAll, serve, start, stop, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);
const REPORT = join(folder, "report.html");
assert.match(heapgauge("report", "-o", REPORT, TRACE), /^wrote .*answers\. It opens in a browser/);

// As a person would: from disk. Nothing else is asked for.
async function openFile(path, hash = "", options = {}) {
  const page = await open(`file://${path}${hash}`, options);
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && request.url().split("#")[0] !== `file://${path}`) page.complaints.push(`asks for ${request.url()}`);
  });
  return page;
}

async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

const totalOf = async (page) => (await page.getByTestId("flame-total").locator("b").textContent()).trim();
const flameTotal = (...words) => /all (\S+ \S+?B)/.exec(heapgauge("flame", "--text", ...words))[1];

test("the report shows the figures of the command line, from disk", async () => {
  const page = await openFile(REPORT);
  const live = /live\s+(\S+ \S+) in/.exec(heapgauge("top", TRACE))[1];
  await page.getByTestId("live-total").waitFor();
  assert.equal(await page.getByTestId("live-total").textContent(), live);
  await page.getByText("Who holds it").waitFor();
  await page.getByText("saved report").click();
  await page.getByText("Everything that is shown is inside of this file").waitFor();
  await picture(page, "report-light");
  await page.getByText("saved report").click();
  await page.getByRole("link", { name: "Table", exact: true }).click();
  const first = page.getByTestId("table").locator(".all .row").first();
  await first.waitFor();
  const row = JSON.parse(heapgauge("top", "--json", "-n", "1", TRACE)).functions[0];
  assert.ok((await first.innerText()).includes(row.label));
  await page.getByRole("link", { name: "Timeline" }).click();
  await page.locator(".u-over").first().waitFor();
  await page.getByRole("link", { name: "Lifetimes" }).click();
  await page.getByTestId("heat").waitFor();
  await quiet(page);
});

test("the flame graph zooms, searches and filters without a server", async () => {
  const page = await openFile(REPORT, "#view=flame&value=allocated");
  const canvas = page.getByTestId("flame-canvas");
  await canvas.waitFor();
  assert.equal(await totalOf(page), flameTotal("--value", "allocated", TRACE));
  await canvas.focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await page.getByRole("navigation", { name: "Where this is" }).waitFor();
  await picture(page, "report-flame-light");
  const zoomed = page.url();
  // The same call, as the server shows it.
  const server = await serve(TRACE);
  const other = await open(server.url + new URL(zoomed).hash);
  await other.getByRole("navigation", { name: "Where this is" }).waitFor();
  assert.equal(await other.getByRole("navigation", { name: "Where this is" }).textContent(), await page.getByRole("navigation", { name: "Where this is" }).textContent());
  assert.equal(await totalOf(other), await totalOf(page));
  await quiet(other);
  await server.stop();
  await page.keyboard.press("/");
  await page.keyboard.type("Request");
  await page.getByText(/^matched /).waitFor();
  await page.goto(`file://${REPORT}#view=flame&value=allocated&focus=Request`);
  await until(page, (text) => document.querySelector("[data-testid=flame-total] b")?.textContent === text, flameTotal("--value", "allocated", "--focus", "Request", TRACE));
  await quiet(page);
});

test("call tree, callers and the two halves of a function are those of the server", async () => {
  const server = await serve(TRACE);
  const views = [
    ["#view=tree&value=allocated", "[data-testid=tree]"],
    ["#view=callers&value=allocated", "[data-testid=neighbours]"],
  ];
  for (const [hash, selector] of views) {
    const names = [];
    for (const page of [await openFile(REPORT, hash), await open(server.url + hash)]) {
      await page.locator(selector).first().waitFor();
      await until(page, () => !document.querySelector("main").textContent.includes("reading…"));
      // Names in their order; ranges and places are the server's alone.
      const text = await page.locator(selector).allInnerTexts();
      names.push(text.join("\n").match(/(main(?!\.)|Serve|Request::Read|LoadTables|Cache::Insert|Session::Token|Reply::Format)/g));
      await quiet(page);
    }
    assert.deepEqual(names[0], names[1], hash);
    assert.ok(names[0].length > 2, hash);
  }
  const hash = "#view=flame&value=allocated&callers=both&through=%5EServe%24";
  const labels = [];
  for (const page of [await openFile(REPORT, hash), await open(server.url + hash)]) {
    await page.getByTestId("flame-callees").waitFor();
    await page.locator("[data-testid=flame-callees][aria-busy=false]").waitFor();
    const halves = [];
    for (const half of ["flame-callers", "flame-callees"]) halves.push(await page.getByTestId(half).getAttribute("aria-label"));
    labels.push([await page.locator(".flame-area").first().innerText(), ...halves].join("\n"));
    await quiet(page);
  }
  assert.equal(labels[0], labels[1]);
  await server.stop();
});

test("recursion can be collapsed, from the callers in", async () => {
  const stacks = join(folder, "recursive.txt");
  writeFileSync(stacks, "main;parse;list;parse;list;text 25\nmain;parse;list;parse;text 30\nmain;parse 20\nmain;text 10\n");
  const path = join(folder, "recursive.html");
  heapgauge("report", "-o", path, stacks);
  const server = await serve(stacks);
  const told = [];
  for (const page of [await openFile(path, "#view=flame&collapse=."), await open(`${server.url}#view=flame&collapse=.`)]) {
    const canvas = page.getByTestId("flame-canvas");
    await canvas.waitFor();
    await canvas.focus();
    // main, parse, what it calls: each with its figures, as keys lead there.
    const boxes = [];
    for (let i = 0; i < 4; ++i) {
      await page.keyboard.press("ArrowDown");
      await page.waitForTimeout(300);
      boxes.push((await page.getByTestId("flame-details").locator(".name").innerText()) + (await page.getByTestId("flame-details").locator(".figure").innerText()).split(" · ").slice(0, 2).join(" "));
    }
    told.push(boxes);
    await quiet(page);
  }
  assert.deepEqual(told[0], told[1]);
  assert.match(told[0][2], /^parse/);
  const page = await openFile(path, "#view=flame&collapse=.&callers=1");
  await page.getByText(/This report collapses recursion from the callers in only/).waitFor();
  await quiet(page);
  await server.stop();
});

test("records of a leak check have their details", async () => {
  const page = await openFile(REPORT, "#view=leaks");
  await page.getByTestId("records").waitFor();
  await page.getByTestId("records").locator("tbody button, tbody a").first().click();
  const details = page.getByTestId("leak-details");
  await details.waitFor();
  await until(page, () => /heapgauge|Cache::Insert|LoadTables|Session::Token/.test(document.querySelector("[data-testid=leak-details]").innerText) && !/reading…/.test(document.querySelector("[data-testid=leak-details]").innerText));
  assert.equal(await details.locator(".problem").count(), 0);
  await quiet(page);
});

test("what is not in the report says so in one line", async () => {
  const page = await openFile(REPORT, "#view=query");
  await page.getByText("A saved report has no answers for this view").waitFor();
  await page.goto(`file://${REPORT}#view=table&focus=Request`);
  await page.getByText(/This report has no answer to that\. The profile itself has: heapgauge ui server\.hgt/).first().waitFor();
  await quiet(page);
});

test("two sources are compared", async () => {
  const old = join(folder, "old.pb.gz");
  heapgauge("proto", "--at", "0.5s", "-o", old, TRACE);
  const both = join(folder, "both.html");
  heapgauge("report", "-o", both, old, TRACE);
  const page = await openFile(both, "#view=compare&source=server.hgt&base=old.pb.gz");
  await page.getByTestId("changes").waitFor();
  const diff = JSON.parse(heapgauge("diff", "--json", old, TRACE));
  assert.equal(await page.getByTestId("changes").locator("tbody tr").count(), diff.changes.length);
  await quiet(page);
});

test("a process that runs is looked at once", async () => {
  const program = start(join(BUILD, "bin/targets/grow_on_request"), [], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "64K" });
  await lineOf(program.stdout, /ready/);
  program.stdin.write("a 8\n");
  await lineOf(program.stdout, /ok/);
  const path = join(folder, "process.html");
  heapgauge("report", "-o", path, String(program.pid));
  await stop(program, "SIGKILL");
  const page = await openFile(path);
  await page.getByTestId("live-total").waitFor();
  const live = await page.getByTestId("live-total").textContent();
  assert.equal(await page.getByRole("button", { name: "pause" }).count(), 0);
  await page.getByRole("link", { name: "Flame graph" }).click();
  await page.getByTestId("flame-canvas").waitFor();
  assert.equal(await totalOf(page), live);
  await quiet(page);
});

test("names of any kind are text, in the page and in the file", async () => {
  const hostile = join(folder, "<script>alert(1)<\u2028!--.txt");
  const names = ["</script><script>alert(2)</script>", "<!--", "\u2028\u2029", "x".repeat(10_000), "<img src=x onerror=alert(3)>"];
  writeFileSync(hostile, Buffer.concat([Buffer.from(`${names.join(";")};`), Buffer.from([0xff, 0xfe, 0x80]), Buffer.from(" 12\nmain;other 5\n")]));
  const path = join(folder, "hostile.html");
  heapgauge("report", "--title", "</title><script>alert(4)</script>", "-o", path, hostile);
  const text = readFileSync(path, "utf8");
  assert.equal(text.match(/<script/g).length, 2);
  assert.ok(!text.includes("\u2028"));
  for (const view of ["overview", "flame", "table", "timeline", "compare"]) {
    const page = await openFile(path, `#view=${view}&cumulative=1`);
    await page.locator("section.view").waitFor();
    await until(page, () => !document.querySelector("main").textContent.includes("reading…"));
    assert.equal(await page.locator("main script, main img").count(), 0);
    if (view === "table") await page.getByTestId("table").getByText("</script>").first().waitFor();
    await quiet(page);
  }
});

test("a script that is put into the file does not run", async () => {
  const path = join(folder, "changed.html");
  writeFileSync(path, readFileSync(REPORT, "utf8").replace("</body>", "<script>document.title = 'changed'</script></body>"));
  const page = await openFile(path);
  await page.getByTestId("live-total").waitFor();
  assert.notEqual(await page.title(), "changed");
  assert.ok(page.complaints.some((text) => /Content Security Policy/.test(text)));
  await page.context().close();
});

test("the same sources give the same bytes, within the size that is asked for", async () => {
  const again = join(folder, "again.html");
  heapgauge("report", "-o", again, TRACE);
  assert.ok(readFileSync(again).equals(readFileSync(REPORT)));
  const small = join(folder, "small.html");
  assert.match(heapgauge("report", "--size", "30k", "-o", small, TRACE), /had no room/);
  assert.ok(statSync(small).size < statSync(REPORT).size);
  const page = await openFile(small, "#view=flame");
  await page.getByTestId("flame-canvas").waitFor();
  await page.getByText("saved report").click();
  await page.getByText(/answers had no room in 30\.0 kB/).waitFor();
  await quiet(page);
});

test("a picture is saved from a report, dark and on a phone", async () => {
  const page = await openFile(REPORT, "#view=flame&value=allocated", { colorScheme: "dark", viewport: { width: 400, height: 800 } });
  await page.getByTestId("flame-canvas").waitFor();
  await page.getByRole("button", { name: "export" }).click();
  const coming = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Picture (SVG)" }).click();
  assert.equal((await coming).suggestedFilename(), "server-flame.svg");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth > 0), false);
  await picture(page, "report-phone-dark");
  await quiet(page);
});

await runAll();
