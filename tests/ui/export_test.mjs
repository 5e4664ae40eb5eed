// The export menu: what is saved is what is shown, and what other tools read.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, folder, heapgauge, open, picture, runAll, serve, test } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);

// Chooses an item of the menu; the name of the file that comes, and where it is.
async function save(page, item) {
  await page.getByRole("button", { name: "export" }).click();
  const coming = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: item }).click();
  const download = await coming;
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  return { name: download.suggestedFilename(), path };
}

async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

test("the profile behind a view is what the command line writes", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=flame&at=peak&focus=Request`);
  await page.getByTestId("flame-canvas").waitFor();
  const { name, path } = await save(page, "Profile: pprof (.pb.gz)");
  assert.equal(name, "server.pb.gz");
  const own = join(folder, "own.pb.gz");
  heapgauge("proto", "--at", "peak", "--focus", "Request", "-o", own, TRACE);
  // The same table; comments tell who wrote it.
  assert.equal(heapgauge("raw", path).split("Samples:")[1], heapgauge("raw", own).split("Samples:")[1]);
  const stacks = await save(page, "Profile: collapsed stacks");
  assert.equal(readFileSync(stacks.path, "utf8"), heapgauge("collapsed", "--at", "peak", "--focus", "Request", TRACE));
  for (const [item, ending] of [["Profile: speedscope", "server.speedscope.json"], ["Profile: callgrind", "server.callgrind.out"], ["Profile: gperftools", "server.heap"], ["Profile: flame graph that zooms", "server.flame.svg"]]) {
    const saved = await save(page, item);
    assert.equal(saved.name, ending);
    assert.ok(readFileSync(saved.path).length > 200);
  }
  await quiet(page);
  await server.stop();
});

test("pictures of canvases are SVG and PNG", async () => {
  const server = await serve(TRACE);
  for (const view of ["flame", "timeline"]) {
    const page = await open(`${server.url}#view=${view}`);
    await page.locator("main canvas").first().waitFor();
    const svg = await save(page, "Picture (SVG)");
    assert.equal(svg.name, `server-${view}.svg`);
    const text = readFileSync(svg.path, "utf8");
    assert.match(text, /^<svg xmlns=/);
    assert.ok(text.includes(view === "flame" ? "LoadTables" : "live heap"), text.slice(0, 500));
    const png = await save(page, "Picture (PNG)");
    assert.equal(readFileSync(png.path).subarray(1, 4).toString(), "PNG");
    assert.ok(readFileSync(png.path).length > 2000);
    await quiet(page);
    // It is a picture on its own as well.
    const alone = await open(`file://${svg.path}`);
    assert.equal(await alone.evaluate(() => document.documentElement.tagName), "svg");
    await picture(alone, `export-${view}`);
    await quiet(alone);
  }
  await server.stop();
});

test("tables are CSV with every row, and figures JSON", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=table&sort=allocated`);
  await page.getByTestId("table").locator(".all .row").first().waitFor();
  const csv = await save(page, "Table (CSV)");
  assert.equal(csv.name, "server-table.csv");
  const lines = readFileSync(csv.path, "utf8").trimEnd().split("\r\n");
  const expected = JSON.parse(heapgauge("top", "--json", "--sort", "allocated", "-n", "10000", TRACE)).functions;
  assert.equal(lines.length - 1, expected.length);
  const columns = lines[0].split(",");
  assert.equal(lines[1].split(",")[columns.indexOf("flat.allocated_bytes.value")], String(expected[0].flat.allocated_bytes.value));
  const json = await save(page, "Figures (JSON)");
  assert.equal(JSON.parse(readFileSync(json.path, "utf8")).rows[0].function, expected[0].function);
  await quiet(page);
  const other = await open(`${server.url}#view=compare&base-at=0.5s`);
  await other.getByTestId("changes").waitFor();
  const changes = await save(other, "Table (CSV)");
  const diff = JSON.parse(heapgauge("diff", "--json", `${TRACE}@0.5s`, TRACE));
  assert.equal(readFileSync(changes.path, "utf8").trimEnd().split("\r\n").length - 1, diff.changes.length);
  await quiet(other);
  await server.stop();
});

test("hostile names are only text in what is saved", async () => {
  const hostile = join(folder, "<evil> \"name\".txt");
  writeFileSync(hostile, 'main;</text><script>alert(1)</script>;=HYPERLINK("x") 7\nmain;a,"b 5\n');
  const server = await serve(hostile);
  const page = await open(`${server.url}#view=flame`);
  await page.getByTestId("flame-canvas").waitFor();
  const svg = await save(page, "Picture (SVG)");
  assert.match(svg.name, /^[A-Za-z0-9._-]+$/);
  assert.ok(!readFileSync(svg.path, "utf8").includes("<script"));
  const alone = await open(`file://${svg.path}`);
  assert.equal(await alone.evaluate(() => document.querySelectorAll("script").length), 0);
  await quiet(alone);
  await page.getByRole("link", { name: "Table" }).click();
  await page.getByTestId("table").locator(".all .row").first().waitFor();
  const csv = await save(page, "Table (CSV)");
  assert.ok(readFileSync(csv.path, "utf8").includes("'=HYPERLINK"));
  const stacks = await save(page, "Profile: collapsed stacks");
  assert.match(stacks.name, /^[A-Za-z0-9._-]+$/);
  await quiet(page);
  await server.stop();
});

test("the menu is for keys as well", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=flame`);
  await page.getByTestId("flame-canvas").waitFor();
  const button = page.getByRole("button", { name: "export" });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Picture (SVG)" }).waitFor();
  await picture(page, "export-menu-light");
  await page.waitForFunction(() => document.activeElement.textContent === "Picture (SVG)");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Picture (PNG)");
  // A page that is drawn again leaves the focus where it is.
  await page.emulateMedia({ colorScheme: "dark" });
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 100))));
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Picture (PNG)");
  await page.keyboard.press("Escape");
  await page.getByRole("menuitem").first().waitFor({ state: "detached" });
  assert.match(await page.evaluate(() => document.activeElement.textContent), /export/);
  await quiet(page);
  await server.stop();
});

await runAll();
