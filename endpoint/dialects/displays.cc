#include "endpoint/dialects/displays.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/encode.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/fold/compare.h"
#include "core/fold/functions.h"
#include "core/fold/measures.h"
#include "core/fold/merge.h"
#include "core/fold/scale.h"
#include "core/report/draw/drawn_graph.h"
#include "core/report/draw/flame.h"
#include "core/report/draw/render.h"
#include "core/report/draw/svg_scripts.h"
#include "core/report/views/diff.h"
#include "core/report/views/top.h"
#include "endpoint/base/route.h"
#include "endpoint/dialects/envoy.h"

namespace heapgauge::endpoint {
namespace {

constexpr std::string_view kCommonStyle = R"css(
:root { color-scheme: light dark; --dim: #666; --line: #ccc; --soft: #f3f2ee; --go: #0a58ca; --warn: #8a4b00; --warn-back: #fff3d6; }
@media (prefers-color-scheme: dark) { :root { --dim: #aaa; --line: #444; --soft: #2a2a2a; --go: #7db2ff; --warn: #ffd48a; --warn-back: #3a2c10; } }
body { font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; margin: 12px 16px; }
h1 { font-size: 18px; margin: 0 0 4px; }
pre { font: 12.5px/1.4 "DejaVu Sans Mono", Menlo, Consolas, monospace; overflow-x: auto; margin: 8px 0; }
a { color: var(--go); }
)css";

// Inserts an attribute into the first `tag` of the text.
void AddNonce(std::string_view tag, const std::string& nonce, std::string* text) {
  const size_t at = text->find(tag);
  if (at != std::string::npos) text->insert(at + tag.size(), " nonce=\"" + nonce + "\"");
}

}  // namespace

Response HtmlPage(Page page) {
  const std::string nonce = RandomText();
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n"
      "<style nonce=\"{}\">{}{}</style></head>\n<body>\n{}",
      EscapeHtml(Printable(page.title)), nonce, kCommonStyle, page.style, page.body);
  if (!page.script.empty()) {
    html += fmt::format("<script nonce=\"{}\">{}</script>\n", nonce, page.script);
  }
  html += "</body></html>\n";
  // Without a nonce nothing runs: the page still shows and its forms still work.
  const std::string own = nonce.empty() ? "'none'" : "'nonce-" + nonce + "'";
  return {200,
          {{"Content-Type", "text/html; charset=utf-8"},
           {"Content-Security-Policy",
            fmt::format("default-src 'none'; script-src {0}; style-src {0}; img-src 'self'; "
                        "frame-src 'self'; form-action 'self'; base-uri 'none'; "
                        "frame-ancestors 'none'",
                        own)},
           {"X-Content-Type-Options", "nosniff"},
           {"Referrer-Policy", "no-referrer"},
           {"Cache-Control", "no-store"}},
          std::move(html)};
}

Response SvgPicture(std::string svg) {
  const std::string nonce = RandomText();
  AddNonce("<style", nonce, &svg);
  AddNonce("<script", nonce, &svg);
  const std::string own = nonce.empty() ? "'none'" : "'nonce-" + nonce + "'";
  return {200,
          {{"Content-Type", "image/svg+xml; charset=utf-8"},
           {"Content-Security-Policy",
            fmt::format("default-src 'none'; script-src {0}; style-src {0}; sandbox allow-scripts; "
                        "frame-ancestors 'self'",
                        own)},
           {"X-Frame-Options", "SAMEORIGIN"},
           {"X-Content-Type-Options", "nosniff"},
           {"Referrer-Policy", "no-referrer"},
           {"Cache-Control", "no-store"}},
          std::move(svg)};
}

std::string JsonText(std::string_view text) {
  return '"' + WithBackslashes(Printable(text), "\"\\") + '"';
}

namespace {

constexpr TextLook kPlainLook = {false, true};

// A page waits for it.
constexpr RenderLimits kRenderLimits = {3, uint64_t{512} << 20};

// Makes the type that is wanted the one that is shown, and says how to sort by it.
Result<SortKey> Choose(const DisplayOptions& options, Profile* profile) {
  if (profile->sample_types.empty()) {
    return Fail(ErrorCode::kCorrupt, "the profile has no sample types");
  }
  if (!options.type.empty()) HG_TRY(ChooseType(options.type, profile));
  EstimateFromPeriod(profile);
  const Measures m = MeasuresOf(*profile);
  const size_t type = profile->DefaultType();
  if (m.has_allocated() && type == m.allocated) return SortKey::kAllocated;
  if (m.has_objects() && type == m.objects) return SortKey::kCount;
  return SortKey::kLive;
}

Granularity GranularityOf(const DisplayOptions& options) {
  return options.lines ? Granularity::kLines : Granularity::kFunctions;
}

// pprof's graphs have the program's name in them as it is; it would be part of the language.
void TameModuleNames(Profile* profile) {
  for (Module& module : profile->modules) {
    for (char& c : module.path) {
      if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = '_';
    }
  }
}

Result<pprof::ReportInput> GraphOf(Profile profile, const DisplayOptions& options) {
  HG_TRY(Choose(options, &profile));
  TameModuleNames(&profile);
  pprof::ReportRequest request;
  request.kind = pprof::ReportKind::kDot;
  request.config.granularity = options.lines ? pprof::Shape::kLines : pprof::Shape::kFunctions;
  request.config.sort_by_cum = options.cumulative;
  const size_t type = profile.DefaultType();
  return PrepareGraph(std::move(profile), std::move(request), type, Names::kShort);
}

}  // namespace

Result<std::string> TableText(Profile profile, const DisplayOptions& options) {
  FunctionOptions functions;
  HG_ASSIGN(functions.sort, Choose(options, &profile));
  functions.cumulative = options.cumulative;
  functions.granularity = GranularityOf(options);
  HG_ASSIGN(const FunctionReport report, AggregateFunctions(profile, functions));
  TopOptions top;
  top.rows = options.rows;
  top.layout.width = options.width;
  top.cumulative = options.cumulative;
  top.sort = functions.sort;
  return Render(TopText(profile, report, profile.notes, top), kPlainLook);
}

Result<std::string> GraphDot(Profile profile, const DisplayOptions& options) {
  HG_ASSIGN(const pprof::ReportInput input, GraphOf(std::move(profile), options));
  StringSink dot;
  HG_TRY(pprof::WriteReport(input, &dot));
  return dot.Take();
}

Result<std::string> GraphSvg(Profile profile, const DisplayOptions& options, const Limits& limits) {
  HG_ASSIGN(const pprof::ReportInput input, GraphOf(std::move(profile), options));
  if (limits.may_fork) {
    StringSink dot;
    HG_TRY(pprof::WriteReport(input, &dot));
    // Without Graphviz, or if it takes too long, a plain picture is better than none.
    if (auto svg = RenderDot(dot.text(), "svg", nullptr, kRenderLimits)) {
      return WithPanAndZoom(*std::move(svg));
    }
  }
  return WithPanAndZoom(PlainGraphSvg(input));
}

Result<std::string> FlameGraphSvg(Profile profile, const DisplayOptions& options) {
  TreeOptions flame = FlameOptions();
  HG_ASSIGN(flame.sort, Choose(options, &profile));
  flame.granularity = GranularityOf(options);
  return FlameSvg(profile, flame);
}

Result<std::string> ChangesText(const Profile& base, const Profile& view,
                                const std::string& base_name, const std::string& view_name,
                                const DisplayOptions& options) {
  FunctionOptions functions;
  Profile before = base;
  Profile after = view;
  HG_TRY(Choose(options, &before));
  HG_ASSIGN(functions.sort, Choose(options, &after));
  functions.cumulative = options.cumulative;
  functions.granularity = GranularityOf(options);
  HG_ASSIGN(const Comparison comparison, Compare({&before, &after}, functions));
  DiffOptions diff;
  diff.rows = options.rows;
  diff.layout.width = options.width;
  diff.cumulative = options.cumulative;
  DiffSources sources;
  sources.profiles = {&before, &after};
  sources.names = {base_name, view_name};
  return Render(DiffText(sources, comparison, diff), kPlainLook);
}

Result<Profile> Difference(const Profile& base, const Profile& view, bool grown) {
  Profile negative = base;
  ScaleProfile(-1, &negative);
  std::vector<Profile> both;
  both.push_back(view);
  both.push_back(std::move(negative));
  HG_ASSIGN(Profile difference, MergeProfiles(std::move(both)));
  difference.recording = view.recording;
  difference.default_type = view.default_type;
  difference.estimates.clear();
  difference.blocks.clear();
  difference.period = 0;  // figures of a difference are not as sure as the interval would say
  if (grown) {
    for (int64_t& value : difference.values) value = std::max<int64_t>(0, value);
  }
  return difference;
}

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
