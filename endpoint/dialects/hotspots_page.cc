#include "endpoint/dialects/hotspots_page.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "core/base/html.h"
#include "core/base/text.h"
#include "core/fold/interval.h"
#include "core/report/recording_text.h"
#include "endpoint/base/answers.h"
#include "endpoint/dialects/page.h"

namespace heapgauge::endpoint {
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

}  // namespace heapgauge::endpoint
