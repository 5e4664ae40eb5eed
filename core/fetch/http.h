// Asks a web server for a page. Used for profiles and for names of addresses.
//
// Time and size of an answer are bounded; redirects are followed. The whole answer is in memory.
// Functions may be called from several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace heapgauge {

// Addresses of profiles on servers, as pprof understands them.
//
// Pure.
struct Url {
  std::string scheme;  // "http", "https" or "https+insecure"
  std::string host;    // with the port, and with "user:password@" if it was given
  std::string path;    // "" or from the "/" on
  std::string query;   // what is behind the "?"

  std::string Text() const;
};

// An absolute URL of one of the schemes above.
std::optional<Url> ParseUrl(std::string_view text);

// What a user means by a source: a URL, or host:port with or without a path. Nothing if it is the
// name of a file.
std::optional<Url> UrlOfSource(std::string_view source);

struct FetchPlan {
  Url url;
  int timeout_seconds = 60;
};
// A source with the path that is asked for if it has none, and with the time that the server shall
// record: `seconds` overrides what the URL says, 0 or less leaves it. If no time to wait is given
// it is half as much again as the recording, or a minute.
std::optional<FetchPlan> PlanFetch(std::string_view source, std::string_view default_path,
                                   int seconds, int timeout_seconds);

// Where the server that sent a profile names addresses.
Url SymbolUrlOf(Url profile);

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
