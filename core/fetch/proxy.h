// Which proxy a request goes through, by the variables that most programs know: http_proxy,
// https_proxy (also in capitals) and no_proxy. Loopback addresses never do.
//
// Pure but for the environment that is passed in.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/fetch/url.h"

namespace heapgauge {

struct Proxy {
  std::string host;
  int port = 0;
};

// The value of a variable, null if it is not set.
using Variable = std::function<const char*(const char*)>;

std::optional<Proxy> ProxyFor(const Url& url, const Variable& variable);

}  // namespace heapgauge
