// Lines of source with what they hold, and the call graph, in a real browser.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, folder, heapgauge, open, picture, runAll, serve, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);

// Some of its sources, as a checkout would have them.
const CHECKOUT = join(folder, "checkout");
mkdirSync(CHECKOUT);
const code = (lines, hot) =>
  Array.from({ length: lines }, (_, i) => (i + 1 === hot ? '  return new Block(size); // "<script>alert(1)</script>"' : i % 9 === 0 ? `// part ${i}` : `  int value_${i} = ${i};`)).join("\n");
writeFileSync(join(CHECKOUT, "cache.cc"), code(200, 71));
writeFileSync(join(CHECKOUT, "server.cc"), code(120, 80));
writeFileSync(join(CHECKOUT, "session.cc"), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 10, 0, 0]));
writeFileSync(join(folder, "secret.txt"), "nobody may read this\n");

const settled = (page, name) => page.locator(`[data-testid=${name}][aria-busy=false]`).waitFor();
async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

// "967.35kB 967.35kB 71: text" of each line that holds something.
function listed(pattern) {
  const text = heapgauge("list", "--source-path", CHECKOUT, pattern, TRACE);
  return [...text.matchAll(/^ *(\S+) +(\S+) +(\d+):/gm)].map(([, flat, cum, line]) => ({ flat, cum, line })).filter(({ flat, cum }) => flat !== "." || cum !== ".");
}

// The columns beside the lines have what is on one height.
const hotLines = (page) =>
  page.evaluate(() => {
    const root = document.querySelector("[data-testid=source-lines]").shadowRoot;
    const [flat, cum, number] = [...root.querySelectorAll(".cm-gutter")].map((column) =>
      new Map([...column.querySelectorAll(".cm-gutterElement")].filter((cell) => cell.innerText && cell.getBoundingClientRect().height > 0).map((cell) => [Math.round(cell.getBoundingClientRect().top), cell.innerText])));
    return [...number].filter(([top]) => flat.has(top)).map(([top, line]) => ({ flat: flat.get(top), cum: cum.get(top), line })).filter((row) => row.flat !== "." || row.cum !== ".");
  });

// A line of the text with a class.
const hasLine = (page, name, text) =>
  until(page, ([wanted, part]) => [...(document.querySelector("[data-testid=source-lines]")?.shadowRoot?.querySelectorAll(`.cm-line.${wanted}`) ?? [])].some((line) => line.textContent.includes(part)), [name, text]);

test("lines have the figures of the command line, and the hot one is found", async () => {
  const server = await serve("--source-path", CHECKOUT, TRACE);
  for (const [file, pattern] of [["cache.cc", "^Cache::Insert$"], ["server.cc", "^Serve$"]]) {
    const page = await open(`${server.url}#view=source&file=${file}`);
    await page.getByTestId("source-lines").waitFor();
    await settled(page, "source");
    await hasLine(page, "heat-4", "new Block");
    assert.deepEqual(await hotLines(page), listed(pattern));
    if (file === "cache.cc") {
      await picture(page, "source-light");
      await page.getByRole("button", { name: "▼ hot line" }).click();
      await until(page, () => new URLSearchParams(location.hash.slice(1)).get("line") === "71");
      await hasLine(page, "current", "new Block");
      assert.equal(await page.locator("main script, main img").count(), 0);
      // Colours are those of the language, and the line is told to those who hear the page.
      assert.ok(await page.evaluate(() => [...document.querySelector("[data-testid=source-lines]").shadowRoot.querySelectorAll(".cm-line span")].some((span) => span.textContent === "return" && getComputedStyle(span).color !== getComputedStyle(span.parentElement).color)));
      assert.match(await page.locator(".source-text [role=status]").innerText(), /^line 71: flat /);
      // By keys: the lines are reached with Tab, n goes on to the next.
      await page.getByTestId("source").getByRole("link", { name: "callers" }).focus();
      await page.keyboard.press("Tab");
      assert.match(await page.evaluate(() => document.activeElement.shadowRoot?.activeElement?.getAttribute("aria-label") ?? ""), /^Lines of /);
      await page.keyboard.press("n");
      await hasLine(page, "current", "new Block");
      // The number of a line chooses it.
      await page.locator(".cm-gutter.number .cm-gutterElement", { hasText: /^73$/ }).click();
      await until(page, () => new URLSearchParams(location.hash.slice(1)).get("line") === "73");
      await page.goto(page.url().replace("line=73", "line=71"));
      // A colleague sees the same line, also by the name of the function.
      const other = await open(`${server.url}#view=source&of=Cache::Insert`);
      await hasLine(other, "heat-4", "new Block");
      assert.deepEqual(await hotLines(other), await hotLines(page));
      await quiet(other);
      // Another file of the list.
      await page.getByRole("navigation", { name: "Files" }).getByRole("link", { name: /server\.cc/ }).click();
      await until(page, () => document.querySelector(".source-head .file").textContent === "server.cc");
      await hasLine(page, "heat-4", "new Block");
    }
    await quiet(page);
  }
  await server.stop();
});

