// Where the resident memory of a process is, as text for people, as JSON for programs, and as one
// line for the header of other reports.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory/survey.h"

namespace heapgauge {

// Memory that one stack mapped.
struct MappedRow {
  std::string function;  // with its place, as `top` shows it
  uint64_t resident = 0;
  uint64_t bytes = 0;  // of address space
  uint64_t mappings = 0;
};

struct MemoryOptions {
  size_t width = 120;
  bool bars = false;              // for a terminal
  bool mappings = false;          // list the mappings as well
  std::vector<MappedRow> mapped;  // largest first
};

std::string MemoryText(const MemorySurvey& survey, const MemoryOptions& options);
std::string MemoryJson(const MemorySurvey& survey, const MemoryOptions& options);

// "812 MB = live 512 + rounding 31 + free in glibc 140 + stacks 8 + files 45 + other 76"
std::string MemoryLine(const MemorySurvey& survey);

// "free in glibc" and so on: what the part is called in text.
std::string PartLabel(Part part, wire::Allocator allocator);

// What the kernel and the allocator would give up, in this order, if memory ran short.
std::vector<std::string> PressureText(const MemorySurvey& survey);

}  // namespace heapgauge
