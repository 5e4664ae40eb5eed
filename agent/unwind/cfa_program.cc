#include "agent/unwind/cfa_program.h"

#include "agent/unwind/arch.h"
#include "agent/unwind/cfa_expression.h"

namespace heapgauge::agent {
namespace {

using Base = LinearValue::Base;

enum Instruction : uint8_t {
  // The operand is in the low 6 bits.
  kAdvanceLocShort = 0x40,
  kOffsetShort = 0x80,
  kRestoreShort = 0xc0,
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  kGnuArgsSize = 0x2e,
  kGnuNegativeOffsetExtended = 0x2f,
};

// Where a register of the caller is.
struct Place {
  enum class Kind : uint8_t { kUnset, kSame, kUndefined, kAtCfa, kIsCfa, kExpression, kOther };
  Kind kind = Kind::kUnset;
  int64_t offset = 0;
  MappedByteReader expression;
};

struct RowState {
  uint64_t cfa_register = ~uint64_t{0};
  int64_t cfa_offset = 0;
  bool cfa_is_expression = false;
  MappedByteReader cfa_expression;
  Place sp, fp, ra;

  const Place* Find(uint64_t number) const {
    if (number == arch::kDwarfFp) return &fp;
    if (number == arch::kDwarfRa) return &ra;
    if (number == arch::kDwarfSp) return &sp;
    return nullptr;
  }
  Place* Find(uint64_t number) {
    return const_cast<Place*>(static_cast<const RowState*>(this)->Find(number));
  }
};

class Machine {
 public:
  Machine(const FrameDescription& function, uintptr_t pc) : function_(function), pc_(pc) {}

  bool Run(RowState* row) {
    uintptr_t location = 0;  // the CIE's program has no locations
    if (!RunProgram(function_.initial_program, row, &location, nullptr)) return false;
    const RowState initial = *row;
    location = function_.begin;
    return RunProgram(function_.program, row, &location, &initial);
  }

 private:
  static constexpr int kMaxRemembered = 4;

  bool RunProgram(MappedByteReader in, RowState* row, uintptr_t* location, const RowState* initial);
  bool RunExtended(uint8_t op, MappedByteReader* in, RowState* row, const RowState* initial);

  void Set(RowState* row, uint64_t number, Place::Kind kind, int64_t offset = 0) {
    if (Place* place = row->Find(number)) *place = Place{kind, offset, {}};
  }
  void Restore(RowState* row, uint64_t number, const RowState* initial) {
    Place* place = row->Find(number);
    if (place == nullptr) return;
    *place = initial != nullptr ? *initial->Find(number) : Place{};
  }
  int64_t Factored(int64_t offset) const {
    return static_cast<int64_t>(static_cast<uint64_t>(offset) *
                                static_cast<uint64_t>(function_.data_alignment));
  }
  int64_t Factored(uint64_t offset) const { return Factored(static_cast<int64_t>(offset)); }

