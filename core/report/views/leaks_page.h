// A leak check for a page: the JSON of docs/formats/leaks-json.md, cut to what somebody looks at,
// and one record with everything about it: its whole stack, who holds it, texts that silence it.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/report/views/leaks.h"

namespace heapgauge::leaks {
class DataSymbols;
}

namespace heapgauge {

struct LeaksPage {
  size_t records = 100;  // at most, the largest
  size_t suspects = 50;  // at most, of either list
  size_t frames = 16;    // of each stack
  // Only records of these kinds: a bit for each Kind, and kSuppressedBit.
  uint32_t kinds = ~0u;
  LeakFilter changes = LeakFilter::kAll;
  // Regular expressions: only stacks with a function that matches, and none with one.
  std::string focus;
  std::string ignore;
};
inline constexpr uint32_t kSuppressedBit = 1u << leaks::kKinds;

// What a record is known by in this check and the next: "definite-90b3c2a1e4d5f607", kind and
// stack.
std::string LeakKey(const LeaksSubject& subject, size_t record);
// Its index, or the number of records if there is none.
size_t FindLeak(const LeaksSubject& subject, std::string_view key);

// The record that tells most about a suspect: what is lost before what is not, then the largest.
// The number of records if it has none.
size_t RecordOfSuspect(const LeaksSubject& subject, const leaks::Suspect& suspect);

// Fails if an expression is none. REQUIRES: the subject has suspects.
Result<Json> LeaksPageJson(const LeaksSubject& subject, const LeaksPage& page);

// `symbols` may be null.
Json LeakDetailsJson(const LeaksSubject& subject, size_t record, leaks::DataSymbols* symbols);

}  // namespace heapgauge
