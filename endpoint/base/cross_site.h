// Requests that a page of another site has made a browser send. Every page that somebody opens can
// reach a debug port on that person's loopback: it must neither change nor read anything there.
//
// Pure functions.
#pragma once

#include <string_view>

namespace heapgauge::endpoint {

// By the headers Sec-Fetch-Site and Origin, where a browser sends them; `host` is the one that was
// asked. A client that sends neither is no browser.
bool IsCrossSite(std::string_view fetch_site, std::string_view origin, std::string_view host);

}  // namespace heapgauge::endpoint
