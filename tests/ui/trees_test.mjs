// The views of functions and calls in a real browser: table, call tree, callers. Each figure is one of the command line.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { BUILD, folder, heapgauge, lineOf, open, picture, runAll, serve, start, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);

// What samples know, which have ranges and ages: a program that holds some memory, and has ended.
const SAMPLED = join(folder, "sampled.hg");
const program = start(join(BUILD, "bin/heapgauge"), ["run", "--quiet", "--sample", "64K", "-o", SAMPLED, "--", join(BUILD, "bin/targets/grow_on_request")]);
await lineOf(program.stdout, /ready/);
for (const words of ["a 8\n", "b 3\n"]) {
  program.stdin.write(words);
  await lineOf(program.stdout, /ok/);
}
program.stdin.end();
await new Promise((resolve) => program.on("exit", resolve));

const hashOf = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const settled = (page, name) => page.locator(`[data-testid=${name}][aria-busy=false]`).waitFor();

async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

// The cells of each row of a grid that is there, without those that are empty.
const cellsOf = (page, rows) =>
  page.evaluate((selector) => [...document.querySelectorAll(selector)].map((row) => [...row.querySelectorAll("[role=gridcell], td")].map((cell) => cell.innerText.replace(/\s+/g, " ").trim())), rows);

// The words of each line of a table that the command line printed, without the lines above it.
function printed(text, heading) {
  const lines = text.split("\n");
  const begin = lines.findIndex((line) => heading.test(line)) + 1;
  return lines.slice(begin).filter((line) => line.trim() && !line.includes("…"));
}

const wide = { COLUMNS: "200" };

test("the table has the columns and rows of the command line, to the digit", async () => {
  const server = await serve(TRACE, SAMPLED);
  for (const source of [TRACE, SAMPLED]) {
    for (const [words, flags] of [["", []], ["&cumulative=1", ["--cum"]], ["&sort=allocated", ["--sort", "allocated"]], ["&granularity=lines", ["--lines"]]]) {
      const page = await open(`${server.url}#view=table&source=${source.split("/").pop()}${words}`);
      await page.getByTestId("table").locator(".all .row").first().waitFor();
      await settled(page, "table");
      const lines = printed(heapgauge.in(wide, "top", "-n", "100", ...flags, source), /^ +(live|allocated) /);
      const rows = await page.evaluate(() =>
        [...document.querySelectorAll("[data-testid=table] .all .row")].map((row) => Object.fromEntries([...row.querySelectorAll("[data-column]")].map((cell) => [cell.dataset.column, cell.innerText.trim()]))),
      );
      assert.equal(rows.length, lines.length);
      rows.forEach((row, i) => {
        const figures = lines[i].replace(/[█▉▊▋▌▍▎▏]+/g, "");
        const live = [row.flat, row.range];
        const allocated = [row.allocated, row["allocated-range"]];
        // Shares stand behind what they are of.
        const shown = flags.includes("--cum")
          ? [row.cum, row["cum-share"]]
          : flags.includes("allocated")
            ? [...allocated, row.share, ...live, row.objects, row.age]
            : [...live, row.share, row.objects, ...allocated, row.age];
        let rest = figures;
        for (const text of [...shown, row.name].filter(Boolean)) {
          assert.ok(rest.includes(text), `${text} in ${rest} (${flags})`);
          rest = rest.slice(rest.indexOf(text) + text.length);
        }
      });
      await quiet(page);
    }
  }
  await server.stop();
});

