// Writes a profile in pprof's format (gzip-compressed profile.proto), which `go tool pprof` and
// most continuous profilers open. Values are final: what sampling stood for is already worked in,
// and pprof shows them as they are.
//
// A pure function of the profile; memory is about the size of the uncompressed profile.
#ifndef HEAPGAUGE_CORE_FORMATS_PPROF_PPROF_WRITER_H_
#define HEAPGAUGE_CORE_FORMATS_PPROF_PPROF_WRITER_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge {

struct PprofWriteOptions {
  // Frames whose function name (without parameters) matches are hidden, with everything they
  // called.
  std::string drop_frames;
  // Rows to write; empty for all.
  std::vector<bool> selected;
};

Result<std::string> WritePprof(const Profile& profile, const PprofWriteOptions& options);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_FORMATS_PPROF_PPROF_WRITER_H_
