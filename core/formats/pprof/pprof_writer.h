// Writes a profile in pprof's format (gzip-compressed profile.proto), which `go tool pprof` and
// most continuous profilers open. Values are final: what sampling stood for is already worked in,
// and pprof shows them as they are.
//
// What pprof_reader.h reads is written again, fields that are not known here included. Rows stay
// apart as they are; rows without a value are left out, and so are locations and functions that no
// row needs.
//
// A pure function of the profile. It is written as it is made; what takes memory is the table of
// texts.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/model/profile.h"

namespace heapgauge {

struct PprofWriteOptions {
  // Frames whose function name (without parameters) matches are hidden, with everything they
  // called. "": what the profile says.
  std::string drop_frames;
  // Rows to write; empty for all.
  std::vector<bool> selected;
  // The name of the function that stands for a stack that is empty; "" leaves it empty.
  std::string empty_stack;
  bool gzip = true;
  // Beside those of the profile.
  std::vector<std::string> comments = {};
};

Status WritePprof(const Profile& profile, const PprofWriteOptions& options, TextSink* out);

}  // namespace heapgauge
