// Measures the page in a real browser, and prints one JSON object.
//
//   node measure.mjs BUILD SOURCE
//
// The browser is there already, as at anybody's desk; the clock begins when the program is started. Needs Debian's
// Chromium and the packages that the page was built with; ends with 77 where something is missing, and says what.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve as absolute } from "node:path";

const [build, source] = process.argv.slice(2);
const work = absolute(build, "web/work");
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
if (!browserPath || !existsSync(join(work, "node_modules/playwright-core"))) {
  console.log(browserPath ? "npm could not fetch playwright-core when the page was built" : "Chromium is not installed");
  process.exit(77);
}
const { chromium } = createRequire(`${work}/`)("playwright-core");
const RANGES = 12;
const VIEWS = ["overview", "timeline", "flame", "table", "tree", "callers", "graph", "source", "leaks", "lifetimes", "memory", "compare", "query", "processes"];
const ZOOM_MS = 3000;

const browser = await chromium.launch({ executablePath: browserPath, timeout: 60_000, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });

async function serve() {
  const started = performance.now();
  const child = spawn(join(build, "bin/heapgauge"), ["ui", "--no-browser", "--http", "127.0.0.1:0", source], { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  const url = await new Promise((resolve, reject) => {
    child.stderr.on("data", (bytes) => {
      text += bytes;
      const found = /serving (http:\S+)/.exec(text);
      if (found) resolve(found[1]);
    });
    child.on("exit", () => reject(new Error(text)));
  });
  return { url, started, stop: () => child.kill(), cpu: () => cpuOf(child.pid) };
}

// Seconds of CPU time that a process has used.
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function pageAt(url) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(url);
  return page;
}

// In the page: resolves when the flame graph shows something else than before, in milliseconds.
const flameDrawn = (page, act) =>
  page.evaluate(async (words) => {
    const find = () => document.querySelector("[data-testid=flame-canvas]");
    const before = find()?.drawing?.flame ?? null;
    const begun = performance.now();
    if (words) location.hash = words;
    for (;;) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const canvas = find();
      const drawing = canvas?.drawing;
      if (drawing?.flame && drawing.flame !== before && canvas.getAttribute("aria-busy") === "false") return performance.now() - begun;
      if (performance.now() - begun > 60_000) throw new Error("nothing was drawn");
    }
  }, act);

async function firstView(view, drawn) {
  const server = await serve();
  const page = await pageAt(`${server.url}#view=${view}`);
  await drawn(page);
  const seconds = (performance.now() - server.started) / 1000;
  return { server, page, seconds, cpu: server.cpu() };
}

// How long a view has to wait for all that it asks first of a profile that has just been read: from its first question
// to its last answer. Each has a server of its own, so that nothing is known from another.
async function viewAnswered(view) {
  const server = await serve();
  await (await fetch(new URL("../api/v1/summary?brief=1", server.url))).text(); // answered when it is read
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const isQuestion = (request) => request.url().includes("/api/v1/");
  let first = 0;
  let last = 0;
  let open = 0;
  page.on("request", (request) => {
    if (!isQuestion(request)) return;
    first ||= performance.now();
    ++open;
  });
  const answered = (request) => {
    if (!isQuestion(request)) return;
    last = performance.now();
    --open;
  };
  page.on("requestfinished", answered);
  page.on("requestfailed", answered);
  await page.goto(`${server.url}#view=${view}`);
  while (last === 0 || open > 0 || performance.now() - last < 500) await new Promise((resolve) => setTimeout(resolve, 20));
  const cpu = server.cpu();
  server.stop();
  await page.close();
  return { seconds: (last - first) / 1000, cpu };
}

