// /hotspots/heap and /hotspots/growth, as brpc has them: a page on a stored profile, which can be
// compared with an earlier one, as graph, flame graph or table.
//
// Without ?view= a new profile is taken and kept, and the browser is sent on to the page that shows
// it; so every address that people see in their browser shows others the same. Taking one changes
// nothing in the process. For curl (and ?console=1) the answer is the report alone.
//
// display_type: dot (default of the page), flame, text (default of a terminal); beside brpc's
// three, svg is the graph as a picture alone and proto a download.

#include <fmt/format.h>
#include <strings.h>

#include "core/base/text.h"
#include "endpoint/base/answers.h"
#include "endpoint/base/kept_profiles.h"
#include "endpoint/dialects/displays.h"
#include "endpoint/dialects/hotspots_page.h"
#include "endpoint/dialects/page.h"

namespace heapgauge::endpoint {
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

Reply Heap(const Call& call) { return Hotspots(call, "heap"); }
Reply GrowthHotspots(const Call& call) { return Hotspots(call, "growth"); }

constexpr Route kRoutes[] = {
    {"hotspots/heap", "GET, HEAD", Heap, true,
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
