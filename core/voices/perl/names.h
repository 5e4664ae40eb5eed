// How the perl tools write names, files and figures.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/voices/perl/options.h"

namespace heapgauge::perl {

// "svc::Cache::Fill" of "void svc::Cache<int>::Fill(int) const": without parameters, template
// arguments (which stay with google-pprof --no_strip_temp) and what stands before a scope.
std::string ShortFunctionName(std::string_view name, const Options& options);

// A linker name as nm and addr2line print it: a version ("@@V1") stays behind it.
std::string BinutilsName(const std::string& name);

// Operands of a disassembled instruction, without parameters and template arguments of names.
std::string CleanDisassembly(std::string text);

// Without "./" and the like at the start.
std::string CleanFileName(std::string name);

// An address as the tools use it for a key: 16 digits.
std::string HexKey(uint64_t address);

// A number as perl prints it.
std::string PerlNumber(double value);
// "12.5%"; "nan", "+inf" or "-inf" of a total of 0.
std::string Percent(double value, double total);

// What kind of profile it is; it decides about units and which frames are left out.
enum class Kind { kHeap, kGrowth, kContention, kCpu };

// A figure in the unit of the report.
std::string Unparse(double value, Kind kind, const Options& options);
// The same, but "." for 0.
std::string UnparseOrDot(double value, Kind kind, const Options& options);
const char* UnitsOf(Kind kind, const Options& options);

}  // namespace heapgauge::perl
