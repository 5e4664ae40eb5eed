#include "core/fetch/remote_names.h"

#include <charconv>
#include <unordered_map>

#include "core/base/numbers.h"

namespace heapgauge {
namespace {

// Code that the kernel provides, which no server can name.
bool IsSystemModule(const Module& module) {
  const std::string_view path = module.path;
  return path.substr(0, 1) == "[" || path.substr(0, 10) == "linux-vdso" ||
         path.substr(0, 9) == "/dev/dri/";
}

std::string Hex(uint64_t value) {
  char buffer[18] = "0x";
  const auto end = std::to_chars(buffer + 2, buffer + sizeof buffer, value, 16).ptr;
  return std::string(buffer, end);
}

Status NameModule(ModuleId module, const ModuleSource& source, const AskForNames& ask,
                  Profile* profile) {
  const uint64_t shift = source.start - profile->modules[module].start;  // may wrap around
  std::string addresses;
  for (const Location& location : profile->locations) {
    if (location.module != module || location.frame_count != 0) continue;
    if (location.lookup_address() == 0) continue;
    addresses += (addresses.empty() ? "" : "+") + Hex(location.lookup_address() + shift);
  }
  if (addresses.empty()) return {};
  HG_ASSIGN(const std::string page, ask(SymbolUrlOf(source.url), addresses));
  const std::map<uint64_t, std::string> names = ParseSymbolPage(page);

  std::unordered_map<std::string, FunctionId> functions;
  for (Location& location : profile->locations) {
    if (location.module != module || location.frame_count != 0) continue;
    const auto name = names.find(location.lookup_address() + shift);
    if (name == names.end()) continue;
    const auto [it, is_new] =
        functions.emplace(name->second, static_cast<FunctionId>(profile->functions.size()));
    if (is_new) {
      Function function;
      function.name = function.system_name = name->second;
      profile->functions.push_back(std::move(function));
    }
    location.first_frame = static_cast<uint32_t>(profile->frames.size());
    location.frame_count = 1;
    Frame frame;
    frame.function = it->second;
    profile->frames.push_back(frame);
  }
  profile->modules[module].has_functions = true;
  return {};
}

}  // namespace

void AddModuleSources(const Profile& profile, const Url& url, ModuleSources* sources) {
  for (const Module& module : profile.modules) {
    (*sources)[module.build_id.empty() ? module.path : module.build_id].push_back(
        {url, module.start});
  }
}

std::map<uint64_t, std::string> ParseSymbolPage(std::string_view page) {
  std::map<uint64_t, std::string> names;
  while (!page.empty()) {
    const size_t end = page.find('\n');
    if (end == std::string_view::npos) break;  // a line that was cut short
    std::string_view line = page.substr(0, end);
    page.remove_prefix(end + 1);
    const size_t start = line.find("0x");
    if (start == std::string_view::npos) continue;
    line.remove_prefix(start + 2);
    const auto address = TakeNumber<uint64_t>(&line, 16);
    if (!address) continue;
    const size_t name = line.find_first_not_of(" \t\r\f\v");
    if (name == 0 || name == std::string_view::npos) continue;
    names[*address] = std::string(line.substr(name));
  }
  return names;
}

Status NameByServers(const ModuleSources& sources, bool force, const AskForNames& ask,
                     Profile* profile) {
  for (ModuleId id = 0; id < profile->modules.size(); ++id) {
    const Module& module = profile->modules[id];
    if ((module.has_functions && !force) || IsSystemModule(module)) continue;
    auto found = sources.find(module.path);
    if (found == sources.end() && !module.build_id.empty()) found = sources.find(module.build_id);
    if (found == sources.end() || found->second.empty()) continue;
    HG_TRY(NameModule(id, found->second.front(), ask, profile));
  }
  return {};
}

}  // namespace heapgauge
