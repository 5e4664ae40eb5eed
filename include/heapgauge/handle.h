// heapgauge's pages as a function, for any C++ web framework to mount: fill in a Request, call
// Handle, pass the Response on. C++11, header-only, linked with nothing.
//
//   heapgauge::Request request;
//   request.path = "/debug/pprof/heap";
//   heapgauge::Response response = heapgauge::Handle(request);
//
// A route is known by the end of its path, so mount it below any prefix. Who may ask is the
// framework's business: what is answered tells about the program's insides.
//
// Threads: any number at a time; a request for a profile over N seconds keeps its thread for so
// long. Where the agent is not loaded the answer is 503 with the reason.
#ifndef HEAPGAUGE_HANDLE_H_
#define HEAPGAUGE_HANDLE_H_

#include <string>
#include <utility>
#include <vector>

#include "heapgauge.h"

namespace heapgauge {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method = "GET";
  std::string path = "/";  // as the client sent it, still percent-encoded
  std::string query;       // the same; without '?'
  HeaderList headers;
  std::string body;
};

struct Response {
  int status = 200;
  HeaderList headers;  // without Content-Length
  std::string body;
};

namespace detail {

inline heapgauge_text TextOf(const std::string& text) { return {text.data(), text.size()}; }
inline std::string StringOf(const heapgauge_text& text) { return {text.data, text.size}; }

// Gives an answer back whatever happens.
struct Answer {
  Answer() : raw() {}
  ~Answer() { heapgauge_free_response(&raw); }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  heapgauge_response raw;
};

}  // namespace detail

// Splits "/path?query" as frameworks hand it over.
inline void SetTarget(const std::string& target, Request* request) {
  const std::string::size_type mark = target.find('?');
  request->path = target.substr(0, mark);
  request->query = mark == std::string::npos ? std::string() : target.substr(mark + 1);
}

inline Response Handle(const Request& request) {
  std::vector<heapgauge_header> headers;
  headers.reserve(request.headers.size());
  for (const auto& header : request.headers) {
    headers.push_back({detail::TextOf(header.first), detail::TextOf(header.second)});
  }
  heapgauge_request raw;
  raw.method = detail::TextOf(request.method);
  raw.path = detail::TextOf(request.path);
  raw.query = detail::TextOf(request.query);
  raw.body = detail::TextOf(request.body);
  raw.headers = headers.data();
  raw.header_count = headers.size();

  Response response;
  detail::Answer answer;
  if (heapgauge_handle(&raw, &answer.raw) != HEAPGAUGE_OK) {
    response.status = 503;
    response.headers.emplace_back("Content-Type", "text/plain; charset=utf-8");
    response.body = std::string(heapgauge_error()) + "\n";
    return response;
  }
  response.status = answer.raw.status;
  for (size_t i = 0; i < answer.raw.header_count; ++i) {
    response.headers.emplace_back(detail::StringOf(answer.raw.headers[i].name),
                                  detail::StringOf(answer.raw.headers[i].value));
  }
  response.body = detail::StringOf(answer.raw.body);
  return response;
}

}  // namespace heapgauge

#endif  // HEAPGAUGE_HANDLE_H_
