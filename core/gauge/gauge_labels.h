// The label sets of a gauge file, as sets of a Profile.
//
// Hostile input: a set whose parent is not a smaller, readable one, or that lies deeper than the
// format allows, is left out and counted. Only sets that some row carries are made.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/file.h"
#include "core/gauge/gauge_layout.h"
#include "core/model/profile.h"

namespace heapgauge {

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
