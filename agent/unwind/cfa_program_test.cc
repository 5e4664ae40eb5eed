#include "agent/unwind/cfa_program.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/unwind/eh_frame_builder.h"

namespace heapgauge::agent {
namespace {

const Bytes kEntryRow = {0x0c, 7, 8, 0x90, 1};  // def_cfa rsp+8; return address at CFA-8
constexpr uint32_t kCodeBytes = 0x400;

// The rule at `offset` of a function with this program.
Rule RuleAt(uintptr_t offset, const Bytes& program, const Bytes& initial = kEntryRow,
            const char* augmentation = "zR", uint8_t return_column = 16) {
  EhFrameBuilder builder;
  const size_t cie = builder.AddCie(augmentation, initial, 0x1b, return_column);
  builder.AddFde(cie, builder.code(), kCodeBytes, program);
  const LoadedObject object = builder.Finish();
  FrameDescription function;
  if (!FindFrameDescription(object, builder.code() + offset, &function)) {
    ADD_FAILURE() << "no description";
    return {};
  }
  return EvaluateProgram(function, builder.code() + offset);
}

Rule Sp(int64_t cfa) { return {RuleKind::kSpRelative, FpKind::kSame, cfa, 0}; }
Rule SpSaved(int64_t cfa, int64_t fp) {
  return {RuleKind::kSpRelative, FpKind::kCfaRelative, cfa, fp};
}
Rule FpSaved(int64_t cfa, int64_t fp) {
  return {RuleKind::kFpRelative, FpKind::kCfaRelative, cfa, fp};
}
const Rule kUnsupported{};

TEST(CfaProgram, AtEntryOnlyTheReturnAddressIsOnTheStack) { EXPECT_EQ(RuleAt(0, {}), Sp(8)); }

TEST(CfaProgram, ARowHoldsFromItsLocationToTheNext) {
  // push rbp; (1) mov; (4) pop rbp
  const Bytes program = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x44, 0xc6, 0x0c, 7, 8};
  EXPECT_EQ(RuleAt(0, program), Sp(8));
  EXPECT_EQ(RuleAt(1, program), SpSaved(16, -16));
  EXPECT_EQ(RuleAt(3, program), SpSaved(16, -16));
  EXPECT_EQ(RuleAt(4, program), FpSaved(16, -16));
  EXPECT_EQ(RuleAt(7, program), FpSaved(16, -16));
  EXPECT_EQ(RuleAt(8, program), Sp(8));
}

TEST(CfaProgram, AdvancesByOneTwoAndFourBytes) {
  const Bytes program = {0x02, 0x80, 0x0e, 16, 0x03, 0x00, 0x01, 0x0e,
                         24,   0x04, 0x10, 0,  0,    0,    0x0e, 32};
  EXPECT_EQ(RuleAt(0x7f, program), Sp(8));
  EXPECT_EQ(RuleAt(0x80, program), Sp(16));
  EXPECT_EQ(RuleAt(0x17f, program), Sp(16));
  EXPECT_EQ(RuleAt(0x180, program), Sp(24));
  EXPECT_EQ(RuleAt(0x190, program), Sp(32));
}

TEST(CfaProgram, RemembersAndRestoresRows) {
  const Bytes program = {0x41, 0x0e, 16, 0x86, 2, 0x42, 0x0a, 0xc6, 0x0e, 8, 0x41, 0x0b};
  EXPECT_EQ(RuleAt(2, program), SpSaved(16, -16));
  EXPECT_EQ(RuleAt(3, program), Sp(8));
  EXPECT_EQ(RuleAt(4, program), SpSaved(16, -16));
}

TEST(CfaProgram, IgnoresOtherRegistersAndArgumentSizes) {
  // rbx, r12 by expression, GNU_args_size, rbx restored, r15 by an extended offset
  EXPECT_EQ(RuleAt(0, {0x83, 3, 0x10, 12, 2, 0x77, 8, 0x2e, 0x90, 1, 0xc3, 0x05, 15, 4}), Sp(8));
}

TEST(CfaProgram, FollowsRealignedFramesOfGcc) {
  // CFA = *(rbp - 8), rbp saved at rbp + 0
  const Bytes program = {0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0x00};
  EXPECT_EQ(RuleAt(0, program), (Rule{RuleKind::kFpDereference, FpKind::kFpIndirect, -8, 0}));
}

TEST(CfaProgram, WorksOutThePltExpressionForEachAddress) {
  // rsp + 8 + ((rip & 15) >= 11) * 8
  const Bytes program = {0x0f, 11,   0x77, 0x08, 0x80, 0x00, 0x3f,
                         0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  EXPECT_EQ(RuleAt(0, program), Sp(8));
  EXPECT_EQ(RuleAt(10, program), Sp(8));
  EXPECT_EQ(RuleAt(11, program), Sp(16));
  EXPECT_EQ(RuleAt(15, program), Sp(16));
  EXPECT_EQ(RuleAt(16, program), Sp(8));
}

TEST(CfaProgram, ExpressionsBesideTheStackPointerCountFromTheCfa) {
  // rbp saved at rsp + 0 while CFA = rsp + 32; the same said as CFA - 32
  EXPECT_EQ(RuleAt(0, {0x0e, 32, 0x10, 6, 2, 0x77, 0x00}), SpSaved(32, -32));
  EXPECT_EQ(RuleAt(0, {0x0e, 32, 0x10, 6, 3, 0x08, 32, 0x1c}), SpSaved(32, -32));
}

TEST(CfaProgram, AnUndefinedReturnAddressIsTheOutermostFrame) {
  EXPECT_EQ(RuleAt(0, {0x07, 16}).kind, RuleKind::kOutermost);
}

TEST(CfaProgram, SignalFramesNeedTheAugmentationAndTheKernelsLayout) {
  const Bytes program = {0x0f, 4, 0x77, 0xa0, 0x01, 0x06};  // CFA = *(rsp + 160)
  EXPECT_EQ(RuleAt(0, program, kEntryRow, "zRS").kind, RuleKind::kSignal);
  EXPECT_EQ(RuleAt(0, program), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x0f, 4, 0x77, 0xa8, 0x01, 0x06}, kEntryRow, "zRS"), kUnsupported);
}

