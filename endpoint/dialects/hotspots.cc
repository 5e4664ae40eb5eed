#include <fmt/format.h>
#include <strings.h>

#include <cmath>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/fold/statistics.h"
#include "core/report/recording_text.h"
#include "endpoint/base/kept_profiles.h"
#include "endpoint/base/route.h"
#include "endpoint/dialects/displays.h"

namespace heapgauge::endpoint {

// The page of /hotspots: who, when, how much, how sure; then the choices; then the report.
//
// Works without scripts: the choices are forms, pictures are in a frame of their own.

// The last two are never in a page.
enum class Display { kDot, kFlame, kText, kSvg, kProto };
std::string_view DisplayName(Display display);

struct HotspotsView {
  std::string type;  // "heap", "growth"
  std::shared_ptr<const KeptProfile> kept;
  std::shared_ptr<const KeptProfile> base;  // null: no comparison
};

// "?view=...&display_type=...": relative, so it works below any prefix.
std::string AddressOf(const HotspotsView& view, Display display);

// "14:03:11 UTC".
std::string ClockText(const KeptProfile& kept);

// `text` is the report, for Display::kText.
Response HotspotsPage(const Call& call, const HotspotsView& view, Display display,
                      const std::string& text);

namespace {

// Below this the ranges are so wide that the order of rows is chance.
constexpr uint64_t kFewSamples = 100;

constexpr std::string_view kStyle = R"css(
.facts { color: var(--dim); margin: 0 0 8px; }
.facts b { color: CanvasText; }
.warn { background: var(--warn-back); color: var(--warn); padding: 4px 8px; margin: 4px 0; border-radius: 3px; }
nav { display: flex; flex-wrap: wrap; gap: 8px 18px; align-items: center; background: var(--soft); padding: 8px; border: 1px solid var(--line); border-radius: 4px; }
nav form { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin: 0; }
nav .tabs a, nav .tabs b { margin-right: 8px; }
select, button { font: inherit; max-width: 26em; }
iframe { width: 100%; height: 76vh; min-height: 420px; border: 1px solid var(--line); margin-top: 8px; background: #fff; }
footer { color: var(--dim); margin-top: 8px; }
)css";

constexpr std::string_view kScript = R"js(
document.querySelectorAll("select").forEach(function (select) {
  select.addEventListener("change", function () { select.form.submit(); });
});
)js";

std::string UtcText(const KeptProfile& kept, const char* format) {
  const std::time_t seconds = kept.unix_ns / 1'000'000'000;
  std::tm utc{};
  char text[64] = "";
  if (gmtime_r(&seconds, &utc) == nullptr || strftime(text, sizeof text, format, &utc) == 0) {
    return "?";
  }
  return text;
}

const Estimate& FigureOf(const HotspotsView& view, const KeptProfile& kept) {
  return view.type == "growth" ? kept.allocated_bytes : kept.live_bytes;
}

const char* FigureName(const HotspotsView& view) {
  return view.type == "growth" ? "allocated" : "live";
}

// One line on who, when, how much and how it was sampled.
std::string FactsHtml(const HotspotsView& view) {
  const KeptProfile& kept = *view.kept;
  const RecordingFacts& r = kept.recording;
  std::string text = fmt::format("taken <b>{}</b>", UtcText(kept, "%Y-%m-%d %H:%M:%S UTC"));
  if (IsRecorded(r)) text += " &middot; " + EscapeHtml(Printable(StateText(r)));
  text += fmt::format(" &middot; <b>{} {}</b>", FormatBytes(FigureOf(view, kept).value),
                      FigureName(view));
  const Estimate& total = FigureOf(view, kept);
  if (total.variance > 0 && view.base == nullptr) {
    const Interval range = Interval95(total);
    text += " (95 %: " + FormatByteRange(range.low, range.high) + ")";
  }
  if (view.base != nullptr) {
    const double change = FigureOf(view, kept).value - FigureOf(view, *view.base).value;
    text += fmt::format(" &middot; <b>{}{}</b> since {}", change < 0 ? "-" : "+",
                        FormatBytes(std::fabs(change)), ClockText(*view.base));
  }
  if (!IsRecorded(r)) return text;
  text += r.interval <= 1 ? std::string(" &middot; every block sampled")
                          : fmt::format(" &middot; sampled 1 in {}",
                                        FormatBytes(static_cast<double>(r.interval)));
  if (r.interval_in_force > r.interval) {
    text += fmt::format(" ({} in force)", FormatBytes(static_cast<double>(r.interval_in_force)));
  }
  text += fmt::format(" &middot; {} samples, {} live", FormatCount(static_cast<double>(r.samples)),
                      FormatCount(static_cast<double>(r.live_samples)));
  if (!r.allocator.empty()) text += " &middot; " + EscapeHtml(Printable(r.allocator));
  return text;
}

std::string WarningsHtml(const HotspotsView& view) {
  const RecordingFacts& r = view.kept->recording;
  if (!IsRecorded(r)) return {};
  std::string html;
  const auto warn = [&](const std::string& text) {
    html += "<p class=\"warn\">" + text + "</p>\n";
  };
  const uint64_t samples = view.type == "growth" ? r.samples : r.live_samples;
  if (samples < kFewSamples && r.interval > 1) {
    warn(
        fmt::format("Only {} samples: figures are rough, see their ranges in the text. A smaller "
                    "interval gives more (POST prof/sample?bytes=64K).",
                    samples));
  }
  if (!r.active) warn("Sampling is switched off: what was allocated since is not in here.");
  if (r.lost_samples() != 0) {
    warn(fmt::format("{} samples were lost, about {}.",
                     FormatCount(static_cast<double>(r.lost_samples())),
                     FormatBytes(static_cast<double>(r.lost_bytes))));
  }
  if (r.reset_ns != 0) {
    warn("Counted since the last reset, " + FormatDuration(r.reset_ns) + " after the start.");
  }
  return html;
}

std::string Choice(const HotspotsView& view, const KeptProfile& kept, bool selected) {
  return fmt::format("<option value=\"{}\"{}>{} &nbsp;{} {}</option>", kept.id,
                     selected ? " selected" : "", ClockText(kept),
                     FormatBytes(FigureOf(view, kept).value), FigureName(view));
}

std::string ChoicesHtml(const Call& call, const HotspotsView& view, Display display) {
  const auto list = call.kept.List(call.process->pid(), view.type);
  std::string html = "<nav>\n<form method=\"get\"><label>View <select name=\"view\">";
  for (const auto& kept : list) html += Choice(view, *kept, kept->id == view.kept->id);
  html +=
      "</select></label>\n<label>Diff against <select name=\"base\"><option value=\"\">nothing"
      "</option>";
  for (const auto& kept : list) {
    if (kept->id == view.kept->id) continue;
    html += Choice(view, *kept, view.base != nullptr && kept->id == view.base->id);
  }
  html += "</select></label>\n<label>as <select name=\"display_type\">";
  static constexpr std::pair<Display, const char*> kDisplays[] = {
      {Display::kDot, "graph"}, {Display::kFlame, "flame graph"}, {Display::kText, "text"}};
  for (const auto& [one, name] : kDisplays) {
    html += fmt::format("<option value=\"{}\"{}>{}</option>", DisplayName(one),
                        one == display ? " selected" : "", name);
  }
  html += "</select></label>\n<button>Show</button></form>\n";
  html += fmt::format(
      "<form method=\"get\"><input type=\"hidden\" name=\"display_type\" value=\"{}\">"
      "<button>New profile</button></form>\n",
      DisplayName(display));
  html += "<span class=\"tabs\">";
  for (const char* type : {"heap", "growth"}) {
    html += view.type == type ? fmt::format("<b>{}</b> ", type)
                              : fmt::format("<a href=\"{0}?display_type={1}\">{0}</a> ", type,
                                            DisplayName(display));
  }
  return html + "<a href=\"../memory\">memory</a> <a href=\"../\">index</a></span>\n</nav>\n";
}

}  // namespace

