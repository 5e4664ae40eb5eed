// What the records of a gauge file refer to: modules by address, and sets of labels.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/file.h"
#include "core/gauge/gauge_layout.h"
#include "core/model/profile.h"
#include "core/model/types.h"

namespace heapgauge {

// Which module a recorded address belongs to. Libraries come and go while a program runs, so one
// address may mean different modules at different times; in the gauge file each address names its
// module.
//
// Pure functions over data that was read already.

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

// The label sets of a gauge file, as sets of a Profile.
//
// Hostile input: a set whose parent is not a smaller, readable one, or that lies deeper than the
// format allows, is left out and counted. Only sets that some row carries are made.
//
// `numbers` has for each row of the profile the number of its set in the file, 0 for none. Fills in
// Row::labels. Returns how many rows name a set that cannot be read; they have no labels.
uint64_t ReadLabels(const ByteSource& source, const GaugeLayout& layout,
                    const std::vector<uint16_t>& numbers, Profile* profile);

// The same for records from elsewhere: `records` calls a visitor with each of `count`, in order and
// as often as it is called itself. `out` gets for each of `numbers` its set, kNone where there is
// none.
using LabelVisitor = std::function<void(uint32_t index, const wire::LabelRecord& record)>;
using LabelRecords = std::function<void(const LabelVisitor& visit)>;
uint64_t MakeLabelSets(uint32_t count, const LabelRecords& records,
                       const std::vector<uint16_t>& numbers, Profile* profile,
                       std::vector<LabelSetId>* out);

}  // namespace heapgauge
