// Reads a gauge file, of a running program or a dead one, into a Profile.
//
// The file is treated as hostile: every size, index and count is checked, damaged records are left
// out and counted (RecordingFacts::unreadable_records), and a header that contradicts itself is an
// Error. Time is linear in the size of the file, which the format limits to 512 MiB; memory is a
// small multiple of what the file holds.
//
// A program may write while we read. So the order is that of the writer turned round: live blocks
// first, then the stacks that they name, then nodes, then modules; what a record names is always
// there.
#pragma once

#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/gauge/gauge_layout.h"
#include "core/model/profile.h"
#include "wire/gauge_format.h"

namespace heapgauge {

enum class Inherited { kInclude, kOnly, kExclude };

// Blocks of the allocator, ranges mapped by mmap, or blocks of pools that the program reports. One
// profile holds one kind: blocks of pools lie within the others and would be counted twice.
enum class ProfileKind { kHeap, kMmap, kPool };

struct GaugeReadOptions {
  bool peak = false;  // the live blocks of the peak snapshot in place of those of this moment
  Inherited inherited = Inherited::kInclude;
  bool every_node = false;  // also those that no row reaches, for whoever names them all
  ProfileKind kind = ProfileKind::kHeap;
  // Live records that somebody copied at a moment of his choice, in place of those of this moment.
  // Profile::blocks has those that count, in the same order.
  const std::vector<wire::LiveRecord>* live = nullptr;
};

Result<Profile> ReadGauge(const ByteSource& source, const std::string& name,
                          const GaugeReadOptions& options = {});

// The same for a file on disk; also finds out whether its process still runs.
Result<Profile> ReadGaugeFile(const std::string& path, const GaugeReadOptions& options = {});

}  // namespace heapgauge