std::string ClockText(const KeptProfile& kept) { return UtcText(kept, "%H:%M:%S UTC"); }

Response HotspotsPage(const Call& call, const HotspotsView& view, Display display,
                      const std::string& text) {
  const RecordingFacts& r = view.kept->recording;
  Page page;
  page.title = fmt::format("{} of {} (pid {})",
                           view.base != nullptr    ? "What changed in the memory"
                           : view.type == "growth" ? "Allocations"
                                                   : "Live heap",
                           NameOf(r), call.process->pid());
  page.style = kStyle;
  page.script = kScript;
  page.body = "<h1>" + EscapeHtml(page.title) + "</h1>\n<p class=\"facts\">" + FactsHtml(view) +
              "</p>\n" + WarningsHtml(view) + ChoicesHtml(call, view, display);
  const bool comparing_flames = view.base != nullptr && display == Display::kFlame;
  if (comparing_flames) {
    page.body +=
        "<p class=\"facts\">A flame graph can only show what grew; the text has what "
        "shrank, too.</p>\n";
  }
  if (display == Display::kText) {
    page.body += "<pre>" + EscapeHtml(text) + "</pre>\n";
  } else {
    // The address is made of our words and ids alone.
    const std::string picture = display == Display::kFlame
                                    ? AddressOf(view, Display::kFlame) + "&console=1"
                                    : AddressOf(view, Display::kSvg);
    page.body += fmt::format(
        "<iframe src=\"{0}\" title=\"the picture\" sandbox=\"allow-scripts\"></iframe>\n",
        EscapeHtml(picture));
  }
  page.body += fmt::format(
      "<footer>This address shows the same profile to whoever opens it, while it is among the last "
      "{} that are kept. <a href=\"{}\">Download</a> for go tool pprof; "
      "<a href=\"{}&amp;console=1\">plain text</a>; "
      "<a href=\"{}\">the picture alone</a>.</footer>\n",
      call.limits.kept_profiles, EscapeHtml(AddressOf(view, Display::kProto)),
      EscapeHtml(AddressOf(view, Display::kText)),
      EscapeHtml(display == Display::kFlame ? AddressOf(view, Display::kFlame) + "&console=1"
                                            : AddressOf(view, Display::kSvg)));
  return HtmlPage(std::move(page));
}

