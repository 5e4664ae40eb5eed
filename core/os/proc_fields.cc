#include "core/os/proc_fields.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr size_t kMaxFields = 64 << 10;
constexpr size_t kMaxChildren = 1 << 20;
constexpr uint64_t kMaxFieldKb = uint64_t{1} << 40;

template <typename Number>
Number NumberAt(std::string_view text, Number otherwise) {
  return TakeNumber<Number>(&text).value_or(otherwise);
}

}  // namespace

std::string ReadStat(const std::string& directory) {
  return ReadWholeFile(directory + "/stat", kMaxFields).value_or("");
}

std::string ReadStatus(const std::string& directory) {
  return ReadWholeFile(directory + "/status", kMaxFields).value_or("");
}

char StatState(std::string_view stat) {
  const size_t at = stat.rfind(") ");
  return at == std::string_view::npos || at + 2 >= stat.size() ? '\0' : stat[at + 2];
}

// The name of the program, the 2nd field, is in brackets and may itself hold brackets and spaces.
int64_t StatField(std::string_view stat, int field) {
  size_t at = stat.rfind(") ");
  if (at == std::string_view::npos) return -1;
  at += 2;
  for (int i = 3; i < field; ++i) {
    at = stat.find(' ', at);
    if (at == std::string_view::npos) return -1;
    ++at;
  }
  return NumberAt<int64_t>(stat.substr(at), -1);
}

std::string StatusField(std::string_view status, std::string_view name) {
  while (!status.empty()) {
    const std::string_view line = TakeUntil(&status, '\n');
    if (line.size() > name.size() && line[name.size()] == ':' && line.starts_with(name)) {
      return std::string(TrimLeft(line.substr(name.size() + 1), " \t"));
    }
  }
  return "";
}

// One number for each namespace.
uint32_t InnermostPid(std::string_view status) {
  const std::string numbers = StatusField(status, "NSpid");
  const size_t last = numbers.find_last_of("\t ");
  return NumberAt<uint32_t>(std::string_view(numbers).substr(last + 1), 0);  // npos + 1 is 0
}

uint64_t StatusBytes(std::string_view status, std::string_view name) {
  const auto kb = NumberAt<uint64_t>(StatusField(status, name), 0);
  return kb <= kMaxFieldKb ? kb * 1024 : 0;
}

std::optional<uint64_t> SoftLimit(std::string_view limits, std::string_view name) {
  const size_t at = limits.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const size_t value = limits.find_first_not_of(" \t", at + name.size());
  if (value == std::string_view::npos) return std::nullopt;
  limits = limits.substr(value);
  return NumberIn<uint64_t>(limits.substr(0, limits.find_first_of(" \t\n")));  // or "unlimited"
}

std::string TaskName(const std::string& directory) {
  std::string name = ReadWholeFile(directory + "/comm", 64).value_or("");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::vector<uint32_t> ChildrenOf(const std::string& thread_directory) {
  std::vector<uint32_t> children;
  const auto list = ReadWholeFile(thread_directory + "/children", kMaxChildren);
  if (!list) return children;
  std::string_view rest = *list;
  while (const auto child = TakeNumber<uint32_t>(&rest)) {
    children.push_back(*child);
    rest = rest.substr(std::min<size_t>(1, rest.size()));  // behind a blank
  }
  return children;
}

std::optional<std::vector<uint32_t>> NumbersIn(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(directory.c_str()), closedir);
  if (entries == nullptr) return std::nullopt;
  std::vector<uint32_t> numbers;
  while (const dirent* entry = readdir(entries.get())) {
    if (const auto number = NumberIn<uint32_t>(entry->d_name)) numbers.push_back(*number);
  }
  return numbers;
}

std::string LinkTarget(const std::string& path) {
  std::array<char, 4096> buffer{};
  const ssize_t n = readlink(path.c_str(), buffer.data(), buffer.size());
  return n > 0 ? std::string(buffer.data(), static_cast<size_t>(n)) : std::string();
}

}  // namespace heapgauge
