// Makes up the past of a program for tests: samples that are born and die by a rule, and what is
// known of them at the end. Not for use outside of tests.
//
//   MadeUpPast past(seed);
//   past.Live({.samples = 60}, "leak");                                 // nothing dies
//   past.Live({.samples = 400, .lifetime = past.Exponential(0.1)}, "cache");
//   past.check()
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/leaks/scan/check.h"
#include "core/model/testing/profile_maker.h"

namespace heapgauge::leaks::testing {

class MadeUpPast {
 public:
  static constexpr uint64_t kLength = 600'000'000'000;  // ten minutes
  static constexpr uint64_t kInterval = 512 * 1024;
  static constexpr uint64_t kSize = 1000;

  // Times are shares of the run. Dying behind 1 is to live.
  using Time = std::function<double()>;
  using Lifetime = std::function<double(double birth)>;
  struct Rule {
    double samples = 0;      // on average
    Time birth = {};         // even if not set
    Lifetime lifetime = {};  // for ever if not set
    uint64_t interval = kInterval;
  };

  explicit MadeUpPast(uint64_t seed) : random_(seed) {
    check_.known.now_ns = kLength;
    check_.known.profile.recording.duration_ns = kLength;
    module_ = names_.Module("/opt/server");
  }

  double Even() { return std::uniform_real_distribution<double>()(random_); }
  Lifetime Exponential(double mean) {
    return
        [this, mean](double) { return std::exponential_distribution<double>(1 / mean)(random_); };
  }
  static Lifetime Always(double lifetime) {
    return [lifetime](double) { return lifetime; };
  }
  // All that is there is cleared at times `first`, `first` + `period`, ...
  static Lifetime ClearedEvery(double period, double first) {
    return [=](double birth) {
      const double clears = std::floor((birth - first) / period) + 1;
      return first + std::max(clears, 0.0) * period - birth;
    };
  }
  // Of a share of `part` nothing is freed, the rest is at once.
  Lifetime Seldom(double part) {
    return [this, part](double) { return Even() < part ? 2.0 : 0.001; };
  }

  // Makes the samples of one stack; its number.
  uint32_t Live(const Rule& rule, const std::string& function) {
    names_.Row({names_.Function(function, 10, "server.cc", module_)}, 1);
    KnownBlocks& known = check_.known;
    known.stacks.push_back({names_.profile().rows.back().leaf, kNone});
    return AddTo(static_cast<uint32_t>(known.stacks.size() - 1), rule);
  }
  // More of the same stack.
  uint32_t AddTo(uint32_t stack, const Rule& rule) {
    KnownBlocks& known = check_.known;
    known.histories.resize(known.stacks.size());
    StackHistory& history = known.histories[stack];
    const SampleWeight weight = WeightOf(kSize, rule.interval);
    const auto count = std::poisson_distribution<int>(rule.samples)(random_);
    for (int i = 0; i < count; ++i) {
      const double birth = rule.birth ? rule.birth() : Even();
      const double lifetime = rule.lifetime ? rule.lifetime(birth) : 2;
      history.taken += 1;
      history.allocated_bytes += weight.bytes;
      births_.push_back(birth);
      if (birth + lifetime < 1) {
        history.freed += 1;
        history.freed_bytes += weight.bytes;
        continue;
      }
      KnownBlock block;
      block.address = 0x10000 + 0x10000 * (known.blocks.size() + 1);
      block.size = kSize;
      block.stack = stack;
      block.weight = weight.objects;
      block.birth_ns = static_cast<uint64_t>(birth * static_cast<double>(kLength));
      known.blocks.push_back(block);
    }
    return stack;
  }

  // The verdict on all blocks of the stack so far; others are reachable.
  void Sentence(uint32_t stack, Kind kind) {
    check_.look = Look::kCopy;
    check_.verdicts.resize(check_.known.blocks.size());
    for (Verdict& verdict : check_.verdicts) verdict.kind = Kind::kReachable;
    for (size_t i = 0; i < check_.known.blocks.size(); ++i) {
      if (check_.known.blocks[i].stack == stack) check_.verdicts[i].kind = kind;
    }
  }

  // With a timeline of what all stacks allocated.
  const Check& check() {
    names_.profile().recording = check_.known.profile.recording;
    check_.known.profile = names_.profile();
    std::sort(births_.begin(), births_.end());
    constexpr uint64_t kTicks = 200;
    size_t born = 0;
    for (uint64_t tick = 1; tick <= kTicks; ++tick) {
      const double at = static_cast<double>(tick) / kTicks;
      while (born < births_.size() && births_[born] <= at) ++born;
      TimelinePoint point;
      point.time_ns = kLength / kTicks * tick;
      point.allocated_bytes = born * kInterval;
      check_.known.profile.timeline.push_back(point);
    }
    return check_;
  }
  Check& raw() { return check_; }

 private:
  std::mt19937_64 random_;
  heapgauge::testing::Maker names_;
  ModuleId module_ = kNone;
  std::vector<double> births_;
  Check check_;
};

}  // namespace heapgauge::leaks::testing
