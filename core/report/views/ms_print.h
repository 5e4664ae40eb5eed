// What ms_print prints of a massif.out file, byte for byte: the graph, the table of snapshots, and
// a tree for each one that has it. People and scripts know this text, so it is made here as well,
// also of what is no massif.out file.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/sinks.h"
#include "core/formats/massif/massif_file.h"

namespace heapgauge {

struct MsPrintOptions {
  size_t width = 72;      // of the graph, 4 to 1000
  size_t height = 20;     // 4 to 1000
  double threshold = 1;   // percent of the total; what is less is shown as one line
  std::string arguments;  // what the header calls "ms_print arguments"
};

Status WriteMsPrint(const MassifFile& file, const MsPrintOptions& options, TextSink* out);

}  // namespace heapgauge
