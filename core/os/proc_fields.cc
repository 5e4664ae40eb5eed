#include "core/os/proc_fields.h"

#include <algorithm>
#include <charconv>

namespace heapgauge {
namespace {

template <typename Number>
Number NumberAt(std::string_view text, Number otherwise) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : otherwise;
}

}  // namespace

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
    const std::string_view line = status.substr(0, status.find('\n'));
    if (line.size() > name.size() && line[name.size()] == ':' && line.starts_with(name)) {
      const size_t from = line.find_first_not_of(" \t", name.size() + 1);
      return std::string(line.substr(std::min(from, line.size())));
    }
    status.remove_prefix(std::min(line.size() + 1, status.size()));
  }
  return "";
}

// One number for each namespace.
uint32_t InnermostPid(std::string_view status) {
  const std::string numbers = StatusField(status, "NSpid");
  const size_t last = numbers.find_last_of("\t ");
  return NumberAt<uint32_t>(std::string_view(numbers).substr(last + 1), 0);  // npos + 1 is 0
}

}  // namespace heapgauge
