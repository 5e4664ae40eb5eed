// What a leak check found, for people and for programs: text in the shape of memcheck's, JSON
// (docs/formats/leaks-json.md), SARIF 2.1.0 for code review tools, and a callgrind file.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/sinks.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/report/views/leak_parts.h"

namespace heapgauge {

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
