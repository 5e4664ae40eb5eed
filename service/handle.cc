#include "service/handle.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "endpoint/message.h"
#include "service/own_endpoint.h"
#include "service/runtime.h"

namespace heapgauge::service {
namespace {

// As many as a server lets through; a framework may have bounded nothing.
constexpr size_t kMostHeaders = 128;
constexpr size_t kMostText = 16 << 10;
constexpr size_t kMostBody = 64 << 20;

struct Owner {
  endpoint::Response response;
  std::vector<heapgauge_header> headers;
};

bool Fits(const heapgauge_text& text, size_t most) {
  return text.size <= most && (text.data != nullptr || text.size == 0);
}

std::string Copy(const heapgauge_text& text) {
  return text.size == 0 ? std::string() : std::string(text.data, text.size);
}

heapgauge_text View(const std::string& text) { return {text.data(), text.size()}; }

bool Read(const heapgauge_request& from, endpoint::Request* to) {
  if (!Fits(from.method, 32) || !Fits(from.path, kMostText) || !Fits(from.query, kMostText) ||
      !Fits(from.body, kMostBody) || from.header_count > kMostHeaders ||
      (from.headers == nullptr && from.header_count != 0)) {
    return false;
  }
  to->method = Copy(from.method);
  to->path = Copy(from.path);
  to->query = Copy(from.query);
  to->body = Copy(from.body);
  for (size_t i = 0; i < from.header_count; ++i) {
    const heapgauge_header& header = from.headers[i];
    if (!Fits(header.name, kMostText) || !Fits(header.value, kMostText)) return false;
    to->headers.emplace_back(Copy(header.name), Copy(header.value));
  }
  return true;
}

}  // namespace

int Handle(const heapgauge_request* request, heapgauge_response* response) {
  return Guarded([&] {
    endpoint::Request own;
    if (!Read(*request, &own)) {
      return FailWith(HEAPGAUGE_INVALID, "a part of the request is missing or too large");
    }
    auto owner = std::make_unique<Owner>();
    owner->response = OwnEndpoint().HandleAndWait(own);
    for (const auto& [name, value] : owner->response.headers) {
      owner->headers.push_back({View(name), View(value)});
    }
    response->status = owner->response.status;
    response->headers = owner->headers.data();
    response->header_count = owner->headers.size();
    response->body = View(owner->response.body);
    response->owner = owner.release();
    return int{HEAPGAUGE_OK};
  });
}

void FreeResponse(heapgauge_response* response) {
  const CallScope scope;
  delete static_cast<Owner*>(response->owner);
  *response = {};
}

}  // namespace heapgauge::service
