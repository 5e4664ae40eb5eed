// What a report of leaks is about, and the parts that such reports are put together from: words for
// amounts, stacks, suspects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/json.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/earlier_check.h"
#include "core/leaks/verdict/loss_records.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/leaks/verdict/suspects.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"

namespace heapgauge {

// What a report of leaks is about, and how it is shown: shared by its text, JSON, SARIF and xtree.
//
// Plain data.

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

// Amounts of leaked memory in words: exact ones to the byte, as memcheck prints them, sampled ones
// with how sure they are. For the reports on leaks. Pure functions.

// "1,234,567"
std::string WithCommas(double count);

// How amounts are told in one report.
struct LeakWords {
  bool exact = true;
  Layout layout;

  // "1,234 bytes", "≈ 310 MB ± 40"; a change of an exact one as in "1,234 (+34) bytes".
  std::string Bytes(const Estimate& bytes, const double* change = nullptr) const;
  // "12 blocks", "≈ 79,000 blocks"
  std::string Blocks(const Estimate& blocks, const double* change = nullptr) const;
  // "1,234 bytes in 12 blocks"
  std::string Both(const leaks::Amount& amount, const leaks::LossChange* change = nullptr) const;
  // What is lost by a record: "1,234 (1,000 direct, 234 indirect) bytes in 12 blocks".
  std::string Lost(const leaks::LossRecord& record, const leaks::LossChange* change) const;
  // For sentences: "1.2 kB", "about 310 MB ± 40".
  std::string Roughly(const Estimate& bytes) const;

 private:
  const char* about() const { return layout.utf8 ? "\u2248 " : "~ "; }
};

// Parts that the reports on leaks are put together from. For the .cc files of this folder. Pure
// functions.

// Who is suspected, each with the reason, and with an empty line behind; "" if there is nothing to
// go by.
StyledText LeakSuspectsText(const LeaksSubject& subject, const LeaksOptions& options);
// REQUIRES: the subject has suspects.
Json LeakSuspectsJson(const LeaksSubject& subject);
Json LeakSuspectJson(const LeaksSubject& subject, const leaks::Suspect& suspect);

// The frames of a stack, one on each line, without what only allocates and what called main.
void AddLeakStack(const Profile& profile, NodeId leaf, const std::string& indent,
                  const LeaksOptions& options, leaks::AllocationFrames* allocation,
                  StyledText* text);

// Members of the JSON of a check: docs/formats/leaks-json.md.
Json LeakCheckJson(const leaks::Check& check);
Json LeakSummaryJson(const LeaksSubject& subject, const LeaksOptions& options);
Json LeakSuppressionsJson(const LeaksSubject& subject);
Json LeakRecordJson(const LeaksSubject& subject, size_t index, size_t most_frames = SIZE_MAX);
Json LeakStackJson(const Profile& profile, NodeId leaf, size_t most_frames = SIZE_MAX);

// Function, file, line, module and address, as far as they are known.
Json LeakFrameJson(const Profile& profile, const leaks::StackFrame& frame);

// How many bytes may be there of something none of which was sampled, in 95 of 100 checks, at the
// coarsest interval that is known to have been in force. 0 where all blocks are known.
double UnseenLeakBytes(const leaks::Check& check);

// "Cache::Insert holds 1.2 GB and grows 30 MB/min"; "" if nothing does.
std::string LeakGrowthVerdict(const LeaksSubject& subject);

}  // namespace heapgauge
