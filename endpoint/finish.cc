#include "endpoint/finish.h"

#include <fmt/format.h>

#include <utility>

namespace heapgauge::endpoint {
namespace {

// Pages of ours hold their style in themselves and need nothing else; one that has a script says so
// itself.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'";

constexpr std::pair<const char*, const char*> kAlways[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Cache-Control", "no-store"},
    {"Referrer-Policy", "no-referrer"},
};

}  // namespace

Response Finish(Response response, bool head, const Limits& limits) {
  if (response.body.size() > limits.response_bytes) {
    response = ErrorText(500, fmt::format("the answer has {} bytes, more than the limit of {}",
                                          response.body.size(), limits.response_bytes));
  }
  if (response.Header("Content-Type").empty()) {
    response.headers.emplace_back("Content-Type", "text/plain; charset=utf-8");
  }
  for (const auto& [name, value] : kAlways) {
    if (response.Header(name).empty()) response.headers.emplace_back(name, value);
  }
  const std::string_view type = response.Header("Content-Type");
  const bool active = type.starts_with("text/html") || type.starts_with("image/svg");
  if (active && response.Header("Content-Security-Policy").empty()) {
    response.headers.emplace_back("Content-Security-Policy", kPolicy);
  }
  if (head) response.body.clear();
  return response;
}

}  // namespace heapgauge::endpoint
