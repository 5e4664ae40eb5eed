// The flame graph in all its shapes: compared, from one function both ways, without recursion; its menu and keys.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, folder, heapgauge, open, picture, runAll, serve, test, until } from "./harness.mjs";

const TRACE = join(folder, "server.hgt");
assert.equal(spawnSync(join(BUILD, "bin/heapgauge_make_server_trace"), [TRACE]).status, 0);

// Stacks with a function that calls itself by way of another, before and after.
const OLD = join(folder, "old.txt");
const NEW = join(folder, "new.txt");
writeFileSync(OLD, "main;parse;list;parse;text 8000\nmain;parse;text 4000\nmain;gone 3000\nmain;same 5000\n");
writeFileSync(NEW, "main;parse;list;parse;text 14000\nmain;parse;text 4000\nmain;parse;list 2000\nmain;same 5000\nmain;fresh 1000\n");

const hashOf = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const wordIs = (page, word, value) => until(page, ([name, wanted]) => (new URLSearchParams(location.hash.slice(1)).get(name) ?? "") === wanted, [word, value]);
const atRest = (page, id) => page.locator(`[data-testid=${id}][aria-busy=false]`).waitFor();
const totalIs = (page, text) => until(page, (wanted) => document.querySelector("[data-testid=flame-total] b")?.textContent === wanted, text);

async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

// Keys choose the box; the line below tells which it is.
async function choose(page, id, keys, name) {
  await atRest(page, id);
  await page.getByTestId(id).focus();
  for (const key of keys) await page.keyboard.press(key);
  await until(page, (wanted) => document.querySelector("[data-testid=flame-details] .name")?.textContent === wanted, name);
}

async function menu(page, id, keys, name, item) {
  await choose(page, id, keys, name);
  await page.keyboard.press("m");
  await page.getByRole("menuitem", { name: item }).click();
}

// What the API says of a tree, as the page asks for it.
async function labels(page, words) {
  return page.evaluate(async (query) => {
    const answer = await (await fetch(`../api/v1/flame?${query}`)).json();
    return answer.nodes.name.map((name, i) => [answer.names[name]?.label, answer.nodes.value[i]]);
  }, String(words));
}

test("two profiles are compared in two hues, as the command line compares them", async () => {
  const server = await serve(NEW, OLD);
  const page = await open(`${server.url}#view=flame&diff=absolute`);
  await page.getByText("Choose what to compare with.").waitFor();
  await page.getByRole("group", { name: "Compared with" }).getByRole("combobox").selectOption("old.txt");
  await wordIs(page, "base", "old.txt");
  const diff = JSON.parse(heapgauge("diff", "--json", OLD, NEW));
  await until(page, () => document.querySelector("[data-testid=flame-total] b"));
  const text = await page.getByTestId("flame-total").textContent();
  assert.match(text, /^\S+ 20,000 → 26,000: \+6,000 \(\+30\.0%\)$/);
  assert.equal(diff.total.change.value, 6000);
  await choose(page, "flame-canvas", ["ArrowDown", "ArrowDown", "ArrowDown"], "parse");
  await until(page, () => document.querySelector("[data-testid=flame-details] .figure").textContent.startsWith("+8,000 (+66.7%) · 12,000 → 20,000"));
  // Orange is more, blue is less: what the canvas shows at a call that grew, shrank, stayed.
  const colourOf = (label) =>
    page.evaluate((wanted) => {
      const canvas = document.querySelector("[data-testid=flame-canvas]");
      const { flame } = canvas.drawing;
      const node = flame.answer.nodes.name.findIndex((name, i) => i > 0 && flame.answer.names[name].label === wanted);
      const scale = canvas.width / canvas.getBoundingClientRect().width;
      const x = (flame.left[node] + flame.width[node]) * canvas.width - 8 * scale;
      const [red, , blue] = canvas.getContext("2d").getImageData(x, (flame.depth[node] * 20 + 10) * scale, 1, 1).data;
      return red - blue;
    }, label);
  assert.ok((await colourOf("parse")) > 40);
  assert.ok((await colourOf("fresh")) > 10);
  assert.ok((await colourOf("gone")) < -40);
  assert.ok(Math.abs(await colourOf("same")) < 20);
  await picture(page, "flame-diff-light");
  const pale = await colourOf("fresh");
  await page.getByRole("button", { name: "change in %" }).click();
  await wordIs(page, "diff", "relative");
  await page.waitForTimeout(100);
  assert.ok((await colourOf("fresh")) > pale, "what is new has the full hue against itself");
  // The other end, and from one function.
  await page.getByRole("button", { name: "bottom-up" }).click();
  await totalIs(page, "+6,000 (+30.0%)");
  const other = await open(page.url());
  await totalIs(other, "+6,000 (+30.0%)");
  await quiet(other);
  page.complaints = page.complaints.filter((text) => !text.includes("getImageData")); // only this test reads pixels
  await quiet(page);
  await server.stop();
});

