#include "agent/unwind/rule.h"

#include <gtest/gtest.h>

namespace heapgauge::agent {
namespace {

TEST(Rule, PackedAndUnpackedIsTheSame) {
  for (const RuleKind kind :
       {RuleKind::kSpRelative, RuleKind::kFpRelative, RuleKind::kFpDereference, RuleKind::kSignal,
        RuleKind::kOutermost, RuleKind::kUnsupported, RuleKind::kNoObject}) {
    for (const FpKind fp : {FpKind::kSame, FpKind::kCfaRelative, FpKind::kFpIndirect}) {
      for (const int64_t cfa : {-262144, -16, -8, 0, 8, 16, 56, 4096, 262136}) {
        for (const int64_t offset : {-1024, -56, -16, -8, 0, 8, 1016}) {
          if (fp == FpKind::kSame && offset != 0) continue;        // it is saved nowhere
          if (kind == RuleKind::kSpRelative && cfa < 8) continue;  // nonsense
          const Rule rule{kind, fp, cfa, offset};
          const PackedRule packed = Pack(rule);
          ASSERT_NE(packed, 0u);
          ASSERT_EQ(packed & packed::kFreeMask, 0u);
          const bool by_sp = kind == RuleKind::kSpRelative;
          const bool within = fp == FpKind::kSame || (fp == FpKind::kCfaRelative && offset <= -8 &&
                                                      (!by_sp || cfa + offset >= 0));
          ASSERT_EQ(packed::IsSimple(packed), within && (by_sp || kind == RuleKind::kFpRelative));
          ASSERT_EQ(Unpack(packed), rule);
        }
      }
    }
  }
}

TEST(Rule, WhatDoesNotFitIsNotPacked) {
  EXPECT_EQ(Pack({RuleKind::kSpRelative, FpKind::kSame, 262144, 0}), 0u);
  EXPECT_EQ(Pack({RuleKind::kSpRelative, FpKind::kSame, -262152, 0}), 0u);
  EXPECT_EQ(Pack({RuleKind::kSpRelative, FpKind::kSame, 12, 0}), 0u);
  EXPECT_EQ(Pack({RuleKind::kSpRelative, FpKind::kSame, 0, 0}), 0u);
  EXPECT_EQ(Pack({RuleKind::kSpRelative, FpKind::kCfaRelative, 16, -1032}), 0u);
  EXPECT_EQ(Pack({RuleKind::kSpRelative, FpKind::kCfaRelative, 16, 1024}), 0u);
  EXPECT_EQ(Pack({RuleKind::kSpRelative, FpKind::kCfaRelative, 16, -4}), 0u);
}

TEST(Rule, KnowsWhetherTheFramePointerMatters) {
  EXPECT_TRUE((Rule{RuleKind::kFpRelative, FpKind::kCfaRelative, 16, -16}).ReadsFp());
  EXPECT_TRUE((Rule{RuleKind::kFpDereference, FpKind::kSame, -8, 0}).ReadsFp());
  EXPECT_TRUE((Rule{RuleKind::kSpRelative, FpKind::kFpIndirect, 16, 0}).ReadsFp());
  EXPECT_FALSE((Rule{RuleKind::kSpRelative, FpKind::kCfaRelative, 16, -16}).ReadsFp());
  EXPECT_FALSE((Rule{RuleKind::kSignal, FpKind::kSame, 0, 0}).ReadsFp());
  EXPECT_TRUE((Rule{RuleKind::kSpRelative, FpKind::kSame, 16, 0}).PassesFp());
  EXPECT_FALSE((Rule{RuleKind::kSpRelative, FpKind::kCfaRelative, 16, -16}).PassesFp());
  EXPECT_FALSE((Rule{RuleKind::kSignal, FpKind::kSame, 0, 0}).PassesFp());
  EXPECT_FALSE((Rule{RuleKind::kOutermost, FpKind::kSame, 0, 0}).PassesFp());
}

}  // namespace
}  // namespace heapgauge::agent
