#include "agent/unwind/cfa_expression.h"

#include "agent/unwind/arch.h"

namespace heapgauge::agent {
namespace {

using Base = LinearValue::Base;

enum Op : uint8_t {
  kDeref = 0x06,
  kConst1u = 0x08,
  kConst1s = 0x09,
  kConst2u = 0x0a,
  kConst2s = 0x0b,
  kConst4u = 0x0c,
  kConst4s = 0x0d,
  kConst8u = 0x0e,
  kConst8s = 0x0f,
  kConstu = 0x10,
  kConsts = 0x11,
  kDup = 0x12,
  kDrop = 0x13,
  kSwap = 0x16,
  kAnd = 0x1a,
  kMinus = 0x1c,
  kMul = 0x1e,
  kOr = 0x21,
  kPlus = 0x22,
  kPlusUconst = 0x23,
  kShl = 0x24,
  kShr = 0x25,
  kXor = 0x27,
  kEq = 0x29,
  kGe = 0x2a,
  kGt = 0x2b,
  kLe = 0x2c,
  kLt = 0x2d,
  kNe = 0x2e,
  kLit0 = 0x30,
  kLit31 = 0x4f,
  kBreg0 = 0x70,
  kBreg31 = 0x8f,
  kNop = 0x96,
};

int64_t Wrap(uint64_t value) { return static_cast<int64_t>(value); }

LinearValue Constant(int64_t value) { return {Base::kConstant, false, value}; }

LinearValue Register(uint64_t number, int64_t offset, uintptr_t pc) {
  if (number == arch::kDwarfSp) return {Base::kSp, false, offset};
  if (number == arch::kDwarfFp) return {Base::kFp, false, offset};
  if (number == arch::kDwarfRa) return Constant(Wrap(pc + static_cast<uint64_t>(offset)));
  return {};
}

bool IsConstant(const LinearValue& value) { return value.base == Base::kConstant; }

LinearValue Binary(uint8_t op, const LinearValue& a, const LinearValue& b) {
  if (a.dereferenced || b.dereferenced) return {};
  const uint64_t x = static_cast<uint64_t>(a.offset);
  const uint64_t y = static_cast<uint64_t>(b.offset);
  // Register plus or minus a constant stays linear.
  if (op == kPlus && (IsConstant(a) || IsConstant(b))) {
    return {IsConstant(a) ? b.base : a.base, false, Wrap(x + y)};
  }
  if (op == kMinus && IsConstant(b)) return {a.base, false, Wrap(x - y)};
  if (!IsConstant(a) || !IsConstant(b)) return {};
  switch (op) {
    case kAnd:
      return Constant(Wrap(x & y));
    case kMul:
      return Constant(Wrap(x * y));
    case kOr:
      return Constant(Wrap(x | y));
    case kShl:
      return Constant(y < 64 ? Wrap(x << y) : 0);
    case kShr:
      return Constant(y < 64 ? Wrap(x >> y) : 0);
    case kXor:
      return Constant(Wrap(x ^ y));
    case kEq:
      return Constant(a.offset == b.offset);
    case kGe:
      return Constant(a.offset >= b.offset);
    case kGt:
      return Constant(a.offset > b.offset);
    case kLe:
      return Constant(a.offset <= b.offset);
    case kLt:
      return Constant(a.offset < b.offset);
    case kNe:
      return Constant(a.offset != b.offset);
    default:
      return {};
  }
}

// Reads the operand of a constant. False if `op` is none.
bool ReadConstant(uint8_t op, MappedByteReader* in, int64_t* value) {
  switch (op) {
    case kConst1u:
      *value = in->Fixed<uint8_t>();
      return true;
    case kConst1s:
      *value = in->Fixed<int8_t>();
      return true;
    case kConst2u:
      *value = in->Fixed<uint16_t>();
      return true;
    case kConst2s:
      *value = in->Fixed<int16_t>();
      return true;
    case kConst4u:
      *value = in->Fixed<uint32_t>();
      return true;
    case kConst4s:
      *value = in->Fixed<int32_t>();
      return true;
    case kConst8u:
    case kConst8s:
      *value = in->Fixed<int64_t>();
      return true;
    case kConstu:
      *value = Wrap(in->Uleb());
      return true;
    case kConsts:
      *value = in->Sleb();
      return true;
    default:
      *value = op - kLit0;
      return op >= kLit0 && op <= kLit31;
  }
}

}  // namespace

LinearValue EvaluateExpression(MappedByteReader expression, uintptr_t pc, bool push_cfa) {
  constexpr int kDepth = 8;
  LinearValue stack[kDepth];
  int depth = 0;
  if (push_cfa) stack[depth++] = {Base::kCfa, false, 0};
  while (!expression.at_end()) {
    const uint8_t op = expression.Fixed<uint8_t>();
    int64_t value = 0;
    if (ReadConstant(op, &expression, &value)) {
      if (depth == kDepth) return {};
      stack[depth++] = Constant(value);
    } else if (op >= kBreg0 && op <= kBreg31) {
      if (depth == kDepth) return {};
      stack[depth++] = Register(op - kBreg0, expression.Sleb(), pc);
    } else if (op == kNop) {
      continue;
    } else if (depth == 0) {
      return {};
    } else if (op == kDeref) {
      LinearValue& top = stack[depth - 1];
      if (top.dereferenced || IsConstant(top)) return {};
      top.dereferenced = true;
    } else if (op == kPlusUconst) {
      stack[depth - 1] = Binary(kPlus, stack[depth - 1], Constant(Wrap(expression.Uleb())));
    } else if (op == kDup) {
      if (depth == kDepth) return {};
      stack[depth] = stack[depth - 1];
      ++depth;
    } else if (op == kDrop) {
      --depth;
    } else if (depth < 2) {
      return {};
    } else if (op == kSwap) {
      const LinearValue top = stack[depth - 1];
      stack[depth - 1] = stack[depth - 2];
      stack[depth - 2] = top;
    } else {
      stack[depth - 2] = Binary(op, stack[depth - 2], stack[depth - 1]);
      --depth;
    }
  }
  return expression.ok() && depth > 0 ? stack[depth - 1] : LinearValue{};
}

}  // namespace heapgauge::agent