// /hotspots/heap and /hotspots/growth, as brpc has them: a page on a stored profile, which can be
// compared with an earlier one, as graph, flame graph or table.
//
// Without ?view= a new profile is taken and kept, and the browser is sent on to the page that shows
// it; so every address that people see in their browser shows others the same. Taking one changes
// nothing in the process. For curl (and ?console=1) the answer is the report alone.
//
// display_type: dot (default of the page), flame, text (default of a terminal); beside brpc's
// three, svg is the graph as a picture alone and proto a download.

namespace {

constexpr size_t kTerminalColumns = 120;
constexpr size_t kPageColumns = 160;

constexpr std::string_view kDisplayNames[] = {"dot", "flame", "text", "svg", "proto"};

std::optional<Display> DisplayOf(const Call& call, bool html) {
  const auto given = call.Parameter("display_type");
  if (!given) return html ? Display::kDot : Display::kText;
  for (size_t i = 0; i < std::size(kDisplayNames); ++i) {
    if (given->size() == kDisplayNames[i].size() &&
        strncasecmp(given->data(), kDisplayNames[i].data(), given->size()) == 0) {
      return static_cast<Display>(i);
    }
  }
  return {};
}

// A picture or script in a page of another site: it could push out what is kept. Links are fine.
bool IsFromElsewhere(const Request& request) {
  return request.is_cross_site() && request.Header("Sec-Fetch-Dest") != "document";
}

Response NotKept(const Call& call) {
  return ErrorText(404, fmt::format("no such profile is kept; the last {} of each process are, and "
                                    "/{} without view= takes a new one",
                                    call.limits.kept_profiles, call.route));
}

// The report alone.
Response Report(const Call& call, const HotspotsView& view, Display display, size_t width) {
  if (display == Display::kProto) {
    if (view.base == nullptr) {
      return {200,
              {{"Content-Type", "application/octet-stream"},
               {"Content-Disposition", fmt::format("attachment; filename=\"{}.{}.pb.gz\"",
                                                   view.type, call.process->pid())}},
              view.kept->proto};
    }
  }
  auto profile = view.kept->Read();
  if (!profile) return FailureOf(profile.error());
  DisplayOptions options;
  options.width = width;
  Result<std::string> report;
  if (view.base != nullptr) {
    const auto base = view.base->Read();
    if (!base) return FailureOf(base.error());
    if (display == Display::kText) {
      report = ChangesText(*base, *profile, ClockText(*view.base), ClockText(*view.kept), options);
      return report ? PlainText(200, *std::move(report)) : FailureOf(report.error());
    }
    auto difference = Difference(*base, *profile, display == Display::kFlame);
    if (!difference) return FailureOf(difference.error());
    *profile = *std::move(difference);
  }
  switch (display) {
    case Display::kText:
      report = TableText(*std::move(profile), options);
      return report ? PlainText(200, *std::move(report)) : FailureOf(report.error());
    case Display::kDot:
      report = GraphDot(*std::move(profile), options);
      return report ? PlainText(200, *std::move(report)) : FailureOf(report.error());
    case Display::kSvg:
      report = GraphSvg(*std::move(profile), options, call.limits);
      return report ? SvgPicture(*std::move(report)) : FailureOf(report.error());
    case Display::kFlame:
      report = FlameGraphSvg(*std::move(profile), options);
      return report ? SvgPicture(*std::move(report)) : FailureOf(report.error());
    case Display::kProto: {
      auto download = ProtoDownload(*profile, "difference.pb.gz");
      return download ? *std::move(download) : FailureOf(download.error());
    }
  }
  return ErrorText(500, "internal error");
}

Reply Hotspots(const Call& call, std::string_view type) {
  if (auto refused = RefuseOthers(call, {"view", "base", "display_type", "console", "engine"})) {
    return *std::move(refused);
  }
  const auto console = call.Parameter("console");
  if (console && *console != "0" && *console != "1") return ErrorText(400, "console is 0 or 1");
  const bool html = WantsHtml(call);
  const auto display = DisplayOf(call, html);
  if (!display) return ErrorText(400, "display_type is one of: dot, flame, text, svg, proto");

  HotspotsView view;
  view.type = type;
  const uint32_t pid = call.process->pid();
  // An empty choice in a form is no choice.
  const std::string_view id = call.Parameter("view").value_or("");
  const std::string_view base = call.Parameter("base").value_or("");
  if (!base.empty()) {
    view.base = call.kept.Find(pid, type, base);
    if (view.base == nullptr) return NotKept(call);
  }
  if (!id.empty()) {
    view.kept = call.kept.Find(pid, type, id);
    if (view.kept == nullptr) return NotKept(call);
  } else if (IsFromElsewhere(call.request)) {
    return ErrorText(403, "a page of another site may not take profiles");
  } else {
    const auto profile = TakeNamed(call, type == "growth" ? Wanted::kGrowth : Wanted::kHeap);
    if (!profile) return FailureOf(profile.error());
    const auto kept = call.kept.Keep(pid, type, *profile);
    if (!kept) return FailureOf(kept.error());
    view.kept = *kept;
  }
  const bool alone = *display == Display::kSvg || *display == Display::kProto;
  if (html && !alone && id.empty()) {
    Response response = PlainText(303, "the new profile is shown at another address\n");
    response.headers.emplace_back("Location", AddressOf(view, *display));
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
  }
  if (html && !alone) {
    std::string text;
    if (*display == Display::kText) {
      Response report = Report(call, view, *display, kPageColumns);
      if (report.status != 200) return report;
      text = std::move(report.body);
    }
    return HotspotsPage(call, view, *display, text);
  }
  Response report = Report(call, view, *display, kTerminalColumns);
  if (report.status == 200) {
    report.headers.emplace_back("X-Heapgauge-View", view.kept->id);
    if (*display == Display::kText && id.empty()) {
      report.body += fmt::format("\nThe same profile again: {}/{}{}\n", PrefixOf(call), call.route,
                                 AddressOf(view, *display));
    }
  }
  return report;
}

Reply HeapHotspots(const Call& call) { return Hotspots(call, "heap"); }
Reply GrowthHotspots(const Call& call) { return Hotspots(call, "growth"); }

constexpr Route kRoutes[] = {
    {"hotspots/heap", "GET, HEAD", HeapHotspots, true,
     "the live heap as graph, flame graph and table; compare with earlier ones"},
    {"hotspots/growth", "GET, HEAD", GrowthHotspots, true,
     "the same of all that was allocated since the start or reset"},
};

}  // namespace

std::string_view DisplayName(Display display) {
  return kDisplayNames[static_cast<size_t>(display)];
}

std::string AddressOf(const HotspotsView& view, Display display) {
  std::string address = "?view=" + view.kept->id;
  if (view.base != nullptr) address += "&base=" + view.base->id;
  return address + "&display_type=" + std::string(DisplayName(display));
}

std::span<const Route> HotspotsRoutes() { return kRoutes; }

}  // namespace heapgauge::endpoint
