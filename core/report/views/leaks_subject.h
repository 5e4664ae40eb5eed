// What a report of leaks is about, and how it is shown: shared by its text, JSON, SARIF and xtree.
//
// Plain data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/earlier_check.h"
#include "core/leaks/verdict/leak_kinds.h"
#include "core/leaks/verdict/loss_records.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/leaks/verdict/suspects.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"

namespace heapgauge {

// Which records are shown, against an earlier check.
enum class LeakFilter : uint8_t { kAll, kNew, kIncreased, kChanged };
enum class GeneratedSuppressions : uint8_t { kNo, kValgrind, kLsan };

struct LeaksOptions {
  Layout layout;
  Names names = Names::kShort;
  uint32_t show_kinds = leaks::Bit(leaks::Kind::kDefinite) | leaks::Bit(leaks::Kind::kPossible);
  uint32_t error_kinds = leaks::Bit(leaks::Kind::kDefinite) | leaks::Bit(leaks::Kind::kPossible);
  LeakFilter filter = LeakFilter::kAll;
  size_t limit = 20;   // records; 0 all
  size_t frames = 12;  // of each; 0 all
  GeneratedSuppressions generate = GeneratedSuppressions::kNo;
  bool valgrind_style = false;  // "==4242== " before each line, memcheck's order
  const char* version = "";     // of this program, for SARIF
};

// What is reported on. All of it must outlive the call.
struct LeaksSubject {
  const leaks::Check* check = nullptr;
  const leaks::LossRecords* losses = nullptr;
  const leaks::Suppressions* suppressions = nullptr;  // null: none
  const leaks::Changes* changes = nullptr;            // null: no earlier check
  const leaks::Suspects* suspects = nullptr;          // null: not looked for
};

}  // namespace heapgauge
