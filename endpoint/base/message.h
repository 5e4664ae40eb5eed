// A request to the endpoint and its answer, as plain values: what a web framework, our own server
// or a test hands over; and functions that read and make such values. Nothing here knows about
// sockets.
//
// A request is hostile. Whoever fills one in has bounded its size; nobody has checked its contents.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapgauge::endpoint {

// Whether a page of another site has made a browser send a request. Every page that somebody opens
// can reach a debug port on that person's loopback: it must neither change nor read anything there.
//
// Decided by the headers Sec-Fetch-Site and Origin, where a browser sends them; `host` is the one
// that was asked. A client that sends neither is no browser.
bool IsCrossSite(std::string_view fetch_site, std::string_view origin, std::string_view host);

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method = "GET";  // as sent
  std::string path = "/";      // as sent: still percent-encoded, without query
  std::string query;           // as sent: behind the '?', still encoded
  Headers headers;
  std::string body;
  std::string peer;  // address of the client, for messages; "" unknown

  // The first header of that name, in any case; "" if there is none.
  std::string_view Header(std::string_view name) const;
  // A page of another site has made a browser send this: see IsCrossSite.
  bool is_cross_site() const;
};

struct Response {
  int status = 200;
  Headers headers;  // Content-Type included; Content-Length is the server's
  std::string body;

  std::string_view Header(std::string_view name) const;
};

// An answer, or the promise of one: a profile over some seconds is there only when they have
// passed. Nobody waits inside the endpoint, so that one thread can serve many.
struct Reply {
  Response response;                // if `later` is empty
  std::function<Response()> later;  // to be called once, at or after `due_ns`
  uint64_t due_ns = 0;              // CLOCK_MONOTONIC

  Reply() = default;
  Reply(Response now) : response(std::move(now)) {}  // NOLINT: an answer is a reply
};

// text/plain; charset=utf-8, and nothing else.
Response PlainText(int status, std::string text);
// In the form of Go's net/http/pprof: plain text, nosniff, X-Go-Pprof: 1. `text` gets an end of
// line.
Response ErrorText(int status, std::string text);
// 405, naming the methods that would do.
Response MethodNotAllowed(std::string_view allow);

// Parameters of a query or form, decoded; the order is kept. Nothing if an escape is malformed or
// there are more than `most`.
std::optional<Headers> ParseQuery(std::string_view query, size_t most = 64);
// "%41" becomes "A"; nothing if it is malformed or holds a NUL.
std::optional<std::string> PercentDecode(std::string_view text);

struct Path {
  std::vector<std::string> pieces;  // decoded
  bool folder = false;              // ended in '/'
};
// Nothing if it is malformed, has a NUL or "..", or more than 64 pieces.
std::optional<Path> ParsePath(std::string_view path);

}  // namespace heapgauge::endpoint
