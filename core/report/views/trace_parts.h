// What reports on traces have in common: their opening lines, and what groups of blocks are called.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/report/csv.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"
#include "core/trace/answer/block_groups.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge {

// All that reports on blocks of a trace start from. The stacks have names; all must outlive it.
struct TraceSubject {
  const trace::TraceFile* trace = nullptr;
  const trace::TraceFile::Stacks* stacks = nullptr;
  const trace::BlockGroups* groups = nullptr;
  std::string filter;              // as people gave it
  std::vector<std::string> notes;  // what stood in the way of names
};

// What groups of blocks are called in reports on traces: functions, stacks, modules, threads.
//
// Built once for the groups that a report shows; read-only afterwards.
class GroupLabels {
 public:
  // `shown` may name a group more than once.
  GroupLabels(const TraceSubject& subject, const std::vector<uint32_t>& shown, Names names,
              const Layout& layout);

  // "Cache::insert", "Cache::insert < Server::handle < main", "libfoo.so", "4242 worker".
  // REQUIRES: `group` is one of `shown`, unless groups are stacks or threads.
  std::string operator[](uint32_t group) const;

 private:
  const TraceSubject& subject_;
  const Layout layout_;
  const Names names_;
  Labels labels_;
};

// What a group is, as members of an object: function and file, stack with its frames, module, or
// thread.
Json GroupJson(const TraceSubject& subject, uint32_t group);
// The same as fields of a table.
void AddGroupHeadings(const TraceSubject& subject, Csv* csv);
void AddGroup(const TraceSubject& subject, uint32_t group, Csv* csv);

// The opening lines of a report on a trace: which program, how much was recorded, what is missing.
//
// Pure functions.

// "server  pid 4242  ended after 12s  ./server --port 80", then `notes`, which are those of
// the trace and further ones. The filter, as people gave it, is a line of its own; "" none.
StyledText TraceHeading(const trace::TraceFile& trace, const std::string& filter,
                        const std::vector<std::string>& notes, const Layout& layout);

// A line of the heading: a label and its text.
StyledText HeadingLine(const char* label, const std::string& text);

Json TraceJson(const trace::TraceFile& trace, const std::string& filter,
               const std::vector<std::string>& notes);

// "850ns", "1.25s".
std::string FormatLifetime(double nanoseconds);

}  // namespace heapgauge
