// What comes from elsewhere is text, whatever it is; nothing that is missing, empty or gone breaks the page. Every view
// that the page has is looked at.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, HEAPGAUGE, folder, heapgauge, lineOf, open, picture, runAll, serve, start, stop, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);

const NAMES = ['<script>window.hacked=1;alert("1")</script>', "a'b\"c&amp;\\", "x".repeat(10_000), "<img src=x onerror=window.hacked=2>", "]]>--></style><b>bold", "\u202eright to left\u0000", "javascript:alert(3)", "{{7*7}}${7*7}"];

function hostileProfile(path) {
  const stack = NAMES.map((name) => name.replaceAll(";", ",")).join(";");
  writeFileSync(path, Buffer.concat([Buffer.from(`${stack};`), Buffer.from([0xff, 0xfe, 0x80, 0xc3]), Buffer.from(` 12\n${NAMES[3]};${NAMES[2]} 7\nmain;other 5\n`)]));
}

// The views by their tabs, so that none is forgotten.
const viewsOf = (page) => page.locator("nav[aria-label=Views] a").evaluateAll((links) => links.map((link) => new URLSearchParams(link.hash.slice(1)).get("view")));

// It shows what there is.
async function settled(page) {
  const look = () => document.querySelector("main section.view, main .empty, main .problem") && !document.querySelector("[aria-busy=true]") && !document.body.textContent.includes("reading…") && document.querySelector("main").innerText.trim().length > 0;
  await until(page, look).catch(async (error) => {
    throw new Error(`${page.url()} stays at: ${(await page.locator("main").innerText()).slice(0, 500)} ${error.message}`);
  });
}

// The browser itself notes an answer that is an error; the page shows what it says.
const isAnswer = (text) => /Failed to load resource: the server responded with a status of 4\d\d/.test(text);
const isConnection = (text) => /Failed to load resource: net::ERR_/.test(text);

async function intact(page, what) {
  // The editor of queries has an empty img of its own beside what stands in for text.
  assert.equal(await page.locator("main script, main img:not(.cm-widgetBuffer:not([src])), main iframe, main b:text-is('bold')").count(), 0, what);
  const found = await page.evaluate(() => ({
    hacked: window.hacked,
    wider: document.documentElement.scrollWidth - window.innerWidth,
    header: document.querySelector("header.top")?.getBoundingClientRect().height ?? 0,
    filters: document.querySelector(".filters")?.getBoundingClientRect().height ?? 0,
    section: document.querySelectorAll("section.view").length,
    crossed: /\bundefined\b|\bNaN\b|\[object /.test(document.querySelector("main").innerText),
  }));
  assert.equal(found.hacked, undefined, what);
  assert.ok(found.wider <= 0, `${what}: ${found.wider} pixels wider than the screen`);
  assert.ok(found.header < 400 && found.filters < 300, `${what}: the head is ${found.header} + ${found.filters} high`);
  assert.ok(found.section <= 1, what);
  assert.ok(!found.crossed, `${what}: ${await page.locator("main").innerText()}`);
  assert.deepEqual(page.complaints.filter((text) => !isAnswer(text)), [], what);
}

const SIZES = [
  ["wide", { viewport: { width: 1280, height: 800 } }],
  ["phone", { viewport: { width: 390, height: 800 } }],
];

test("names of any kind are text in every view", async () => {
  const hostile = join(folder, "<img src=x onerror=alert(4)>.txt");
  hostileProfile(hostile);
  const packed = join(folder, "packed.pb.gz");
  heapgauge("proto", "-o", packed, hostile);
  const server = await serve(hostile, packed, TRACE);
  for (const [size, options] of SIZES) {
    const page = await open(server.url, options);
    await settled(page);
    const views = await viewsOf(page);
    const ids = await page.locator(".source option").evaluateAll((list) => list.map((option) => option.value));
    assert.ok(ids.length >= 3); // others may be profiled on this machine
    for (const view of views) {
      for (const more of ["", "&granularity=lines&names=whole", `&base=${encodeURIComponent(ids[1])}&sql=SELECT+*+FROM+stacks`]) {
        await page.goto(`${server.url}#view=${view}&source=${encodeURIComponent(ids[0])}${more}`);
        await settled(page);
        await intact(page, `${size} ${view} ${more}`);
      }
      if (size === "wide" && view === "table") {
        await page.goto(`${server.url}#view=table&cumulative=1&names=whole&source=${encodeURIComponent(ids[0])}`);
        await until(page, (names) => names.every((name) => document.querySelector("[data-testid=table]")?.innerText.includes(name)), [0, 1, 2, 3, 4, 6].map((i) => NAMES[i].replaceAll(";", ",").slice(0, 200)));
        await picture(page, "hostile-table");
      }
      if (size === "wide" && view === "overview") await picture(page, "hostile-overview");
    }
    await page.context().close();
  }
  await server.stop();
});

test("a program whose name and words are hostile is shown by them", async () => {
  const name = join(folder, "<b onclick=alert(5)>&quot;");
  copyFileSync(join(BUILD, "bin/targets/grow_on_request"), name);
  const program = start(name, ["<script>window.hacked=5</script>", "y".repeat(10_000), "a\nb\tc\u0007"], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "64K" });
  await lineOf(program.stdout, /ready/);
  program.stdin.write("a 8\n");
  await lineOf(program.stdout, /ok/);
  const server = await serve(String(program.pid));
  for (const [size, options] of SIZES) {
    const page = await open(server.url, options);
    await settled(page);
    for (const view of await viewsOf(page)) {
      await page.goto(`${server.url}#view=${view}`);
      await settled(page);
      await intact(page, `${size} ${view}`);
      if (view === "overview") assert.ok((await page.locator(".headline").innerText()).includes("<script>window.hacked=5</script>"));
      if (view === "processes") assert.ok((await page.getByTestId("processes").innerText()).includes("<b onclick=alert(5)>"));
    }
    await page.context().close();
  }
  await stop(program, "SIGKILL");
  await server.stop();
});

