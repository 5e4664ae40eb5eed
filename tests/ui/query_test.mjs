// The query view: an editor that completes, rows as a table or a picture, statements that go with the address.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, folder, heapgauge, open, picture, runAll, serve, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);
const SLOW = "WITH RECURSIVE r(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r";

const editorOf = (page) => page.getByRole("textbox", { name: "Statement" });
const wordOf = (page, word) => page.evaluate((name) => new URLSearchParams(location.hash.slice(1)).get(name), word);

async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

test("a statement shows the rows of the command line", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=query`);
  const sql = "SELECT function, live_bytes FROM stacks ORDER BY live_bytes DESC LIMIT 3";
  await editorOf(page).fill(sql);
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("query-rows").waitFor();
  const expected = JSON.parse(heapgauge("query", "--json", sql, TRACE));
  const shown = await page.getByTestId("query-rows").locator("tbody tr").allInnerTexts();
  assert.deepEqual(shown.map((row) => row.split("\t")), expected.map((row) => [row.function, String(row.live_bytes)]));
  assert.equal(await wordOf(page, "sql"), sql);
  // A colleague sees the same.
  const other = await open(page.url());
  await other.getByTestId("query-rows").waitFor();
  assert.deepEqual(await other.getByTestId("query-rows").locator("tbody tr").allInnerTexts(), shown);
  assert.ok((await editorOf(other).innerText()).includes("ORDER BY live_bytes"));
  await quiet(other);
  await page.getByRole("button", { name: "export" }).click();
  const coming = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Table (CSV)" }).click();
  const csv = readFileSync(await (await coming).path(), "utf8");
  assert.equal(csv, heapgauge("query", "--csv", sql, TRACE).replace(/\r?\n/g, "\r\n"));
  await quiet(page);
  await server.stop();
});

test("the editor completes tables, columns and functions", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=query`);
  await page.getByText("Tables").first().waitFor();
  await editorOf(page).click();
  await page.keyboard.type("SELECT temporary_b");
  await page.getByRole("option", { name: /temporary_blocks/ }).first().waitFor();
  await picture(page, "query-complete-light");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("SELECT hum");
  await page.getByRole("option", { name: /^human\W/ }).first().waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("SELECT * FROM snaps");
  await page.getByRole("option", { name: /^snapshots/ }).first().click();
  await until(page, () => document.querySelector("[data-testid=query-editor]").shadowRoot.querySelector(".cm-content").textContent.includes("snapshots"));
  // The keyboard leads out again.
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Run");
  await quiet(page);
  await server.stop();
});

test("results are pictures where they have numbers", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=query`);
  await page.getByLabel("Questions").selectOption({ label: "How many allocations a second?" });
  await page.getByTestId("query-rows").waitFor();
  await page.getByRole("button", { name: "chart" }).click();
  await page.getByTestId("query-chart").waitFor();
  await page.getByLabel("Questions").selectOption({ label: "Who holds the most at the peak?" });
  await page.locator("[data-testid=query-chart][data-kind=bar]").waitFor();
  assert.equal(await wordOf(page, "as"), "chart");
  assert.ok(await page.getByTestId("query-chart").evaluate((image) => image.decode().then(() => image.naturalWidth > 100)));
  await picture(page, "query-chart-light");
  await page.getByRole("button", { name: "export" }).click();
  const coming = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Picture (SVG)" }).click();
  assert.match(readFileSync(await (await coming).path(), "utf8"), /^<svg /);
  await quiet(page);
  await server.stop();
});

test("every worked question runs", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=query`);
  await page.getByText("Tables").first().waitFor();
  const titles = await page.getByLabel("Questions").locator("option").allInnerTexts();
  assert.ok(titles.length > 15);
  for (const title of titles.slice(1)) {
    const answered = page.waitForResponse((response) => response.url().includes("/query?") && response.url().includes("sql="));
    await page.getByLabel("Questions").selectOption({ label: title });
    assert.equal((await answered).status(), 200, title);
  }
  await quiet(page);
  await server.stop();
});

