// Stacks in terms of what a report shows one line or box for: functions, lines, files or addresses.
//
// Inlined calls become entries of their own, marked "(inline)". Functions of one short name but
// different addresses get "@address" behind it. An entry counts once in a stack, however often it
// is there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/voices/perl/stacks.h"

namespace heapgauge::perl {

using EntryId = uint32_t;

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

}  // namespace heapgauge::perl
