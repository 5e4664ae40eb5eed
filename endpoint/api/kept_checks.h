// Leak checks of sources: who makes them (LeakChecker), and those of one source that are kept
// (KeptChecks).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/result.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/earlier_check.h"
#include "core/leaks/verdict/loss_records.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/leaks/verdict/suspects.h"
#include "core/report/views/leaks.h"
#include "endpoint/api/source.h"
#include "endpoint/base/process.h"

namespace heapgauge::endpoint::api {

// Looks at the memory of a running program for leaks, where the host may: that stops the program
// for a moment, and takes a process beside it. A page inside of a program has none.
//
// Threads: any number at a time, for different processes.
class LeakChecker {
 public:
  virtual ~LeakChecker() = default;
  // Without names.
  virtual Result<leaks::Check> Look(Process* process) = 0;
  // Leaks to live with. They do not change.
  virtual const leaks::Suppressions& suppressions() const = 0;
};

// A check with names and what was made of it. Read-only.
struct JudgedCheck {
  leaks::Check check;
  leaks::LossRecords losses;
  leaks::Suspects suspects;
  const leaks::Suppressions* suppressions = nullptr;
  uint32_t number = 0;  // of those that looked at memory, from 1; 0: this one did not

  bool looked() const { return check.look != leaks::Look::kNone; }
  // As reports take it; `changes` may be null.
  LeaksSubject Subject(const leaks::Changes* changes) const;
};

// The leak checks of one source: the last one that looked at memory, what its file alone tells, and
// figures of earlier ones to compare with.
//
// Of a check everything is kept that a page may ask about: the sampled blocks, or those of a trace
// where they are not too many. Threads: any number; one check is made at a time, and who asks for a
// look at memory meanwhile is turned away.
class KeptChecks {
 public:
  using Pointer = std::shared_ptr<const JudgedCheck>;
  struct Earlier {
    uint32_t number = 0;
    std::shared_ptr<const leaks::EarlierCheck> check;
  };
  static constexpr size_t kMostEarlier = 16;
  // Of a trace, beyond which single blocks are not kept.
  static constexpr size_t kMostBlocks = 2 << 20;
  // What a file tells of a process that runs is read again after this.
  static constexpr uint64_t kSharedNs = 2'000'000'000;

  // `checker` may be null. The source must outlive this.
  KeptChecks(Source* source, std::shared_ptr<LeakChecker> checker)
      : source_(*source), checker_(std::move(checker)) {}

  bool may_look() const { return checker_ != nullptr; }
  // What is there already; null: nothing was asked for yet.
  Pointer Last();
  // The last look at memory, else what the file tells.
  Result<Pointer> Get();
  // What the file tells.
  Result<Pointer> OfFile();
  // Looks at the memory of the process now.
  Result<Pointer> Look();
  // Those before the last one, the newest first.
  std::vector<Earlier> EarlierOnes();

 private:
  Pointer Judge(leaks::Check check, uint32_t number) const;

  Source& source_;
  const std::shared_ptr<LeakChecker> checker_;
  std::mutex looking_;  // held while a check is made
  std::mutex reading_;
  std::mutex mutex_;  // of what follows
  Pointer looked_;
  Pointer of_file_;
  uint64_t of_file_ns_ = 0;
  std::deque<Earlier> earlier_;  // the newest first, with the last one
};

}  // namespace heapgauge::endpoint::api
