// A rule says how to get from one frame to its caller: where the canonical frame address (CFA) is
// and where the caller's frame pointer was saved. It is what remains of .eh_frame for one code
// address once everything an allocation profiler does not need is left out.
//
// A rule that fits is packed into 29 bits, so that a cache entry (rule and tag) is one 8-byte word.
// Values only: no threads, no allocation, async-signal-safe.
#ifndef HEAPGAUGE_AGENT_UNWIND_RULE_H_
#define HEAPGAUGE_AGENT_UNWIND_RULE_H_

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

// Packed: kind 3 bits | fp kind 2 bits | fp offset / 8, signed 8 bits | CFA offset / 8, signed 16
// bits.
using PackedRule = uint32_t;
inline constexpr int kPackedRuleBits = 29;

namespace packed {
inline constexpr int kFpKindShift = 3;
inline constexpr int kFpOffsetShift = 5;
inline constexpr int kFpOffsetBits = 8;
inline constexpr int kCfaOffsetShift = 13;
inline constexpr int kCfaOffsetBits = 16;
static_assert(kCfaOffsetShift + kCfaOffsetBits == kPackedRuleBits);

constexpr bool Fits(int64_t offset, int bits) {
  const int64_t limit = int64_t{1} << (bits - 1);
  return offset % 8 == 0 && offset / 8 >= -limit && offset / 8 < limit;
}
constexpr RuleKind Kind(PackedRule rule) { return static_cast<RuleKind>(rule & 7); }
constexpr FpKind FpKindOf(PackedRule rule) { return static_cast<FpKind>(rule >> kFpKindShift & 3); }
constexpr int64_t CfaOffset(PackedRule rule) {
  const int32_t top = static_cast<int32_t>(rule << (32 - kPackedRuleBits));
  return int64_t{top >> (32 - kCfaOffsetBits)} * 8;
}
constexpr int64_t FpOffset(PackedRule rule) {
  const int32_t top = static_cast<int32_t>(rule << (32 - kFpOffsetShift - kFpOffsetBits));
  return int64_t{top >> (32 - kFpOffsetBits)} * 8;
}
}  // namespace packed

// 0 if the rule does not fit.
constexpr PackedRule Pack(const Rule& rule) {
  if (!packed::Fits(rule.cfa_offset, packed::kCfaOffsetBits) ||
      !packed::Fits(rule.fp_offset, packed::kFpOffsetBits)) {
    return 0;
  }
  const uint32_t cfa = static_cast<uint32_t>(rule.cfa_offset / 8);
  const uint32_t fp = static_cast<uint32_t>(rule.fp_offset / 8);
  return static_cast<uint32_t>(rule.kind) |
         static_cast<uint32_t>(rule.fp_kind) << packed::kFpKindShift |
         (fp & ((1u << packed::kFpOffsetBits) - 1)) << packed::kFpOffsetShift |
         (cfa & ((1u << packed::kCfaOffsetBits) - 1)) << packed::kCfaOffsetShift;
}

constexpr Rule Unpack(PackedRule rule) {
  return Rule{packed::Kind(rule), packed::FpKindOf(rule), packed::CfaOffset(rule),
              packed::FpOffset(rule)};
}

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_UNWIND_RULE_H_
