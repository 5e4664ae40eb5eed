#include "core/voices/pprof/report_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/base/encode.h"
#include "core/base/numbers.h"
#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/source/source_files.h"
#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/nodes.h"
#include "core/voices/pprof/report.h"
#include "core/voices/pprof/weblist_code.h"

namespace heapgauge::pprof {
namespace {

// A build-id for each path of a module, for those who look for sources by it.
std::map<std::string_view, std::string_view> BuildIds(const Profile& profile) {
  std::map<std::string_view, std::string_view> ids;
  for (const Module& module : profile.modules) ids.emplace(module.path, module.build_id);
  return ids;
}

}  // namespace

ListedFunctions ListFunctions(const ReportInput& input, const Regex& regex) {
  NodeOptions options = NodeOptionsOf(input.config());
  options.object_names = true;
  const NodeTable table(input.profile, options);
  GraphWants wants;
  wants.edges = false;
  const Trimmed trimmed = TrimmedGraph(input, table, wants);
  const Graph& graph = trimmed.graph;
  const auto build_ids = BuildIds(input.profile);
  ListedFunctions functions;
  for (const GraphId id : graph.order) {
    const NodeInfo& info = graph.info(id);
    if (!regex.Matches(info.name)) continue;
    auto& files = functions[std::string(info.name)];
    if (info.file.empty()) continue;
    ListedFile& file = files[std::string(info.file)];
    const GraphNode& node = graph.nodes[id];
    file.weights.push_back(
        {info.line, info.start_line, node.flat, node.cum, node.flat_div, node.cum_div});
    file.sum.Add(file.weights.back());
    const auto build_id = build_ids.find(info.object);
    if (build_id != build_ids.end()) file.build_id = build_id->second;
  }
  return functions;
}

namespace {

int64_t FlatOf(const LineSum& sum) { return MeanOf(sum.flat, sum.flat_div); }
int64_t CumOf(const LineSum& sum) { return MeanOf(sum.cum, sum.cum_div); }

}  // namespace

Status WriteList(const ReportInput& input, TextSink* out) {
  HG_ASSIGN(const Regex regex, Regex::Compile(input.request.pattern));
  const ListedFunctions functions = ListFunctions(input, regex);
  if (functions.empty()) {
    return Fail(ErrorCode::kNotFound, "no matches found for regexp: " + input.request.pattern);
  }

  const ValueFormat format = FormatOf(input);
  const auto value_or_dot = [&](int64_t value) { return value == 0 ? "." : format(value); };
  ReportSources sources(input);
  TextBuffer buffer(out);
  std::string& text = buffer.text();
  text += "Total: " + format(input.total) + "\n";
  for (const auto& [name, files] : functions) {
    if (files.empty()) text += fmt::format("No source information for {}\n", name);
    for (const auto& [path, file] : files) {
      const auto lines = ListLines(path, file.build_id, file.weights, &sources.files());
      text += fmt::format("ROUTINE ======================== {} in {}\n", name, path);
      text += fmt::format("{:>10} {:>10} (flat, cum) {} of Total\n", format(FlatOf(file.sum)),
                          format(CumOf(file.sum)), Percentage(file.sum.cum, input.total_weight));
      const std::string& error = sources.files().ErrorOf(path);
      if (!error.empty()) text += " Error: " + error + "\n";
      for (const ListedLine& line : lines) {
        text += fmt::format("{:>10} {:>10} {:>6}:", value_or_dot(FlatOf(line.sum)),
                            value_or_dot(CumOf(line.sum)), line.number);
        text += line.text;
        text += '\n';
        HG_TRY(buffer.FlushIfFull());
      }
    }
    HG_TRY(buffer.FlushIfFull());
  }
  return buffer.Flush();
}

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

namespace {

// Columns that tabs reach to; source is shown in a fixed width.
std::string Expanded(std::string_view text) {
  std::string result;
  size_t column = 0;
  for (const char c : text) {
    if (c == '\t') {
      const size_t spaces = 8 - column % 8;
      result.append(spaces, ' ');
      column += spaces;
      continue;
    }
    result += c;
    column += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }
  return result;
}

class PageWriter {
 public:
  PageWriter(const ReportInput& input, const WeblistCode& code, TextSink* out)
      : input_(input),
        code_(code),
        format_(FormatOf(input)),
        sources_(input),
        buffer_(out),
        text_(buffer_.text()) {}

  Status Write() {
    const std::string title(
        input_.profile.modules.empty() ? "source" : LastPart(input_.profile.modules[0].path));
    text_ += fmt::format(fmt::runtime(kWeblistStart), HtmlText(title));
    text_ += "<header><h1>" + HtmlText(title) + "</h1><p>";
    for (const std::string& label : ProfileLabels(input_, format_)) {
      text_ += HtmlText(label) + "<br>";
    }
    text_ += "Total: " + HtmlText(format_(input_.total)) + "</p>";
    for (const std::string& trouble : code_.troubles) {
      text_ += "<p class=note>" + HtmlText(trouble) + "</p>";
    }
    text_ += "</header>\n";
    for (const auto& [path, file] : code_.files) {
      for (const CodeFunction& function : code_.FunctionsOf(file)) {
        if (function.cum == 0) continue;
        HG_TRY(WriteFunction(path, file, function));
      }
    }
    text_ += kWeblistEnd;
    return buffer_.Flush();
  }