test("two moments of a trace are compared", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=flame&diff=absolute&base-at=0.5s`);
  await until(page, () => document.querySelector("[data-testid=flame-total] b"));
  const diff = JSON.parse(heapgauge("diff", "--json", `${TRACE}@0.5s`, TRACE));
  const answer = await page.evaluate(async () => (await fetch("../api/v1/flame?base-at=0.5s")).json());
  assert.equal(answer.compared.before, diff.total.before.value);
  assert.equal(answer.compared.after, diff.total.after.value);
  await picture(page, "flame-diff-trace-light");
  await page.getByPlaceholder("2s, 40%, peak").fill("end");
  await page.keyboard.press("Enter");
  await totalIs(page, "0 B (0.0%)");
  await quiet(page);
  await server.stop();
});

test("a function stands between its callers and what it calls", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=flame&value=allocated`);
  await menu(page, "flame-canvas", ["ArrowDown", "ArrowDown", "ArrowDown"], (await topOf(page))[0], "Callers and callees");
  await page.getByTestId("flame-callers").waitFor();
  const { through } = await hashOf(page);
  assert.match(through, /^\^.*\$$/);
  const top = JSON.parse(heapgauge("top", "--json", "--value", "allocated", "--focus", through, TRACE));
  const [[, callees]] = await labels(page, new URLSearchParams({ value: "allocated", through }));
  const [[, callers]] = await labels(page, new URLSearchParams({ value: "allocated", through, callers: "1" }));
  assert.equal(callees, top.selected.allocated_bytes.value);
  assert.equal(callers, callees);
  await picture(page, "flame-sandwich-light");
  // Another function from the list.
  await page.getByRole("navigation", { name: "Functions" }).getByRole("link", { name: /main/ }).first().click();
  await wordIs(page, "through", "^main$");
  await page.getByTestId("flame-callees").waitFor();
  // Zooming is in the half where it was asked for.
  await choose(page, "flame-callees", ["ArrowDown", "ArrowDown"], (await labels(page, "value=allocated&through=^main$"))[1][0]);
  await page.keyboard.press("Enter");
  await page.getByRole("navigation", { name: "Where the callees begin" }).waitFor();
  assert.ok((await hashOf(page)).root);
  assert.equal((await hashOf(page)).above, undefined);
  await page.getByTestId("flame-callees").focus();
  await page.keyboard.press("Escape");
  await wordIs(page, "root", "");
  await page.keyboard.press("/");
  await page.keyboard.type("Request");
  await page.getByText(/^matched \S+% of the callers, \S+% of the callees$/).waitFor();
  await page.getByRole("button", { name: "top-down" }).click();
  await wordIs(page, "through", "");
  await atRest(page, "flame-canvas");
  await quiet(page);
  await server.stop();
});

// The first call that the picture has below main, and below that.
async function topOf(page) {
  const rows = await labels(page, "value=allocated");
  return [rows[2][0]];
}

test("recursion is left out where asked for, of all or of one function", async () => {
  const server = await serve(NEW);
  const page = await open(`${server.url}#view=flame`);
  await atRest(page, "flame-canvas");
  const rowsOf = () => page.evaluate(() => document.querySelector("[data-testid=flame-canvas]").drawing.flame.levels.length);
  assert.equal(await rowsOf(), 6);
  await page.getByRole("button", { name: "collapse recursion" }).click();
  await wordIs(page, "collapse", ".");
  await until(page, () => document.querySelector("[data-testid=flame-canvas]").drawing.flame.levels.length === 4);
  assert.deepEqual((await labels(page, "collapse=.")).slice(1), [["main", 26000], ["parse", 20000], ["text", 18000], ["list", 2000], ["same", 5000], ["fresh", 1000]]);
  await totalIs(page, "26,000");
  await page.getByRole("button", { name: "collapse recursion" }).click();
  await wordIs(page, "collapse", "");
  await until(page, () => document.querySelector("[data-testid=flame-canvas]").drawing.flame.levels.length === 6);
  await menu(page, "flame-canvas", ["ArrowDown", "ArrowDown", "ArrowDown"], "parse", "Collapse its recursion");
  await wordIs(page, "collapse", "^parse$");
  await until(page, () => document.querySelector("[data-testid=flame-canvas]").drawing.flame.levels.length === 4);
  await page.getByRole("button", { name: "Show its recursion" }).click();
  await wordIs(page, "collapse", "");
  await quiet(page);
  await server.stop();
});