test("the table sorts by each column, turns over, and shows names that match", async () => {
  const server = await serve(SAMPLED);
  const page = await open(`${server.url}#view=table`);
  const table = page.getByTestId("table");
  await table.locator(".all .row").nth(1).waitFor();
  const column = (name) => page.evaluate((word) => [...document.querySelectorAll(`[data-testid=table] .all [data-column=${word}]`)].map((cell) => cell.innerText), name);
  await picture(page, "table-sampled-light");
  const names = (await column("name")).sort();
  const inOrder = (expected) => until(page, (texts) => [...document.querySelectorAll("[data-testid=table] .all [data-column=name]")].map((cell) => cell.innerText).join() === texts, expected.join());
  await table.getByRole("button", { name: /^function/ }).click();
  await until(page, () => location.hash.includes("order=name"));
  await inOrder(names);
  await table.getByRole("button", { name: /^function/ }).click();
  await inOrder(names.reverse());
  assert.equal((await hashOf(page)).reverse, "1");
  for (const [title, words] of [["cum", { cumulative: "1" }], ["objects", { sort: "count" }], ["allocated", { sort: "allocated" }], ["age", { sort: "age" }], ["95 % range", { order: "range" }], ["live", {}]]) {
    await table.getByRole("button", { name: new RegExp(`^${title}`) }).first().click();
    await until(page, (expected) => Object.entries(expected).every(([word, value]) => new URLSearchParams(location.hash.slice(1)).get(word) === value), words);
    await table.locator(`[role=columnheader][aria-sort=descending]`, { hasText: title }).waitFor();
  }
  await page.keyboard.press("/");
  await page.keyboard.type("grow|main(");
  await until(page, () => document.querySelectorAll("[data-testid=table] .all .row").length === 0);
  await page.getByRole("searchbox").fill("^shop::fill.int");
  await until(page, () => document.querySelectorAll("[data-testid=table] .all .row").length === 1);
  assert.match((await column("name"))[0], /^shop::Fill/);
  await quiet(page);
  await server.stop();
});

test("each row of a trace has its curve, which ends at its figure", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=table&sort=allocated`);
  await page.getByTestId("table").locator(".spark").first().waitFor();
  await settled(page, "table");
  const rows = await page.evaluate(() =>
    [...document.querySelectorAll("[data-testid=table] .all .row")].map((row) => ({ live: row.querySelector("[data-column=flat]").innerText, curve: row.querySelector(".spark").getAttribute("aria-label") })),
  );
  assert.ok(rows.length > 3);
  for (const { live, curve } of rows) assert.ok(curve.includes(` to ${live === "-" ? "0 B" : live},`), `${live}: ${curve}`);
  await picture(page, "table-light");
  // The curve is what the command line says of single moments.
  const base = server.url.replace(/ui\/$/, "");
  const history = await (await fetch(`${base}api/v1/history?source=server.hgt&cumulative=1&points=5`)).json();
  const table = await (await fetch(`${base}api/v1/table?source=server.hgt&cumulative=1`)).json();
  for (const i of [1, 3]) {
    const top = JSON.parse(heapgauge("top", "--json", "--cum", "--at", `${history.times_ns[i] / 1e9}s`, TRACE));
    for (const row of top.functions) {
      const place = table.rows.findIndex((one) => one.function === row.function);
      assert.equal(history.live_bytes[place][i], row.cum.live_bytes.value, `${row.function} at ${history.times_ns[i]}`);
    }
  }
  await quiet(page);
  await server.stop();
});

test("the call tree has the figures of the command line, and opens by keyboard", async () => {
  const server = await serve(TRACE, SAMPLED);
  for (const source of [TRACE, SAMPLED]) {
    for (const callers of [false, true]) {
      const page = await open(`${server.url}#view=tree&source=${source.split("/").pop()}${callers ? "&callers=1" : ""}`);
      const tree = page.getByTestId("tree");
      await tree.waitFor();
      // Opens all of it, one row after the other.
      await tree.focus();
      for (let i = 0; i < 60; ++i) {
        const closed = tree.locator(".all .row[aria-expanded=false]").first();
        if ((await closed.count()) === 0) break;
        const level = await tree.locator(".all .row").count();
        await closed.click();
        await page.keyboard.press("ArrowRight");
        await until(page, (count) => document.querySelectorAll("[data-testid=tree] .all .row").length > count, level);
      }
      await settled(page, "tree");
      const flags = callers ? ["--callers"] : [];
      const lines = printed(heapgauge.in(wide, "tree", "--fold", "0", ...flags, source), /^ +(live|allocated) /);
      const rows = await cellsOf(page, "[data-testid=tree] .all .row");
      assert.equal(rows.length, lines.length, rows.join("\n") + lines.join("\n"));
      rows.forEach((row, i) => {
        const name = row.at(-1).replace(/^[▾▸] ?/, "");
        for (const text of [row[0], row.find((cell) => cell.endsWith("%") && !cell.startsWith("±")), name.split(" ")[0]]) assert.ok(lines[i].includes(text), `${text} in ${lines[i]}`);
      });
      if (source === SAMPLED && !callers) await picture(page, "tree-light");
      // A colleague sees the same rows.
      const other = await open(page.url());
      await until(other, (count) => document.querySelectorAll("[data-testid=tree] .all .row").length === count, rows.length);
      assert.deepEqual(await cellsOf(other, "[data-testid=tree] .all .row"), rows);
      await quiet(other);
      await quiet(page);
    }
  }
  await server.stop();
});