test("lines of ten thousand letters, bytes that are no text, and many lines do no harm", async () => {
  const odd = join(folder, "odd");
  mkdirSync(odd);
  const long = `  return "${"x<b>&amp;".repeat(1250)}"; /* never closed `;
  const head = [long, "\u202e right to left \u0000".replace("\u0000", ""), "</style><script>alert(1)</script>", "\ttab"];
  const lines = [...head, ...Array.from({ length: 29000 }, (_, i) => `int x${i};`)];
  lines[32] = `${lines[32]} // ${"y".repeat(20000)}`;
  writeFileSync(join(odd, "tables.cc"), Buffer.concat([Buffer.from(lines.join("\n")), Buffer.from([0x0a, 0xff, 0xfe, 0x80, 0x0a])]));
  const server = await serve("--source-path", odd, TRACE);
  const page = await open(`${server.url}#view=source&file=tables.cc`);
  await hasLine(page, "heat-4", "int x28");
  const size = await page.evaluate(() => {
    const root = document.querySelector("[data-testid=source-lines]").shadowRoot;
    return { lines: root.querySelectorAll(".cm-line").length, letters: root.querySelector(".cm-content").textContent.length, over: document.documentElement.scrollWidth - window.innerWidth };
  });
  assert.ok(size.lines < 200, `${size.lines} lines are in the page`);
  assert.ok(size.letters < 60_000, `${size.letters} letters are in the page`);
  assert.ok(size.over <= 0);
  assert.equal(await page.locator("main script, main b.x").count(), 0);
  await quiet(page);
  await server.stop();
});

test("what is not found says where it was looked for, and only files of the profile are read", async () => {
  const server = await serve("--source-path", CHECKOUT, TRACE);
  const page = await open(`${server.url}#view=source&file=tables.cc`);
  const missing = page.getByTestId("source-missing");
  await missing.waitFor();
  assert.ok((await missing.innerText()).includes(join(CHECKOUT, "tables.cc")));
  assert.match(await missing.innerText(), /--source-path/);
  await page.locator("[data-testid=source-lines][data-state=there]").waitFor();
  assert.deepEqual(await hotLines(page), [...heapgauge("list", "LoadTables", TRACE).matchAll(/^ +(\S+) +(\S+) \(flat, cum\)/gm)].map(([, flat, cum]) => ({ flat, cum, line: "33" })));
  await picture(page, "source-missing-light");
  await quiet(page);
  // Not a text, and not one of the profile's.
  const binary = await open(`${server.url}#view=source&file=session.cc`);
  await binary.getByText("it is no text").waitFor();
  await quiet(binary);
  for (const file of [join(folder, "secret.txt"), "../secret.txt", "/etc/passwd", "%2e%2e/secret.txt", `${CHECKOUT}/../secret.txt`]) {
    const answer = await fetch(`${server.url.replace(/ui\/$/, "")}api/v1/source?file=${encodeURIComponent(file)}`);
    assert.equal((await answer.json()).chosen, null, file);
  }
  await server.stop();
});

