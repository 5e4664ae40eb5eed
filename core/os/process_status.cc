#include "core/os/process_status.h"

#include <charconv>
#include <cstdio>
#include <functional>
#include <string_view>

#include "core/base/file.h"

namespace heapgauge {
namespace {

constexpr size_t kMaxStatus = 1 << 20;
constexpr uint64_t kMaxStatusKb = uint64_t{1} << 40;

void ForEachLine(std::string_view text, const std::function<void(std::string_view)>& fn) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    fn(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

bool ParseNumber(std::string_view text, uint64_t* value) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return false;
  text.remove_prefix(begin);
  return std::from_chars(text.data(), text.data() + text.size(), *value).ec == std::errc();
}

// "VmRSS:     1776 kB" in bytes.
uint64_t Kilobytes(std::string_view value) {
  uint64_t kb = 0;
  return ParseNumber(value, &kb) && kb <= kMaxStatusKb ? kb * 1024 : 0;
}

}  // namespace

Result<ProcessStatus> ReadProcessStatus(const std::string& directory) {
  HG_ASSIGN(const std::string text, ReadWholeFile(directory + "/status", kMaxStatus));
  ProcessStatus status;
  ForEachLine(text, [&](std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 1);
    if (key == "VmRSS") status.resident = Kilobytes(value);
    if (key == "VmHWM") status.peak_resident = Kilobytes(value);
    if (key == "RssAnon") status.anonymous = Kilobytes(value);
    if (key == "RssFile") status.file = Kilobytes(value);
    if (key == "RssShmem") status.shared = Kilobytes(value);
    if (key == "VmSwap") status.swapped = Kilobytes(value);
    if (key == "VmPTE") status.page_tables = Kilobytes(value);
    if (key == "VmSize") status.address_space = Kilobytes(value);
    uint64_t threads = 0;
    if (key == "Threads" && ParseNumber(value, &threads)) {
      status.threads = static_cast<uint32_t>(threads);
    }
  });
  if (const auto limits = ReadWholeFile(directory + "/limits", kMaxStatus)) {
    ForEachLine(*limits, [&](std::string_view line) {
      constexpr std::string_view kSpace = "Max address space";
      constexpr std::string_view kStack = "Max stack size";
      uint64_t* field = line.rfind(kSpace, 0) == 0   ? &status.address_space_limit
                        : line.rfind(kStack, 0) == 0 ? &status.stack_limit
                                                     : nullptr;
      if (field == nullptr) return;
      uint64_t value = 0;  // "unlimited" is no number
      if (ParseNumber(line.substr(line.rfind(kSpace, 0) == 0 ? kSpace.size() : kStack.size()),
                      &value)) {
        *field = value;
      }
    });
  }
  return status;
}

std::set<std::pair<uint32_t, uint32_t>> MemoryFileSystems(const std::string& directory) {
  std::set<std::pair<uint32_t, uint32_t>> devices;
  const auto text = ReadWholeFile(directory + "/mountinfo", kMaxStatus);
  if (!text) return devices;
  ForEachLine(*text, [&](std::string_view line) {
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) return;
    const std::string_view type = line.substr(dash + 3);
    if (type.rfind("tmpfs ", 0) != 0 && type.rfind("ramfs ", 0) != 0 &&
        type.rfind("hugetlbfs ", 0) != 0) {
      return;
    }
    unsigned device_major = 0;
    unsigned device_minor = 0;
    if (std::sscanf(std::string(line).c_str(), "%*u %*u %u:%u", &device_major, &device_minor) ==
        2) {
      devices.emplace(device_major, device_minor);
    }
  });
  return devices;
}

HostMemory ReadHostMemory(const std::string& path) {
  HostMemory host;
  const auto text = ReadWholeFile(path, kMaxStatus);
  if (!text) return host;
  ForEachLine(*text, [&](std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 1);
    if (key == "MemTotal") host.total = Kilobytes(value);
    if (key == "MemAvailable") host.available = Kilobytes(value);
    if (key == "SwapTotal") host.swap_total = Kilobytes(value);
    if (key == "SwapFree") host.swap_free = Kilobytes(value);
  });
  return host;
}

}  // namespace heapgauge
