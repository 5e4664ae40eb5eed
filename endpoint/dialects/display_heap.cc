#include "endpoint/dialects/display_heap.h"

#include <algorithm>

#include "endpoint/base/answers.h"
#include "endpoint/dialects/envoy.h"
#include "endpoint/dialects/page.h"

namespace heapgauge::endpoint {

Result<DisplayOptions> ParseExtraOptions(std::string_view text) {
  static constexpr std::string_view kTypes[] = {"inuse_space", "inuse_objects", "alloc_space",
                                                "alloc_objects"};
  DisplayOptions options;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(", "), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (word.starts_with("--")) {
      word.remove_prefix(2);
    } else if (word.starts_with("-")) {
      word.remove_prefix(1);
    }
    if (word.empty()) continue;
    const auto type = std::find(std::begin(kTypes), std::end(kTypes), word);
    if (type != std::end(kTypes)) {
      if (!options.type.empty()) {
        return Fail(ErrorCode::kInvalidArgument, "extra_options names two types of figures");
      }
      options.type = *type;
    } else if (word == "cum") {
      options.cumulative = true;
    } else if (word == "lines") {
      options.lines = true;
    } else {
      return Fail(ErrorCode::kInvalidArgument,
                  "extra_options are of: inuse_space, inuse_objects, alloc_space, alloc_objects, "
                  "cum, lines");
    }
  }
  return options;
}

Reply DisplayHeap(const Call& call) {
  if (auto refused = RefuseOthers(call, {"display", "extra_options", "opts", "engine"})) {
    return *std::move(refused);
  }
  const std::string_view display = call.Parameter("display").value_or("text");
  if (display == "stats") return MemoryStatistics(call);
  const bool known = display == "text" || display == "svg" || display == "flamegraph";
  if (!known) return ErrorText(400, "display is one of: text, svg, flamegraph, stats");
  const auto options = ParseExtraOptions(call.Parameter("extra_options").value_or(""));
  if (!options) return FailureOf(options.error());
  const auto profile = TakeNamed(call, Wanted::kHeap);
  if (!profile) return FailureOf(profile.error());
  if (display == "text") {
    auto text = TableText(**profile, *options);
    return text ? PlainText(200, *std::move(text)) : FailureOf(text.error());
  }
  auto svg = display == "svg" ? GraphSvg(**profile, *options, call.limits)
                              : FlameGraphSvg(**profile, *options);
  return svg ? SvgPicture(*std::move(svg)) : FailureOf(svg.error());
}

}  // namespace heapgauge::endpoint
