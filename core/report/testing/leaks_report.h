// A report of a made-up check. For tests of what it says.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/leaks/testing/make_check.h"
#include "core/report/views/leaks.h"

namespace heapgauge::testing {

using leaks::Kind;
using leaks::kNoBlock;

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class LeaksReport : public ::testing::Test {
 protected:
  LeaksReport() {
    options_.layout.width = 80;
    options_.version = "1.2.3";
  }

  // A list that is lost as a whole, a block that may be, one that is held.
  void Plant() {
    list_ = maker_.Stack({"malloc", "List::Push(int)", "Serve(int)", "main"});
    const uint32_t node = maker_.Stack({"malloc", "Node::Make()", "Serve(int)", "main"});
    const uint32_t held = maker_.Stack({"malloc", "Cache::Get()", "main"});
    const uint32_t head = maker_.Block(list_, 1000, Kind::kDefinite, kNoBlock, 1, 7200);
    maker_.Block(list_, 48, Kind::kDefinite, kNoBlock, 1, 3);
    maker_.Block(node, 240, Kind::kIndirect, head);
    maker_.Block(held, 304, Kind::kPossible);
    maker_.Block(held, 5000, Kind::kReachable);
    leaks::Check& check = maker_.check();
    check.allocations = 12345;
    check.frees = 12340;
    check.allocated_bytes = 9'999'999;
    check.scanned_bytes = 3 << 20;
    check.scan_ns = 2'500'000;
    check.pause_ns = 1'200'000;
    check.verdicts[4].heuristic = leaks::Heuristic::kNewArray;
  }

  void PlantSamples() {
    maker_.check().known.exact = false;
    list_ = maker_.Stack({"List::Push(int)", "main"});
    for (uint64_t i = 0; i < 37; ++i) {
      maker_.Block(list_, 4096, Kind::kDefinite, kNoBlock, 2100, 200 * i);
    }
    for (int i = 0; i < 3; ++i) maker_.Block(list_, 4096, Kind::kReachable, kNoBlock, 2100);
  }

  const LeaksSubject& Subject() {
    leaks::LossOptions how;
    how.suppressions = subject_.suppressions;
    losses_ = leaks::MakeLossRecords(maker_.check(), how);
    subject_.check = &maker_.check();
    subject_.losses = &losses_;
    return subject_;
  }
  std::string Text() { return LeaksText(Subject(), options_).text(); }
  nlohmann::json JsonOf() {
    StringSink sink;
    EXPECT_TRUE(WriteLeaksJson(Subject(), options_, &sink));
    return nlohmann::json::parse(sink.text());
  }

  leaks::testing::CheckMaker maker_;
  uint32_t list_ = 0;
  leaks::LossRecords losses_;
  LeaksSubject subject_;
  LeaksOptions options_;
};

}  // namespace heapgauge::testing
