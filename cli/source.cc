#include "cli/source.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/formats/gauge/gauge_directory.h"

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

}  // namespace

Result<std::string> ResolveSource(const std::string& source, const std::string& pick) {
  struct stat st {};
  if (stat(source.c_str(), &st) == 0) {
    return S_ISDIR(st.st_mode) ? PickFrom(source, pick) : source;
  }
  uint32_t pid = 0;
  const auto [end, error] = std::from_chars(source.data(), source.data() + source.size(), pid);
  if (error == std::errc() && end == source.data() + source.size() && pid != 0) {
    return FindGaugeOf(pid);
  }
  return Fail(ErrorCode::kNotFound,
              "there is no file '" + Printable(source) +
                  "', and it is not a PID; heapgauge ps lists what is profiled");
}

}  // namespace heapgauge::cli
