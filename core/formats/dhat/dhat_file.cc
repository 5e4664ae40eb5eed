#include "core/formats/dhat/dhat_file.h"

#include "core/formats/text/scan.h"

namespace heapgauge {
namespace {

// Takes ":12" off the end; false if there is none.
bool TakeNumberAtEnd(std::string_view* text, uint32_t* number) {
  const size_t colon = text->rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  size_t at = colon + 1;
  int64_t value = 0;
  if (at >= text->size() || !IsDigit((*text)[at]) ||
      TakeDecimal(*text, &at, &value) != Taken::kYes || at != text->size() || value > UINT32_MAX) {
    return false;
  }
  *number = static_cast<uint32_t>(value);
  text->remove_suffix(text->size() - colon);
  return true;
}

// "in /usr/lib/x.so", "p.cc:5" or "alloc.rs:83:14"
void ParsePlace(std::string_view place, DhatFrame* frame) {
  if (place.starts_with("in ")) {
    frame->module = place.substr(3);
    return;
  }
  uint32_t last = 0;
  if (TakeNumberAtEnd(&place, &last)) {
    if (TakeNumberAtEnd(&place, &frame->line)) {
      frame->column = last;
    } else {
      frame->line = last;
    }
  }
  frame->file = place;
}

}  // namespace

DhatFrame ParseDhatFrame(std::string_view text) {
  DhatFrame frame;
  size_t at = 0;
  if (TakeText(text, &at, "0x") && TakeHex(text, &at, &frame.address) == Taken::kYes &&
      TakeText(text, &at, ": ")) {
    frame.has_address = true;
    text.remove_prefix(at);
  } else {
    frame.address = 0;
  }
  const size_t open = text.rfind(" (");
  if (text.ends_with(')') && open != std::string_view::npos) {
    const std::string_view place = text.substr(open + 2, text.size() - open - 3);
    // Otherwise it may be the parameters of a function: "operator() (int)".
    if (place.starts_with("in ") || place.find(':') != std::string_view::npos) {
      ParsePlace(place, &frame);
      text = text.substr(0, open);
    }
  }
  if (text != "???") frame.function = text;
  return frame;
}

bool IsDhat(std::string_view start) {
  size_t at = 0;
  while (at < start.size() && (IsBlank(start[at]) || start[at] == '\n')) ++at;
  return at < start.size() && start[at] == '{' &&
         start.find("\"dhatFileVersion\"") != std::string_view::npos;
}

std::vector<DhatType> DhatTypes(const DhatFacts& facts) {
  const std::string bytes = facts.bytes_unit.empty() ? "bytes" : facts.bytes_unit;
  // dhat-rs puts "rust-" in front of the modes.
  if (facts.mode.ends_with("ad-hoc")) {
    return {{{"events", "count"}, &DhatPoint::blocks}, {{"event_units", bytes}, &DhatPoint::bytes}};
  }
  if (facts.mode.ends_with("copy")) {
    return {{{"copies", "count"}, &DhatPoint::blocks},
            {{"copied_space", bytes}, &DhatPoint::bytes}};
  }
  std::vector<DhatType> types = {{{"alloc_objects", "count"}, &DhatPoint::blocks},
                                 {{"alloc_space", bytes}, &DhatPoint::bytes}};
  if (facts.has_lifetimes) {
    types.push_back({{"inuse_objects", "count"}, &DhatPoint::end_blocks});
    types.push_back({{"inuse_space", bytes}, &DhatPoint::end_bytes});
    types.push_back({{"peak_objects", "count"}, &DhatPoint::peak_blocks});
    types.push_back({{"peak_space", bytes}, &DhatPoint::peak_bytes});
    types.push_back({{"own_peak_objects", "count"}, &DhatPoint::max_blocks});
    types.push_back({{"own_peak_space", bytes}, &DhatPoint::max_bytes});
    types.push_back({{"lifetimes", facts.time_unit.empty() ? "instrs" : facts.time_unit},
                     &DhatPoint::lifetimes});
  }
  if (facts.has_accesses) {
    types.push_back({{"read_space", "bytes"}, &DhatPoint::read_bytes});
    types.push_back({{"written_space", "bytes"}, &DhatPoint::written_bytes});
  }
  return types;
}

uint64_t DhatUnitNs(const std::string& unit) {
  if (unit == "ns") return 1;
  if (unit == "µs" || unit == "us") return 1000;
  if (unit == "ms") return 1000000;
  if (unit == "s") return 1000000000;
  return 0;
}

}  // namespace heapgauge
