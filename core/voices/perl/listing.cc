#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "core/base/encode.h"
#include "core/voices/perl/routines.h"

namespace heapgauge::perl {

// The page of "weblist": source lines that open to show their instructions. No scripts.

std::string HtmlHead(const std::string& program, const std::string& total);
std::string HtmlFoot();
// `code` is escaped already and may be ""; `live`: the line has figures.
std::string HtmlSourceLine(const std::string& line, const std::string& code, bool live);

std::string HtmlHead(const std::string& program, const std::string& total) {
  return "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" + EscapeHtml(program) +
         "</title>\n<style>\n"
         "body { font-family: sans-serif; }\n"
         "h1 { font-size: 1.4em; margin-bottom: 0.2em; }\n"
         "details { display: block; }\n"
         "summary { list-style: none; cursor: pointer; color: #666; }\n"
         "summary:hover { background: #eee; }\n"
         ".live { color: #00c; }\n"
         ".none { color: #999; }\n"
         ".code { color: #060; }\n"
         "</style></head><body>\n<p>" +
         EscapeHtml(program) + "<br>" + EscapeHtml(total) + "</p>\n";
}

std::string HtmlFoot() { return "</body></html>\n"; }

std::string HtmlSourceLine(const std::string& line, const std::string& code, bool live) {
  const std::string text = EscapeHtml(line);
  if (code.empty()) return "<span class=\"none\">" + text + "</span>\n";
  return std::string("<details><summary") + (live ? " class=\"live\">" : ">") + text +
         "</summary><span class=\"code\">" + code + "</span></details>";
}

// --list: source lines of functions with figures. Where a function begins and ends in its file is
// guessed the way the tools do: from the lines of its instructions, then on by indentation.

namespace {

constexpr int64_t kContext = 5;

// Files may be as long as they like, but a function of a million lines is none.
constexpr size_t kMaxLines = 1'000'000;

std::vector<std::string> ReadLines(std::istream* stream) {
  std::vector<std::string> lines(1);  // counted from 1
  std::string line;
  while (lines.size() < kMaxLines && std::getline(*stream, line)) {
    if (!stream->eof()) line += '\n';
    std::erase(line, '\r');
    lines.push_back(line);
  }
  return lines;
}

// Blanks before the text, -1 if there is none.
int64_t Indentation(const std::string& line) {
  const size_t at = line.find_first_not_of(" \t\n\r\f\v");
  return at == std::string::npos ? -1 : static_cast<int64_t>(at);
}

// Takes "file:line" apart.
bool SplitPlace(const std::string& place, std::string* file, int64_t* line) {
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos || colon + 1 == place.size()) return false;
  const std::string digits = place.substr(colon + 1);
  if (digits.find_first_not_of("0123456789") != std::string::npos || digits.size() > 9) {
    return false;
  }
  *file = place.substr(0, colon);
  *line = std::stoll(digits);
  return true;
}

struct Extent {
  std::string file;
  int64_t first = 1;
  int64_t last = 0;      // with what follows at the same indentation
  int64_t old_last = 0;  // of instructions
};

// False if no instruction has a line.
bool FindExtent(const std::vector<ListedInstruction>& code, Extent* extent) {
  const auto known = std::find_if(code.begin(), code.end(),
                                  [](const ListedInstruction& i) { return i.line >= 0; });
  if (known == code.end()) return false;
  extent->file = known->file;
  bool first_seen = false;
  for (const ListedInstruction& instruction : code) {
    if (instruction.file != extent->file) continue;
    extent->last = std::max(extent->last, instruction.line);
    if (!first_seen) extent->first = instruction.line;
    first_seen = true;
  }
  extent->old_last = extent->last;
  return true;
}

void ExtendByIndentation(const std::vector<std::string>& lines, Extent* extent) {
  int64_t first_indentation = -1;
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    const int64_t indentation = Indentation(lines[i]);
    if (number >= extent->first && first_indentation < 0 && indentation >= 0) {
      first_indentation = indentation;
      if (first_indentation == 0) break;
    }
    if (number >= extent->last && indentation >= 0) {
      if (indentation < first_indentation) break;
      extent->last = number + 1;
    }
  }
}

class Listing {
 public:
  Listing(const ReportInput& input, const AddressFigures& figures, TextSink* out, TextSink* err)
      : input_(input), figures_(figures), out_(out), err_(err) {}