test("the menu keeps, leaves out, copies and opens the source", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=flame&value=allocated`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const keys = ["ArrowDown", "ArrowDown", "ArrowDown"];
  const [name] = await topOf(page);
  await menu(page, "flame-canvas", keys, name, "Copy the stack");
  assert.match(await until(page, () => navigator.clipboard.readText()), /^main/);
  await menu(page, "flame-canvas", [], name, "Only stacks through it");
  const { focus } = await until(page, () => (location.hash.includes("focus=") ? Object.fromEntries(new URLSearchParams(location.hash.slice(1))) : null));
  const top = JSON.parse(heapgauge("top", "--json", "--value", "allocated", "--focus", focus, TRACE));
  const [[, selected]] = await labels(page, new URLSearchParams({ value: "allocated", focus }));
  assert.equal(selected, top.selected.allocated_bytes.value);
  await until(page, (value) => document.querySelector("[data-testid=flame-canvas]")?.drawing.flame.answer.value === value, selected);
  // Keys are about the picture that is there, so the whole one has to be there first.
  const [[, whole]] = await labels(page, "value=allocated");
  const showsAll = () => until(page, (value) => document.querySelector("[data-testid=flame-canvas]")?.drawing.flame.answer.value === value, whole);
  await page.goBack();
  await wordIs(page, "focus", "");
  await showsAll();
  await menu(page, "flame-canvas", keys, name, "Leave its stacks out");
  await wordIs(page, "ignore", focus);
  await until(page, (value) => document.querySelector("[data-testid=flame-canvas]")?.drawing.flame.answer.value !== value, whole);
  await page.goBack();
  await wordIs(page, "ignore", "");
  await showsAll();
  await menu(page, "flame-canvas", keys, name, "Open the source");
  await wordIs(page, "view", "source");
  assert.ok((await hashOf(page)).file);
  await page.context().close();
  await server.stop();
});

test("the wheel looks closer, a drag moves along, Escape shows all again", async () => {
  const server = await serve(TRACE);
  const page = await open(`${server.url}#view=flame&value=allocated`);
  await atRest(page, "flame-canvas");
  const box = await page.getByTestId("flame-canvas").boundingBox();
  const windowOf = () => page.evaluate(() => document.querySelector("[data-testid=flame-canvas]").drawing.shown);
  await page.mouse.move(box.x + box.width / 2, box.y + 30);
  await page.keyboard.down("Control");
  const finer = page.waitForResponse((response) => response.url().includes("/flame?"));
  await page.mouse.wheel(0, -300);
  await until(page, () => document.querySelector("[data-testid=flame-canvas]").drawing.scale() > 2);
  await page.keyboard.up("Control");
  await finer;
  await atRest(page, "flame-canvas");
  const before = await windowOf();
  assert.ok(before.width < 0.5, "more detail does not lose the place");
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 120, box.y + 30, { steps: 4 });
  await page.mouse.up();
  assert.ok((await windowOf()).left > before.left);
  assert.equal((await hashOf(page)).root, undefined, "a drag is no click");
  await page.getByTestId("flame-canvas").focus();
  await page.keyboard.press("Escape");
  await until(page, () => document.querySelector("[data-testid=flame-canvas]").drawing.scale() === 1);
  await quiet(page);
  await server.stop();
});

test("dark, on a narrow screen, at twice the size", async () => {
  const server = await serve(TRACE, NEW);
  const views = { "flame-diff": "diff=relative&base-at=0.5s", "flame-sandwich": "value=allocated&through=^main$&callers=both" };
  const looks = [
    ["dark", { colorScheme: "dark" }],
    ["phone", { viewport: { width: 400, height: 800 } }],
    ["large", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
  ];
  for (const [look, options] of looks) {
    for (const [name, words] of Object.entries(views)) {
      const page = await open(`${server.url}#view=flame&${words}`, options);
      await until(page, () => document.querySelector("canvas") && !document.body.textContent.includes("reading…"));
      await page.waitForTimeout(200);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${name} is ${wide} pixels wider than the screen (${look})`);
      await picture(page, `${name}-${look}`);
      await quiet(page);
    }
  }
  await server.stop();
});

await runAll();
