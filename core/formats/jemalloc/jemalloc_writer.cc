#include "core/formats/jemalloc/jemalloc_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr size_t kPiece = 64 << 10;
constexpr int64_t kNoThread = -1;

struct Sums {
  CountAndSize in_use;
  CountAndSize allocated;
  std::string name;

  void Add(CountAndSize more_in_use, CountAndSize more_allocated) {
    in_use.Add(more_in_use);
    allocated.Add(more_allocated);
  }
};

void AppendLine(const std::string& thread, CountAndSize in_use, CountAndSize allocated,
                const std::string& name, std::string* text) {
  fmt::format_to(std::back_inserter(*text), "  t{}: {}: {} [{}: {}]{}{}\n", thread, in_use.count,
                 in_use.size, allocated.count, allocated.size, name.empty() ? "" : " ", name);
}

int64_t ThreadOf(const Profile& profile, RowId row, std::string* name) {
  int64_t thread = kNoThread;
  for (const Label& label : profile.LabelsOf(row)) {
    const std::string& key = profile.strings[label.key];
    if (key == "thread" && label.is_number() && label.number >= 0) thread = label.number;
    if (key == "thread_name" && !label.is_number()) *name = Printable(profile.strings[label.text]);
  }
  return thread;
}

}  // namespace

Status WriteJemalloc(const Profile& profile, const TextWriteOptions& options, TextSink* sink) {
  HG_ASSIGN(ProfileText source, ProfileText::Make(profile, options));
  HG_TRY(source.WriteSymbols("heap", sink));
  std::vector<RowId> order(profile.rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](RowId a, RowId b) { return profile.rows[a].leaf < profile.rows[b].leaf; });
  Sums all;
  std::map<int64_t, Sums> threads;
  for (const RowId row : order) {
    if (!source.selected(row)) continue;
    const TextRow figures = source.Row(row);
    std::string name;
    const int64_t thread = ThreadOf(profile, row, &name);
    for (size_t i = 0; i < figures.in_use.lines.size(); ++i) {
      all.Add(figures.in_use.lines[i], figures.allocated.lines[i]);
      if (thread == kNoThread) continue;
      threads[thread].Add(figures.in_use.lines[i], figures.allocated.lines[i]);
      threads[thread].name = name;
    }
  }
  std::string text = fmt::format("heap_v2/{}\n", source.rate());
  AppendLine("*", all.in_use, all.allocated, "", &text);
  for (const auto& [thread, sums] : threads) {
    AppendLine(std::to_string(thread), sums.in_use, sums.allocated, sums.name, &text);
  }
  bool first = true;
  NodeId last = kNone;
  for (const RowId row : order) {
    if (!source.selected(row)) continue;
    const TextRow figures = source.Row(row);
    std::string name;
    const int64_t thread = ThreadOf(profile, row, &name);
    for (size_t i = 0; i < figures.in_use.lines.size(); ++i) {
      const CountAndSize in_use = figures.in_use.lines[i];
      const CountAndSize allocated = figures.allocated.lines[i];
      if (in_use.count == 0 && allocated.count == 0) continue;
      if (first || last != profile.rows[row].leaf) {
        text += '@';
        source.AppendStack(row, &text);
        text += '\n';
        last = profile.rows[row].leaf;
        first = false;
      }
      // Readers scale line by line, so lines of one stack are not added up here.
      AppendLine("*", in_use, allocated, "", &text);
      if (thread != kNoThread) {
        AppendLine(std::to_string(thread), in_use, allocated, "", &text);
      }
    }
    if (text.size() < kPiece) continue;
    HG_TRY(sink->Write(text));
    text.clear();
  }
  text += source.Mappings();
  return sink->Write(text);
}

}  // namespace heapgauge
