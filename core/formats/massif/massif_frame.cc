#include "core/formats/massif/massif_frame.h"

#include <fmt/format.h>

#include <charconv>

#include "core/formats/text/scan.h"

namespace heapgauge {
namespace {

// "in 3 places, all below massif's threshold (1.00%)", "in 1 place, below ..."
bool IsFolded(std::string_view text) {
  size_t at = 0;
  int64_t places = 0;
  if (!TakeText(text, &at, "in ") || TakeDecimal(text, &at, &places) != Taken::kYes) return false;
  return text.substr(at).starts_with(" place") && text.find("threshold") != std::string_view::npos;
}

// "(x.c:12)" and "(in /usr/bin/x)", at the end.
void TakePlace(std::string_view* text, MassifFrame* frame) {
  if (!text->ends_with(')')) return;
  const size_t open = text->rfind(" (");
  if (open == std::string_view::npos) return;
  const std::string_view place = text->substr(open + 2, text->size() - open - 3);
  if (place.starts_with("in ")) {
    frame->module = Trimmed(place.substr(3));
  } else {
    const size_t colon = place.rfind(':');
    if (colon == std::string_view::npos) return;
    const char* end = place.data() + place.size();
    const auto parsed = std::from_chars(place.data() + colon + 1, end, frame->line);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
      frame->line = 0;
      return;
    }
    frame->file = place.substr(0, colon);
  }
  *text = Trimmed(text->substr(0, open));
}

}  // namespace

MassifFrame ParseMassifFrame(std::string_view text) {
  MassifFrame frame;
  if (IsFolded(text)) {
    frame.folded = true;
    frame.name = text;
    return frame;
  }
  size_t at = 0;
  if (TakeText(text, &at, "0x") && TakeHex(text, &at, &frame.address) == Taken::kYes &&
      TakeChar(text, &at, ':')) {
    text = Trimmed(text.substr(at));
  } else {
    frame.address = 0;
  }
  TakePlace(&text, &frame);
  if (text != "???") frame.name = text;
  return frame;
}

std::string MassifFrameText(const MassifFrame& frame) {
  if (frame.folded) return std::string(frame.name);
  std::string text =
      fmt::format("0x{:X}: {}", frame.address, frame.name.empty() ? "???" : frame.name);
  if (!frame.file.empty()) {
    text += fmt::format(" ({}:{})", frame.file, frame.line);
  } else if (!frame.module.empty()) {
    text += fmt::format(" (in {})", frame.module);
  }
  return text;
}

}  // namespace heapgauge
