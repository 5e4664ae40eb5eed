// libFuzzer target: any bytes as a data file of heaptrack or of DHAT. What is read must keep the
// invariants of a profile, what our writers make of it must be readable with the same figures, and
// what becomes a trace must be told in the order that traces demand.
//
//   build/bin/foreign_files_fuzz -max_len=65536 -rss_limit_mb=1024 new/
//   tests/fuzz/corpus/foreign_files_fuzz

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/formats/dhat/dhat_file.h"
#include "core/formats/dhat/dhat_reader.h"
#include "core/formats/dhat/dhat_writer.h"
#include "core/formats/heaptrack/heaptrack_import.h"
#include "core/formats/heaptrack/heaptrack_reader.h"
#include "core/formats/heaptrack/heaptrack_writer.h"

namespace heapgauge {
namespace {

void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

void DemandGoodError(const Error& error) {
  Demand(!error.message.empty());
  Demand(error.message.find('\n') == std::string::npos);
}

// Checks what an importer says, and forgets it.
class StrictWriter final : public trace::TraceWriter {
 public:
  void AddModule(uint32_t index, const wire::ModuleRecord& module) override {
    Demand(index <= modules_);
    Demand(module.start != 0 && module.start < module.end);
    modules_ = std::max(modules_, index + 1);
  }
  void AddNode(uint32_t index, const wire::NodeRecord& node) override {
    Demand(index == nodes_ + 1);
    Demand(node.parent < index);
    Demand(node.pc_module >> 48 <= modules_);
    nodes_ = index;
  }
  void AddStack(uint32_t index, uint32_t leaf_node, uint16_t /*labels*/, uint16_t) override {
    Demand(index == stacks_ + 1);
    Demand(leaf_node <= nodes_);
    stacks_ = index;
  }
  void AddLabelSet(uint32_t, const wire::LabelRecord&) override {}
  void AddFrames(uint64_t, bool, const std::vector<FrameName>& frames) override {
    Demand(!frames.empty());
  }
  void SetThread(uint32_t index, const trace::Thread&) override { Demand(index == 0); }
  void AddMemory(const trace::MemoryPoint&) override {}
  void AddMarker(const trace::Marker&) override {}
  void Born(const trace::Birth& block) override {
    Demand(block.number == live_.size());
    Demand(block.stack <= stacks_);
    Demand(block.birth_ns >= now_ns_);
    now_ns_ = block.birth_ns;
    live_.push_back(true);
  }
  void Died(const trace::Birth& block, const trace::Death& death) override {
    Demand(block.number < live_.size() && live_[block.number]);
    Demand(death.time_ns >= now_ns_ && death.time_ns >= block.birth_ns);
    live_[block.number] = false;
    now_ns_ = death.time_ns;
  }
  void Resized(const trace::Birth&, const trace::Death&, const trace::Birth&) override {
    Demand(false);
  }
  Totals totals() const override { return {}; }
  Status Flush() override { return {}; }
  Status TellSoFar(const trace::Facts&) override { return {}; }
  void BeginSurvivors() override { Demand(survivors_ == 0); }
  void AddSurvivor(const trace::Block& block) override {
    Demand(block.number < live_.size() && live_[block.number]);
    Demand(survivors_ == 0 || block.number > last_);
    last_ = block.number;
    ++survivors_;
  }
  Status Finish(const trace::Facts&) override {
    size_t live = 0;
    for (const bool is_live : live_) live += is_live ? 1 : 0;
    Demand(live == survivors_);
    return {};
  }
  uint64_t bytes_written() const override { return 0; }

 private:
  uint32_t modules_ = 0;
  uint32_t nodes_ = 0;
  uint32_t stacks_ = 0;
  uint64_t now_ns_ = 0;
  std::vector<bool> live_;
  size_t survivors_ = 0;
  uint64_t last_ = 0;
};

int64_t Sum(const Profile& profile, const char* name) {
  const size_t type = profile.FindType(name);
  if (type >= profile.sample_types.size()) return -1;
  uint64_t sum = 0;  // may be anything in a file
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    sum += static_cast<uint64_t>(profile.value(row, type));
  }
  return static_cast<int64_t>(sum);
}

void TryHeaptrack(std::string_view text) {
  const auto profile = ReadHeaptrack(StreamOf(text).get(), "fuzz");
  StrictWriter trace;
  const auto imported = ImportHeaptrack(StreamOf(text).get(), "fuzz", {}, &trace);
  Demand(imported.has_value() == profile.has_value() ||
         profile.error().code == ErrorCode::kUnsupported);
  if (!profile) return DemandGoodError(profile.error());
  Demand(profile->Check().has_value());
  Demand(imported->allocations == static_cast<uint64_t>(Sum(*profile, "alloc_objects")));
  if (Sum(*profile, "inuse_objects") > 100000) return;
  StringSink sink;
  const auto written = WriteHeaptrack(*profile, {}, &sink);
  Demand(written.has_value());
  const auto back = ReadHeaptrack(StreamOf(sink.text()).get(), "back");
  Demand(back.has_value());
  if (written->skipped_rows > 0) return;
  Demand(Sum(*back, "inuse_objects") == Sum(*profile, "inuse_objects"));
  Demand(Sum(*back, "inuse_space") == Sum(*profile, "inuse_space"));
}

void TryDhat(std::string_view text) {
  const auto profile = ReadDhat(StreamOf(text).get(), "fuzz");
  if (!profile) return DemandGoodError(profile.error());
  Demand(profile->Check().has_value());
  StringSink sink;
  Demand(WriteDhat(*profile, DhatProfileOptions(), &sink).has_value());
  const auto back = ReadDhat(StreamOf(sink.text()).get(), "back");
  Demand(back.has_value());
  Demand(Sum(*back, "alloc_space") == Sum(*profile, "alloc_space"));
  Demand(Sum(*back, "peak_space") == Sum(*profile, "peak_space"));
}

}  // namespace
}  // namespace heapgauge

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("v ")) {
    heapgauge::TryHeaptrack(text);
  } else {
    heapgauge::TryDhat(text);
  }
  return 0;
}