 private:
  Status WriteFunction(const std::string& path, const CodeFile& file,
                       const CodeFunction& function) {
    text_ += fmt::format(
        "<section><h2>{}</h2><p class=file>{}</p>\n<p class=total>{} flat, {} cum, {} of "
        "total</p>\n<table><thead><tr><th>flat<th>cum<th>line<th>source</tr></thead>\n",
        HtmlText(function.name), HtmlText(path), HtmlText(format_(function.flat)),
        HtmlText(format_(function.cum)), TrimmedPercentage(function.cum, input_.total));
    for (int64_t line = function.begin; line < function.end; ++line) {
      WriteLine(path, file, line);
      HG_TRY(buffer_.FlushIfFull());
    }
    text_ += "</table></section>\n";
    return {};
  }

  void WriteLine(const std::string& path, const CodeFile& file, int64_t number) {
    const auto placed = file.lines.find(number);
    const bool live = placed != file.lines.end();
    const auto source = sources_.files().Line(path, number, file.build_id);
    if (!source && !live) return;
    std::string shown = "???";
    if (source) {
      shown = Expanded(*source);
    } else if (number == 0) {
      shown = "(instructions with unknown lines)";
    }
    int64_t flat = 0;
    int64_t cum = 0;
    bool nested = false;
    if (live) {
      for (const PlacedInstruction& place : placed->second) {
        const CodeInstruction& instruction = code_.instructions.at(place.address);
        flat = WrapAdd(flat, instruction.flat);
        cum = WrapAdd(cum, instruction.cum);
        nested |= !place.calls.empty() || !instruction.text.empty();
      }
    }
    const char* kind = nested ? " class=live tabindex=0 role=button aria-expanded=false"
                       : live ? " class=weighed"
                              : "";
    text_ += fmt::format("<tbody><tr{}><td>{}<td>{}<td>{}<td>{}</tr></tbody>\n", kind,
                         ValueOrDot(flat), ValueOrDot(cum), number, HtmlText(shown));
    if (!nested) return;
    text_ += "<tbody class=code hidden>";
    WriteCode(placed->second, shown.size() - TrimLeft(shown, " \t").size());
    text_ += "</tbody>\n";
  }

  // The instructions under a line, with the calls inlined there where these change.
  void WriteCode(const std::vector<PlacedInstruction>& places, size_t indent) {
    std::vector<InlinedCall> calls;
    uint64_t expected = 0;
    for (const PlacedInstruction& place : places) {
      const CodeInstruction& instruction = code_.instructions.at(place.address);
      if (expected != 0 && place.address != expected && !instruction.text.empty()) {
        text_ += "<tr class=gap><td><td><td><td>⋮</tr>";
      }
      expected = place.address + instruction.length;
      size_t same = 0;
      while (same < place.calls.size() && same < calls.size() && place.calls[same] == calls[same]) {
        ++same;
      }
      for (size_t i = same; i < place.calls.size(); ++i) {
        const InlinedCall& call = place.calls[i];
        const auto source = sources_.files().Line(call.file, call.line);
        text_ += fmt::format("<tr class=inlined><td><td><td><td>{}{} <i>{}:{}</i></tr>",
                             std::string(indent + 4 * (i + 1), ' '),
                             HtmlText(source ? Expanded(TrimLeft(*source, " \t")) : ""),
                             HtmlText(LastPart(call.file)), call.line);
      }
      calls = place.calls;
      if (instruction.text.empty()) continue;
      std::string where;
      if (!instruction.file.empty()) {
        where =
            fmt::format(" <i>{}:{}</i>", HtmlText(LastPart(instruction.file)), instruction.line);
      }
      text_ += fmt::format("<tr><td>{}<td>{}<td>{:x}<td>{}{}{}</tr>", ValueOrDot(instruction.flat),
                           ValueOrDot(instruction.cum), instruction.object_address,
                           std::string(indent + 4 * (calls.size() + 1), ' '),
                           HtmlText(Expanded(instruction.text)), where);
    }
  }

  std::string ValueOrDot(int64_t value) const {
    return value == 0 ? "." : HtmlText(format_(value));
  }

  const ReportInput& input_;
  const WeblistCode& code_;
  ValueFormat format_;
  ReportSources sources_;
  TextBuffer buffer_;
  std::string& text_;
};

}  // namespace

Status WriteWeblist(const ReportInput& input, TextSink* out) {
  HG_ASSIGN(const WeblistCode code, FindWeblistCode(input));
  return PageWriter(input, code, out).Write();
}

}  // namespace heapgauge::pprof
