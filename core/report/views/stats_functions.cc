// Sections of `stats` that are tables of functions.

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/report/draw/heat_map.h"
#include "core/report/styled_text.h"
#include "core/report/value_text.h"
#include "core/report/views/stats.h"
#include "core/report/views/trace_parts.h"

namespace heapgauge {
namespace {

using figures::Bytes;
using figures::Count;
using figures::Real;
using figures::Share;
using Align = TextTable::Align;

const char* GroupHeading(const StatsInput& in) {
  return trace::GroupByName(in.subject.groups->by());
}

// The blocks that were chosen may have had their own peak at another time.
std::string MomentText(const trace::TraceStats& stats, const trace::PageUse& use) {
  if (use.name == "peak" && use.time_ns != stats.peak.time_ns) return "At the peak of the heap";
  const bool named = use.name == "peak" || use.name == "end";
  return (named ? "At the " : "At ") + use.name;
}

GroupLabels LabelsOf(const StatsInput& in, const std::vector<uint32_t>& shown) {
  return {in.subject, shown, in.options.names, in.options.layout};
}

StyledText TextOf(const StatsInput& in, TextTable* table) {
  if (in.subject.groups->by() == trace::GroupBy::kStack) table->LastIsAStack();
  return table->Text(in.options.layout);
}

}  // namespace

StyledText SlackSection(const StatsInput& in) {
  const trace::TraceStats& s = in.stats;
  StyledText text(fmt::format("{} over all allocations, {} on top of what was asked for\n",
                              Bytes(s.slack_bytes), Share(s.slack_bytes, s.allocated.bytes)));
  for (const trace::PageUse& use : s.pages) {
    text.Add(fmt::format("{}: {} on top of {} live ({})\n", MomentText(s, use),
                         Bytes(use.slack_bytes), Bytes(use.bytes),
                         Share(use.slack_bytes, use.bytes)));
  }
  if (s.slack_at_limit != 0) {
    text.Add(fmt::format("{} blocks have 64 kB of slack or more and count as 64 kB\n",
                         Count(s.slack_at_limit)));
  }
  const std::vector<uint32_t> order = RankGroups(s, in.options.rows, SlackOf);
  if (order.empty()) return text;
  const GroupLabels labels = LabelsOf(in, order);
  TextTable table;
  table.Column("slack", Align::kRight, 0, Style::kNumber).Column("share", Align::kRight, 2);
  table.Column("per block")
      .Column("blocks", Align::kRight, 3)
      .Column("mean size", Align::kRight, 1)
      .Column(GroupHeading(in), Align::kLeft);
  for (const uint32_t group : order) {
    const trace::GroupStats& g = s.groups[group];
    table.Row({Bytes(g.slack_bytes), Share(g.slack_bytes, s.slack_bytes),
               FormatBytes(Real(g.slack_bytes) / Real(g.all.blocks)), Count(g.all.blocks),
               FormatBytes(Real(g.all.bytes) / Real(g.all.blocks)), labels[group]});
  }
  return text.Add(TextOf(in, &table));
}

StyledText ReallocSection(const StatsInput& in) {
  const trace::ChainSums& all = in.stats.chains;
  const uint64_t unknown = ReallocsOfLeftOut(*in.subject.trace, in.stats);
  if (all.chains == 0 && unknown != 0) {
    return StyledText(
        fmt::format("Not known: realloc made {} blocks of nothing, or of what was left out.\n",
                    Count(unknown)));
  }
  if (all.chains == 0) return StyledText("Nothing was resized.\n");
  StyledText text(
      fmt::format("{} blocks were resized {} times\n", Count(all.chains), Count(all.resizes)));
  text.Add(fmt::format("{} of these moved the block, with up to {} copied\n", Count(all.moves),
                       Bytes(all.copied_bytes)));
  if (unknown != 0) {
    text.Add(fmt::format("realloc made {} others of nothing, or of what was left out\n",
                         Count(unknown)));
  }
  text.Add(fmt::format("the longest chain: {} resizes from {} to {}\n", Count(all.longest),
                       Bytes(all.longest_first_bytes), Bytes(all.longest_last_bytes)));
  std::vector<uint32_t> shown;
  for (const trace::ChainSums& row : in.stats.chain_rows) {
    if (shown.size() == in.options.rows) break;
    shown.push_back(row.group);
  }
  const GroupLabels labels = LabelsOf(in, shown);
  TextTable table;
  table.Column("copied", Align::kRight, 0, Style::kNumber).Column("chains", Align::kRight, 2);
  table.Column("resizes").Column("moved", Align::kRight, 4).Column("longest", Align::kRight, 3);
  table.Column("growth");
  table.Column("mean end", Align::kRight, 1).Column(GroupHeading(in), Align::kLeft);
  for (size_t i = 0; i < shown.size(); ++i) {
    const trace::ChainSums& row = in.stats.chain_rows[i];
    const double factor = row.growth_factor();
    table.Row({Bytes(row.copied_bytes), Count(row.chains), Count(row.resizes), Count(row.moves),
               Count(row.longest), factor > 0 ? fmt::format("x {:.2f}", factor) : "-",
               FormatBytes(Real(row.last_bytes) / Real(row.chains)), labels[row.group]});
  }
  text.Add(TextOf(in, &table));
  return text.Add("growth: new size over old, in the mean; near 1 means many small steps\n",
                  Style::kDim);
}

StyledText ChurnSection(const StatsInput& in) {
  const trace::TraceStats& s = in.stats;
  StyledText text(fmt::format("{} blocks ({} of all) were {}\n", Count(s.temporary.blocks),
                              Share(s.temporary.blocks, s.allocated.blocks),
                              TemporaryText(in.request.temporary_within)));
  const std::vector<uint32_t> order = RankGroups(s, in.options.rows, TemporaryOf);
  if (order.empty()) return text;
  const GroupLabels labels = LabelsOf(in, order);
  TextTable table;
  table.Column("temporary", Align::kRight, 0, Style::kNumber).Column("share", Align::kRight, 2);
  table.Column("of its blocks")
      .Column("bytes", Align::kRight, 1)
      .Column("mean size", Align::kRight, 3);
  table.Column(GroupHeading(in), Align::kLeft);
  for (const uint32_t group : order) {
    const trace::GroupStats& g = s.groups[group];
    table.Row({Count(g.temporary.blocks), Share(g.temporary.blocks, s.temporary.blocks),
               Share(g.temporary.blocks, g.all.blocks), Bytes(g.temporary.bytes),
               FormatBytes(Real(g.temporary.bytes) / Real(g.temporary.blocks)), labels[group]});
  }
  return text.Add(TextOf(in, &table));
}

StyledText LargeSection(const StatsInput& in) {
  const trace::TraceStats& s = in.stats;
  const std::string what =
      fmt::format("blocks of {} and more that lived less than {}", Bytes(in.request.large_bytes),
                  FormatLifetime(Real(in.request.short_ns)));
  if (s.short_large.blocks == 0) return StyledText("There were no " + what + ".\n");
  StyledText text(fmt::format("{} {}: {} in all\n", Count(s.short_large.blocks), what,
                              Bytes(s.short_large.bytes)));
  const std::vector<uint32_t> order = RankGroups(s, in.options.rows, LargeOf);
  const GroupLabels labels = LabelsOf(in, order);
  TextTable table;
  table.Column("bytes", Align::kRight, 0, Style::kNumber).Column("share", Align::kRight, 2);
  table.Column("blocks")
      .Column("mean size", Align::kRight, 1)
      .Column(GroupHeading(in), Align::kLeft);
  for (const uint32_t group : order) {
    const trace::GroupStats& g = s.groups[group];
    table.Row({Bytes(g.short_large.bytes), Share(g.short_large.bytes, s.short_large.bytes),
               Count(g.short_large.blocks),
               FormatBytes(Real(g.short_large.bytes) / Real(g.short_large.blocks)), labels[group]});
  }
  return text.Add(TextOf(in, &table));
}

StyledText PagesSection(const StatsInput& in) {
  StyledText text;
  if (!in.subject.filter.empty()) {
    text.Add("Of the blocks that the filter leaves: what other blocks hold counts as free.\n",
             Style::kDim);
  }
  bool first = true;
  for (const trace::PageUse& use : in.stats.pages) {
    if (!first) text.Add("\n");
    first = false;
    text.Add(MomentText(in.stats, use), Style::kNumber);
    text.Add(fmt::format(" ({}): {} live in {} blocks\n", FormatLifetime(Real(use.time_ns)),
                         Bytes(use.bytes), Count(use.blocks)));
    if (use.blocks == 0) continue;
    TextTable ranges;
    ranges.Column("ranges of").Column("touched").Column("bytes").Column("live").Column("free");
    ranges.Column("up to 1/8 full", Align::kRight, 1).Column("over 7/8", Align::kRight, 1);
    ranges.Column("how full", Align::kLeft, 0, Style::kBar);
    for (const trace::RangeUse& range : use.ranges) {
      std::vector<double> fill;
      for (const uint64_t count : range.by_fill) fill.push_back(Real(count));
      ranges.Row(
          {Bytes(range.unit), Count(range.ranges), Bytes(range.bytes()), Bytes(range.live_bytes),
           Share(range.free_bytes(), range.bytes()), Share(range.by_fill.front(), range.ranges),
           Share(range.by_fill.back(), range.ranges), HistogramText(fill, in.options.layout.utf8)});
    }
    text.Add(ranges.Text(in.options.layout));
    if (use.pins.empty()) continue;
    text.Add(fmt::format("{} of {} are at most a quarter full; the {} free in them are kept by\n",
                         Count(use.pinned_ranges), Bytes(use.pin_unit), Bytes(use.pinned_bytes)));
    std::vector<uint32_t> shown;
    for (const trace::PinRow& row : use.pins) {
      if (shown.size() == in.options.rows) break;
      shown.push_back(row.group);
    }
    const GroupLabels labels = LabelsOf(in, shown);
    TextTable pins;
    pins.Column("pinned", Align::kRight, 0, Style::kNumber).Column("share").Column("blocks");
    pins.Column("their bytes")
        .Column("alone", Align::kRight, 1)
        .Column(GroupHeading(in), Align::kLeft);
    for (size_t i = 0; i < shown.size(); ++i) {
      const trace::PinRow& row = use.pins[i];
      pins.Row({Bytes(row.pinned_bytes), Share(row.pinned_bytes, use.pinned_bytes),
                Count(row.blocks), Bytes(row.live_bytes), Count(row.ranges_alone),
                labels[row.group]});
    }
    text.Add(TextOf(in, &pins));
  }
  return text;
}

}  // namespace heapgauge
