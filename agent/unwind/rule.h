// A rule says how to get from one frame to its caller: where the canonical frame address (CFA) is
// and where the caller's frame pointer was saved. It is what remains of .eh_frame for one code
// address once everything an allocation profiler does not need is left out.
//
// A rule that fits is packed into 29 bits of a word, so that a cache entry (rule and tag) is one
// word. Values only: no threads, no allocation, async-signal-safe.
#pragma once

#include <cstdint>

namespace heapgauge::agent {

enum class RuleKind : uint8_t {
  kEmpty = 0,      // no rule; as a packed rule: did not fit, evaluate again
  kSpRelative,     // CFA = sp + cfa_offset
  kFpRelative,     // CFA = fp + cfa_offset
  kFpDereference,  // CFA = *(fp + cfa_offset): realigned frames of gcc
  kSignal,         // the state is in the ucontext at sp
  kOutermost,      // there is no caller
  kUnsupported,    // the object has no rule for this code, or one we cannot follow
  kNoObject,       // the code belongs to no loaded object; never cached, one may be loaded there
};

// Where the caller's frame pointer is.
enum class FpKind : uint8_t {
  kSame = 0,     // still in the register
  kCfaRelative,  // saved at CFA + fp_offset
  kFpIndirect,   // saved at fp + fp_offset: realigned frames of gcc
};

struct Rule {
  RuleKind kind = RuleKind::kUnsupported;
  FpKind fp_kind = FpKind::kSame;
  int64_t cfa_offset = 0;
  int64_t fp_offset = 0;

  bool Steps() const { return kind >= RuleKind::kSpRelative && kind <= RuleKind::kSignal; }
  // The step needs the value of the frame pointer.
  bool ReadsFp() const {
    return kind == RuleKind::kFpRelative || kind == RuleKind::kFpDereference ||
           (Steps() && fp_kind == FpKind::kFpIndirect);
  }
  // The caller's frame pointer is this frame's.
  bool PassesFp() const { return Steps() && kind != RuleKind::kSignal && fp_kind == FpKind::kSame; }
  friend bool operator==(const Rule&, const Rule&) = default;
};

// Packed: kind 3 bits | fp kind 2 bits | fp offset / 8, signed 8 bits | 35 bits for whoever keeps
// it (0) | CFA offset / 8, signed 16 bits. What a step waits for, the CFA, is at the top: one
// shift.
using PackedRule = uint64_t;

namespace packed {
inline constexpr int kFpKindShift = 3;
inline constexpr int kFpOffsetShift = 5;
inline constexpr int kFpOffsetBits = 8;
inline constexpr int kFreeShift = kFpOffsetShift + kFpOffsetBits;
inline constexpr int kFreeBits = 35;
inline constexpr int kCfaOffsetShift = kFreeShift + kFreeBits;
inline constexpr int kCfaOffsetBits = 16;
static_assert(kCfaOffsetShift + kCfaOffsetBits == 64);
inline constexpr uint64_t kFreeMask = ((uint64_t{1} << kFreeBits) - 1) << kFreeShift;

constexpr bool Fits(int64_t offset, int bits) {
  const int64_t limit = int64_t{1} << (bits - 1);
  return offset % 8 == 0 && offset / 8 >= -limit && offset / 8 < limit;
}
constexpr RuleKind Kind(PackedRule rule) { return static_cast<RuleKind>(rule & 7); }
// Instead of kCfaRelative, where fp is not saved within the frame.
inline constexpr uint32_t kFpElsewhere = 3;
constexpr FpKind FpKindOf(PackedRule rule) {
  const auto kind = static_cast<uint32_t>(rule >> kFpKindShift & 3);
  return kind == kFpElsewhere ? FpKind::kCfaRelative : static_cast<FpKind>(kind);
}
constexpr int64_t CfaWords(PackedRule rule) {
  return static_cast<int64_t>(rule) >> kCfaOffsetShift;
}
constexpr int64_t CfaOffset(PackedRule rule) { return CfaWords(rule) * 8; }
constexpr int64_t FpOffset(PackedRule rule) {
  return int64_t{static_cast<int8_t>(rule >> kFpOffsetShift)} * 8;
}

// The CFA is sp, or fp, plus an offset, and the caller's fp is in the register or was saved below
// the return address. If it is sp: the CFA is above it, and the slot of fp is not below it.
constexpr bool IsSimple(PackedRule rule) {
  constexpr uint32_t kSp = 1u << static_cast<int>(RuleKind::kSpRelative);
  constexpr uint32_t kFp = 1u << static_cast<int>(RuleKind::kFpRelative);
  constexpr uint32_t kSimple = (kSp | kFp) | (kSp | kFp) << (1 << kFpKindShift);
  return (kSimple >> (rule & 31) & 1) != 0;
}
// Of a simple one:
inline constexpr PackedRule kReadsFp = 2;
inline constexpr PackedRule kSavesFp = 1 << kFpKindShift;
static_assert((static_cast<int>(RuleKind::kFpRelative) & kReadsFp) != 0);
static_assert((static_cast<int>(RuleKind::kSpRelative) & kReadsFp) == 0);
static_assert(static_cast<int>(FpKind::kCfaRelative) == 1);
// The rule of a function with a frame pointer: fp was pushed right below the return address, and
// points there.
inline constexpr PackedRule kFramePointer =
    static_cast<uint64_t>(RuleKind::kFpRelative) | uint64_t{1} << kFpKindShift |
    uint64_t{static_cast<uint8_t>(-2)} << kFpOffsetShift | uint64_t{2} << kCfaOffsetShift;
constexpr bool IsFramePointer(PackedRule rule) {
  return ((rule ^ kFramePointer) & ~kFreeMask) == 0;
}
}  // namespace packed

// 0 if the rule does not fit.
constexpr PackedRule Pack(const Rule& rule) {
  if (!packed::Fits(rule.cfa_offset, packed::kCfaOffsetBits) ||
      !packed::Fits(rule.fp_offset, packed::kFpOffsetBits)) {
    return 0;
  }
  const bool by_sp = rule.kind == RuleKind::kSpRelative;
  if (by_sp && rule.cfa_offset < 8) return 0;  // nonsense
  // Where fp is not saved: the return slot, a word that a step reads anyway.
  const int64_t fp_offset = rule.fp_kind == FpKind::kSame ? -8 : rule.fp_offset;
  const bool elsewhere = rule.fp_kind == FpKind::kCfaRelative &&
                         (fp_offset > -8 || (by_sp && rule.cfa_offset + fp_offset < 0));
  const auto fp_kind = elsewhere ? packed::kFpElsewhere : static_cast<uint32_t>(rule.fp_kind);
  return static_cast<uint64_t>(rule.kind) | uint64_t{fp_kind} << packed::kFpKindShift |
         uint64_t{static_cast<uint8_t>(fp_offset / 8)} << packed::kFpOffsetShift |
         static_cast<uint64_t>(rule.cfa_offset / 8) << packed::kCfaOffsetShift;
}

constexpr Rule Unpack(PackedRule rule) {
  const FpKind fp_kind = packed::FpKindOf(rule);
  return Rule{packed::Kind(rule), fp_kind, packed::CfaOffset(rule),
              fp_kind == FpKind::kSame ? 0 : packed::FpOffset(rule)};
}

}  // namespace heapgauge::agent
