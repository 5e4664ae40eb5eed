// Writes the bundled files as a C++ source, each packed by gzip.
//
//   node embed.mjs DIST OUT.cc

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const [dist, out] = process.argv.slice(2);
let arrays = "";
let table = "";
let total = 0;
for (const [index, name] of readdirSync(dist).sort().entries()) {
  const type = types[extname(name)];
  if (!type) throw new Error(`${name}: a kind of file that the page does not have`);
  const content = readFileSync(join(dist, name));
  const packed = gzipSync(content, { level: 9 });
  packed[9] = 3; // the operating system in the header: the same bytes on every machine
  total += packed.length;
  arrays += `constexpr unsigned char kBytes${index}[] = {${packed.join(",")}};\n`;
  table += `    {${JSON.stringify(name)}, ${JSON.stringify(type)},\n`;
  table += `     {reinterpret_cast<const char*>(kBytes${index}), sizeof(kBytes${index})},\n`;
  table += `     "${createHash("sha256").update(content).digest("base64")}"},\n`;
  // A report has them between tags, and its policy names their hashes.
  if (/\.(js|css)$/.test(name) && /<\/(script|style)|<!--|\r|\0/i.test(content)) throw new Error(`${name} cannot be put into a page as it is`);
}
const limit = 400 * 1024;
if (total > limit) throw new Error(`the bundle has ${total} bytes, more than ${limit}`);
writeFileSync(
  out,
  `// Made by web/embed.mjs. ${total} bytes in all.\n#include "endpoint/web/assets.h"\n\n` +
    `namespace heapgauge::endpoint {\nnamespace {\n${arrays}const WebAsset kAssets[] = {\n${table}};\n` +
    `}  // namespace\n\nstd::span<const WebAsset> WebAssets() { return kAssets; }\n\n` +
    `}  // namespace heapgauge::endpoint\n`,
);
