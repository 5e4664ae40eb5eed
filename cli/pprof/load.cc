#include "cli/pprof/load.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "cli/pprof/flags.h"
#include "cli/report_options.h"
#include "core/base/file.h"
#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/fetch/http.h"
#include "core/fetch/remote_names.h"
#include "core/fold/frames.h"
#include "core/fold/merge.h"
#include "core/fold/scale.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/model/label_sets.h"
#include "core/model/profile.h"
#include "core/symbolize/demangle_names.h"
#include "core/voices/pprof/frame_filter.h"

namespace heapgauge::cli {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<std::string> CopyDirectory(const Say& say) {
  std::vector<std::string> candidates;
  if (const std::string chosen = Environment("PPROF_TMPDIR"); !chosen.empty()) {
    candidates.push_back(chosen);
  }
  if (const std::string home = Environment("HOME"); !home.empty()) {
    candidates.push_back(home + "/pprof");
  }
  candidates.push_back(TemporaryDirectory());
  for (const std::string& directory : candidates) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (!error) return directory;
    say("Could not use temp dir " + directory + ": " + error.message());
  }
  return Fail(ErrorCode::kIo, "there is no directory for it; set PPROF_TMPDIR");
}

Result<std::string> Keep(const Profile& profile, const Say& say) {
  HG_ASSIGN(const std::string directory, CopyDirectory(say));
  std::string prefix = "pprof.";
  if (!profile.modules.empty() && !profile.modules.front().path.empty()) {
    prefix += std::string(BaseName(profile.modules.front().path)) + ".";
  }
  for (const SampleType& type : profile.sample_types) prefix += type.name + ".";
  for (char& c : prefix) {
    if (c == '/' || static_cast<unsigned char>(c) < ' ') c = '_';  // names are the server's
  }
  prefix.resize(std::min<size_t>(prefix.size(), 200));
  StringSink sink;
  HG_TRY(WritePprof(profile, {}, &sink));
  HG_ASSIGN(const NewFile file, MakeNumberedFile(directory, prefix, ".pb.gz"));
  const Status status = WriteToDescriptor(file.fd, sink.text(), file.path);
  close(file.fd);
  if (!status) return tl::unexpected<Error>(status.error());
  return file.path;
}

}  // namespace

std::string TemporaryDirectory() {
  const std::string directory = Environment("TMPDIR");
  return directory.empty() ? "/tmp" : directory;
}

Result<NewFile> MakeNumberedFile(const std::string& directory, const std::string& prefix,
                                 const std::string& suffix) {
  for (int i = 1; i < 10000; ++i) {
    std::string number = std::to_string(i);
    if (number.size() < 3) number.insert(0, 3 - number.size(), '0');
    const std::string name = prefix + number + suffix;
    const std::string path = directory.empty() ? name : directory + "/" + name;
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return NewFile{fd, path};
    if (errno != EEXIST) {
      return tl::unexpected<Error>(SystemError("cannot create '" + Printable(path) + "'", errno));
    }
  }
  return Fail(ErrorCode::kIo,
              "cannot create '" + Printable(prefix) + "NNN" + suffix + "': all numbers are taken");
}

void KeepCopy(const Profile& profile, const Say& say) {
  const auto path = Keep(profile, say);
  say(path ? "Saved profile in " + *path : "Could not save profile: " + path.error().message);
}

// Gives the addresses of a profile their names, as -symbolize says.

// -symbolize=[local|fastlocal|remote|none][:force][:demangle=none|full|templates|default]
struct SymbolizeMode {
  bool none = false;
  bool local = true;
  bool remote = true;
  bool fast = false;     // functions alone
  bool force = false;    // also what has names
  std::string demangle;  // "" the default
  bool understood = true;
};
SymbolizeMode ParseSymbolizeMode(const std::string& text);

// Local files first, then the servers that the profile came from. What cannot be named is told and
// keeps its address.
Status NameAddresses(const PprofSourceOptions& options, const ModuleSources& servers,
                     const Say& say, Profile* profile);

