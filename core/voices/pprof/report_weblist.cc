#include <fmt/format.h>

#include <algorithm>

#include "core/base/html.h"
#include "core/base/wrapping.h"
#include "core/source/source_path.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/nodes.h"
#include "core/voices/pprof/report_sources.h"
#include "core/voices/pprof/report_writers.h"
#include "core/voices/pprof/text_buffer.h"
#include "core/voices/pprof/weblist_code.h"
#include "core/voices/pprof/weblist_page.h"

namespace heapgauge::pprof {
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

std::string_view TrimmedLeft(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first);
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
    WriteCode(placed->second, shown.size() - TrimmedLeft(shown).size());
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
                             HtmlText(source ? Expanded(TrimmedLeft(*source)) : ""),
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