  Status Write(const Routine& routine) {
    HG_ASSIGN(auto code, Disassemble(routine.library->image->path(), routine.start, routine.end,
                                     input_.options));
    const std::vector<ListedInstruction> innermost = code;
    UseFunctionLines(routine, &code);
    Extent extent;
    if (!FindExtent(code, &extent)) {
      return err_->Write(fmt::format("no filename found in {}\n", routine.name));
    }
    std::ifstream stream(extent.file);
    if (!stream) return err_->Write(fmt::format("{}: {}\n", extent.file, std::strerror(errno)));
    const std::vector<std::string> lines = ReadLines(&stream);
    ExtendByIndentation(lines, &extent);
    // Figures of instructions from elsewhere go to the next line of the function.
    std::map<int64_t, AddressFigures::Pair> by_line;
    std::map<int64_t, std::string> code_by_line;
    AddressFigures::Pair left;
    AddressFigures::Pair total;
    std::string left_code;
    const auto give = [&](int64_t line) {
      by_line[line].flat += left.flat;
      by_line[line].cum += left.cum;
      code_by_line[line] += left_code;
      left = {};
      left_code.clear();
    };
    for (size_t i = 0; i < code.size(); ++i) {
      const AddressFigures::Pair pair =
          figures_.Sum(code[i].address + routine.library->bias, routine.Limit(code[i]));
      left.flat += pair.flat;
      left.cum += pair.cum;
      total.flat += pair.flat;
      total.cum += pair.cum;
      left_code += CodeLine(innermost[i], pair);
      if (code[i].file == extent.file && code[i].line >= extent.first &&
          code[i].line <= extent.last) {
        give(code[i].line);
      }
    }
    give(extent.last);
    if (input_.options.report == Report::kWeblist) {
      HG_TRY(WriteHtmlHead(routine, extent, total));
    } else {
      HG_TRY(out_->Write(fmt::format(
          "ROUTINE ====================== {} in {}\n{:>6} {:>6} Total {} (flat / cumulative)\n",
          routine.name, CleanFileName(extent.file), input_.Figure(total.flat),
          input_.Figure(total.cum), input_.units())));
    }
    for (size_t i = 1; i < lines.size(); ++i) {
      const auto number = static_cast<int64_t>(i);
      if (number < extent.first - kContext) continue;
      if (number > extent.old_last + kContext && number > extent.last) break;
      std::string text = lines[i];
      if (!text.empty()) text.pop_back();
      const auto pair = by_line.find(number);
      const AddressFigures::Pair none;
      HG_TRY(WriteLine(extent, number, text, pair == by_line.end() ? none : pair->second,
                       code_by_line[number]));
    }
    if (input_.options.report == Report::kWeblist) return out_->Write("</pre>\n");
    return {};
  }

 private:
  std::string OrDot(double value) const {
    return UnparseOrDot(value, input_.state->kind, input_.options);
  }

  // The line in the function itself rather than in what was inlined.
  static void UseFunctionLines(const Routine& routine, std::vector<ListedInstruction>* code) {
    std::vector<uint64_t> addresses;
    std::vector<uint64_t> keys;
    for (const ListedInstruction& instruction : *code) {
      if (!addresses.empty() && instruction.address <= addresses.back()) return;
      addresses.push_back(instruction.address);
      keys.push_back(instruction.address + routine.library->bias);
    }
    const std::vector<SymbolList> symbols = routine.library->image->Map(addresses, keys);
    for (size_t i = 0; i < code->size(); ++i) {
      if (symbols[i].empty()) continue;
      SplitPlace(symbols[i][0].place, &(*code)[i].file, &(*code)[i].line);
    }
  }

  std::string CodeLine(const ListedInstruction& instruction, AddressFigures::Pair pair) const {
    if (input_.options.report != Report::kWeblist) return "";
    const auto figure = [&](double value) { return value == 0 ? "" : input_.Figure(value); };
    return EscapeHtml(fmt::format("{:>12} {:>6} {:>16x}: {:<60} {}:{}\n", figure(pair.flat),
                                  figure(pair.cum), instruction.address,
                                  CleanDisassembly(instruction.text),
                                  CleanFileName(instruction.file), instruction.line));
  }

  Status WriteHtmlHead(const Routine& routine, const Extent& extent, AddressFigures::Pair total) {
    return out_->Write(
        fmt::format("<h1>{}</h1>{}\n<pre>\nTotal: {:>6} {:>6} (flat / cumulative "
                    "{})\n",
                    EscapeHtml(routine.name), EscapeHtml(CleanFileName(extent.file)),
                    input_.Figure(total.flat), input_.Figure(total.cum), input_.units()));
  }

  Status WriteLine(const Extent& extent, int64_t number, const std::string& text,
                   AddressFigures::Pair pair, const std::string& code) {
    if (input_.options.report == Report::kWeblist) {
      const auto figure = [&](double value) { return value == 0 ? "" : input_.Figure(value); };
      const std::string line =
          fmt::format("{:>5} {:>6} {:>6} {}", number, figure(pair.flat), figure(pair.cum), text);
      return out_->Write(HtmlSourceLine(line, code, pair.flat + pair.cum > 0));
    }
    std::string output;
    if (number == extent.first) output += "---\n";
    output +=
        fmt::format("{:>6} {:>6} {:>4}: {}\n", OrDot(pair.flat), OrDot(pair.cum), number, text);
    if (number == extent.last) output += "---\n";
    return out_->Write(output);
  }

  const ReportInput& input_;
  const AddressFigures& figures_;
  TextSink* out_;
  TextSink* err_;
};

}  // namespace

Status WriteListing(const ReportInput& input, TextSink* out, TextSink* err) {
  const AddressFigures figures = CountAddresses(input);
  const bool page = input.options.report == Report::kWeblist;
  if (page) {
    HG_TRY(out->Write(
        HtmlHead(input.options.program,
                 fmt::format("Total: {} {}", input.Figure(input.total), input.units()))));
  }
  Listing listing(input, figures, out, err);
  HG_TRY(ForEachRoutine(input, figures,
                        [&](const Routine& routine) { return listing.Write(routine); }));
  return page ? out->Write(HtmlFoot()) : Status();
}

}  // namespace heapgauge::perl
