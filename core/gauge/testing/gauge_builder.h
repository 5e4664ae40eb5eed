// Makes gauge files for tests: the writer's side of wire/gauge_format.h without a program behind
// it.
//
// A test says what is in the file (modules, stacks, blocks) and may then change any header field
// before Build() lays out the bytes. Not for use outside of tests.
//
//   GaugeBuilder b;
//   b.AddModule("/bin/server", 0x1000, 0x9000);
//   const uint32_t stack = b.AddStack({0x1234, 0x2345});   // innermost first
//   b.AddLive(stack, 4096);
//   std::string bytes = b.Build();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/gauge_format.h"

namespace heapgauge::testing {

class GaugeBuilder {
 public:
  // A finished header: this process's pid, interval 512 KiB, glibc, sampling active.
  GaugeBuilder();

  wire::Header& header() { return header_; }
  std::vector<wire::ModuleRecord>& modules() { return modules_; }
  std::vector<wire::NodeRecord>& nodes() { return nodes_; }
  std::vector<wire::StackRecord>& stacks() { return stacks_; }
  std::vector<wire::LiveRecord>& live() { return live_; }
  std::vector<wire::MappingRecord>& mappings() { return mappings_; }
  std::vector<wire::LabelRecord>& labels() { return labels_; }

  // The build id is given in bytes.
  void AddModule(const std::string& path, uint64_t start, uint64_t end, uint64_t bias = 0,
                 const std::string& build_id = "");
  // A stack, innermost return address first; stacks share nodes. Returns its number.
  uint32_t AddStack(const std::vector<uint64_t>& pcs, uint32_t leaf_flags = 0);
  // A block that is live, counted into the stack's counters and the totals as the agent does.
  wire::LiveRecord& AddLive(uint32_t stack, uint64_t size,
                            uint64_t interval = wire::kDefaultIntervalBytes, uint64_t birth_ns = 0);
  // A range that the program has mapped; its stack becomes one of mappings.
  wire::MappingRecord& AddMapping(uint32_t stack, uint64_t address, uint64_t length);
  // A set of labels: the parent's and one more. Returns its number, for StackRecord::labels.
  uint16_t AddLabel(uint16_t parent, const std::string& key, const std::string& value);
  // A block of a pool; its stack becomes one of pools. No part of the totals.
  wire::LiveRecord& AddPoolBlock(uint32_t stack, uint64_t size,
                                 uint64_t interval = wire::kDefaultIntervalBytes);
  // A block that was sampled and freed again.
  void AddFreed(uint32_t stack, uint64_t size, uint64_t interval = wire::kDefaultIntervalBytes);
  // The peak snapshot: (stack, size) at the default interval.
  void AddPeak(uint32_t stack, uint64_t size);
  void AddTick(uint64_t time_ns, uint64_t live_bytes);

  // The bytes of the file. Segments of different kinds come interleaved, as growth makes them.
  std::string Build();
  // The same, written to a file.
  void WriteTo(const std::string& path);

 private:
  uint32_t ModuleOf(uint64_t address) const;
  void Count(uint32_t stack, uint64_t size, uint64_t interval, bool freed);
  void CountInStack(uint32_t stack, uint64_t size, uint64_t interval, bool freed);

  wire::Header header_{};
  std::vector<wire::ModuleRecord> modules_;
  std::vector<wire::NodeRecord> nodes_;
  std::vector<wire::StackRecord> stacks_;
  std::vector<wire::LiveRecord> live_;
  std::vector<wire::MappingRecord> mappings_;
  std::vector<wire::LabelRecord> labels_;
  std::vector<wire::LiveRecord> pool_live_;
  std::vector<wire::PeakRecord> peak_;
  std::vector<wire::TimelineRecord> ticks_;
};

}  // namespace heapgauge::testing
