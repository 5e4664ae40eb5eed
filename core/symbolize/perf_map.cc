#include "core/symbolize/perf_map.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "core/base/file.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

constexpr size_t kLargestMap = 256 << 20;

// The number that the process has in its own, innermost namespace.
std::string InnerPid(uint32_t pid) {
  const uint32_t inner = InnermostPidOf("/proc/" + std::to_string(pid));
  return std::to_string(inner != 0 ? inner : pid);
}

}  // namespace

Result<PerfMap> PerfMap::Load(uint32_t pid, uint32_t uid, bool live, uint64_t since_unix_ns) {
  std::vector<std::string> candidates;
  if (live) {
    candidates.push_back(ProcessDirectory(pid) + "/root/tmp/perf-" + InnerPid(pid) + ".map");
  }
  candidates.push_back("/tmp/perf-" + std::to_string(pid) + ".map");
  Error reason{ErrorCode::kNotFound, "", kNoOffset};
  for (const std::string& path : candidates) {
    struct stat st {};
    if (lstat(path.c_str(), &st) != 0) continue;
    if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0 && st.st_uid != uid)) {
      reason = {ErrorCode::kPermission,
                "'" + path + "' belongs to another user: its names are not used", kNoOffset};
      continue;
    }
    if (static_cast<uint64_t>(st.st_mtim.tv_sec) + 1 < since_unix_ns / 1'000'000'000) {
      reason = {ErrorCode::kCorrupt, "'" + path + "' is older than the program", kNoOffset};
      continue;
    }
    auto text = ReadWholeFile(path, kLargestMap);
    if (text) return Parse(std::move(*text));
    reason = text.error();
  }
  if (reason.message.empty()) reason.message = "there is no " + candidates.back();
  return tl::unexpected<Error>(reason);
}

PerfMap PerfMap::Parse(std::string text) {
  PerfMap map;
  map.text_ = std::move(text);
  const char* const begin = map.text_.data();
  const char* const end = begin + map.text_.size();
  for (const char* line = begin; line < end;) {
    const char* line_end = std::find(line, end, '\n');
    uint64_t start = 0;
    uint64_t size = 0;
    const auto skip_prefix = [&](const char* at) {
      return line_end - at > 2 && at[0] == '0' && at[1] == 'x' ? at + 2 : at;
    };
    const auto first = std::from_chars(skip_prefix(line), line_end, start, 16);
    if (first.ec == std::errc() && first.ptr != line_end && *first.ptr == ' ') {
      const auto second = std::from_chars(skip_prefix(first.ptr + 1), line_end, size, 16);
      if (second.ec == std::errc() && second.ptr + 1 < line_end && *second.ptr == ' ' &&
          size != 0 && start + size > start) {
        const char* name = second.ptr + 1;
        map.entries_.push_back({start, start + size, static_cast<size_t>(name - begin),
                                static_cast<size_t>(line_end - name)});
      }
    }
    line = line_end + (line_end == end ? 0 : 1);
  }
  std::stable_sort(map.entries_.begin(), map.entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.start < b.start; });
  // Code that was replaced: the line written last is what is there now.
  size_t kept = 0;
  for (size_t i = 0; i < map.entries_.size(); ++i) {
    if (kept > 0 && map.entries_[kept - 1].start == map.entries_[i].start) --kept;
    map.entries_[kept++] = map.entries_[i];
  }
  map.entries_.resize(kept);
  return map;
}

std::string_view PerfMap::Find(uint64_t address) const {
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), address,
                       [](uint64_t value, const Entry& entry) { return value < entry.start; });
  if (after == entries_.begin()) return {};
  const Entry& entry = *(after - 1);
  if (address >= entry.end) return {};
  return std::string_view(text_).substr(entry.name_at, entry.name_size);
}

}  // namespace heapgauge
