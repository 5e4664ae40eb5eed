#include "core/voices/pprof/filters.h"

#include <memory>
#include <optional>

#include "core/base/regex.h"
#include "core/voices/pprof/frame_filter.h"
#include "core/voices/pprof/label_units.h"
#include "core/voices/pprof/prune.h"
#include "core/voices/pprof/tag_filter.h"
#include "core/voices/pprof/tag_root.h"

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
  HG_ASSIGN(
      const TagFrameMatches tags,
      AddTagFrames({SplitKeys(config.tag_root), SplitKeys(config.tag_leaf), config.unit}, profile));
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

}  // namespace heapgauge::pprof
