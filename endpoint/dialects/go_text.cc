#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/formats/text/profile_text.h"
#include "endpoint/dialects/go.h"
#include "endpoint/dialects/gperftools.h"

namespace heapgauge::endpoint {
namespace {

void AppendFigures(CountAndSize in_use, CountAndSize allocated, std::string* text) {
  fmt::format_to(std::back_inserter(*text), "{}: {} [{}: {}] @", in_use.count, in_use.size,
                 allocated.count, allocated.size);
}

// "#<TAB>0x1234<TAB>name<TAB>file:line" for each frame, inlined ones too.
void AppendFrames(const Profile& profile, const std::vector<LocationId>& stack, std::string* text) {
  for (const LocationId id : stack) {
    const Location& location = profile.locations[id];
    for (uint32_t i = 0; i < location.frame_count; ++i) {
      const Frame& frame = profile.frames[location.first_frame + i];
      if (frame.function == kNone) continue;
      const Function& function = profile.functions[frame.function];
      fmt::format_to(std::back_inserter(*text), "#\t0x{:x}\t{}", location.address,
                     Printable(function.name));
      if (!function.file.empty()) {
        fmt::format_to(std::back_inserter(*text), "\t{}:{}", Printable(function.file), frame.line);
      }
      *text += '\n';
    }
  }
  *text += '\n';
}

// Go's names for what is known here too.
std::string HeapFiguresText(const Profile& profile) {
  const auto total = [&](size_t type) {
    return static_cast<long long>(std::max(profile.Total(type).value, 0.0));
  };
  std::string text = "\n# runtime.MemStats\n";
  const auto line = [&](const char* name, long long value) {
    text += fmt::format("# {} = {}\n", name, value);
  };
  line("Alloc", total(kInuseSpace));
  line("TotalAlloc", total(kAllocSpace));
  line("Mallocs", total(kAllocObjects));
  line("Frees", std::max(total(kAllocObjects) - total(kInuseObjects), 0LL));
  line("HeapAlloc", total(kInuseSpace));
  line("HeapObjects", total(kInuseObjects));
  if (const uint64_t resident = profile.recording.dump.resident_bytes; resident != 0) {
    line("Sys", static_cast<long long>(resident));
  }
  return text;
}

bool IsHeap(const Profile& profile) {
  const auto types = HeapSampleTypes();
  return profile.sample_types.size() == types.size() &&
         std::equal(types.begin(), types.end(), profile.sample_types.begin(),
                    [](const SampleType& a, const SampleType& b) { return a.name == b.name; });
}

}  // namespace

Result<std::string> GoText(const Profile& named) {
  const TextWriteOptions options;
  HG_ASSIGN(ProfileText source, ProfileText::Make(named, options));
  const TextRow totals = source.Totals();
  std::string text = "heap profile: ";
  AppendFigures(totals.in_use.lines[0], totals.allocated.lines[0], &text);
  text += source.rate() > 1 ? fmt::format(" heap/{}\n", 2 * source.rate()) : " heapprofile\n";
  text = TellApart(std::move(text));
  std::vector<LocationId> stack;
  for (RowId row = 0; row < named.rows.size(); ++row) {
    const TextRow figures = source.Row(row);
    for (size_t i = 0; i < figures.in_use.lines.size(); ++i) {
      const CountAndSize in_use = figures.in_use.lines[i];
      const CountAndSize allocated = figures.allocated.lines[i];
      if (in_use.count == 0 && allocated.count == 0) continue;
      AppendFigures(in_use, allocated, &text);
      source.AppendStack(row, &text);
      text += '\n';
      named.StackOf(row, &stack);
      AppendFrames(named, stack, &text);
    }
  }
  if (IsHeap(named)) text += HeapFiguresText(named);
  // Go has none, since its names are inside; with it, addresses find their modules.
  text += source.Mappings();
  return text;
}

}  // namespace heapgauge::endpoint
