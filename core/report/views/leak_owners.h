// Who points at a block: the way from a root of the program to it, with the names of variables and
// the stacks of the blocks on the way. This is what tells why something is still there.
//
// Asked for an address, it is about the block that holds it, and about every pointer to that; asked
// for a function, about each loss record that has it on its stack: by which roots its blocks are
// held, and one of them as an example.
//
// Finding takes time for the blocks that it is about, at most some thousands of each record. The
// rest are pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/leaks/scan/owner_path.h"
#include "core/report/views/leaks.h"

namespace heapgauge {

struct LeakOwner {
  uint32_t record = kNone;  // of LossRecords::records
  uint32_t block = leaks::kNoBlock;
  leaks::OwnerPath path;            // to `block`
  std::vector<std::string> places;  // in words, of each place of the path
  // By how many blocks of the record each root is found first, most first. Without those that
  // nothing points to.
  std::vector<std::pair<std::string, uint64_t>> roots;
  uint64_t looked_at = 0;             // blocks of the record
  std::vector<std::string> pointers;  // all places that point to the block, if they were looked for
  uint64_t pointer_count = 0;
};

// "0x55d0c0" is an address.
std::optional<uint64_t> AskedAddress(std::string_view asked);

// `asked` is an address or a regular expression for functions. Fails if no known block has to do
// with it. At most `limit` records, the largest; 0 all.
Result<std::vector<LeakOwner>> FindLeakOwners(const LeaksSubject& subject, const std::string& asked,
                                              size_t limit, leaks::DataSymbols* symbols);

// Of one record, by its index. REQUIRES: the check looked at memory.
LeakOwner FindLeakOwner(const LeaksSubject& subject, uint32_t record, leaks::DataSymbols* symbols);

StyledText LeakOwnersText(const LeaksSubject& subject, const LeaksOptions& options,
                          const std::string& asked, const std::vector<LeakOwner>& owners);
// At most so many frames of each stack.
Json LeakOwnerJson(const LeaksSubject& subject, const LeakOwner& owner,
                   size_t most_frames = SIZE_MAX);
std::string LeakOwnersJson(const LeaksSubject& subject, const std::vector<LeakOwner>& owners);

}  // namespace heapgauge
