// Which module a recorded address belongs to. Libraries come and go while a program runs, so one
// address may mean different modules at different times; in the gauge file each address names its
// module.
//
// Pure functions over data that was read already.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/file.h"
#include "core/gauge/gauge_layout.h"
#include "core/model/types.h"

namespace heapgauge {

// A record as a module, if it makes sense. `tells_code`: its code_* fields count.
std::optional<Module> ToModule(const wire::ModuleRecord& record, bool tells_code);

// The module list of a gauge file.
struct GaugeModules {
  std::vector<Module> modules;
  std::vector<ModuleId> by_record;  // for each record of the file; kNone where that makes no sense
  uint64_t damaged = 0;             // records that make no sense
};
GaugeModules ReadModules(const ByteSource& source, const GaugeLayout& layout);

// A distinct address on some stack.
struct CodeAddress {
  uint64_t pc_module = 0;  // as in wire::NodeRecord
  bool exact = false;
  friend bool operator==(const CodeAddress&, const CodeAddress&) = default;
  friend auto operator<=>(const CodeAddress&, const CodeAddress&) = default;
};

// The module that the address names, if the address lies in it; else kNone.
ModuleId FindModule(const GaugeModules& modules, const CodeAddress& address);

}  // namespace heapgauge
