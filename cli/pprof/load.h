// The profile of a pprof command: sources read and added up, the base taken off, addresses named,
// frames that the profile does not want shown left out. What came from a server is kept in a file.
//
// Single-threaded but for fetching.
#pragma once

#include <string>

#include "cli/pprof/flags.h"
#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/recording/recording.h"

namespace heapgauge::cli {

// Keeps what came from a server: it may never be the same again. The files are pprof's, in pprof's
// place: $PPROF_TMPDIR, or ~/pprof, or the directory for temporary files. Says where it is, or why
// it could not be kept; neither stops the command.
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

// A source that cannot be read is told, as long as another one can. A profile from a server is also
// kept in a file.
Result<Profile> LoadForPprof(const PprofSourceOptions& options, const Say& say);

// Gives a profile that knows no modules one for all addresses, so that names can be looked for.
void CoverAddresses(Profile* profile);

// What is common to all sources of a command.
OpenOptions OpenOptionsOf(const PprofSourceOptions& options, const Say& say);

}  // namespace heapgauge::cli
