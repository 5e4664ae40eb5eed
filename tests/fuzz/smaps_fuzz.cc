// libFuzzer target: any bytes as /proc/PID/smaps, and the accounts that follow from it.
//
//   build/bin/smaps_fuzz -max_len=65536 -rss_limit_mb=1024 corpus/

#include <cstdint>
#include <numeric>
#include <string_view>

#include "core/memory/accounting.h"
#include "core/memory/ownership.h"
#include "core/os/memory_maps.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heapgauge;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  SmapsParser parser;
  // In two pieces, as the kernel may hand it out.
  const size_t half = size == 0 ? 0 : data[0] % size;
  parser.Feed(text.substr(0, half));
  parser.Feed(text.substr(half));
  const Smaps smaps = parser.Finish();
  OwnershipInput input;
  StackPointers pointers;
  for (const MappingUsage& m : smaps.mappings) {
    if (m.end <= m.start) __builtin_trap();
    pointers.pointers.push_back(m.start + m.size() / 2);
    if (m.inode % 3 == 0) input.blocks.push_back(m.start + 1);
    if (m.inode % 5 == 0) input.agent.push_back({m.start, m.start + (m.size() + 1) / 2});
  }
  input.agent = Merged(std::move(input.agent));
  input.is_stack = FindStacks(smaps.mappings, pointers).is_stack;
  PageMap no_pages;
  AccountingInput accounting;
  accounting.pieces = FindOwners(smaps.mappings, input, &no_pages);
  accounting.not_listed_resident = smaps.not_listed_resident;
  const Accounting a = Account(accounting);
  if (std::accumulate(a.parts.begin(), a.parts.end(), uint64_t{0}) != a.resident) __builtin_trap();
  return 0;
}
