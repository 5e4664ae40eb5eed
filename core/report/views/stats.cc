#include "core/report/views/stats.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/report/draw/heat_map.h"
#include "core/report/styled_text.h"
#include "core/report/value_text.h"
#include "core/report/views/lifetimes.h"
#include "core/report/views/trace_parts.h"

namespace heapgauge {
namespace {

using figures::Bytes;
using figures::Count;
using figures::Real;
using figures::Share;
using trace::BlockCount;
using Align = TextTable::Align;

StyledText FactLine(const char* label, const std::string& text) {
  StyledText line;
  return line.AddRight(label, 16, Style::kLabel).Add(text).Add("\n");
}

std::string Blocks(const BlockCount& count) {
  return fmt::format("{} ({})", Count(count.blocks), Bytes(count.bytes));
}

StyledText ResizedLine(const StatsInput& in) {
  const trace::TraceStats& s = in.stats;
  const uint64_t unknown = ReallocsOfLeftOut(*in.subject.trace, s);
  const std::string known = fmt::format("{} blocks were made of others by realloc ({})",
                                        Count(s.resizes), Share(s.resizes, s.allocated.blocks));
  if (unknown == 0) return FactLine("resized", known);
  return FactLine(
      "resized",
      s.resizes == 0
          ? fmt::format("not known: realloc made {} of nothing, or of what was left out",
                        Count(unknown))
          : fmt::format("{}, and {} of nothing or of what was left out", known, Count(unknown)));
}

}  // namespace

bool KnowsPlaces(const trace::TraceStats& stats) {
  return std::all_of(stats.pages.begin(), stats.pages.end(),
                     [](const trace::PageUse& use) { return use.knows_places(); });
}

uint64_t ReallocsOfLeftOut(const trace::TraceFile& trace, const trace::TraceStats& stats) {
  return trace.facts().culled_below_ns != 0 ? stats.unlinked_reallocs : 0;
}

std::string TemporaryText(uint32_t within) {
  if (within == 0) return "freed before the next allocation";
  return fmt::format("freed within {} allocation{}", within, within == 1 ? "" : "s");
}

const char* CallName(size_t function) {
  static constexpr const char* kNames[] = {"malloc", "calloc", "realloc", "aligned",
                                           "new",    "new[]",  "mallocx", "pool"};
  return function < std::size(kNames) ? kNames[function] : "other";
}

StyledText TotalsSection(const StatsInput& in) {
  const trace::TraceStats& s = in.stats;
  StyledText text;
  std::string allocated = Blocks(s.allocated);
  if (s.allocated.blocks != 0) {
    allocated += fmt::format(", {} on average",
                             FormatBytes(Real(s.allocated.bytes) / Real(s.allocated.blocks)));
  }
  text += FactLine("allocated", allocated);
  text += FactLine("freed", fmt::format("{}, {} of the blocks", Blocks(s.freed),
                                        Share(s.freed.blocks, s.allocated.blocks)));
  text += FactLine("never freed", Blocks(s.never_freed));
  text += FactLine(
      "peak", fmt::format("{} in {} block{} at {}", Bytes(s.peak.bytes), Count(s.peak.blocks),
                          s.peak.blocks == 1 ? "" : "s", FormatLifetime(Real(s.peak.time_ns))));
  if (s.pieces != 0) {
    text += FactLine("pieces", fmt::format("{} mapping{} what munmap, mremap or a mapping on top "
                                           "left of others ({})",
                                           Count(s.pieces), s.pieces == 1 ? " is" : "s are",
                                           Share(s.pieces, s.allocated.blocks)));
  }
  // Where there is nothing but mappings, realloc has no part.
  if (!in.subject.trace->facts().only_blocks && (s.pieces == 0 || s.resizes != 0)) {
    text += ResizedLine(in);
  }
  text += FactLine("temporary", fmt::format("{}, {}: {}", Blocks(s.temporary),
                                            Share(s.temporary.blocks, s.allocated.blocks),
                                            TemporaryText(in.request.temporary_within)));
  if (s.zero_sized.blocks != 0) {
    text += FactLine("of no bytes", Count(s.zero_sized.blocks) + " requests were for 0 bytes");
  }
  return text;
}

StyledText RatesSection(const StatsInput& in) {
  const trace::TraceStats& s = in.stats;
  const trace::Rates& rates = s.rates;
  const double seconds = Real(rates.over_ns) / 1e9;
  StyledText text;
  if (!(seconds > 0)) return text.Add("The trace, or the range of it, has no duration.\n");
  text += FactLine("mean", fmt::format("{} allocations/s, {}/s over {}",
                                       FormatCount(Real(s.allocated.blocks) / seconds),
                                       FormatBytes(Real(s.allocated.bytes) / seconds),
                                       FormatLifetime(Real(rates.over_ns))));
  const trace::RateBin& busiest = rates.bins[rates.busiest];
  const uint64_t begin = rates.busiest * rates.bin_ns;
  const bool by_second = rates.bin_ns == 1'000'000'000;
  text += FactLine(
      by_second ? "busiest second" : "busiest",
      fmt::format("{}from {} on: {} allocations, {}, {} frees",
                  by_second ? "" : FormatDuration(rates.bin_ns) + " ", FormatDuration(begin),
                  Count(busiest.allocations), Bytes(busiest.bytes), Count(busiest.frees)));
  if (in.options.layout.width < 20) return text;
  const size_t columns = std::min(in.options.layout.width - 16, trace::kCourseParts);
  std::vector<double> allocations(columns);
  std::vector<double> bytes(columns);
  for (size_t i = 0; i < trace::kCourseParts; ++i) {
    const size_t column = i * columns / trace::kCourseParts;
    allocations[column] += Real(rates.course[i].allocations);
    bytes[column] += Real(rates.course[i].bytes);
  }
  text.AddRight("allocations", 16, Style::kLabel);
  text.Add(HistogramText(allocations, in.options.layout.utf8), Style::kBar).Add("\n");
  text.AddRight("bytes", 16, Style::kLabel);
  text.Add(HistogramText(bytes, in.options.layout.utf8), Style::kBar).Add("\n");
  text.Add(std::string(16, ' '));
  text.Add(fmt::format("from the start to the end, {} a column\n",
                       FormatLifetime(Real(s.duration_ns) / Real(columns))),
           Style::kDim);
  return text;
}

StyledText SizesSection(const StatsInput& in) {
  const trace::TraceStats& s = in.stats;
  TextTable table;
  table.Column("up to").Column("blocks").Column("share", Align::kRight, 2).Column("bytes");
  table.Column("share", Align::kRight, 3).Column("never freed", Align::kRight, 1);
  table.Column("bytes", Align::kRight, 4);
  table.Column("blocks", Align::kLeft, 5, Style::kBar);
  uint64_t most = 1;
  for (const trace::SizeStats& size : s.sizes) most = std::max(most, size.all.blocks);
  for (size_t i = 0; i < s.sizes.size(); ++i) {
    const trace::SizeStats& size = s.sizes[i];
    if (size.all.blocks == 0) continue;
    constexpr uint64_t kBar = 16;
    const auto length =
        static_cast<uint64_t>(Real(size.all.blocks) / Real(most) * static_cast<double>(kBar) + 0.5);
    std::string bar;
    for (uint64_t k = 0; k < length; ++k) bar += in.options.layout.utf8 ? "\u2588" : "#";
    if (length == 0) bar = in.options.layout.utf8 ? "\u258f" : ".";
    table.Row({SizeClassLabel(i), Count(size.all.blocks),
               Share(size.all.blocks, s.allocated.blocks), Bytes(size.all.bytes),
               Share(size.all.bytes, s.allocated.bytes), Count(size.never_freed.blocks),
               Bytes(size.never_freed.bytes), bar});
  }
  StyledText text = table.Text(in.options.layout);
  text.Add("\n");
  text.Add(fmt::format("The most frequent of {}{} different sizes:\n",
                       s.all_sizes_counted ? "" : "more than ", Count(s.distinct_sizes)));
  TextTable exact;
  exact.Column("size").Column("blocks").Column("share").Column("bytes").Column("share");
  for (size_t i = 0; i < s.exact_sizes.size() && i < in.options.rows; ++i) {
    const trace::ExactSize& size = s.exact_sizes[i];
    exact.Row({Count(size.size), Count(size.blocks), Share(size.blocks, s.allocated.blocks),
               Bytes(size.blocks * size.size), Share(size.blocks * size.size, s.allocated.bytes)});
  }
  return text.Add(exact.Text(in.options.layout));
}

StyledText CallsSection(const StatsInput& in) {
  const trace::TraceStats& s = in.stats;
  TextTable table;
  table.Column("call", Align::kLeft).Column("blocks").Column("share").Column("bytes");
  table.Column("share").Column("mean size");
  for (size_t i = 0; i < s.calls.size(); ++i) {
    const BlockCount& call = s.calls[i];
    if (call.blocks == 0) continue;
    table.Row({CallName(i), Count(call.blocks), Share(call.blocks, s.allocated.blocks),
               Bytes(call.bytes), Share(call.bytes, s.allocated.bytes),
               FormatBytes(Real(call.bytes) / Real(call.blocks))});
  }
  return table.Text(in.options.layout);
}

StyledText ThreadsSection(const StatsInput& in) {
  const trace::TraceStats& s = in.stats;
  std::vector<size_t> order;
  for (size_t i = 0; i < s.threads.size(); ++i) {
    if (s.threads[i].allocated.blocks + s.threads[i].frees != 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return s.threads[a].allocated.blocks > s.threads[b].allocated.blocks;
  });
  TextTable table;
  table.Column("allocated").Column("bytes").Column("frees", Align::kRight, 1);
  table.Column("of others'", Align::kRight, 2).Column("by others", Align::kRight, 3);
  table.Column("never freed", Align::kRight, 4).Column("thread", Align::kLeft);
  const std::vector<trace::Thread>& threads = in.subject.trace->threads();
  const size_t rows = in.options.rows;
  for (size_t k = 0; k < order.size() && k < rows; ++k) {
    const trace::ThreadStats& t = s.threads[order[k]];
    std::string name = order[k] < threads.size() ? fmt::format("{} {}", threads[order[k]].id,
                                                               Printable(threads[order[k]].name))
                                                 : "(unknown)";
    if (name.back() == ' ') name.pop_back();
    table.Row({Count(t.allocated.blocks), Bytes(t.allocated.bytes), Count(t.frees),
               Count(t.frees_of_others), Count(t.freed_by_others), Bytes(t.never_freed.bytes),
               name});
  }
  StyledText text = table.Text(in.options.layout);
  if (order.size() > rows) {
    text.Add(fmt::format("{} {} more threads\n", in.options.layout.ellipsis(),
                         Count(order.size() - rows)),
             Style::kDim);
  }
  return text.Add(
      "of others': frees of other threads' blocks; by others: its own, freed by others\n",
      Style::kDim);
}

StyledText AlignmentSection(const StatsInput& in) {
  const trace::TraceStats& s = in.stats;
  TextTable table;
  table.Column("alignment").Column("blocks").Column("share").Column("bytes");
  for (size_t i = 1; i < s.alignments.size(); ++i) {
    if (s.alignments[i].blocks == 0) continue;
    table.Row({SizeClassLabel(i), Count(s.alignments[i].blocks),
               Share(s.alignments[i].blocks, s.allocated.blocks), Bytes(s.alignments[i].bytes)});
  }
  if (table.empty()) return StyledText("No alignment was asked for.\n");
  return table.Text(in.options.layout);
}

const std::vector<std::string>& StatsSections() {
  static const std::vector<std::string> sections = {"totals",    "rates", "sizes",   "calls",
                                                    "threads",   "slack", "realloc", "churn",
                                                    "alignment", "large", "pages"};
  return sections;
}

StyledText StatsText(const TraceSubject& subject, const trace::TraceStats& stats,
                     const trace::StatsRequest& request, const StatsOptions& options) {
  struct Section {
    const char* name;
    const char* heading;
    StyledText (*write)(const StatsInput&);
    bool needs_more_than_blocks = false;  // see trace::Facts::only_blocks
    bool needs_places = false;
  };
  static constexpr Section kSections[] = {
      {"totals", "Totals", TotalsSection},
      {"rates", "Rates", RatesSection},
      {"sizes", "Sizes", SizesSection},
      {"calls", "By call", CallsSection, true},
      {"threads", "Threads", ThreadsSection, true},
      {"slack", "Slack: what the allocator gave beyond what was asked for", SlackSection, true},
      {"realloc", "Buffers that grow by realloc", ReallocSection, true},
      {"churn", "Churn: blocks that are gone at once", ChurnSection},
      {"alignment", "Alignment", AlignmentSection, true},
      {"large", "Large blocks that live shortly", LargeSection},
      {"pages", "Pages: how the heap lies in memory", PagesSection, false, true},
  };
  const StatsInput in{subject, stats, request, options};
  StyledText text = TraceHeading(*subject.trace, subject.filter, subject.notes, options.layout);
  const auto asked = [&](const std::string& name) {
    return options.sections.empty() || std::find(options.sections.begin(), options.sections.end(),
                                                 name) != options.sections.end();
  };
  for (const Section& section : kSections) {
    if (!asked(section.name)) continue;
    text.Add("\n").Add(section.heading, Style::kTitle).Add("\n");
    const bool empty = stats.allocated.blocks == 0 && request.wants_counts;
    const bool unknown = (section.needs_more_than_blocks && subject.trace->facts().only_blocks) ||
                         (section.needs_places && !KnowsPlaces(stats));
    text.Add(empty     ? StyledText(subject.filter.empty() ? "Nothing was allocated.\n"
                                                           : "The filter leaves nothing.\n")
             : unknown ? StyledText("Not known: the tool that recorded the trace did not tell.\n")
                       : section.write(in));
    if (empty) break;
  }
  return text;
}

}  // namespace heapgauge
