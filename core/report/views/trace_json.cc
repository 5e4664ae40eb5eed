// Lifetimes and stats of a trace as JSON and CSV.

#include <algorithm>
#include <vector>

#include "core/base/json.h"
#include "core/report/csv.h"
#include "core/report/views/lifetimes.h"
#include "core/report/views/stats.h"
#include "core/report/views/trace_parts.h"

namespace heapgauge {
namespace {

using trace::BlockCount;

Json CountJson(const BlockCount& count) {
  return {{"blocks", count.blocks}, {"bytes", count.bytes}};
}

Json SumsJson(const trace::LifetimeSums& sums, const trace::LifetimeHistogram& histogram) {
  Json json = {{"blocks", sums.all.blocks},
               {"bytes", sums.all.bytes},
               {"freed_blocks", sums.freed_blocks()},
               {"freed_bytes", sums.all.bytes - sums.never_freed.bytes},
               {"never_freed", CountJson(sums.never_freed)},
               {"temporary", CountJson(sums.temporary)}};
  if (sums.freed_blocks() != 0) {
    json["mean_ns"] = sums.mean_ns();
    json["median_ns"] = histogram.Percentile(0.5);
    json["p90_ns"] = histogram.Percentile(0.9);
    json["p99_ns"] = histogram.Percentile(0.99);
  }
  Json steps = Json::Array();
  for (const BlockCount& step : histogram.steps) steps.Add(CountJson(step));
  json["by_lifetime"] = std::move(steps);
  return json;
}

Json StepsJson() {
  Json list = Json::Array();
  const auto steps = LifetimeSteps();
  for (size_t i = 0; i < steps.size(); ++i) {
    Json step = {{"name", steps[i].name}};
    const bool ends = i < kLongestStep;
    if (i < kNeverFreedStep) step["from_ns"] = i == 0 ? 0 : steps[i - 1].end_ns;
    if (ends) step["below_ns"] = steps[i].end_ns;
    list.Add(std::move(step));
  }
  return list;
}

}  // namespace

std::string LifetimesJson(const TraceSubject& subject, const trace::LifetimeReport& report) {
  Json json = TraceJson(*subject.trace, subject.filter, subject.notes);
  json["by"] = trace::GroupByName(subject.groups->by());
  json["lifetimes"] = StepsJson();
  json["total"] = SumsJson(report.total, report.histogram);
  Json sizes = Json::Array();
  for (size_t i = 0; i < kSizeClasses; ++i) {
    const BlockCount all = report.SizeClass(i);
    if (all.blocks == 0) continue;
    Json cells = Json::Array();
    for (const BlockCount& cell : report.cells[i]) cells.Add(CountJson(cell));
    sizes.Add({{"above", i == 0 ? 0 : SizeClassEnd(i - 1)},
               {"up_to", SizeClassEnd(i)},
               {"blocks", all.blocks},
               {"bytes", all.bytes},
               {"by_lifetime", std::move(cells)}});
  }
  json["sizes"] = std::move(sizes);
  json["groups"] = report.groups;
  Json rows = Json::Array();
  std::vector<uint32_t> shown;
  for (const trace::LifetimeRow& row : report.rows) shown.push_back(row.group);
  const GroupLabels labels(subject, shown, Names::kShort, {});
  for (const trace::LifetimeRow& row : report.rows) {
    Json entry = GroupJson(subject, row.group);
    entry["label"] = labels[row.group];
    entry.Merge(SumsJson(row.sums, row.histogram));
    rows.Add(std::move(entry));
  }
  json["rows"] = std::move(rows);
  return json.Text();
}

std::string LifetimesCsv(const TraceSubject& subject, const trace::LifetimeReport& report) {
  Csv csv;
  AddGroupHeadings(subject, &csv);
  csv.Text("lifetime").Text("blocks").Text("bytes");
  csv.EndRow();
  for (const trace::LifetimeRow& row : report.rows) {
    for (size_t i = 0; i < kLifetimeSteps; ++i) {
      const BlockCount& step = row.histogram.steps[i];
      if (step.blocks == 0) continue;
      AddGroup(subject, row.group, &csv);
      csv.Text(LifetimeSteps()[i].name).Number(step.blocks).Number(step.bytes);
      csv.EndRow();
    }
  }
  return csv.Take();
}

namespace {

// Nothing was left out that blocks may have been made of, or they were made of others as well.
bool KnowsResizes(const StatsInput& in) {
  return in.stats.resizes != 0 || ReallocsOfLeftOut(*in.subject.trace, in.stats) == 0;
}

// `all`: the trace knows more than blocks; what it does not know is null.
Json TotalsJson(const StatsInput& in, bool all) {
  const trace::TraceStats& s = in.stats;
  return {
      {"allocated", CountJson(s.allocated)},
      {"freed", CountJson(s.freed)},
      {"never_freed", CountJson(s.never_freed)},
      {"peak", {{"bytes", s.peak.bytes}, {"blocks", s.peak.blocks}, {"time_ns", s.peak.time_ns}}},
      {"resizes", all && KnowsResizes(in) ? Json(s.resizes) : Json()},
      {"unlinked_reallocs", all ? Json(s.unlinked_reallocs) : Json()},
      {"mapping_pieces", all ? Json(s.pieces) : Json()},
      {"temporary", CountJson(s.temporary)},
      {"temporary_within", in.request.temporary_within},
      {"zero_sized", s.zero_sized.blocks},
      {"slack_bytes", all ? Json(s.slack_bytes) : Json()}};
}

Json BinJson(const trace::RateBin& bin) {
  return {{"allocations", bin.allocations}, {"bytes", bin.bytes}, {"frees", bin.frees}};
}

Json RatesJson(const trace::TraceStats& s) {
  const double seconds = static_cast<double>(s.rates.over_ns) / 1e9;
  Json json = {
      {"duration_ns", s.duration_ns}, {"over_ns", s.rates.over_ns}, {"bin_ns", s.rates.bin_ns}};
  if (seconds > 0) {
    json["allocations_per_second"] = static_cast<double>(s.allocated.blocks) / seconds;
    json["bytes_per_second"] = static_cast<double>(s.allocated.bytes) / seconds;
  }
  json["busiest_bin"] = s.rates.busiest;
  // Long runs in as many points as a picture can use; each is the sum over `bins_per_point`.
  constexpr size_t kPoints = 3600;
  const size_t per_point = (s.rates.bins.size() + kPoints - 1) / kPoints;
  json["bins_per_point"] = per_point;
  Json points = Json::Array();
  for (size_t i = 0; i < s.rates.bins.size(); i += per_point) {
    trace::RateBin sum;
    for (size_t k = i; k < std::min(i + per_point, s.rates.bins.size()); ++k) {
      sum.Add(s.rates.bins[k]);
    }
    points.Add(BinJson(sum));
  }
  json["points"] = std::move(points);
  Json course = Json::Array();
  for (const trace::RateBin& part : s.rates.course) course.Add(BinJson(part));
  json["hundredths"] = std::move(course);
  const trace::RateBin& busiest = s.rates.bins[s.rates.busiest];
  json["busiest"] = {{"from_ns", s.rates.busiest * s.rates.bin_ns},
                     {"allocations", busiest.allocations},
                     {"bytes", busiest.bytes},
                     {"frees", busiest.frees}};
  return json;
}

Json SizesJson(const trace::TraceStats& s) {
  Json classes = Json::Array();
  for (size_t i = 0; i < s.sizes.size(); ++i) {
    if (s.sizes[i].all.blocks == 0) continue;
    classes.Add({{"above", i == 0 ? 0 : SizeClassEnd(i - 1)},
                 {"up_to", SizeClassEnd(i)},
                 {"blocks", s.sizes[i].all.blocks},
                 {"bytes", s.sizes[i].all.bytes},
                 {"never_freed", CountJson(s.sizes[i].never_freed)}});
  }
  Json exact = Json::Array();
  for (const trace::ExactSize& size : s.exact_sizes) {
    exact.Add({{"size", size.size}, {"blocks", size.blocks}});
  }
  return {{"classes", std::move(classes)},
          {"distinct", s.distinct_sizes},
          {"all_counted", s.all_sizes_counted},
          {"most_frequent", std::move(exact)}};
}

Json CallsJson(const trace::TraceStats& s) {
  Json calls = Json::Array();
  for (size_t i = 0; i < s.calls.size(); ++i) {
    if (s.calls[i].blocks == 0) continue;
    calls.Add({{"call", CallName(i)}, {"blocks", s.calls[i].blocks}, {"bytes", s.calls[i].bytes}});
  }
  return calls;
}

Json ThreadsJson(const StatsInput& in) {
  const std::vector<trace::Thread>& threads = in.subject.trace->threads();
  Json list = Json::Array();
  for (size_t i = 0; i < in.stats.threads.size(); ++i) {
    const trace::ThreadStats& t = in.stats.threads[i];
    if (t.allocated.blocks + t.frees == 0) continue;
    Json thread = {{"thread", nullptr}};
    if (i < threads.size()) {
      thread = {{"thread", threads[i].id}, {"thread_name", threads[i].name}};
    }
    thread["allocated"] = CountJson(t.allocated);
    thread["frees"] = t.frees;
    thread["frees_of_others"] = t.frees_of_others;
    thread["freed_by_others"] = t.freed_by_others;
    thread["never_freed"] = CountJson(t.never_freed);
    list.Add(std::move(thread));
  }
  return list;
}

Json GroupsJson(const StatsInput& in, const std::vector<uint32_t>& order) {
  Json list = Json::Array();
  for (const uint32_t group : order) {
    const trace::GroupStats& g = in.stats.groups[group];
    Json row = GroupJson(in.subject, group);
    row["allocated"] = CountJson(g.all);
    row["never_freed"] = CountJson(g.never_freed);
    row["temporary"] = CountJson(g.temporary);
    row["short_lived_large"] = CountJson(g.short_large);
    row["slack_bytes"] = g.slack_bytes;
    list.Add(std::move(row));
  }
  return list;
}

Json ChainJson(const trace::ChainSums& c) {
  return {{"chains", c.chains},
          {"resizes", c.resizes},
          {"growths", c.growths},
          {"moves", c.moves},
          {"copied_bytes", c.copied_bytes},
          {"first_bytes", c.first_bytes},
          {"last_bytes", c.last_bytes},
          {"growth_factor", c.growth_factor()},
          {"longest",
           {{"resizes", c.longest},
            {"first_bytes", c.longest_first_bytes},
            {"last_bytes", c.longest_last_bytes}}}};
}

}  // namespace

Json PageUseJson(const TraceSubject& subject, const trace::PageUse& use, size_t rows) {
  Json ranges = Json::Array();
  for (const trace::RangeUse& range : use.ranges) {
    Json fill = Json::Array();
    for (const uint64_t count : range.by_fill) fill.Add(count);
    ranges.Add({{"unit", range.unit},
                {"ranges", range.ranges},
                {"live_bytes", range.live_bytes},
                {"free_bytes", range.free_bytes()},
                {"by_eighths_full", std::move(fill)}});
  }
  Json pins = Json::Array();
  for (size_t i = 0; i < use.pins.size() && i < rows; ++i) {
    const trace::PinRow& row = use.pins[i];
    Json pin = GroupJson(subject, row.group);
    pin["pinned_bytes"] = row.pinned_bytes;
    pin["blocks"] = row.blocks;
    pin["block_bytes"] = row.live_bytes;
    pin["ranges_alone"] = row.ranges_alone;
    pins.Add(std::move(pin));
  }
  return {{"at", use.name},
          {"time_ns", use.time_ns},
          {"blocks", use.blocks},
          {"bytes", use.bytes},
          {"slack_bytes", use.slack_bytes},
          {"lowest_address", use.lowest},
          {"highest_address", use.highest},
          {"ranges", std::move(ranges)},
          {"pin_unit", use.pin_unit},
          {"pinned_ranges", use.pinned_ranges},
          {"pinned_bytes", use.pinned_bytes},
          {"pins", std::move(pins)}};
}

std::string StatsJson(const TraceSubject& subject, const trace::TraceStats& stats,
                      const trace::StatsRequest& request, const StatsOptions& options) {
  const StatsInput in{subject, stats, request, options};
  const auto asked = [&](const std::string& name) {
    return options.sections.empty() || std::find(options.sections.begin(), options.sections.end(),
                                                 name) != options.sections.end();
  };
  Json json = TraceJson(*subject.trace, subject.filter, subject.notes);
  json["by"] = trace::GroupByName(subject.groups->by());
  const bool all = !subject.trace->facts().only_blocks;
  if (asked("totals")) json["totals"] = TotalsJson(in, all);
  if (asked("rates")) json["rates"] = RatesJson(stats);
  if (asked("sizes")) json["sizes"] = SizesJson(stats);
  if (asked("calls")) json["calls"] = CallsJson(stats);
  if (asked("threads")) json["threads"] = ThreadsJson(in);
  if (asked("alignment")) {
    Json list = Json::Array();
    for (size_t i = 1; i < stats.alignments.size(); ++i) {
      if (stats.alignments[i].blocks == 0) continue;
      list.Add({{"alignment", uint64_t{1} << i},
                {"blocks", stats.alignments[i].blocks},
                {"bytes", stats.alignments[i].bytes}});
    }
    json["alignment"] = std::move(list);
  }
  const size_t rows = options.rows;
  if (asked("slack")) {
    json["slack"] = {{"bytes", stats.slack_bytes},
                     {"blocks_at_limit", stats.slack_at_limit},
                     {"rows", GroupsJson(in, RankGroups(stats, rows, SlackOf))}};
  }
  if (asked("churn")) {
    json["churn"] = {{"within", request.temporary_within},
                     {"temporary", CountJson(stats.temporary)},
                     {"rows", GroupsJson(in, RankGroups(stats, rows, TemporaryOf))}};
  }
  if (asked("large")) {
    json["large"] = {{"at_least_bytes", request.large_bytes},
                     {"below_ns", request.short_ns},
                     {"blocks", CountJson(stats.short_large)},
                     {"rows", GroupsJson(in, RankGroups(stats, rows, LargeOf))}};
  }
  if (asked("realloc")) {
    Json list = Json::Array();
    for (size_t i = 0; i < stats.chain_rows.size() && i < rows; ++i) {
      Json row = GroupJson(subject, stats.chain_rows[i].group);
      row.Merge(ChainJson(stats.chain_rows[i]));
      list.Add(std::move(row));
    }
    json["realloc"] = ChainJson(stats.chains);
    json["realloc"]["rows"] = std::move(list);
    if (!KnowsResizes(in)) json["realloc"] = Json();
  }
  if (asked("pages")) {
    json["pages"] = Json::Array();
    for (const trace::PageUse& use : stats.pages) {
      json["pages"].Add(PageUseJson(subject, use, SIZE_MAX));
    }
    if (!KnowsPlaces(stats)) json["pages"] = Json();
  }
  for (const char* section : {"calls", "threads", "slack", "realloc", "alignment"}) {
    if (!all && asked(section)) json[section] = Json();
  }
  return json.Text();
}

}  // namespace heapgauge
