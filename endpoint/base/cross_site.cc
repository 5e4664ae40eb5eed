#include "endpoint/base/cross_site.h"

#include "core/base/text.h"

namespace heapgauge::endpoint {

bool IsCrossSite(std::string_view fetch_site, std::string_view origin, std::string_view host) {
  if (!fetch_site.empty() && !EqualIgnoringCase(fetch_site, "same-origin") &&
      !EqualIgnoringCase(fetch_site, "none")) {
    return true;
  }
  if (origin.empty()) return false;
  // https: behind a proxy that speaks TLS. Other schemes, and "null", are other pages.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return !EqualIgnoringCase(origin.substr(scheme.size()), host);
  }
  return true;
}

}  // namespace heapgauge::endpoint
