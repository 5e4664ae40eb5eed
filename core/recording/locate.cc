#include "core/recording/locate.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <optional>
#include <vector>

#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/gauge/gauge_directory.h"
#include "core/trace/file/live_trace.h"

namespace heapgauge {
namespace {

Result<std::string> PickFrom(const std::string& directory, const std::string& pick) {
  HG_ASSIGN(const std::vector<std::string> paths, ListGaugeFiles(directory));
  const std::string quoted = "'" + Printable(directory) + "'";
  if (paths.empty()) {
    return Fail(ErrorCode::kNotFound, quoted +
                                          " holds no gauge files (*.hg); heapgauge ps lists "
                                          "what is profiled");
  }
  if (paths.size() == 1) return paths.front();
  if (pick.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                quoted + " holds " + std::to_string(paths.size()) +
                    " gauge files; name one of them, a PID, or add --pick newest");
  }
  const auto start = [](const std::string& path) {
    const auto owner = ReadOwner(path);
    return owner ? owner->start_realtime_ns + owner->dump_ns : 0;
  };
  std::string chosen;
  uint64_t chosen_start = 0;
  for (const std::string& path : paths) {
    const uint64_t at = start(path);
    if (at == 0) continue;
    if (chosen.empty() || (pick == "newest" ? at > chosen_start : at < chosen_start)) {
      chosen = path;
      chosen_start = at;
    }
  }
  if (chosen.empty()) return Fail(ErrorCode::kNotFound, quoted + " holds no readable gauge file");
  return chosen;
}

// 0 if it is none.
uint32_t PidOf(std::string_view spec) { return NumberIn<uint32_t>(spec).value_or(0); }

// "" if it is not recorded whole.
Result<std::string> TraceBeingWritten(const std::string& spec, const std::string& pick) {
  struct stat st {};
  const bool exists = stat(spec.c_str(), &st) == 0;
  if (!exists && PidOf(spec) == 0) return "";
  if (exists && !S_ISDIR(st.st_mode) && !IsGaugeFileName(BaseName(spec))) return "";
  const auto gauge = LocateFile(spec, pick);
  const auto owner = gauge ? ReadOwner(*gauge) : Result<GaugeOwner>(Fail(ErrorCode::kNotFound, ""));
  if (!owner || owner->is_copy || !OwnerRuns(*owner)) return "";
  if (!trace::TracedSince(*gauge)) return "";
  std::string path = trace::FindLiveTrace(*gauge);
  if (path.empty()) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("every call of process {} goes into a trace, and nobody is seen to "
                            "write it: heapgauge doctor {} tells more, heapgauge top FILE.hgt what "
                            "was recorded",
                            owner->pid, owner->pid));
  }
  trace::HaveTraceWritten(*gauge);
  return path;
}

// By the last '@', with something on both sides of it.
struct Split {
  std::string spec;
  std::string moment;
};
std::optional<Split> SplitAtSign(const std::string& spec) {
  const size_t at = spec.rfind('@');
  if (at == std::string::npos || at == 0 || at + 1 == spec.size()) return std::nullopt;
  return Split{spec.substr(0, at), spec.substr(at + 1)};
}

std::optional<Split> SplitMoment(const std::string& spec) {
  auto split = SplitAtSign(spec);
  if (split && (Exists(spec) || !Exists(split->spec))) split.reset();
  return split;
}

}  // namespace

bool Exists(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0;
}

bool NamesMoment(const std::string& spec) { return SplitMoment(spec).has_value(); }

Result<std::string> MeantTrace(const std::string& spec, const std::string& pick) {
  HG_ASSIGN(std::string path, TraceBeingWritten(spec, pick));
  if (!path.empty()) return path;
  const auto split = SplitAtSign(spec);
  if (!split) return spec;
  HG_ASSIGN(path, TraceBeingWritten(split->spec, pick));
  return path.empty() ? spec : path + "@" + split->moment;
}

Status CheckWhole(const std::string& spec, const std::string& instead) {
  if (!NamesMoment(spec)) return {};
  return Fail(ErrorCode::kInvalidArgument, "'" + Printable(spec) +
                                               "' is a moment or range of a file, and the whole is "
                                               "needed here: name the file, and " +
                                               instead);
}

Result<std::string> MeantWhole(const std::string& spec, const std::string& pick,
                               const std::string& instead) {
  HG_ASSIGN(std::string meant, MeantTrace(spec, pick));
  HG_TRY(CheckWhole(meant, instead));
  return meant;
}

Result<std::string> LocateFile(const std::string& spec, const std::string& pick) {
  struct stat st {};
  if (stat(spec.c_str(), &st) == 0) return S_ISDIR(st.st_mode) ? PickFrom(spec, pick) : spec;
  if (const uint32_t pid = PidOf(spec); pid != 0) return FindGaugeOf(pid);
  return Fail(ErrorCode::kNotFound,
              "there is no file '" + Printable(spec) +
                  "', and it is not a PID; heapgauge ps lists what is profiled");
}

Result<NamedPlace> Locate(const std::string& spec, const std::string& pick) {
  NamedPlace place;
  HG_ASSIGN(place.spec, MeantTrace(spec, pick));
  place.path = place.spec;
  if (auto split = SplitMoment(place.spec)) {
    place.path = std::move(split->spec);
    place.moment = std::move(split->moment);
  }
  if (place.path != "-") {
    HG_ASSIGN(place.path, LocateFile(place.path, pick));
  }
  return place;
}

}  // namespace heapgauge
