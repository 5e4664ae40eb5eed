#include "endpoint/cross_site.h"

#include <strings.h>

namespace heapgauge::endpoint {
namespace {

bool Same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

bool IsCrossSite(std::string_view fetch_site, std::string_view origin, std::string_view host) {
  if (!fetch_site.empty() && !Same(fetch_site, "same-origin") && !Same(fetch_site, "none")) {
    return true;
  }
  if (origin.empty()) return false;
  // https: behind a proxy that speaks TLS. Other schemes, and "null", are other pages.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return !Same(origin.substr(scheme.size()), host);
  }
  return true;
}

}  // namespace heapgauge::endpoint
