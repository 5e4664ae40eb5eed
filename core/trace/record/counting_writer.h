// Counts what goes into a trace, and passes it on if there is a file at all: a program may be
// recorded for its live blocks alone.
//
// One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/trace/record/leak_watch.h"
#include "core/trace/record/trace_writer.h"

namespace heapgauge::trace {

class CountingWriter final : public TraceWriter {
 public:
  // `file` may be null.
  explicit CountingWriter(std::unique_ptr<TraceWriter> file) : file_(std::move(file)) {}

  const HeapUsage& usage() const { return usage_; }

  void AddModule(uint32_t index, const wire::ModuleRecord& module) override {
    if (file_) file_->AddModule(index, module);
  }
  void AddNode(uint32_t index, const wire::NodeRecord& node) override {
    if (file_) file_->AddNode(index, node);
  }
  void AddStack(uint32_t index, uint32_t leaf, uint16_t labels, uint16_t flags) override {
    if (file_) file_->AddStack(index, leaf, labels, flags);
  }
  void AddLabelSet(uint32_t index, const wire::LabelRecord& record) override {
    if (file_) file_->AddLabelSet(index, record);
  }
  void AddFrames(uint64_t pc_module, bool exact, const std::vector<FrameName>& frames) override {
    if (file_) file_->AddFrames(pc_module, exact, frames);
  }
  void SetThread(uint32_t index, const Thread& thread) override {
    if (file_) file_->SetThread(index, thread);
  }
  void AddMemory(const MemoryPoint& point) override {
    if (file_) file_->AddMemory(point);
  }
  void AddMarker(const Marker& marker) override {
    if (file_) file_->AddMarker(marker);
  }
  void Born(const Birth& block) override {
    ++totals_.events;
    CountBirth(block);
    if (file_) file_->Born(block);
  }
  void Died(const Birth& block, const Death& death) override {
    ++totals_.events;
    CountDeath(block);
    if (file_) file_->Died(block, death);
  }
  void Resized(const Birth& old, const Death& death, const Birth& block) override {
    ++totals_.events;
    CountDeath(old);
    CountBirth(block);
    if (file_) file_->Resized(old, death, block);
  }
  bool Expect(std::span<const uint32_t> stacks) override { return file_ && file_->Expect(stacks); }
  Status Flush() override { return file_ ? file_->Flush() : Status(); }
  Status TellSoFar(const Facts& facts) override {
    return file_ ? file_->TellSoFar(facts) : Status();
  }
  void BeginSurvivors() override {
    if (file_) file_->BeginSurvivors();
  }
  void AddSurvivor(const Block& block) override {
    if (file_) file_->AddSurvivor(block);
  }
  Status Finish(const Facts& ended) override { return file_ ? file_->Finish(ended) : Status(); }
  uint64_t bytes_written() const override { return file_ ? file_->bytes_written() : 0; }

  Totals totals() const override { return file_ ? file_->totals() : totals_; }

 private:
  void CountBirth(const Birth& block) {
    ++totals_.blocks;
    if (block.is_mapping) return;
    ++usage_.allocations;
    usage_.allocated_bytes += block.size;
    ++totals_.live_blocks;
    totals_.live_bytes += block.size;
    if (totals_.live_bytes > totals_.peak_bytes) {
      totals_.peak_bytes = totals_.live_bytes;
      totals_.peak_ns = block.birth_ns;
    }
  }
  void CountDeath(const Birth& block) {
    if (block.is_mapping) return;
    ++usage_.frees;
    --totals_.live_blocks;
    totals_.live_bytes -= block.size;
  }

  std::unique_ptr<TraceWriter> file_;
  HeapUsage usage_;
  Totals totals_;  // for want of a file that counts
};

}  // namespace heapgauge::trace