TEST(CfaProgram, WhatARuleCannotSayIsUnsupported) {
  EXPECT_EQ(RuleAt(0, {0x0c, 10, 8}), kUnsupported) << "CFA in r10";
  EXPECT_EQ(RuleAt(0, {0x90, 2}), kUnsupported) << "return address at CFA-16";
  EXPECT_EQ(RuleAt(0, {0x08, 16}), kUnsupported) << "return address in its register";
  EXPECT_EQ(RuleAt(0, {0x09, 6, 3}), kUnsupported) << "rbp kept in rbx";
  EXPECT_EQ(RuleAt(0, {0x16, 6, 2, 0x77, 0}), kUnsupported) << "rbp is a value";
  EXPECT_EQ(RuleAt(0, {0x87, 2}), kUnsupported) << "rsp saved in memory";
  EXPECT_EQ(RuleAt(0, {}, kEntryRow, "zR", 30), kUnsupported) << "another return column";
  EXPECT_EQ(RuleAt(0, {0x0f, 2, 0x73, 0}), kUnsupported) << "expression on rbx";
  EXPECT_EQ(RuleAt(0, {0x3d}), kUnsupported) << "unknown instruction";
  EXPECT_EQ(RuleAt(0, {0x0b}), kUnsupported) << "restore without remember";
  EXPECT_EQ(RuleAt(0, {0x0f, 0x7f, 0x77}), kUnsupported) << "expression longer than the program";
  EXPECT_EQ(RuleAt(0, {}, {}), kUnsupported) << "no CFA at all";
}

}  // namespace
}  // namespace heapgauge::agent
