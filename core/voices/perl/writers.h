// The reports, each from stacks that are filtered already.
//
// They write what the tools write on standard output to `out`, and what they tell on standard error
// to `err`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/voices/perl/stacks.h"

namespace heapgauge::perl {

using EntryId = uint32_t;

// Stacks in terms of what a report shows one line or box for: functions, lines, files or addresses.
//
// Inlined calls become entries of their own, marked "(inline)". Functions of one short name but
// different addresses get "@address" behind it. An entry counts once in a stack, however often it
// is there.
class Entries {
 public:
  // `state` must outlive the object; the names of some frames that are told apart by their callers
  // are kept in it.
  Entries(SessionState* state, const Options& options);

  // Entries of a stack, callees before callers.
  void Translate(std::span<const PcId> stack, std::vector<EntryId>* out);

  const std::string& name(EntryId id) const { return names_[id]; }
  size_t size() const { return names_.size(); }

 private:
  EntryId Intern(std::string name);
  std::vector<EntryId> EntriesOf(PcId pc, PcId callee);

  SessionState* state_;
  Options options_;
  bool by_address_ = false;
  std::unordered_map<std::string, std::string> unique_names_;  // by full name
  std::vector<std::string> names_;
  std::unordered_map<std::string, EntryId> ids_;
  std::vector<std::vector<EntryId>> by_pc_;
  std::vector<uint8_t> known_;  // 1: by_pc_ is right; 2: it depends on the callee
};

// Figures of entries.
struct Figures {
  std::vector<double> flat;
  std::vector<double> cum;
  std::vector<bool> is_present;  // in some stack
  double total = 0;              // of stacks that have an entry
};

Figures Count(const Stacks& stacks, Entries* entries);

struct ReportInput {
  SessionState* state = nullptr;
  Options options;
  Stacks stacks;
  double total = 0;  // of the profile before anything was left out

  std::string Figure(double value) const { return Unparse(value, state->kind, options); }
  const char* units() const { return UnitsOf(state->kind, options); }
};

Status WriteText(const ReportInput& input, TextSink* out);
// google-pprof --stacks: what stands before the table.
Status WriteStacks(const ReportInput& input, TextSink* out);
Status WriteCollapsed(const ReportInput& input, TextSink* out);
Status WriteCallgrind(const ReportInput& input, TextSink* out);
Status WriteRaw(const ReportInput& input, TextSink* out);
Status WriteDot(const ReportInput& input, TextSink* out, TextSink* err);
Status WriteListing(const ReportInput& input, TextSink* out, TextSink* err);
Status WriteDisassembly(const ReportInput& input, TextSink* out, TextSink* err);

}  // namespace heapgauge::perl
