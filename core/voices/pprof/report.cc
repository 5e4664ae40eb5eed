#include "core/voices/pprof/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "core/base/numbers.h"
#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/voices/pprof/frame_filter.h"
#include "core/voices/pprof/measure.h"
#include "core/voices/pprof/tag_filter.h"

namespace heapgauge::pprof {
namespace {

// All expressions of a configuration. Compiled together, so that the first mistake is found before
// anything changes.
struct Compiled {
  std::unique_ptr<Regex> focus, ignore, hide, show, show_from, prune_from, tag_show, tag_hide;
  std::optional<TagFilter> tag_focus, tag_ignore;
};

Result<std::optional<TagFilter>> CompileTags(const std::string& option, const std::string& filter,
                                             std::vector<std::string>* warnings) {
  if (filter.empty()) return std::nullopt;
  HG_ASSIGN(TagFilter parsed, TagFilter::Parse(option, filter, warnings));
  return std::optional<TagFilter>(std::move(parsed));
}

Result<Compiled> Compile(const Config& config, std::vector<std::string>* warnings) {
  Compiled c;
  HG_ASSIGN(c.focus, Regex::CompileOption("focus", config.focus));
  HG_ASSIGN(c.ignore, Regex::CompileOption("ignore", config.ignore));
  HG_ASSIGN(c.hide, Regex::CompileOption("hide", config.hide));
  HG_ASSIGN(c.show, Regex::CompileOption("show", config.show));
  HG_ASSIGN(c.show_from, Regex::CompileOption("show_from", config.show_from));
  HG_ASSIGN(c.tag_focus, CompileTags("tagfocus", config.tag_focus, warnings));
  HG_ASSIGN(c.tag_ignore, CompileTags("tagignore", config.tag_ignore, warnings));
  HG_ASSIGN(c.prune_from, Regex::CompileOption("prune_from", config.prune_from));
  HG_ASSIGN(c.tag_show, Regex::CompileOption("tagshow", config.tag_show));
  HG_ASSIGN(c.tag_hide, Regex::CompileOption("taghide", config.tag_hide));
  return c;
}

const TagFilter* Pointer(const std::optional<TagFilter>& filter) {
  return filter ? &*filter : nullptr;
}

}  // namespace

Status ApplyFilters(const Config& config, Profile* profile, std::vector<std::string>* warnings) {
  const auto warn = [&](bool matched, const char* option) {
    if (!matched) {
      warnings->push_back(std::string(option) + " expression matched no samples");
    }
  };
  const LabelUnits units = FindLabelUnits(*profile);
  HG_ASSIGN(const TagFrameMatches tags, AddTagFrames({WordsOf(config.tag_root, ","),
                                                      WordsOf(config.tag_leaf, ","), config.unit},
                                                     profile));
  warn(config.tag_root.empty() || tags.root, "TagRoot");
  warn(config.tag_leaf.empty() || tags.leaf, "TagLeaf");

  HG_ASSIGN(const Compiled c, Compile(config, warnings));
  const FrameFilterMatches frames =
      FilterByFrames({c.focus.get(), c.ignore.get(), c.hide.get(), c.show.get()}, profile);
  warn(!c.focus || frames.focus, "Focus");
  warn(!c.ignore || frames.ignore, "Ignore");
  warn(!c.hide || frames.hide, "Hide");
  warn(!c.show || frames.show, "Show");
  if (c.show_from) warn(ShowFrom(*c.show_from, profile), "ShowFrom");
  if (c.tag_focus || c.tag_ignore) {
    const TagMatches m = FilterByTags(Pointer(c.tag_focus), Pointer(c.tag_ignore), units, profile);
    warn(!c.tag_focus || m.first, "TagFocus");
    warn(!c.tag_ignore || m.second, "TagIgnore");
  }
  if (c.tag_show || c.tag_hide) {
    const TagMatches m = FilterTagNames(c.tag_show.get(), c.tag_hide.get(), profile);
    warn(!c.tag_show || m.first, "TagShow");
    warn(!c.tag_hide || m.second, "TagHide");
  }
  if (c.prune_from) PruneFrom(*c.prune_from, profile);
  return {};
}

namespace {

constexpr int kDefaultNodeCount = 80;

// Some reports make sense with certain settings only.
void OverrideFor(ReportKind kind, Config* config) {
  bool trim = config->trim;
  switch (kind) {
    case ReportKind::kDisasm:
      trim = false;
      config->granularity = Shape::kAddresses;
      config->no_inlines = true;  // one node for each address, so that nothing counts twice
      break;
    case ReportKind::kWeblist:
      trim = false;
      config->granularity = Shape::kAddresses;
      config->no_inlines = false;
      break;
    case ReportKind::kPeek:
      trim = false;
      break;
    case ReportKind::kList:
      trim = false;
      config->granularity = Shape::kLines;
      break;
    case ReportKind::kTop:
    case ReportKind::kTopProto:
      if (config->node_count == -1) config->node_count = 0;
      break;
    default:
      if (config->node_count == -1) config->node_count = kDefaultNodeCount;
      break;
  }
  if (kind == ReportKind::kProto || kind == ReportKind::kRaw || kind == ReportKind::kCallgrind) {
    trim = false;
    config->granularity = Shape::kAddresses;
    config->no_inlines = false;
  }
  if (trim) return;
  config->node_count = 0;
  config->node_fraction = 0;
  config->edge_fraction = 0;
}

Result<size_t> FindSampleType(const Profile& profile, const std::string& wanted) {
  const std::vector<SampleType>& types = profile.sample_types;
  if (types.empty()) return Fail(ErrorCode::kInvalidArgument, "profile has no samples");
  if (wanted.empty()) return profile.DefaultType();
  if (const auto index = GoNumber<int64_t>(wanted)) {
    if (*index >= 0 && *index < static_cast<int64_t>(types.size())) {
      return static_cast<size_t>(*index);
    }
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("sample_index {} is outside the range [0..{}]", wanted, types.size() - 1));
  }
  // Profiles that know nothing but what is in use say "space" for "inuse_space".
  constexpr std::string_view kInuse = "inuse_";
  std::string_view without = wanted;
  if (without.starts_with(kInuse)) without.remove_prefix(kInuse.size());
  std::string names;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].name == wanted || types[i].name == without) return i;
    names += (i == 0 ? "" : " ") + types[i].name;
  }
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("sample_index \"{}\" must be one of: [{}]", wanted, names));
}