// Zooms by wheel in the page while it counts its frames.
async function zoom(page) {
  const box = await page.getByTestId("flame-canvas").boundingBox();
  return page.evaluate(
    async ([x, y, milliseconds]) => {
      const canvas = document.querySelector("[data-testid=flame-canvas]");
      const times = [];
      const drawnBefore = canvas.drawing.frames;
      const begun = performance.now();
      for (let i = 0; performance.now() - begun < milliseconds; ++i) {
        const now = await new Promise((resolve) => requestAnimationFrame(resolve));
        times.push(now);
        const inwards = Math.floor((performance.now() - begun) / 700) % 2 === 0;
        canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: inwards ? -16 : 16, ctrlKey: true, clientX: x, clientY: y, cancelable: true }));
      }
      const gaps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
      return {
        frames_a_second: ((canvas.drawing.frames - drawnBefore) * 1000) / (performance.now() - begun),
        gap_95_ms: gaps[Math.floor(gaps.length * 0.95)],
        boxes: canvas.drawing.flame.count,
      };
    },
    [box.x + box.width * 0.4, box.y + 60, ZOOM_MS],
  );
}

// What drawing one picture takes, without waiting for the screen.
const drawMs = (page) =>
  page.evaluate(() => {
    const { drawing } = document.querySelector("[data-testid=flame-canvas]");
    const begun = performance.now();
    for (let i = 0; i < 20; ++i) drawing.draw(performance.now());
    document.querySelector("[data-testid=flame-canvas]").getContext("2d").getImageData(0, 0, 1, 1);
    return (performance.now() - begun) / 20;
  });

// Of the process that shows the page: its own memory, and what of it is JavaScript's.
async function memory(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  const heap = metrics.find((metric) => metric.name === "JSHeapUsedSize").value;
  const all = await (await browser.newBrowserCDPSession()).send("SystemInfo.getProcessInfo");
  let most = 0;
  for (const one of all.processInfo.filter((info) => info.type === "renderer")) {
    const text = readFileSync(`/proc/${one.id}/smaps_rollup`, "utf8");
    const own = [...text.matchAll(/^Private_\w+:\s+(\d+)/gm)].reduce((sum, match) => sum + Number(match[1]), 0);
    most = Math.max(most, own * 1024);
  }
  return { js_heap_bytes: heap, page_bytes: most };
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

const overview = await firstView("overview", (page) => page.getByTestId("live-total").waitFor({ timeout: 120_000 }));
overview.server.stop();
await overview.page.close();
const flame = await firstView("flame", (page) => flameDrawn(page, null));
const { page, server } = flame;
const result = { overview_s: overview.seconds, overview_cpu_s: overview.cpu, flame_s: flame.seconds, flame_cpu_s: flame.cpu };

const sources = await page.evaluate(async () => (await fetch("../api/v1/sources")).json());
if (sources.sources[0].kind === "trace") {
  const { end } = await page.evaluate(async () => (await fetch("../api/v1/timeline?steps=100")).json());
  const times = [];
  const cpu = server.cpu();
  for (let i = 0; i < RANGES; ++i) {
    const from = Math.round((end.time_ns / 1e6) * (0.05 + (0.8 * i) / RANGES));
    const to = from + Math.round((end.time_ns / 1e6) * 0.1);
    times.push(await flameDrawn(page, `view=flame&value=allocated&from=${from}ms&to=${to}ms`));
  }
  result.range_ms = { median: median(times), most: Math.max(...times), server_cpu: ((server.cpu() - cpu) * 1000) / RANGES };
  await flameDrawn(page, "view=flame&value=allocated");
} else {
  const times = [];
  for (const words of ["callers=1", "upwards=1&callers=", "sort=count", ""]) {
    if (words.includes("upwards")) continue;
    times.push(await flameDrawn(page, `view=flame&${words}`));
  }
  result.turn_ms = { median: median(times), most: Math.max(...times) };
}
result.zoom = await zoom(page);
result.draw_ms = await drawMs(page);
result.memory = await memory(page);
server.stop();
if (sources.sources[0].kind !== "trace") {
  result.views = {};
  for (const view of VIEWS) result.views[view] = await viewAnswered(view);
}
await browser.close();
console.log(JSON.stringify(result));
process.exit(0);