test("the call graph has the boxes of the command line, and moves", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=graph&value=allocated`);
  const graph = page.getByTestId("graph");
  await graph.waitFor();
  await settled(page, "graph");
  const dot = heapgauge("dot", "--value", "allocated", TRACE);
  const nodes = [...dot.matchAll(/^N(\d+) \[label="([^"]*)"/gm)];
  const drawn = await page.evaluate(() => [...document.querySelectorAll("[data-testid=graph] .box")].map((box) => [...box.querySelectorAll("text")].map((text) => text.textContent).join(" ")));
  assert.equal(drawn.length, nodes.length);
  for (const [, , label] of nodes) {
    for (const figure of label.match(/\d[\d.]*[kMG]?B \([\d.]+%\)/g) ?? []) assert.ok(drawn.some((text) => text.includes(figure)), `${figure} in ${drawn.join("; ")}`);
  }
  const edges = [...dot.matchAll(/^N\d+ -> N\d+ \[label=" (\S+?)"/gm)].map(([, text]) => text).sort();
  const arrows = await page.evaluate(() => [...document.querySelectorAll("[data-testid=graph] .arrow text")].map((text) => text.textContent).sort());
  assert.deepEqual(arrows, edges.map((text) => text.replace(/\\n.*/, "")));
  await picture(page, "graph-light");
  const placed = () => page.getByTestId("graph-placed").getAttribute("transform");
  const changes = async (act) => {
    const before = await placed();
    await act();
    await until(page, (was) => document.querySelector("[data-testid=graph-placed]").getAttribute("transform") !== was, before);
  };
  const area = await graph.boundingBox();
  await page.mouse.move(area.x + 60, area.y + 60);
  await changes(() => page.mouse.wheel(0, -300));
  await changes(async () => {
    await page.mouse.down();
    await page.mouse.move(area.x + 160, area.y + 120, { steps: 4 });
    await page.mouse.up();
  });
  await changes(() => page.getByRole("button", { name: "Zoom out" }).click());
  await graph.focus();
  for (const key of ["+", "ArrowDown", "0"]) await changes(() => page.keyboard.press(key));
  // A click tells about a function, a right click leads on.
  await page.locator(".graph-box .box", { hasText: "Request::Read" }).click();
  await page.getByTestId("graph-details").getByText("Request::Read").first().waitFor();
  await page.locator(".graph-box .box", { hasText: "Request::Read" }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Callers and callees" }).click();
  await until(page, () => /Request::Read/.test(document.querySelector("[data-testid=peeked]")?.textContent ?? ""));
  await page.goBack();
  await settled(page, "graph");
  await page.getByRole("combobox", { name: "functions" }).selectOption("20");
  await until(page, () => location.hash.includes("nodes=20"));
  await quiet(page);
  await server.stop();
});

test("dark, on a narrow screen, at twice the size", async () => {
  const server = await serve("--source-path", CHECKOUT, TRACE);
  const looks = [
    ["dark", { colorScheme: "dark" }],
    ["phone", { viewport: { width: 400, height: 800 } }],
    ["large", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
  ];
  for (const [name, options] of looks) {
    for (const view of ["graph&value=allocated", "source&file=cache.cc"]) {
      const page = await open(`${server.url}#view=${view}`, options);
      await until(page, () => document.querySelector("section.view") && !document.body.textContent.includes("reading…"));
      if (view.startsWith("source")) await page.locator("[data-testid=source-lines][data-state=there]").waitFor();
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(over <= 0, `${view} is ${over} pixels wider than the screen (${name})`);
      await picture(page, `${view.split("&")[0]}-${name}`);
      await quiet(page);
    }
  }
  await server.stop();
});

await runAll();
