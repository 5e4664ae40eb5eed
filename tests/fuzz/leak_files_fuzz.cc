// Files that a leak check takes from its user: suppressions, which are then matched against a stack
// with names, and the JSON of an earlier check.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/leaks/testing/make_check.h"
#include "core/leaks/verdict/earlier_check.h"
#include "core/leaks/verdict/loss_records.h"
#include "core/leaks/verdict/suppressions.h"

using heapgauge::leaks::Kind;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static heapgauge::leaks::testing::CheckMaker* const maker = [] {
    auto* made = new heapgauge::leaks::testing::CheckMaker;
    const uint32_t stack = made->Stack({"malloc", "Cache::Insert(int)", "Serve(int)", "main"});
    made->Block(stack, 100, Kind::kDefinite);
    made->Block(stack, 10, Kind::kIndirect, 0);
    return made;
  }();
  const heapgauge::leaks::Check& check = maker->check();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  heapgauge::leaks::Suppressions suppressions;
  const bool parsed = suppressions.AddText(text, "fuzz").has_value();
  const auto losses = heapgauge::leaks::MakeLossRecords(check, {{}, &suppressions});
  // Each block is counted once, suppressed or not.
  if (losses.in_use.known != 2) std::abort();
  if (parsed && suppressions.rules().empty() && losses.suppressed.known != 0) std::abort();
  if (const auto earlier = heapgauge::leaks::ParseEarlierCheck(text, "fuzz")) {
    const auto changes = heapgauge::leaks::CompareChecks(check, losses, *earlier);
    if (changes.records.size() != losses.records.size()) std::abort();
  }
  return 0;
}
