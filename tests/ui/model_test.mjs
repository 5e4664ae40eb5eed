// The unit tests of web/src (x_test.ts beside x.ts): bundled by the esbuild that bundles the page, run by node's own
// test runner. No browser is needed.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BUILD = process.env.HEAPGAUGE_BUILD;
const WORK = join(BUILD, "web/work");
if (!existsSync(join(WORK, "node_modules/vite"))) {
  console.log("skipped: npm could not fetch the packages of the web UI when it was built");
  process.exit(77);
}
const { buildSync } = createRequire(createRequire(`${WORK}/`).resolve("vite/package.json"))("esbuild");

function testsIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? testsIn(path) : /_test\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

const folder = mkdtempSync(join(tmpdir(), "heapgauge-model-"));
let failed = false;
try {
  const entryPoints = testsIn(join(WORK, "src"));
  assert.ok(entryPoints.length > 0);
  buildSync({ entryPoints, outdir: folder, bundle: true, platform: "node", format: "esm", target: "es2021", outExtension: { ".js": ".mjs" }, logLevel: "error" });
  const files = testsIn(join(WORK, "src")).map((path) => path.slice(join(WORK, "src").length)).map((path) => join(folder, path.replace(/\.tsx?$/, ".mjs")));
  failed = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status !== 0;

  // The page offers the questions that docs/query.md works out, and core/query tests run those.
  const examples = join(folder, "examples.mjs");
  buildSync({ entryPoints: [join(WORK, "src/model/query_examples.ts")], outfile: examples, bundle: true, format: "esm", target: "es2021" });
  const { EXAMPLES } = await import(examples);
  const page = readFileSync(new URL("../../docs/query.md", import.meta.url), "utf8");
  const worked = [...page.matchAll(/### (.*)\n[^#]*?```sql\n((?:-- any source\n)?)([^]*?)\n```/g)].map(([, title, any, sql]) => ({ title, sql, any: any !== "" }));
  assert.deepEqual(EXAMPLES.map(({ title, sql, any }) => ({ title, sql, any })), worked);

  // Thousands of numbers, as the page and as the command line write them.
  const format = join(folder, "format.mjs");
  buildSync({ entryPoints: [join(WORK, "src/model/format.ts")], outfile: format, bundle: true, format: "esm", target: "es2021" });
  const { formatBytes } = await import(format);
  const source = join(folder, "stacks.txt");
  writeFileSync(source, "main;work 12\n");
  const sql = `WITH RECURSIVE r(i, x) AS (VALUES (0, 12345) UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM r LIMIT 5000)
    SELECT (x % (1 << (i % 31))) * (1 << (i % 14)) AS bytes, human((x % (1 << (i % 31))) * (1 << (i % 14))) AS text FROM r`;
  const done = spawnSync(join(BUILD, "bin/heapgauge"), ["query", "--json", sql, source], { encoding: "utf8", maxBuffer: 1 << 26 });
  assert.equal(done.status, 0, done.stderr);
  const rows = JSON.parse(done.stdout);
  assert.equal(rows.length, 5000);
  for (const { bytes, text } of rows) assert.equal(formatBytes(bytes), text, String(bytes));
  console.log(`${rows.length} sizes are written as the command line writes them`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
