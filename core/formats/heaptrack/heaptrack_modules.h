// Which object an address of a raw heaptrack file lies in. The file tells all loaded objects again
// whenever one comes or goes, so an address means what the latest list says.
//
// Objects get a number when they are first seen at a place, and keep it for good. Not synchronised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/types.h"

namespace heapgauge {

class HeaptrackModules {
 public:
  void Clear();
  // `name` as the file has it, but for the program its path. False if there are too many.
  bool Add(std::string_view name, uint64_t base,
           const std::vector<std::pair<uint64_t, uint64_t>>& segments);

  // The object of an address now; kNone if there is none.
  ModuleId At(uint64_t address) const;
  // All that were ever seen, by number.
  const std::vector<Module>& modules() const { return modules_; }

 private:
  // The first of those that are loaded above the address.
  std::vector<ModuleId>::const_iterator After(uint64_t address) const;

  static constexpr size_t kMost = 65000;  // a trace has 16 bits for them

  std::vector<Module> modules_;
  std::unordered_map<std::string, ModuleId> numbers_;
  std::vector<ModuleId> loaded_;  // sorted by address
};

}  // namespace heapgauge
