#include "examples/demo_service/request.h"

#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "examples/demo_service/buffer.h"

namespace demo {
namespace {

constexpr size_t kRequestBytes = 48 * 1024;

// The bytes a client sends: a line with the route, a dozen headers and a body that nobody reads.
[[gnu::noinline]] Buffer ChurnRequestBuffer(const Arrival& arrival, Account* churn) {
  static constexpr const char* kRoutes[] = {"/page/", "/picture/", "/login/", "/page/"};
  Buffer buffer(new char[kRequestBytes], kRequestBytes, churn);
  buffer.Append(kRoutes[arrival.random % 4]);
  buffer.Append(std::to_string(arrival.random / 4 % 20000));
  buffer.Append("\n");
  for (int i = 0; i < 12; ++i) {
    buffer.Append("x-demo-header-" + std::to_string(i) + ": value " +
                  std::to_string(arrival.id + static_cast<uint64_t>(i)) + "\n");
  }
  buffer.Append("\n");
  buffer.Fill('b');
  return buffer;
}

std::string_view NextLine(std::string_view* rest) {
  const size_t end = rest->find('\n');
  const std::string_view line = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end + 1);
  return line;
}

}  // namespace

Request ParseRequest(const Arrival& arrival, Account* churn) {
  const Buffer buffer = ChurnRequestBuffer(arrival, churn);
  std::string_view rest = buffer.text();
  const std::string_view target = NextLine(&rest);

  Request request;
  if (target.substr(0, 7) == "/login/") {
    request.route = Route::kLogin;
  } else if (target.substr(0, 9) == "/picture/") {
    request.route = Route::kPicture;
  }
  const size_t slash = target.rfind('/');
  request.object = std::strtoull(target.data() + slash + 1, nullptr, 10);
  request.user = arrival.id;
  for (std::string_view line = NextLine(&rest); !line.empty(); line = NextLine(&rest)) {
    request.headers.emplace_back(line);
  }
  return request;
}

}  // namespace demo