test("words of the address are text too", async () => {
  const server = await serve(TRACE);
  const evil = encodeURIComponent('"><script>window.hacked=6</script>');
  const page = await open(server.url);
  await settled(page);
  const views = await viewsOf(page);
  for (const view of views) {
    for (const words of [`focus=${evil}`, `at=${evil}`, `root=${evil}`, `value=${evil}&sort=${evil}`, `base=${evil}&base-at=${evil}`, `search=${evil}&sql=${evil}&process=${evil}&order=${evil}`, "focus=(", `from=9s&to=1s`, `focus=${"z".repeat(3000)}`]) {
      await page.goto(`${server.url}#view=${view}&${words}`);
      await until(page, () => document.querySelector("main section.view, main .empty, main .problem") && !document.querySelector("[aria-busy=true]"));
      await intact(page, `${view} ${words.slice(0, 60)}`);
    }
  }
  for (const words of [`source=${evil}`, `view=${evil}`, `source=snapshot-${evil}`, "source=__proto__&view=constructor"]) {
    await page.goto(`${server.url}#${words}`);
    await until(page, () => document.querySelector("section.view, [data-testid=missing]"));
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("script:not([src])").count(), 0);
  }
  assert.deepEqual(page.complaints.filter((text) => !isAnswer(text)), []);
  await page.context().close();
  await server.stop();
});

test("an empty profile is a profile in every view", async () => {
  const empty = join(folder, "empty.hg");
  assert.equal(spawnSync(HEAPGAUGE, ["run", "--quiet", "-o", empty, "--", "/bin/true"], { env: { ...process.env, HEAPGAUGE_DIR: folder } }).status, 0);
  const nothing = join(folder, "nothing.hgt");
  assert.equal(spawnSync(HEAPGAUGE, ["run", "--quiet", "--trace", "-o", nothing, "--", "/bin/true"], { env: { ...process.env, HEAPGAUGE_DIR: folder } }).status, 0);
  const other = join(folder, "none.heap");
  writeFileSync(other, "heap_v2/524288\n  t*: 0: 0 [0: 0]\n\nMAPPED_LIBRARIES:\n");
  const server = await serve(empty, nothing, other);
  for (const [size, options] of SIZES) {
    const page = await open(server.url, options);
    await settled(page);
    const views = await viewsOf(page);
    const ids = await page.locator(".source option").evaluateAll((list) => list.map((option) => option.value));
    for (const id of ids.slice(0, 3)) {
      for (const view of views) {
        await page.goto(`${server.url}#view=${view}&source=${encodeURIComponent(id)}`);
        await settled(page);
        await intact(page, `${size} ${view} of ${id}`);
        if (size === "wide" && id === "empty.hg") await picture(page, `empty-${view}`);
      }
    }
    await page.context().close();
  }
  await server.stop();
});