// Rows that were subtracted carry the label pprof::base.
bool IsDiffBase(const Profile& profile, RowId row) {
  for (const heapgauge::Label& label : profile.LabelsOf(row)) {
    if (!label.is_number() && profile.strings[label.key] == "pprof::base" &&
        profile.strings[label.text] == "true") {
      return true;
    }
  }
  return false;
}

bool HasDiffBase(const Profile& profile) {
  for (const std::string& text : profile.strings) {
    if (text == "pprof::base") return true;
  }
  return false;
}

// Sums up what all rows weigh, whatever their sign. With a base to compare to, that one is 100 %.
void FindTotal(ReportInput* input) {
  const Profile& profile = input->profile;
  const bool diff = HasDiffBase(profile);
  int64_t total = 0;
  int64_t count = 0;
  int64_t base_total = 0;
  int64_t base_count = 0;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const int64_t value = Abs64(profile.value(row, input->type));
    const int64_t things = input->config().mean ? profile.value(row, 0) : 0;
    total = WrapAdd(total, value);
    count = WrapAdd(count, things);
    if (!diff || !IsDiffBase(profile, row)) continue;
    base_total = WrapAdd(base_total, value);
    base_count = WrapAdd(base_count, things);
  }
  const bool from_base = base_total > 0;
  input->total_weight = from_base ? base_total : total;
  input->total = MeanOf(input->total_weight, from_base ? base_count : count);
}

