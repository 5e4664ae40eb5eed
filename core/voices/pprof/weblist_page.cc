#include "core/voices/pprof/weblist_page.h"

namespace heapgauge::pprof {

const char kWeblistStart[] = R"(<!DOCTYPE html>
<html lang=en>
<head>
<meta charset=utf-8>
<meta name=viewport content="width=device-width">
<title>{}</title>
<style>
:root {{ color-scheme: light dark; --text: #1d2126; --back: #fdfdfc; --soft: #6a727c;
  --line: #e4e6e9; --hot: #b3261e; --code: #f3f5f8; --call: #1b6e3c; }}
@media (prefers-color-scheme: dark) {{ :root {{ --text: #dfe3e8; --back: #16191d; --soft: #8d96a1;
  --line: #2b3038; --hot: #ff8a80; --code: #1e232a; --call: #7fd1a0; }} }}
body {{ font: 14px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back);
  margin: 1.5em auto; max-width: 120em; padding: 0 1em; }}
h1 {{ font-size: 1.4em; margin: 0; }} h2 {{ font-size: 1.1em; margin: 2em 0 0; }}
header p {{ color: var(--soft); }} .note {{ color: var(--hot); }}
.file, .total {{ margin: 0; color: var(--soft); overflow-wrap: anywhere; }}
table {{ border-collapse: collapse; width: 100%; margin-top: .6em;
  font: 13px/1.5 ui-monospace, monospace; }}
th {{ text-align: right; font-weight: normal; color: var(--soft);
  border-bottom: 1px solid var(--line); }}
th:last-child, td:last-child {{ text-align: left; white-space: pre; width: 100%;
  padding-left: 1.2em; }}
td, th {{ text-align: right; padding: 0 .6em; white-space: nowrap; vertical-align: top; }}
td:nth-child(3) {{ color: var(--soft); }}
.live {{ cursor: pointer; }} .live:hover, .live:focus {{ background: var(--code); outline: none; }}
.live td:first-child, .live td:nth-child(2), .weighed td:first-child,
.weighed td:nth-child(2) {{ color: var(--hot); }}
.live td:last-child::before {{ content: "+"; color: var(--soft); margin-left: -.9em; }}
.live[aria-expanded=true] td:last-child::before {{ content: "-"; }}
.code {{ background: var(--code); }} .code i, .gap {{ color: var(--soft); font-style: normal; }}
.inlined td {{ color: var(--call); }}
button {{ font: inherit; color: inherit; background: none; border: 1px solid var(--line);
  border-radius: 4px; padding: .1em .7em; margin-right: .5em; }}
</style>
<noscript><style>.code {{ display: table-row-group; }}</style></noscript>
</head>
<body>
)";

const char kWeblistEnd[] = R"(<script>
"use strict";
const lines = [...document.querySelectorAll("tr.live")];
function show(line, on) {
  line.setAttribute("aria-expanded", on);
  line.parentNode.nextElementSibling.hidden = !on;
}
function toggle(line) { show(line, line.getAttribute("aria-expanded") !== "true"); }
for (const line of lines) {
  line.addEventListener("click", () => { if (!String(getSelection())) toggle(line); });
  line.addEventListener("keydown", event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    toggle(line);
  });
}
if (lines.length) {
  for (const [text, on] of [["Show all code", true], ["Hide all code", false]]) {
    const button = document.createElement("button");
    button.textContent = text;
    button.addEventListener("click", () => lines.forEach(line => show(line, on)));
    document.querySelector("header").append(button);
  }
}
</script>
</body>
</html>
)";

}  // namespace heapgauge::pprof
