#include "compat/jemalloc/control_table.h"

#include "core/base/numbers.h"
#include "core/base/text.h"

namespace heapgauge::compat {
namespace {

constexpr size_t kMostName = 256;

bool ParseIndex(std::string_view text, size_t* number) {
  const auto index = NumberIn<size_t>(text);
  if (index) *number = *index;
  return index.has_value();
}

}  // namespace

ControlTable::ControlTable(const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) names_.push_back(PiecesOf(name, '.'));
}

std::optional<std::vector<size_t>> ControlTable::MibOf(std::string_view name) const {
  if (name.size() > kMostName) return std::nullopt;
  const std::vector<std::string_view> parts = PiecesOf(name, '.');
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i].size() != parts.size()) continue;
    std::vector<size_t> mib(parts.size(), 0);
    mib[0] = i + 1;
    bool matches = true;
    for (size_t k = 0; k < parts.size() && matches; ++k) {
      matches = names_[i][k] == "*" ? ParseIndex(parts[k], &mib[k]) : names_[i][k] == parts[k];
    }
    if (matches) return mib;
  }
  return std::nullopt;
}

std::optional<size_t> ControlTable::Find(std::string_view name) const {
  const auto mib = MibOf(name);
  if (!mib) return std::nullopt;
  return (*mib)[0] - 1;
}

std::optional<size_t> ControlTable::FindMib(const size_t* mib, size_t length) const {
  if (length == 0 || mib[0] == 0 || mib[0] > names_.size()) return std::nullopt;
  if (names_[mib[0] - 1].size() != length) return std::nullopt;
  return mib[0] - 1;
}

}  // namespace heapgauge::compat