std::vector<std::string> ActiveFilters(const Config& config) {
  std::vector<std::string> filters;
  const auto add = [&filters](const char* name, const std::string& value) {
    if (!value.empty()) filters.push_back(std::string(name) + "=" + value);
  };
  add("focus", config.focus);
  add("ignore", config.ignore);
  add("hide", config.hide);
  add("show", config.show);
  add("show_from", config.show_from);
  add("tagfocus", config.tag_focus);
  add("tagignore", config.tag_ignore);
  add("tagshow", config.tag_show);
  add("taghide", config.tag_hide);
  return filters;
}

// Filters leave out rows without a stack even if they have nothing to look for.
bool HasWorkForFilters(const Config& config, const Profile& profile) {
  for (const std::string* filter :
       {&config.focus, &config.ignore, &config.hide, &config.show, &config.show_from,
        &config.prune_from, &config.tag_focus, &config.tag_ignore, &config.tag_show,
        &config.tag_hide, &config.tag_root, &config.tag_leaf}) {
    if (!filter->empty()) return true;
  }
  return std::any_of(profile.rows.begin(), profile.rows.end(),
                     [](const Row& row) { return row.leaf == kNone; });
}

Status Filter(ReportInput* input) {
  if (!HasWorkForFilters(input->config(), input->profile)) return {};
  return ApplyFilters(input->config(), &input->profile, &input->warnings);
}

bool TakesPattern(ReportKind kind) {
  return kind == ReportKind::kPeek || kind == ReportKind::kList || kind == ReportKind::kWeblist ||
         kind == ReportKind::kDisasm;
}

}  // namespace

Result<ReportInput> Prepare(Profile profile, const ReportRequest& request) {
  ReportInput input;
  input.profile = std::move(profile);
  input.request = request;
  Config& config = input.request.config;
  input.label_units = FindLabelUnits(input.profile, &input.warnings);
  OverrideFor(request.kind, &config);
  if (config.relative_percentages) {
    HG_TRY(Filter(&input));
  }
  HG_ASSIGN(input.type, FindSampleType(input.profile, config.sample_index));
  if (config.divide_by == 0) {
    return Fail(ErrorCode::kInvalidArgument, "zero divisor specified");
  }
  if (TakesPattern(request.kind)) {
    const Result<Regex> pattern = Regex::Compile(request.pattern);
    if (!pattern) {
      return Fail(ErrorCode::kInvalidArgument,
                  "parsing argument regexp " + request.pattern + ": " + pattern.error().message);
    }
  }
  input.active_filters = ActiveFilters(config);
  FindTotal(&input);
  if (!config.relative_percentages) {
    HG_TRY(Filter(&input));
  }
  return input;
}

Status WriteReport(const ReportInput& input, TextSink* out) {
  switch (input.request.kind) {
    case ReportKind::kTop:
      return WriteTop(input, out);
    case ReportKind::kTree:
    case ReportKind::kPeek:
      return WriteTree(input, out);
    case ReportKind::kTraces:
      return WriteTraces(input, out);
    case ReportKind::kTags:
      return WriteTags(input, out);
    case ReportKind::kList:
      return WriteList(input, out);
    case ReportKind::kWeblist:
      return WriteWeblist(input, out);
    case ReportKind::kDisasm:
      return WriteDisasm(input, out);
    case ReportKind::kDot:
      return WriteDot(input, out);
    case ReportKind::kCallgrind:
      return WriteCallgrind(input, out);
    case ReportKind::kProto:
      return WriteProto(input, out);
    case ReportKind::kTopProto:
      return WriteTopProto(input, out);
    case ReportKind::kRaw:
      return WriteRaw(input, out);
    case ReportKind::kComments:
      return WriteComments(input, out);
  }
  return Fail(ErrorCode::kInvalidArgument, "unexpected output format");
}

}  // namespace heapgauge::pprof