  const FrameDescription& function_;
  const uintptr_t pc_;
  RowState remembered_[kMaxRemembered];
  int depth_ = 0;
};

bool Machine::RunProgram(MappedByteReader in, RowState* row, uintptr_t* location,
                         const RowState* initial) {
  while (!in.at_end()) {
    const uint8_t op = in.Fixed<uint8_t>();
    const uint8_t low = op & 0x3f;
    uint64_t advance = 0;
    switch (op & 0xc0) {
      case kAdvanceLocShort:
        advance = low;
        break;
      case kOffsetShort:
        Set(row, low, Place::Kind::kAtCfa, Factored(in.Uleb()));
        continue;
      case kRestoreShort:
        Restore(row, low, initial);
        continue;
      default:
        if (op == kAdvanceLoc1) {
          advance = in.Fixed<uint8_t>();
        } else if (op == kAdvanceLoc2) {
          advance = in.Fixed<uint16_t>();
        } else if (op == kAdvanceLoc4) {
          advance = in.Fixed<uint32_t>();
        } else {
          if (!RunExtended(op, &in, row, initial)) return false;
          continue;
        }
    }
    *location += advance * function_.code_alignment;
    if (initial != nullptr && *location > pc_) return in.ok();
  }
  return in.ok();
}

bool Machine::RunExtended(uint8_t op, MappedByteReader* in, RowState* row,
                          const RowState* initial) {
  switch (op) {
    case kNop:
      return true;
    case kOffsetExtended: {
      const uint64_t number = in->Uleb();
      Set(row, number, Place::Kind::kAtCfa, Factored(in->Uleb()));
      return true;
    }
    case kOffsetExtendedSf: {
      const uint64_t number = in->Uleb();
      Set(row, number, Place::Kind::kAtCfa, Factored(in->Sleb()));
      return true;
    }
    case kGnuNegativeOffsetExtended: {
      const uint64_t number = in->Uleb();
      Set(row, number, Place::Kind::kAtCfa, -Factored(in->Uleb()));
      return true;
    }
    case kValOffset: {
      const uint64_t number = in->Uleb();
      Set(row, number, Place::Kind::kIsCfa, Factored(in->Uleb()));
      return true;
    }
    case kValOffsetSf: {
      const uint64_t number = in->Uleb();
      Set(row, number, Place::Kind::kIsCfa, Factored(in->Sleb()));
      return true;
    }
    case kRestoreExtended:
      Restore(row, in->Uleb(), initial);
      return true;
    case kUndefined:
      Set(row, in->Uleb(), Place::Kind::kUndefined);
      return true;
    case kSameValue:
      Set(row, in->Uleb(), Place::Kind::kSame);
      return true;
    case kRegister: {
      const uint64_t number = in->Uleb();
      in->Uleb();
      Set(row, number, Place::Kind::kOther);
      return true;
    }
    case kRememberState:
      if (depth_ == kMaxRemembered) return false;
      remembered_[depth_++] = *row;
      return true;
    case kRestoreState:
      if (depth_ == 0) return false;
      *row = remembered_[--depth_];
      return true;
    case kDefCfa:
    case kDefCfaSf:
      row->cfa_is_expression = false;
      row->cfa_register = in->Uleb();
      row->cfa_offset = op == kDefCfa ? static_cast<int64_t>(in->Uleb()) : Factored(in->Sleb());
      return true;
    case kDefCfaRegister:
      row->cfa_is_expression = false;
      row->cfa_register = in->Uleb();
      return true;
    case kDefCfaOffset:
      row->cfa_offset = static_cast<int64_t>(in->Uleb());
      return true;
    case kDefCfaOffsetSf:
      row->cfa_offset = Factored(in->Sleb());
      return true;
    case kDefCfaExpression:
      row->cfa_is_expression = true;
      row->cfa_expression = in->Take(in->Uleb());
      return in->ok();
    case kExpression:
    case kValExpression: {
      Place* place = row->Find(in->Uleb());
      const MappedByteReader expression = in->Take(in->Uleb());
      if (place != nullptr) {
        place->kind = op == kExpression ? Place::Kind::kExpression : Place::Kind::kOther;
        place->expression = expression;
      }
      return in->ok();
    }
    case kGnuArgsSize:
      in->Uleb();
      return true;
    default:
      return false;  // kSetLoc among them: no compiler writes it into .eh_frame
  }
}

// CFA of the row. The kind stays kUnsupported if it cannot be said.
Rule CfaRule(const RowState& row, bool signal_frame, uintptr_t pc) {
  Rule rule;
  LinearValue cfa;
  if (row.cfa_is_expression) {
    cfa = EvaluateExpression(row.cfa_expression, pc, false);
  } else if (row.cfa_register == arch::kDwarfSp) {
    cfa = {Base::kSp, false, row.cfa_offset};
  } else if (row.cfa_register == arch::kDwarfFp) {
    cfa = {Base::kFp, false, row.cfa_offset};
  }
  rule.cfa_offset = cfa.offset;
  if (cfa.base == Base::kSp && !cfa.dereferenced) {
    rule.kind = RuleKind::kSpRelative;
  } else if (cfa.base == Base::kFp) {
    rule.kind = cfa.dereferenced ? RuleKind::kFpDereference : RuleKind::kFpRelative;
  } else if (cfa.base == Base::kSp && signal_frame &&
             cfa.offset == static_cast<int64_t>(arch::kSignalSpOffset)) {
    return Rule{RuleKind::kSignal};
  }
  return rule;
}

// Turns a place that is relative to the stack pointer into one relative to the CFA, if possible.
LinearValue Address(const Place& place, const Rule& rule, uintptr_t pc) {
  if (place.kind == Place::Kind::kAtCfa) return {Base::kCfa, false, place.offset};
  LinearValue value = EvaluateExpression(place.expression, pc, true);
  if (value.base == Base::kSp && rule.kind == RuleKind::kSpRelative) {
    value.base = Base::kCfa;
    value.offset -= rule.cfa_offset;
  }
  return value;
}

bool SetFp(const Place& place, uintptr_t pc, Rule* rule) {
  switch (place.kind) {
    case Place::Kind::kUnset:
    case Place::Kind::kSame:
    case Place::Kind::kUndefined:  // dead: nobody will ask for it
      return true;
    case Place::Kind::kAtCfa:
    case Place::Kind::kExpression: {
      const LinearValue address = Address(place, *rule, pc);
      if (address.dereferenced) return false;
      rule->fp_offset = address.offset;
      rule->fp_kind = address.base == Base::kCfa ? FpKind::kCfaRelative : FpKind::kFpIndirect;
      return address.base == Base::kCfa || address.base == Base::kFp;
    }
    default:
      return false;
  }
}

bool ReturnSlotIsBehindCfa(const Place& place, const Rule& rule, uintptr_t pc) {
  if (place.kind != Place::Kind::kAtCfa && place.kind != Place::Kind::kExpression) return false;
  const LinearValue address = Address(place, rule, pc);
  return address.base == Base::kCfa && !address.dereferenced &&
         address.offset == arch::kReturnSlotOffset;
}

bool SpIsCfa(const Place& place) {
  return place.kind == Place::Kind::kUnset ||
         (place.kind == Place::Kind::kIsCfa && place.offset == 0);
}

}  // namespace

Rule EvaluateProgram(const FrameDescription& function, uintptr_t pc) {
  const Rule unsupported{};
  if (function.return_column != arch::kDwarfRa) return unsupported;
  RowState row;
  Machine machine(function, pc);
  if (!machine.Run(&row)) return unsupported;
  if (row.ra.kind == Place::Kind::kUndefined) return Rule{RuleKind::kOutermost};
  Rule rule = CfaRule(row, function.signal_frame, pc);
  if (rule.kind == RuleKind::kSignal) return rule;
  if (rule.kind == RuleKind::kUnsupported || !SpIsCfa(row.sp) ||
      !ReturnSlotIsBehindCfa(row.ra, rule, pc) || !SetFp(row.fp, pc, &rule)) {
    return unsupported;
  }
  return rule;
}

}  // namespace heapgauge::agent
