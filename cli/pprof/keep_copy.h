// Keeps what came from a server: it may never be the same again. The files are pprof's, in pprof's
// place: $PPROF_TMPDIR, or ~/pprof, or the directory for temporary files.
#pragma once

#include <string>

#include "cli/pprof/flags.h"
#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::cli {

// Says where it is, or why it could not be kept; neither stops the command.
void KeepCopy(const Profile& profile, const Say& say);

struct NewFile {
  int fd = -1;
  std::string path;
};
// Makes "<directory>/<prefix>001<suffix>", or the next number that is free.
Result<NewFile> MakeNumberedFile(const std::string& directory, const std::string& prefix,
                                 const std::string& suffix);

// $TMPDIR or /tmp.
std::string TemporaryDirectory();

}  // namespace heapgauge::cli
