#include "core/gauge/gauge_modules.h"

#include <fmt/format.h>

#include "core/gauge/gauge_records.h"

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
  for (uint32_t i = 0; i < m.build_id_bytes; ++i) {
    module.build_id += fmt::format("{:02x}", m.build_id[i]);
  }
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

}  // namespace heapgauge
