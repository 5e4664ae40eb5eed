#include "cli/pprof/load.h"

#include <utility>

#include "cli/pprof/keep_copy.h"
#include "cli/pprof/name_addresses.h"
#include "core/fetch/remote_names.h"
#include "core/fold/allocation_frames.h"
#include "core/fold/merge.h"
#include "core/fold/scale.h"
#include "core/model/label_rows.h"
#include "core/voices/pprof/prune.h"

namespace heapgauge::cli {
namespace {

struct Grabbed {
  std::vector<Profile> profiles;
  bool remote = false;
};

// The program and build-id of the command line are those of the first module.
void Override(const PprofSourceOptions& options, Profile* profile) {
  CoverAddresses(profile);
  Module& program = profile->modules.front();
  if (!options.program.empty()) program.path = options.program;
  if (!options.build_id.empty()) program.build_id = options.build_id;
}

Result<Grabbed> Grab(const std::vector<std::string>& sources, const char* what,
                     const PprofSourceOptions& options, const Say& say, ModuleSources* servers) {
  Grabbed grabbed;
  Status failed;
  size_t number = 0;
  const auto take = [&](Result<Recording> opened) -> Status {
    HG_ASSIGN(Recording recording, std::move(opened));
    HG_ASSIGN(Profile profile, recording.ReadProfile());
    if (profile.recording.exact) {
      for (const std::string& note : profile.notes) say("note: " + note);
    }
    Override(options, &profile);
    // Our own recordings leave it to reports which frames only allocate.
    if (profile.recording.state != RecordingState::kUnknown && profile.drop_frames.empty()) {
      profile.drop_frames = AllocationFunctionRegex();
    }
    // Formats that pprof does not read name the allocator, whose library may have no names to drop.
    if (!options.all_frames && !profile.recording.allocator.empty()) {
      pprof::PruneAllocatorModules(&profile);
    }
    if (recording.url()) {
      grabbed.remote = true;
      AddModuleSources(profile, *recording.url(), servers);
    }
    grabbed.profiles.push_back(std::move(profile));
    return {};
  };
  Recording::OpenEach(sources, OpenOptionsOf(options, say), [&](Result<Recording> opened) {
    const std::string& source = sources[number++];
    const Status taken = take(std::move(opened));
    if (taken) return;
    if (sources.size() == 1) failed = taken;
    if (sources.size() > 1) say(source + ": " + taken.error().message);
  });
  HG_TRY(failed);
  if (grabbed.profiles.empty()) {
    return Fail(ErrorCode::kNotFound, std::string("none of the ") + what + " could be read");
  }
  if (grabbed.profiles.size() < sources.size()) {
    say("Fetched " + std::to_string(grabbed.profiles.size()) + " " + what + " out of " +
        std::to_string(sources.size()));
  }
  return grabbed;
}

Result<Profile> Merged(std::vector<Profile> profiles) {
  // One profile is merged too: equal rows become one, as pprof has it.
  return MergeProfiles(std::move(profiles));
}

}  // namespace

void CoverAddresses(Profile* profile) {
  if (!profile->modules.empty()) return;
  profile->modules.emplace_back();
  profile->modules.back().load_bias_known = false;
  for (Location& location : profile->locations) location.module = 0;
}

OpenOptions OpenOptionsOf(const PprofSourceOptions& options, const Say& say) {
  OpenOptions open;
  open.default_path = "/debug/pprof/profile";
  open.seconds = options.seconds;
  open.timeout = options.timeout;
  open.http.tls_cert = options.tls_cert;
  open.http.tls_key = options.tls_key;
  open.http.tls_ca = options.tls_ca;
  open.say = say;
  return open;
}

Result<Profile> LoadForPprof(const PprofSourceOptions& options, const Say& say) {
  ModuleSources servers;
  HG_ASSIGN(Grabbed sources, Grab(options.sources, "source profiles", options, say, &servers));
  HG_ASSIGN(Profile profile, Merged(std::move(sources.profiles)));
  bool remote = sources.remote;
  if (!options.bases.empty()) {
    HG_ASSIGN(Grabbed bases, Grab(options.bases, "base profiles", options, say, &servers));
    remote = remote || bases.remote;
    HG_ASSIGN(Profile base, Merged(std::move(bases.profiles)));
    if (options.diff_base) LabelAllRows("pprof::base", "true", &base);
    if (options.normalize) HG_TRY(NormalizeTo(base, &profile));
    ScaleProfile(-1, &base);
    std::vector<Profile> both;
    both.push_back(std::move(profile));
    both.push_back(std::move(base));
    HG_ASSIGN(profile, Merged(std::move(both)));
  }
  for (const std::string& note : profile.notes) say(note);
  HG_TRY(NameAddresses(options, servers, say, &profile));
  if (!options.all_frames) HG_TRY(pprof::RemoveUninteresting(&profile));
  if (!options.comment.empty()) profile.comments.push_back(options.comment);
  if (remote) KeepCopy(profile, say);
  return profile;
}

}  // namespace heapgauge::cli
