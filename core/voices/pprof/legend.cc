#include "core/voices/pprof/legend.h"

#include <fmt/format.h>

#include <ctime>

#include "core/source/source_files.h"
#include "core/voices/pprof/nodes.h"

namespace heapgauge::pprof {
namespace {

constexpr size_t kMaxFilterBytes = 80;

void AddFilters(const std::vector<std::string>& filters, std::vector<std::string>* labels) {
  if (filters.empty()) return;
  labels->push_back("Active filters:");
  for (const std::string& filter : filters) {
    const bool cut = filter.size() > kMaxFilterBytes;
    labels->push_back("   " + filter.substr(0, kMaxFilterBytes) + (cut ? "\u2026" : ""));
  }
}

std::string Dropped(int count, const char* what, const char* measure, const std::string& limit) {
  return fmt::format("Dropped {} {}{} ({} <= {})", count, what, count > 1 ? "s" : "", measure,
                     limit);
}

}  // namespace

ValueFormat FormatOf(const ReportInput& input) {
  return ValueFormat(input.config().divide_by, input.profile.sample_types[input.type].unit,
                     input.config().unit);
}

std::string SampleTypeName(const ReportInput& input) {
  const std::string& name = input.profile.sample_types[input.type].name;
  return input.config().mean ? "mean_" + name : name;
}

std::string TimeText(int64_t time_ns) {
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  // Rounds down before 1970 as well.
  constexpr int64_t kSecond = 1'000'000'000;
  const std::time_t seconds = time_ns / kSecond - (time_ns % kSecond < 0 ? 1 : 0);
  std::tm tm = {};
  if (localtime_r(&seconds, &tm) == nullptr) return "unknown";
  const int hour = tm.tm_hour % 12 == 0 ? 12 : tm.tm_hour % 12;
  return fmt::format("{} {}, {} at {}:{:02}{} ({})", kMonths[tm.tm_mon], tm.tm_mday,
                     tm.tm_year + 1900, hour, tm.tm_min, tm.tm_hour >= 12 ? "pm" : "am",
                     tm.tm_zone);
}

std::vector<std::string> ProfileLabels(const ReportInput& input, const ValueFormat& format) {
  const Profile& profile = input.profile;
  std::vector<std::string> labels;
  if (!profile.modules.empty()) {
    const Module& program = profile.modules[0];
    if (!program.path.empty()) labels.push_back(fmt::format("File: {}", LastPart(program.path)));
    if (!program.build_id.empty()) labels.push_back("Build ID: " + program.build_id);
  }
  for (const std::string& comment : profile.comments) {
    if (!comment.starts_with('#')) labels.push_back(comment);
  }
  const std::string type = SampleTypeName(input);
  if (!type.empty()) labels.push_back("Type: " + type);
  if (profile.time_ns != 0) labels.push_back("Time: " + TimeText(profile.time_ns));
  if (profile.duration_ns != 0) {
    const Scaled nanos = Scale(input.total, format.sample_unit(), "nanoseconds");
    std::string ratio;
    if (nanos.unit == "ns" && nanos.value != 0) {
      ratio = "(" + Percentage(ToInt64(nanos.value), profile.duration_ns) + ")";
    }
    labels.push_back(fmt::format("Duration: {}, Total samples = {} {}",
                                 Label(profile.duration_ns, "nanoseconds"), format(input.total),
                                 ratio));
  }
  return labels;
}

std::vector<std::string> ReportLabels(const ReportInput& input, const ValueFormat& format,
                                      const Trimmed& trimmed, bool full) {
  std::vector<std::string> labels;
  if (full || !input.config().compact_labels) labels = ProfileLabels(input, format);
  AddFilters(input.active_filters, &labels);

  const Graph& graph = trimmed.graph;
  int64_t flat = 0;
  int64_t flat_div = 0;
  for (GraphId id : graph.order) {
    flat = WrapAdd(flat, graph.nodes[id].flat);
    flat_div = WrapAdd(flat_div, graph.nodes[id].flat_div);
  }
  labels.push_back(fmt::format("Showing nodes accounting for {}, {} of {} total",
                               format(MeanOf(flat, flat_div)),
                               TrimmedPercentage(flat, input.total_weight), format(input.total)));
  if (input.total != 0) {
    const auto limit = [&](double fraction) {
      return format(Abs64(ToInt64(static_cast<double>(input.total) * fraction)));
    };
    if (trimmed.dropped_nodes > 0) {
      labels.push_back(
          Dropped(trimmed.dropped_nodes, "node", "cum", limit(input.config().node_fraction)));
    }
    if (full && trimmed.dropped_edges > 0) {
      labels.push_back(
          Dropped(trimmed.dropped_edges, "edge", "freq", limit(input.config().edge_fraction)));
    }
    const int shown = static_cast<int>(graph.order.size());
    if (shown > 0 && shown < trimmed.original_count) {
      labels.push_back(
          fmt::format("Showing top {} nodes out of {}", shown, trimmed.original_count));
    }
  }
  if (full) labels.push_back("\nSee https://git.io/JfYMW for how to read the graph");
  return labels;
}

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty() || &line != &lines[0]) text += '\n';
    text += line;
  }
  return text + "\n";
}

}  // namespace heapgauge::pprof
