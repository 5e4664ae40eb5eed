#include "core/gauge/gauge_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/base/encode.h"
#include "core/gauge/gauge_layout.h"
#include "core/model/label_sets.h"

namespace heapgauge {
namespace {

constexpr uint64_t kAddressLimit = uint64_t{1} << 48;
constexpr uint64_t kPage = 4096;

// Whether the record tells of one segment of code, and it makes sense.
bool HasCode(const wire::ModuleRecord& m) {
  return m.code_start < m.code_end && m.code_start >= m.start - m.start % kPage &&
         m.code_end <= m.end + kPage && m.code_end <= kAddressLimit;
}

}  // namespace

std::optional<Module> ToModule(const wire::ModuleRecord& m, bool tells_code) {
  if (m.start >= m.end || m.end > kAddressLimit || m.build_id_bytes > sizeof m.build_id) return {};
  Module module;
  module.path = FieldText(m.path, sizeof m.path);
  module.start = m.start;
  module.end = m.end;
  module.load_bias = m.load_bias;
  if (m.load_bias != 0 && m.start > m.load_bias) module.offset = m.start - m.load_bias;
  if (tells_code && HasCode(m)) {
    module.start = m.code_start;
    module.end = m.code_end;
    module.offset = m.code_offset;
  }
  module.path_cut = (m.flags & wire::kModulePathCut) != 0;
  module.build_id = HexText({m.build_id, m.build_id_bytes});
  return module;
}

GaugeModules ReadModules(const ByteSource& source, const GaugeLayout& layout) {
  GaugeModules result;
  ForEachRecord<wire::ModuleRecord>(
      source, layout, wire::SegmentKind::kModules,
      [&](uint32_t index, const wire::ModuleRecord& m) {
        if (m.start == 0) return;  // not written
        std::optional<Module> module = ToModule(m, layout.header().version >= 3);
        if (!module) {
          ++result.damaged;
          return;
        }
        result.by_record.resize(index + 1, kNone);
        result.by_record[index] = static_cast<ModuleId>(result.modules.size());
        result.modules.push_back(*std::move(module));
      });
  return result;
}

ModuleId FindModule(const GaugeModules& list, const CodeAddress& address) {
  const uint32_t record = wire::NodeModule(address.pc_module);
  if (record == 0 || record > list.by_record.size()) return kNone;
  const ModuleId id = list.by_record[record - 1];
  if (id == kNone) return kNone;
  const uint64_t pc = wire::NodePc(address.pc_module) - (address.exact ? 0 : 1);
  return list.modules[id].start <= pc && pc < list.modules[id].end ? id : kNone;
}

namespace {

using wire::SegmentKind;

// One readable set: its label, as strings of the profile, and its parent.
struct FileSet {
  uint16_t parent = 0;
  uint16_t depth = 0;  // 0: not readable
  StringId key = kNone;
  StringId value = kNone;
};

// Which sets rows carry, parents included.
std::vector<bool> WantedSets(uint32_t count, const LabelRecords& records,
                             const std::vector<uint16_t>& numbers) {
  std::vector<uint16_t> parents(count);
  records([&](uint32_t index, const wire::LabelRecord& record) {
    if (index < count && record.valid != 0 && record.parent < index) {
      parents[index] = record.parent;
    }
  });
  std::vector<bool> wanted(count);
  for (uint32_t at : numbers) {
    for (; at != 0 && at < count && !wanted[at]; at = parents[at]) wanted[at] = true;
  }
  return wanted;
}

}  // namespace

uint64_t MakeLabelSets(uint32_t count, const LabelRecords& records,
                       const std::vector<uint16_t>& numbers, Profile* profile,
                       std::vector<LabelSetId>* out) {
  out->assign(numbers.size(), kNone);
  if (std::all_of(numbers.begin(), numbers.end(), [](uint16_t n) { return n == 0; })) return 0;
  const std::vector<bool> wanted = WantedSets(count, records, numbers);
  std::vector<FileSet> sets(wanted.size());
  LabelStrings strings(profile);
  records([&](uint32_t index, const wire::LabelRecord& record) {
    if (index >= sets.size() || !wanted[index]) return;
    if (index == 0 || record.valid == 0 || record.parent >= index) return;
    const uint32_t above = sets[record.parent].depth;
    if ((record.parent != 0 && above == 0) || above >= wire::kMaxLabelDepth) return;
    const std::string key = FieldText(record.key, sizeof record.key);
    if (key.empty()) return;
    sets[index] = {record.parent, static_cast<uint16_t>(above + 1), strings.Add(key),
                   strings.Add(FieldText(record.value, sizeof record.value))};
  });

  LabelSets made(profile);
  constexpr LabelSetId kNotMade = kNone - 1;
  std::vector<LabelSetId> made_of(sets.size(), kNotMade);
  std::vector<Label> labels;
  uint64_t unreadable = 0;
  for (size_t row = 0; row < numbers.size(); ++row) {
    const uint32_t number = numbers[row];
    if (number == 0) continue;
    if (number >= sets.size() || sets[number].depth == 0) {
      ++unreadable;
      continue;
    }
    if (made_of[number] == kNotMade) {
      labels.clear();
      // From the inside out: the first value of a key counts.
      for (uint32_t at = number; at != 0; at = sets[at].parent) {
        const bool hidden = std::any_of(labels.begin(), labels.end(),
                                        [&](const Label& l) { return l.key == sets[at].key; });
        if (hidden) continue;
        Label label;
        label.key = sets[at].key;
        label.text = sets[at].value;
        labels.push_back(label);
      }
      SortLabels(*profile, labels);
      made_of[number] = made.Add(labels);
    }
    (*out)[row] = made_of[number];
  }
  return unreadable;
}

uint64_t ReadLabels(const ByteSource& source, const GaugeLayout& layout,
                    const std::vector<uint16_t>& numbers, Profile* profile) {
  const LabelRecords records = [&](const LabelVisitor& visit) {
    ForEachRecord<wire::LabelRecord>(source, layout, SegmentKind::kLabels, visit);
  };
  std::vector<LabelSetId> sets;
  const uint64_t unreadable =
      MakeLabelSets(layout.record_count(SegmentKind::kLabels), records, numbers, profile, &sets);
  for (RowId row = 0; row < numbers.size(); ++row) {
    if (numbers[row] != 0) profile->rows[row].labels = sets[row];
  }
  return unreadable;
}

}  // namespace heapgauge
