// Which modules hold memory that has no names, and where their names can be had.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/doctor/gauge.h"
#include "core/fold/frames.h"

namespace heapgauge {
namespace {

constexpr double kMuch = 0.10;  // of the live memory

// The module of the innermost frame that is the program's and not the allocator's.
ModuleId HolderOf(const Profile& profile, RowId row, const std::vector<uint32_t>& allocation_frames,
                  std::vector<LocationId>* stack) {
  profile.StackOf(row, stack);
  for (const LocationId id : *stack) {
    const Location& location = profile.locations[id];
    if (location.module == kNone || allocation_frames[id] >= std::max(1u, location.frame_count)) {
      continue;
    }
    if (!IsAllocatorModule(profile.modules[location.module].path)) return location.module;
  }
  return kNone;
}

std::string SystemName() {
  const std::string text = ReadWholeFile("/etc/os-release", 4096).value_or("");
  const size_t at = text.rfind("ID=", 0) == 0 ? 0 : text.find("\nID=") + 1;
  if (at == 0 && text.rfind("ID=", 0) != 0) return "";
  return text.substr(at + 3, text.find('\n', at) - at - 3);
}

std::string WhereToGet(const Module& module) {
  const bool from_system = module.path.rfind("/usr/", 0) == 0 || module.path.rfind("/lib", 0) == 0;
  if (!from_system || module.path.rfind("/usr/local/", 0) == 0) {
    return "build it with -g and do not strip it, or keep its debug file under "
           "/usr/lib/debug/.build-id/" +
           (module.build_id.size() > 2
                ? module.build_id.substr(0, 2) + "/" + module.build_id.substr(2) + ".debug"
                : std::string());
  }
  const std::string system = SystemName();
  if (system == "debian")
    return "export DEBUGINFOD_URLS=https://debuginfod.debian.net, or its -dbgsym package";
  if (system == "ubuntu")
    return "export DEBUGINFOD_URLS=https://debuginfod.ubuntu.com, or its -dbgsym package";
  if (system == "fedora") {
    return "export DEBUGINFOD_URLS=https://debuginfod.fedoraproject.org, or its -debuginfo package";
  }
  return "install the debug package of your system for it, or set DEBUGINFOD_URLS";
}

}  // namespace

Findings CheckSymbols(const Profile& profile, const std::vector<std::string>& notes) {
  Findings findings;
  if (profile.sample_types.size() != kHeapTypes || profile.rows.empty()) return findings;
  const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile);
  std::vector<double> held(profile.modules.size());
  std::vector<LocationId> stack;
  double total = 0;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const double live = profile.estimate(row, kInuseSpace).value;
    if (live <= 0) continue;
    total += live;
    const ModuleId holder = HolderOf(profile, row, allocation_frames, &stack);
    if (holder != kNone) held[holder] += live;
  }
  for (ModuleId m = 0; m < held.size(); ++m) {
    const Module& module = profile.modules[m];
    if (held[m] < kMuch * total || held[m] <= 0 || module.has_lines) continue;
    const std::string share = FormatShare(held[m], total);
    std::string evidence =
        module.build_id.empty() ? "it has no build-id" : "its build-id is " + module.build_id;
    for (const std::string& note : notes) {
      if (note.find(module.path) != std::string::npos) evidence += "; " + note;
    }
    Finding finding = Found(
        "no-symbols",
        module.has_functions
            ? fmt::format("'{}', which holds {} of the live memory, has function names but no "
                          "lines: it was built without -g or is stripped",
                          module.path, share)
            : fmt::format("'{}', which holds {} of the live memory, has no symbols: its functions "
                          "show as addresses",
                          module.path, share),
        evidence, WhereToGet(module));
    if (module.has_functions) finding.severity = Severity::kHint;
    findings.push_back(std::move(finding));
  }
  SortFindings(&findings);
  return findings;
}

}  // namespace heapgauge
