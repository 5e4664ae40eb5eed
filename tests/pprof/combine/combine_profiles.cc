// Reads profiles, merges them and writes one: what the comparison with pprof looks at.
//
//   combine_profiles [--rewrite] [--base FILE]... [--normalize] OUTPUT FILE...
//
// --rewrite: writes the one profile as it was read, without merging. --base: is taken away from the
// others. --normalize: the others are scaled to its totals first.

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/sinks.h"
#include "core/fold/merge.h"
#include "core/fold/scale.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/recording/recording.h"

namespace heapgauge {
namespace {

Result<Profile> ReadAll(const std::vector<std::string>& paths) {
  std::vector<Profile> profiles;
  for (const std::string& path : paths) {
    HG_ASSIGN(Recording recording, Recording::OpenFile(path));
    HG_ASSIGN(Profile profile, recording.ReadProfile());
    HG_TRY(profile.Check());
    profiles.push_back(std::move(profile));
  }
  return MergeProfiles(std::move(profiles));
}

Status Combine(bool rewrite, bool normalize, const std::vector<std::string>& bases,
               const std::vector<std::string>& paths, const std::string& output) {
  Profile profile;
  if (rewrite) {
    HG_ASSIGN(Recording recording, Recording::OpenFile(paths.at(0)));
    HG_ASSIGN(profile, recording.ReadProfile());
  } else {
    HG_ASSIGN(profile, ReadAll(paths));
  }
  if (!bases.empty()) {
    HG_ASSIGN(Profile base, ReadAll(bases));
    if (normalize) HG_TRY(NormalizeTo(base, &profile));
    ScaleProfile(-1, &base);
    std::vector<Profile> both;
    both.push_back(std::move(profile));
    both.push_back(std::move(base));
    HG_ASSIGN(profile, MergeProfiles(std::move(both)));
  }
  HG_TRY(profile.Check());
  for (const std::string& note : profile.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  HG_ASSIGN(const auto sink, FileSink::Create(output));
  HG_TRY(WritePprof(profile, {}, sink.get()));
  return sink->Finish();
}

}  // namespace
}  // namespace heapgauge

int main(int argc, char** argv) {
  bool rewrite = false;
  bool normalize = false;
  std::vector<std::string> bases;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--rewrite") == 0) {
      rewrite = true;
    } else if (std::strcmp(argv[i], "--normalize") == 0) {
      normalize = true;
    } else if (std::strcmp(argv[i], "--base") == 0 && i + 1 < argc) {
      bases.emplace_back(argv[++i]);
    } else {
      paths.emplace_back(argv[i]);
    }
  }
  if (paths.size() < 2) {
    std::fprintf(stderr, "usage: combine_profiles [--rewrite] [--base FILE]... OUTPUT FILE...\n");
    return 2;
  }
  const std::string output = paths.front();
  paths.erase(paths.begin());
  const auto status = heapgauge::Combine(rewrite, normalize, bases, paths, output);
  if (!status) {
    std::fprintf(stderr, "combine_profiles: %s\n", status.error().message.c_str());
    return 2;
  }
  return 0;
}
