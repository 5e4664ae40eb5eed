// Asks a web server for a page. Used for profiles and for names of addresses.
//
// Time and size of an answer are bounded; redirects are followed. The whole answer is in memory.
// Functions may be called from several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/fetch/url.h"

namespace heapgauge {

struct HttpOptions {
  int timeout_seconds = 60;  // until the first byte; then the same again for all of it
  uint64_t max_bytes = uint64_t{1} << 30;
  // Files; "" none, or the system's own authorities.
  std::string tls_cert;
  std::string tls_key;
  std::string tls_ca;
};

// The body of the answer, which must be 200. "https+insecure" does not check who answers.
Result<std::string> HttpGet(const Url& url, const HttpOptions& options);
Result<std::string> HttpPost(const Url& url, const std::string& body, const HttpOptions& options);

// Which proxy a request goes through, by the variables that most programs know: http_proxy,
// https_proxy (also in capitals) and no_proxy. Loopback addresses never do.
//
// Pure but for the environment that is passed in.

struct Proxy {
  std::string host;
  int port = 0;
};

// The value of a variable, null if it is not set.
using Variable = std::function<const char*(const char*)>;

std::optional<Proxy> ProxyFor(const Url& url, const Variable& variable);

}  // namespace heapgauge
