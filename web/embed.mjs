// Writes the bundled files as a C++ source, each packed by gzip.
//
//   node embed.mjs DIST OUT.cc

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
  const packed = gzipSync(readFileSync(join(dist, name)), { level: 9 });
  packed[9] = 3; // the operating system in the header: the same bytes on every machine
  total += packed.length;
  arrays += `constexpr unsigned char kBytes${index}[] = {${packed.join(",")}};\n`;
  table += `    {${JSON.stringify(name)}, ${JSON.stringify(type)},\n`;
  table += `     {reinterpret_cast<const char*>(kBytes${index}), sizeof(kBytes${index})}},\n`;
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