namespace {

struct OldFrames {
  uint32_t first = 0;
  uint32_t count = 0;
};

bool HasPlaceholder(const Profile& profile, const Location& location) {
  if (location.frame_count == 0) return false;
  const FunctionId function = profile.frames[location.first_frame].function;
  return function != kNone && profile.functions[function].placeholder;
}

// Names of functions without lines and inlined calls.
void KeepFunctionsAlone(Profile* profile, const std::vector<OldFrames>& before) {
  for (LocationId id = 0; id < profile->locations.size(); ++id) {
    Location& location = profile->locations[id];
    if (location.frame_count == 0 || before[id].count != 0) continue;
    location.first_frame += location.frame_count - 1;
    location.frame_count = 1;
    Frame& frame = profile->frames[location.first_frame];
    frame.line = frame.column = 0;
    frame.inlined = false;
    if (frame.function != kNone) profile->functions[frame.function].file.clear();
  }
}

// PPROF_BINARY_PATH, or ~/pprof/binaries.
std::vector<std::string> BinaryDirectories() {
  const char* chosen = std::getenv("PPROF_BINARY_PATH");
  if (chosen == nullptr || *chosen == '\0') {
    const char* home = std::getenv("HOME");
    if (home == nullptr || *home == '\0') return {};
    return {std::string(home) + "/pprof/binaries"};
  }
  return WordsOf(chosen, ":");
}

void NameLocally(const PprofSourceOptions& options, const SymbolizeMode& mode, const Say& say,
                 Profile* profile) {
  std::vector<OldFrames> before(profile->locations.size());
  for (LocationId id = 0; id < profile->locations.size(); ++id) {
    Location& location = profile->locations[id];
    before[id] = {location.first_frame, location.frame_count};
    if (mode.force) location.frame_count = 0;
  }
  SymbolOptions symbols;
  symbols.program = options.program;
  symbols.binary_dirs = BinaryDirectories();
  for (const std::string& note : NameLocations(symbols, profile).notes) say(note);
  for (LocationId id = 0; id < profile->locations.size(); ++id) {
    Location& location = profile->locations[id];
    if (location.frame_count != 0 && !HasPlaceholder(*profile, location)) continue;
    // No name was found: what there was stays, and reports show addresses as pprof does.
    location.first_frame = before[id].first;
    location.frame_count = before[id].count;
    if (HasPlaceholder(*profile, location)) location.frame_count = 0;
  }
  if (mode.fast) KeepFunctionsAlone(profile, before);
}

DemangleMode DemangleModeOf(const std::string& word) {
  if (word == "none") return DemangleMode::kMangled;
  if (word == "full") return DemangleMode::kFull;
  if (word == "templates") return DemangleMode::kTemplates;
  return DemangleMode::kDefault;
}

}  // namespace

SymbolizeMode ParseSymbolizeMode(const std::string& text) {
  SymbolizeMode mode;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string word = LowerCase(TakeUntil(&rest, ':'));
    const std::string demangle = word.rfind("demangle=", 0) == 0 ? word.substr(9) : word;
    if (word.empty() || demangle == "default") continue;
    if (word == "none" || word == "no") {
      mode.none = true;
      return mode;
    }
    if (word == "local" || word == "fastlocal") {
      mode.local = true;
      mode.remote = false;
      mode.fast = word == "fastlocal";
    } else if (word == "remote") {
      mode.remote = true;
      mode.local = false;
    } else if (word == "force") {
      mode.force = true;
    } else if (demangle == "full" || demangle == "none" || demangle == "templates") {
      mode.demangle = demangle;
      mode.force = true;
    } else {
      mode.understood = false;
    }
  }
  return mode;
}

Status NameAddresses(const PprofSourceOptions& options, const ModuleSources& servers,
                     const Say& say, Profile* profile) {
  const SymbolizeMode mode = ParseSymbolizeMode(options.symbolize);
  if (!mode.understood) {
    return Fail(ErrorCode::kInvalidArgument,
                "-symbolize takes local, fastlocal, remote or none, then :force, "
                ":demangle=none|full|templates|default; not '" +
                    Printable(options.symbolize) + "'");
  }
  if (!mode.none) {
    const auto known = static_cast<FunctionId>(profile->functions.size());
    if (mode.local) NameLocally(options, mode, say, profile);
    if (mode.remote) {
      HttpOptions http;
      http.tls_cert = options.tls_cert;
      http.tls_key = options.tls_key;
      http.tls_ca = options.tls_ca;
      const AskForNames ask = [&](const Url& url, const std::string& addresses) {
        return HttpPost(url, addresses, http);
      };
      HG_TRY(NameByServers(servers, mode.force, ask, profile));
    }
    // What was found just now has its whole name yet; what the profile brought along stays.
    const DemangleMode demangle = DemangleModeOf(mode.demangle);
    DemangleNames(demangle, true, profile, known);
    DemangleNames(demangle, mode.force, profile);
  }
  return {};
}

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
