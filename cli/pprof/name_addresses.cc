#include "cli/pprof/name_addresses.h"

#include <algorithm>
#include <cstdlib>

#include "cli/symbol_options.h"
#include "core/base/text.h"
#include "core/fetch/http.h"
#include "core/symbolize/demangle_names.h"

namespace heapgauge::cli {
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
  std::vector<std::string> directories;
  const std::string_view all = chosen;
  for (size_t start = 0; start <= all.size();) {
    const size_t end = std::min(all.find(':', start), all.size());
    if (end > start) directories.emplace_back(all.substr(start, end - start));
    start = end + 1;
  }
  return directories;
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
    const size_t end = std::min(rest.find(':'), rest.size());
    std::string word;
    for (const char c : rest.substr(0, end)) {
      word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
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

}  // namespace heapgauge::cli
