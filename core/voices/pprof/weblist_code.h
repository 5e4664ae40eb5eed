// What a weblist shows, before it is a page: files, in them functions, their lines, and under each
// line the instructions that it was compiled to, with calls that were inlined there.
//
// Instructions come from disassembling around the addresses of the profile that a function of
// interest was seen at; which line and inlined calls each belongs to, debug information tells.
// Where the module's file or objdump is missing, the profile's own addresses stand for
// instructions, and lines and figures are still right.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::pprof {

struct InlinedCall {
  std::string file;
  int64_t line = 0;
  friend bool operator==(const InlinedCall&, const InlinedCall&) = default;
};

struct CodeInstruction {
  uint64_t address = 0;         // in memory
  uint64_t object_address = 0;  // in the file
  uint64_t length = 1;
  std::string text;  // "" if not disassembled
  std::string file;  // innermost source
  int64_t line = 0;
  int64_t flat = 0;
  int64_t cum = 0;
};

// An instruction under a line, with the calls inlined between the line and it, outermost first.
struct PlacedInstruction {
  uint64_t address = 0;
  std::vector<InlinedCall> calls;
};

struct CodeFile {
  std::map<int64_t, std::vector<PlacedInstruction>> lines;
  std::map<int64_t, std::string> functions;  // the first that was met on each line
  std::string build_id;
};

// A stretch of lines of one function.
struct CodeFunction {
  std::string name;
  int64_t begin = 0;
  int64_t end = 0;  // not included
  int64_t flat = 0;
  int64_t cum = 0;
};

struct WeblistCode {
  std::map<std::string, CodeFile> files;
  std::map<uint64_t, CodeInstruction> instructions;  // by address in memory
  std::vector<std::string> troubles;                 // what could not be disassembled, and why

  // The functions of a file, by line, with some lines around them.
  std::vector<CodeFunction> FunctionsOf(const CodeFile& file) const;
};

// Fails if nothing matches the request's pattern.
Result<WeblistCode> FindWeblistCode(const ReportInput& input);

}  // namespace heapgauge::pprof
