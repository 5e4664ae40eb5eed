// An earlier leak check, read from its JSON, and what changed since: which loss records are new,
// which grew.
//
// Records are the same if their kind and stack are. Within one build of a program, a stack is known
// by its places in the modules; against another build it goes by the names of its functions.
//
// Reading keeps a few words for each record, whatever else is in the file; files are bounded. The
// rest are pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/loss_records.h"

namespace heapgauge::leaks {

// What a stack is known by in the files of later checks: its places, or its functions alone.
struct StackId {
  std::string places;     // 16 hexadecimal digits
  std::string functions;  // the same
};
StackId StackIdOf(const Profile& profile, NodeId leaf);

struct EarlierRecord {
  std::string kind;  // as in the file: also "suppressed", "unknown"
  StackId stack;
  double bytes = 0;
  double indirect_bytes = 0;
  double blocks = 0;
};

struct EarlierCheck {
  static constexpr size_t kMaxFileBytes = size_t{1} << 30;
  static constexpr size_t kMaxRecords = 4'000'000;

  uint64_t unix_ns = 0;
  uint32_t pid = 0;
  std::vector<EarlierRecord> records;
};

// A check that is at hand, to compare a later one with.
EarlierCheck Remember(const Check& check, const LossRecords& losses);
Result<EarlierCheck> ReadEarlierCheck(const std::string& path);
Result<EarlierCheck> ParseEarlierCheck(std::string_view json, const std::string& name);

struct LossChange {
  double bytes = 0;
  double indirect_bytes = 0;
  double blocks = 0;
  bool is_new = false;  // there was none of it

  bool any() const { return bytes != 0 || indirect_bytes != 0 || blocks != 0; }
  bool increased() const { return bytes > 0 || indirect_bytes > 0 || blocks > 0; }
};

struct Changes {
  std::vector<LossChange> records;  // of each of LossRecords::records
  std::array<LossChange, kKinds> kinds{};
  LossChange suppressed;
  LossChange unknown;  // of a check that did not look at memory
  size_t gone = 0;     // records that are there no more
  double gone_bytes = 0;
  bool other_build = false;  // stacks were compared by names
  bool other_process = false;
  uint64_t since_ns = 0;  // time between the two; 0 unknown
};

Changes CompareChecks(const Check& check, const LossRecords& losses, const EarlierCheck& earlier);

// "definite", ..., or "suppressed"; "unknown" if the check did not look at memory.
const char* RecordKind(const Check& check, const LossRecord& record);

}  // namespace heapgauge::leaks
