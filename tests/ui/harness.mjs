// What the tests of the page share: a server over some sources, Debian's Chromium, and checks.
//
// The browser is driven by playwright-core, which was fetched with the packages of the bundle. Exit code 77 says
// that something is missing here, and what.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const BUILD = process.env.HEAPGAUGE_BUILD;
export const HEAPGAUGE = join(BUILD, "bin/heapgauge");
const WORK = join(BUILD, "web/work");

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}

const BROWSER = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
if (!BROWSER) skip("there is no Chromium here (Debian's package chromium)");
if (!existsSync(join(WORK, "node_modules/playwright-core"))) skip("npm could not fetch the packages of the web UI when it was built");
const { chromium } = createRequire(`${WORK}/`)("playwright-core");

export const folder = mkdtempSync(join(tmpdir(), "heapgauge-ui-"));
const children = [];

// Only what the tests themselves set.
function environment(more = {}) {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(HEAPGAUGE|LD_PRELOAD|DEBUGINFOD)/.test(name)));
  return { ...clean, HEAPGAUGE_DIR: folder, XDG_CACHE_HOME: join(folder, "cache"), ...more };
}

// The output of a command of heapgauge.
export function heapgauge(...words) {
  return heapgauge.in({}, ...words);
}
// The same with more in its environment.
heapgauge.in = (more, ...words) => {
  const done = spawnSync(HEAPGAUGE, words, { env: environment(more), encoding: "utf8" });
  if (done.status !== 0) throw new Error(`heapgauge ${words.join(" ")}: ${done.stderr}`);
  return done.stdout;
};

export function start(command, words, more) {
  const child = spawn(command, words, { env: environment(more), stdio: ["pipe", "pipe", "pipe"] });
  children.push(child);
  return child;
}

export function lineOf(stream, pattern) {
  return new Promise((resolve, reject) => {
    let text = "";
    stream.on("data", (bytes) => {
      text += bytes;
      const found = pattern.exec(text);
      if (found) resolve(found);
    });
    stream.on("end", () => reject(new Error(`no ${pattern} in: ${text}`)));
  });
}

// heapgauge ui over these sources: its address, and a way to end it.
export async function serve(...sources) {
  const child = start(HEAPGAUGE, ["ui", "--no-browser", "--http", "127.0.0.1:0", ...sources]);
  const [, url] = await lineOf(child.stderr, /serving (http:\S+)/);
  return { url, stop: () => stop(child) };
}

export function stop(child, signal = "SIGTERM") {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.on("exit", () => resolve());
    child.kill(signal);
  });
}

// Long enough for a machine that others keep busy: it is no measure of anything.
const PATIENCE_MS = 120_000;

// On a machine that is busy with other things a start may hang; another one does not.
async function launch() {
  const options = { executablePath: BROWSER, timeout: 60_000, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] };
  return chromium.launch(options).catch(() => chromium.launch(options)).catch(() => chromium.launch(options));
}

// A browser this many times as slow, to find out what a page or a test leaves to chance.
const SLOWNESS = Number(process.env.HEAPGAUGE_SLOW_BROWSER ?? 1);

let browser;
// A page of its own, as another person would have; what it complains of is an error.
export async function open(url, options = {}) {
  browser ??= await launch();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  if (SLOWNESS > 1) await (await context.newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate: SLOWNESS });
  page.complaints = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    page.complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return page;
}

// Waits until the function, called in the page, gives something. (playwright's own way needs eval, which the page
// forbids.)
export async function until(page, look, argument) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await page.evaluate(look, argument);
    if (found) return found;
    if (Date.now() > end) throw new Error(`it did not come to: ${look} (${argument})`);
    await page.waitForTimeout(50);
  }
}

const shots = process.env.HEAPGAUGE_SHOTS;
export async function picture(page, name) {
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`) });
}

const tests = [];
export function test(name, run) {
  tests.push({ name, run });
}

export async function runAll() {
  let passed = 0;
  let failed = 0;
  const wanted = process.argv[2];
  // "2/3": every third test, from the second one on. So each test is in one part.
  const [part, parts] = (process.env.HEAPGAUGE_PART ?? "1/1").split("/").map(Number);
  for (const [i, { name, run }] of tests.entries()) {
    if (wanted && !name.includes(wanted)) continue;
    if (i % parts !== part - 1) continue;
    try {
      await run();
      ++passed;
      console.log(`ok      ${name}`);
    } catch (error) {
      ++failed;
      console.log(`FAILED  ${name}\n${error.stack ?? error}`);
    }
  }
  await browser?.close();
  await Promise.all(children.map((child) => stop(child, "SIGKILL")));
  rmSync(folder, { recursive: true, force: true });
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