test("a process that ends while it is watched keeps its last figures in every view", async () => {
  const program = start(join(BUILD, "bin/targets/grow_on_request"), [], { LD_PRELOAD: join(BUILD, "lib/libheapgauge.so"), HEAPGAUGE_SAMPLE: "64K" });
  await lineOf(program.stdout, /ready/);
  program.stdin.write("a 32\n");
  await lineOf(program.stdout, /ok/);
  const server = await serve();
  const page = await open(`${server.url}#view=overview&source=${program.pid}`);
  await settled(page);
  await page.getByTestId("state").filter({ hasText: "running" }).waitFor();
  const views = await viewsOf(page);
  // One page on each view, so that each sees it end.
  const watching = [];
  for (const view of views) {
    const one = await open(`${server.url}#view=${view}&source=${program.pid}`);
    await settled(one);
    watching.push([view, one]);
  }
  await stop(program, "SIGKILL");
  await page.getByTestId("state").filter({ hasText: "killed after" }).waitFor();
  const total = await page.getByTestId("live-total").textContent();
  assert.equal(total, /live\s+(\S+ \S+)/.exec(heapgauge("top", String(program.pid)))[1]);
  // And its file goes as well.
  for (const name of readdirSync(folder)) if (name.includes(`.${program.pid}.hg`)) rmSync(join(folder, name));
  await page.getByTestId("gone").waitFor();
  assert.equal(await page.getByTestId("live-total").textContent(), total);
  await picture(page, "gone-light");
  for (const [view, one] of watching) {
    if (view !== "processes") await one.getByTestId("gone").waitFor();
    await intact(one, `${view} of what is gone`);
    await one.context().close();
  }
  await page.context().close();
  await server.stop();
});

async function serveAt(address) {
  const child = start(HEAPGAUGE, ["ui", "--no-browser", "--http", address, TRACE]);
  const [, url] = await lineOf(child.stderr, /serving (http:\S+)/);
  return { url, child };
}

test("a server that stops is said to have, and the page goes on when it is back", async () => {
  const first = await serveAt("127.0.0.1:0");
  const address = new URL(first.url).host;
  const page = await open(first.url);
  await settled(page);
  const views = await viewsOf(page);
  const watching = [];
  for (const view of views) {
    const one = await open(`${first.url}#view=${view}`);
    await settled(one);
    watching.push([view, one, (await one.locator("main").innerText()).length]);
  }
  await stop(first.child);
  for (const [view, one, before] of watching) {
    await one.getByTestId("lost").waitFor();
    // What was there is there.
    assert.ok((await one.locator("main").innerText()).length >= before / 2, `${view} lost what it showed`);
    assert.equal(await one.locator("main .problem").count(), 0, view);
  }
  await picture(watching[0][1], "lost-light");
  // Another view meanwhile: it has nothing, and does not break.
  await page.getByTestId("lost").waitFor();
  await page.getByRole("link", { name: "Table", exact: true }).click();
  await page.locator("section.view").waitFor();
  const again = await serveAt(address);
  for (const [view, one] of watching) {
    await until(one, () => !document.querySelector("[data-testid=lost]"));
    await settled(one);
    await until(one, () => document.querySelector("main").innerText.length > 0);
    assert.deepEqual(one.complaints.filter((text) => !isAnswer(text) && !isConnection(text)), [], view);
    await one.context().close();
  }
  // By itself, with the figures.
  await page.getByTestId("table").locator(".all .row").first().waitFor();
  assert.deepEqual(page.complaints.filter((text) => !isConnection(text)), []);
  await page.context().close();
  await stop(again.child);
});

await runAll();
