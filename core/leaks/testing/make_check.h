// Makes leak checks for tests: stacks of named functions, blocks of a kind. Not for use outside of
// tests.
//
//   CheckMaker m;
//   const uint32_t stack = m.Stack({"Insert(int)", "main"});       // innermost first
//   const uint32_t head = m.Block(stack, 48, Kind::kDefinite);
//   m.Block(stack, 16, Kind::kIndirect, head);                      // lost because of the head
//   const Check& check = m.check();
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/leaks/scan/check.h"
#include "core/model/testing/profile_maker.h"

namespace heapgauge::leaks::testing {

class CheckMaker {
 public:
  static constexpr uint64_t kSecond = 1'000'000'000;

  CheckMaker() {
    check_.known.exact = true;
    check_.known.now_ns = 86'400 * kSecond;
    check_.look = Look::kCopy;
    check_.pid = 4242;
    check_.executable = "/opt/app/bin/server";
    check_.command_line = "server --port 80";
    module_ = names_.Module("/opt/app/bin/server");
  }

  heapgauge::testing::Maker& names() { return names_; }

  // A function of the program; the same name is the same place.
  LocationId Function(const std::string& name, const std::string& system_name = "") {
    const auto found = functions_.find(name);
    if (found != functions_.end()) return found->second;
    const auto line = static_cast<uint32_t>(10 + functions_.size());
    const LocationId id = names_.Function(name, line, "/src/server.cc", module_, system_name);
    functions_.emplace(name, id);
    return id;
  }

  uint32_t StackAt(const std::vector<LocationId>& innermost_first) {
    names_.Row(innermost_first, 1);
    check_.known.stacks.push_back({names_.profile().rows.back().leaf, kNone});
    return static_cast<uint32_t>(check_.known.stacks.size() - 1);
  }
  uint32_t Stack(const std::vector<std::string>& innermost_first) {
    std::vector<LocationId> locations;
    for (const std::string& name : innermost_first) locations.push_back(Function(name));
    return StackAt(locations);
  }

  // Age in seconds.
  uint32_t Block(uint32_t stack, uint64_t size, Kind kind, uint32_t leader = kNoBlock,
                 double weight = 1, uint64_t age = 60) {
    leaks::KnownBlock block;
    block.address = 0x10000 + 0x100000 * (check_.known.blocks.size() + 1);
    block.size = size;
    block.stack = stack;
    block.weight = weight;
    block.birth_ns = check_.known.now_ns - age * kSecond;
    check_.known.blocks.push_back(block);
    Verdict verdict;
    verdict.kind = kind;
    verdict.leader = leader;
    check_.verdicts.push_back(verdict);
    return static_cast<uint32_t>(check_.known.blocks.size() - 1);
  }

  Check& check() {
    check_.known.profile = names_.profile();
    return check_;
  }

 private:
  heapgauge::testing::Maker names_;
  std::unordered_map<std::string, LocationId> functions_;
  ModuleId module_ = kNone;
  Check check_;
};

}  // namespace heapgauge::leaks::testing
