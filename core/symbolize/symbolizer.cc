#include "core/symbolize/symbolizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/base/text.h"
#include "core/symbolize/demangle.h"
#include "core/symbolize/module_symbols.h"

namespace heapgauge {
namespace {

// Functions of the profile by linker name and file, so that each is there once.
class FunctionTable {
 public:
  explicit FunctionTable(Profile* profile) : profile_(profile) {}

  FunctionId Add(const std::string& system_name, const std::string& file) {
    std::string key = system_name;
    key += '\0';
    key += file;
    const auto [it, is_new] =
        ids_.try_emplace(std::move(key), static_cast<FunctionId>(profile_->functions.size()));
    if (is_new) {
      Function function;
      function.name = Printable(Demangle(system_name));
      if (function.name != system_name) function.system_name = Printable(system_name);
      function.file = Printable(file);
      profile_->functions.push_back(std::move(function));
    }
    return it->second;
  }

 private:
  Profile* profile_;
  std::unordered_map<std::string, FunctionId> ids_;
};

std::string Placeholder(const Profile& profile, const Location& location) {
  if (location.module == kNone) return fmt::format("0x{:x}", location.address);
  const Module& module = profile.modules[location.module];
  std::string_view name = BaseName(module.path);
  if (name.empty()) name = "?";
  return fmt::format("{}+0x{:x}", name, location.lookup_address() - module.load_bias);
}

void AddFrames(const std::vector<SourceFrame>& frames, FunctionTable* table, Location* location,
               Profile* profile) {
  location->first_frame = static_cast<uint32_t>(profile->frames.size());
  for (const SourceFrame& source : frames) {
    Frame frame;
    frame.function = table->Add(source.system_name.empty() ? "?" : source.system_name, source.file);
    frame.line = source.line;
    frame.inlined = source.inlined;
    profile->frames.push_back(frame);
  }
  location->frame_count = static_cast<uint32_t>(frames.size());
}

}  // namespace

SymbolizeReport Symbolize(const SymbolizeOptions& options, Profile* profile) {
  SymbolizeReport report;
  FunctionTable table(profile);
  std::vector<std::vector<LocationId>> by_module(profile->modules.size());
  for (LocationId i = 0; i < profile->locations.size(); ++i) {
    const Location& location = profile->locations[i];
    if (location.module != kNone && location.frame_count == 0) {
      by_module[location.module].push_back(i);
    }
  }
  uint64_t to_name = 0;
  for (const std::vector<LocationId>& ids : by_module) to_name += ids.size();
  uint64_t named = 0;
  for (ModuleId m = 0; m < by_module.size(); ++m) {
    if (by_module[m].empty()) continue;
    Module& module = profile->modules[m];
    if (options.progress != nullptr) {
      options.progress->Report("reading names of " + std::string(BaseName(module.path)), named,
                               to_name, "addresses");
    }
    named += by_module[m].size();
    auto symbols = ModuleSymbols::Open(module, options);
    if (!symbols) {
      // The kernel's own page has no file; its few frames need no excuse.
      if (module.path.find("vdso") == std::string::npos && !symbols.error().message.empty()) {
        report.notes.push_back("no names: " + symbols.error().message);
      }
      continue;
    }
    std::vector<uint64_t> addresses;
    for (const LocationId id : by_module[m]) {
      addresses.push_back(profile->locations[id].lookup_address() - module.load_bias);
    }
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    const auto found = symbols->LookUp(addresses);
    for (const LocationId id : by_module[m]) {
      Location& location = profile->locations[id];
      const uint64_t address = location.lookup_address() - module.load_bias;
      const auto at = std::lower_bound(addresses.begin(), addresses.end(), address);
      const auto& frames = found[static_cast<size_t>(at - addresses.begin())];
      if (frames.empty()) continue;
      AddFrames(frames, &table, &location, profile);
      module.has_functions = true;
      module.has_lines = module.has_lines || frames.front().line != 0;
    }
  }
  for (Location& location : profile->locations) {
    if (location.frame_count != 0) continue;
    AddFrames({{Placeholder(*profile, location), "", 0, false}}, &table, &location, profile);
    profile->functions[profile->frames.back().function].placeholder = true;
  }
  std::sort(report.notes.begin(), report.notes.end());
  report.notes.erase(std::unique(report.notes.begin(), report.notes.end()), report.notes.end());
  return report;
}

}  // namespace heapgauge
