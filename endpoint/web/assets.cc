#include "endpoint/web/assets.h"

#include <string>

#include "core/base/byte_stream.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

Result<std::string> Unpacked(const WebAsset& asset) {
  HG_ASSIGN(const auto stream, Decompressed(StreamOf(asset.gzip), "the web UI"));
  std::string text;
  char buffer[16 << 10];
  while (true) {
    HG_ASSIGN(const size_t count, stream->Read(buffer, sizeof(buffer)));
    if (count == 0) return text;
    text.append(buffer, count);
  }
}

// ui/: the page and its files.

namespace {

// The page loads its own files, asks this server, and nothing else. Styles are set by its script,
// not written in the page. Pictures that it draws are data.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr const char* kNotBundled =
    "This heapgauge was built without its web UI, because npm could not be had then. What the page "
    "would show "
    "is at ../api/v1/summary and its neighbours; the command line has all of it.\n";

// A client that does not say so cannot read it packed.
bool TakesGzip(const Request& request) {
  return request.Header("Accept-Encoding").find("gzip") != std::string_view::npos;
}

Reply Ui(const Call& call) {
  if (WebAssets().empty()) return ErrorText(404, kNotBundled);
  const std::string_view name = call.rest.empty() ? "index.html" : call.rest;
  for (const WebAsset& asset : WebAssets()) {
    if (asset.name != name) continue;
    Response response{200, {{"Content-Type", std::string(asset.type)}}, ""};
    if (TakesGzip(call.request)) {
      response.headers.emplace_back("Content-Encoding", "gzip");
      response.body = std::string(asset.gzip);
    } else {
      auto text = Unpacked(asset);
      if (!text) return ErrorText(500, text.error().message);
      response.body = *std::move(text);
    }
    response.headers.emplace_back("Vary", "Accept-Encoding");
    response.headers.emplace_back("Content-Security-Policy", kPolicy);
    return response;
  }
  return ErrorText(404, "404 page not found");
}

constexpr Route kRoutes[] = {{"ui/", "GET, HEAD", Ui, false, "the web UI"}};

}  // namespace

std::span<const Route> UiRoutes() { return kRoutes; }

}  // namespace heapgauge::endpoint
