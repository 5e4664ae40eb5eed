// The page of /hotspots: who, when, how much, how sure; then the choices; then the report.
//
// Works without scripts: the choices are forms, pictures are in a frame of their own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "endpoint/base/kept_profiles.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

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

}  // namespace heapgauge::endpoint
