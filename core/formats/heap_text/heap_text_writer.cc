#include "core/formats/heap_text/heap_text_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapgauge {
namespace {

constexpr size_t kPiece = 64 << 10;

void AppendFigures(CountAndSize in_use, CountAndSize allocated, std::string* text) {
  fmt::format_to(std::back_inserter(*text), "{:6}: {:8} [{:6}: {:8}] @", in_use.count, in_use.size,
                 allocated.count, allocated.size);
}

// Rows of a difference may be negative, but readers know no header that is.
CountAndSize NotNegative(CountAndSize figures) {
  return {std::max<int64_t>(figures.count, 0), std::max<int64_t>(figures.size, 0)};
}

}  // namespace

Status WriteHeapText(const Profile& profile, const TextWriteOptions& options, TextSink* sink) {
  HG_ASSIGN(ProfileText source, ProfileText::Make(profile, options));
  // google-pprof takes no marker before the header.
  HG_TRY(source.WriteSymbols("", sink));
  const TextRow totals = source.Totals();
  std::string text = "heap profile: ";
  AppendFigures(NotNegative(totals.in_use.lines[0]), NotNegative(totals.allocated.lines[0]), &text);
  text += source.rate() > 1 ? fmt::format(" heap_v2/{}\n", source.rate()) : " heapprofile\n";
  std::string stack;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (!source.selected(row)) continue;
    const TextRow figures = source.Row(row);
    stack.clear();
    for (size_t i = 0; i < figures.in_use.lines.size(); ++i) {
      const CountAndSize in_use = figures.in_use.lines[i];
      const CountAndSize allocated = figures.allocated.lines[i];
      if (in_use.count == 0 && allocated.count == 0) continue;
      if (stack.empty()) source.AppendStack(row, &stack);
      AppendFigures(in_use, allocated, &text);
      text += stack;
      text += '\n';
    }
    if (text.size() < kPiece) continue;
    HG_TRY(sink->Write(text));
    text.clear();
  }
  text += source.Mappings();
  return sink->Write(text);
}

}  // namespace heapgauge