test("one key opens the heaviest path, and a row leads to the other views", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=tree&value=allocated&open=.`);
  const tree = page.getByTestId("tree");
  await tree.locator(".all .row").first().waitFor();
  assert.equal(await tree.locator(".all .row").count(), 1);
  await tree.focus();
  await page.keyboard.press("*");
  await until(page, () => document.querySelectorAll("[data-testid=tree] .all .row").length > 3);
  await until(page, () => /Request::Read/.test(document.querySelector("[data-testid=tree] .all .row.chosen")?.textContent ?? ""));
  await page.keyboard.press("ArrowLeft"); // to its caller
  await until(page, () => /Serve/.test(document.querySelector("[data-testid=tree] .all .row.chosen .label").textContent));
  await page.keyboard.press("ArrowLeft"); // closes it
  await until(page, () => ![...document.querySelectorAll("[data-testid=tree] .all .row")].some((row) => row.textContent.includes("Request::Read")));
  await tree.locator(".all .row", { hasText: "Serve" }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Only stacks through it" }).click();
  await until(page, () => new URLSearchParams(location.hash.slice(1)).get("focus") === "^Serve$");
  await tree.locator(".all .row", { hasText: "Serve" }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Open in flame graph" }).click();
  await page.getByRole("navigation", { name: "Where this is" }).waitFor();
  assert.match(await page.getByRole("navigation", { name: "Where this is" }).textContent(), /^allmain.*Serve/);
  await page.goBack();
  await tree.locator(".all .row", { hasText: "Serve" }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Callers and callees" }).click();
  await page.getByTestId("peeked").waitFor();
  await quiet(page);
  await server.stop();
});

test("callers and callees are those of the command line, and each is a step further", async () => {
  const server = await serve(TRACE, SAMPLED);
  for (const [source, name] of [[TRACE, "Serve"], [TRACE, "main"], [SAMPLED, "main"]]) {
    const page = await open(`${server.url}#view=callers&of=^${name}$&source=${source.split("/").pop()}`);
    await page.getByTestId("peeked").waitFor();
    await settled(page, "neighbours");
    const lines = printed(heapgauge.in(wide, "peek", `^${name}$`, source), /callers, function, callees/);
    const rows = [
      ...(await cellsOf(page, "[data-testid=callers] tr")),
      ...(await cellsOf(page, "[data-testid=peeked]")),
      ...(await cellsOf(page, "[data-testid=callees] tr:not(.between)")),
    ];
    assert.equal(rows.length, lines.length, rows.join("\n") + lines.join("\n"));
    rows.forEach((row, i) => {
      for (const text of row.filter(Boolean)) assert.ok(lines[i].replace("│", "").includes(text.split(" .")[0]), `${text} in ${lines[i]}`);
    });
    if (name === "Serve") {
      await picture(page, "callers-light");
      await page.getByTestId("callees").getByRole("link", { name: "Cache::Insert" }).click();
      await until(page, () => /Cache::Insert/.test(document.querySelector("[data-testid=peeked]").textContent));
      await page.getByTestId("callers").getByRole("link", { name: "Serve" }).click();
      await until(page, () => /Serve/.test(document.querySelector("[data-testid=peeked]").textContent));
    }
    await quiet(page);
  }
  await server.stop();
});

test("dark, on a narrow screen, at twice the size", async () => {
  const server = await serve(TRACE, SAMPLED);
  const looks = [
    ["dark", { colorScheme: "dark" }],
    ["phone", { viewport: { width: 400, height: 800 } }],
    ["large", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
  ];
  for (const [name, options] of looks) {
    for (const view of ["table", "tree", "callers"]) {
      const page = await open(`${server.url}#view=${view}`, options);
      await until(page, () => document.querySelector("section.view") && !document.body.textContent.includes("reading…"));
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(over <= 0, `${view} is ${over} pixels wider than the screen (${name})`);
      await picture(page, `${view}-${name}`);
      await quiet(page);
    }
  }
  await server.stop();
});

await runAll();
