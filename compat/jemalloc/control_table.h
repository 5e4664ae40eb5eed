// Names of mallctl and their short form, the mib.
//
// A name has components with dots between; "*" in the table stands for any number. A mib has as
// many words as its name has components: the first says which name it is, and those in the place of
// a "*" are that number, which callers may change. What the others are nobody may rely on.
//
// Untrusted input. Read-only once made.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapgauge::compat {

class ControlTable {
 public:
  explicit ControlTable(const std::vector<std::string_view>& names);

  // Which of the names it is; nothing if none.
  std::optional<size_t> Find(std::string_view name) const;
  // The mib of a name.
  std::optional<std::vector<size_t>> MibOf(std::string_view name) const;
  std::optional<size_t> FindMib(const size_t* mib, size_t length) const;

 private:
  std::vector<std::vector<std::string_view>> names_;
};

}  // namespace heapgauge::compat
