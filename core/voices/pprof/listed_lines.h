// What the source lines of functions weigh: the figures of pprof's `list`, for those who print them
// and for those who show them in another way.
//
// A pure function of a prepared report.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/regex.h"
#include "core/source/listing.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::pprof {

struct ListedFile {
  std::vector<LineWeight> weights;
  std::string build_id;  // of a module that was compiled from it; "" unknown
  LineSum sum;
};
// By function and file. A function without files is one that nobody knows the source of.
using ListedFunctions = std::map<std::string, std::map<std::string, ListedFile>>;

// Of the functions whose names match. `input` is prepared for list.
ListedFunctions ListFunctions(const ReportInput& input, const Regex& regex);

}  // namespace heapgauge::pprof
