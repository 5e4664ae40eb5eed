#include "cli/source.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/gauge/gauge_directory.h"
#include "core/trace/file/live_trace.h"

namespace heapgauge::cli {
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
uint32_t PidOf(std::string_view source) {
  uint32_t pid = 0;
  const auto [end, error] = std::from_chars(source.data(), source.data() + source.size(), pid);
  return error == std::errc() && end == source.data() + source.size() ? pid : 0;
}

// "" if it is not recorded whole.
Result<std::string> TraceBeingWritten(const std::string& source, const std::string& pick) {
  struct stat st {};
  const bool exists = stat(source.c_str(), &st) == 0;
  if (!exists && PidOf(source) == 0) return "";
  if (exists && !S_ISDIR(st.st_mode) && !IsGaugeFileName(BaseName(source))) return "";
  const auto gauge = ResolveSource(source, pick);
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
std::optional<SourceAt> SplitAtSign(const std::string& source) {
  const size_t at = source.rfind('@');
  if (at == std::string::npos || at == 0 || at + 1 == source.size()) return std::nullopt;
  return SourceAt{source.substr(0, at), source.substr(at + 1)};
}

}  // namespace

bool Exists(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0;
}

std::optional<SourceAt> SplitMoment(const std::string& source) {
  auto split = SplitAtSign(source);
  if (split && (Exists(source) || !Exists(split->source))) split.reset();
  return split;
}

Result<std::string> MeanTrace(const std::string& source, const std::string& pick) {
  HG_ASSIGN(std::string path, TraceBeingWritten(source, pick));
  if (!path.empty()) return path;
  const auto split = SplitAtSign(source);
  if (!split) return source;
  HG_ASSIGN(path, TraceBeingWritten(split->source, pick));
  return path.empty() ? source : path + "@" + split->moment;
}

Status CheckWhole(const std::string& source, const std::string& instead) {
  if (!SplitMoment(source)) return {};
  return Fail(ErrorCode::kInvalidArgument, "'" + Printable(source) +
                                               "' is a moment or range of a file, and the whole is "
                                               "needed here: name the file, and " +
                                               instead);
}

Result<std::string> MeanWholeTrace(const std::string& source, const std::string& pick,
                                   const char* instead) {
  HG_ASSIGN(std::string meant, MeanTrace(source, pick));
  HG_TRY(CheckWhole(meant, instead));
  return meant;
}

Status MeanTraces(const std::string& pick, std::vector<std::string>* sources) {
  for (std::string& source : *sources) {
    HG_ASSIGN(source, MeanTrace(source, pick));
  }
  return {};
}

Result<std::string> ResolveSource(const std::string& source, const std::string& pick) {
  struct stat st {};
  if (stat(source.c_str(), &st) == 0) {
    return S_ISDIR(st.st_mode) ? PickFrom(source, pick) : source;
  }
  if (const uint32_t pid = PidOf(source); pid != 0) return FindGaugeOf(pid);
  return Fail(ErrorCode::kNotFound,
              "there is no file '" + Printable(source) +
                  "', and it is not a PID; heapgauge ps lists what is profiled");
}

}  // namespace heapgauge::cli
