// What files alone tell about leaks: one file, or a series of dumps.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/suspects.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::leaks {

// What a file alone tells about leaks: blocks that were never freed, their ages, and which of them
// grow. The memory of the program is not in it, so nothing can be said about what is reachable
// (Look::kNone, no verdicts).
//
// A gauge file (also of a program that runs), a dump, or an exact trace. Other formats know sums
// only and are refused. Names are not looked for.
Result<Check> CheckFile(const std::string& path);

// The same for a trace that is open already; `stacks` are its own, with or without names.
Result<Check> CheckTrace(const trace::TraceFile& file, const trace::TraceFile::Stacks& stacks);

// The sums of a check whose blocks are a trace's.
void SetTracedTotals(Check* check);

// Fills in what is known of the program from the profile of the blocks: who it is, when, and its
// sums since it began, of a sampled one estimates.
void SetFacts(Check* check);

// How much each stack of a program held at several moments, from dumps of it: what periodic dumps
// were made for. A dump by itself tells growth from births and deaths; several tell it outright,
// also where much comes and goes, or where most was made before the first of them.
//
//   HG_ASSIGN(const DumpSeries series, ReadDumpSeries(paths));    // at least two
//   Suspects suspects = FindSuspects(check);                     // of the last one
//   AddDumpEvidence(series, check, &suspects);
//
// What rises from dump to dump (Mann and Kendall's test, at the level that suspects.h divides among
// all who are judged) grows, whatever else is known of it; six dumps over ten
// seconds are needed for that. Of fewer the amounts are told, and nobody is accused by them.
//
// Memory for one number for each stack and dump. Pure functions but for reading.
struct DumpSeries {
  static constexpr size_t kMostDumps = 256;

  std::vector<std::string> paths;  // by time
  std::vector<uint64_t> times_ns;  // since the recording began
  // Bytes that were live in each dump, by what PlacesOf() gives for the stack.
  std::unordered_map<uint64_t, std::vector<double>> bytes;
};

// A number for the places of a stack, the same in every dump of one run, with or without names.
uint64_t PlacesOf(const Profile& profile, NodeId leaf);

// All of one run of one program: another one is an Error that names the file. Of more than
// kMostDumps some in between are left out.
Result<DumpSeries> ReadDumpSeries(std::vector<std::string> paths);
// One more, of blocks that are known already.
void AddToSeries(const KnownBlocks& known, const std::string& path, DumpSeries* series);

// REQUIRES: the suspects are those of the check, which is of the last dump or later.
void AddDumpEvidence(const DumpSeries& series, const Check& check, Suspects* suspects);

}  // namespace heapgauge::leaks
