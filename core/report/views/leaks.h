// What a leak check found, for people and for programs: text in the shape of memcheck's, JSON
// (docs/formats/leaks-json.md), SARIF 2.1.0 for code review tools, and a callgrind file.
//
// Pure functions.
#ifndef HEAPGAUGE_CORE_REPORT_VIEWS_LEAKS_H_
#define HEAPGAUGE_CORE_REPORT_VIEWS_LEAKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/text_sink.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/earlier_check.h"
#include "core/leaks/verdict/leak_kinds.h"
#include "core/leaks/verdict/loss_records.h"
#include "core/leaks/verdict/stack_frames.h"
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

StyledText LeaksText(const LeaksSubject& subject, const LeaksOptions& options);
// The entries that options.generate asks for and nothing else, as a file of suppressions has them:
// one for each record of the kinds that are shown, however many, each text once.
std::string LeakSuppressionsText(const LeaksSubject& subject, const LeaksOptions& options);
// With all records, whatever the options say is to be shown.
Status WriteLeaksJson(const LeaksSubject& subject, const LeaksOptions& options, TextSink* out);
std::string LeaksSarif(const LeaksSubject& subject, const LeaksOptions& options);
// A callgrind file with bytes and blocks of each kind, as memcheck's --xtree-leak writes it.
Status WriteLeaksXtree(const LeaksSubject& subject, TextSink* out);

// The verdict in one sentence, without a line end. With a filter it says what is lost since the
// earlier check, or that nothing is. A second one says what is in doubt where events are missing.
std::string LeakVerdict(const LeaksSubject& subject, LeakFilter filter = LeakFilter::kAll);

// Records that count as errors: those of the kinds that are not suppressed and, against an earlier
// check, pass the filter.
struct LeakErrors {
  size_t records = 0;
  double blocks = 0;
};
LeakErrors CountLeakErrors(const LeaksSubject& subject, const LeaksOptions& options);

// Whether the filter lets the record through.
bool PassesFilter(const LeaksSubject& subject, LeakFilter filter, size_t record);

// The file and line that a record is about: the innermost frame of the program that has one.
size_t PlaceOfLeak(const Profile& profile, const std::vector<leaks::StackFrame>& stack);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_REPORT_VIEWS_LEAKS_H_
