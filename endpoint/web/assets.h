// The files of the web UI, as they were bundled when this program was built (web/,
// scripts/web-bundle).
//
// Read-only data of the program.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

struct WebAsset {
  std::string_view name;    // "index.html", without a folder
  std::string_view type;    // "text/html; charset=utf-8"
  std::string_view gzip;    // its bytes
  std::string_view sha256;  // of the bytes unpacked, in base64, as policies name them
};

// None in a program that was built where npm could not be had.
std::span<const WebAsset> WebAssets();

// /ui/: the page.
std::span<const Route> UiRoutes();

Result<std::string> Unpacked(const WebAsset& asset);

}  // namespace heapgauge::endpoint