test("an error says what and where, and nothing breaks", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=query`);
  await editorOf(page).fill("SELECT wrong FROM stacks");
  await page.getByRole("button", { name: "Run" }).click();
  assert.match(await page.getByRole("alert").textContent(), /no such column: wrong \(line 1, column 8 of the query\)/);
  await until(page, () => document.querySelector("[data-testid=query-editor]").shadowRoot.querySelector(".cm-wrong")?.textContent === "wrong");
  await picture(page, "query-error-light");
  await editorOf(page).fill("DROP TABLE stacks");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").filter({ hasText: "refused" }).waitFor();
  await editorOf(page).fill("SELECT 1 AS one");
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("query-rows").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  page.complaints = page.complaints.filter((text) => !/status of 4/.test(text));
  await quiet(page);
  await server.stop();
});

test("a statement that takes too long is stopped", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=query&seconds=600`);
  await editorOf(page).fill(SLOW);
  const asked = page.waitForRequest((request) => request.url().includes("sql="));
  await page.keyboard.press("Control+Enter");
  await asked;
  // It has to be under way before it can be ended.
  await until(page, async () => {
    [...document.querySelectorAll("button")].find((button) => button.textContent === "Stop")?.click();
    await new Promise((resolve) => setTimeout(resolve, 200));
    return document.querySelector("[role=alert]")?.textContent.includes("interrupted");
  });
  await editorOf(page).fill("SELECT 2 AS two");
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("query-rows").waitFor();
  page.complaints = page.complaints.filter((text) => !/status of 4/.test(text));
  await quiet(page);
  await server.stop();
});

test("thousands of rows are scrolled, not put into the page", async () => {
  const server = await serve(TRACE);
  const sql = "WITH RECURSIVE r(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM r LIMIT 9000) SELECT x, 'row ' || x AS text FROM r";
  const page = await open(`${server.url}#${new URLSearchParams({ view: "query", sql })}`);
  const rows = page.getByTestId("query-rows").locator("tbody tr");
  await rows.first().waitFor();
  assert.match(await page.getByTestId("query-count").textContent(), /9,000 rows/);
  assert.ok((await rows.count()) < 100);
  await page.getByRole("region", { name: "Rows" }).evaluate((box) => (box.scrollTop = box.scrollHeight));
  await page.getByText("row 9000").waitFor();
  assert.ok((await rows.count()) < 100);
  await quiet(page);
  await server.stop();
});

test("saved statements go with the address", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=query`);
  await editorOf(page).fill("SELECT 42 AS answer");
  await page.getByPlaceholder("save as…").fill("the <b>answer</b>");
  await page.getByRole("button", { name: "Save" }).click();
  await until(page, () => location.hash.includes("saved="));
  const other = await open(page.url());
  await other.getByRole("link", { name: "the <b>answer</b>" }).click();
  await other.getByTestId("query-rows").waitFor();
  assert.equal(await other.getByTestId("query-rows").locator("tbody tr").innerText(), "42");
  await other.getByRole("button", { name: "Remove the" }).click();
  await until(other, () => !location.hash.includes("saved="));
  await quiet(other);
  await quiet(page);
  await server.stop();
});

test("dark and on a phone", async () => {
  const server = await serve(TRACE);
  const sql = "SELECT function, human(live_bytes) AS live, live_blocks FROM stacks ORDER BY live_bytes DESC";
  for (const [name, options] of [["light", {}], ["dark", { colorScheme: "dark" }], ["phone", { viewport: { width: 400, height: 800 } }]]) {
    const page = await open(`${server.url}#${new URLSearchParams({ view: "query", sql })}`, options);
    await page.getByTestId("query-rows").waitFor();
    await page.locator("[data-testid=query-editor][data-state=there]").waitFor();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0);
    await picture(page, `query-${name}`);
    await quiet(page);
  }
  await server.stop();
});

await runAll();
