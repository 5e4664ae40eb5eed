// Who may ask: the token, and guards against web pages that use a visitor's browser to get at a
// port which only he can reach.
//
// Without a token on a loopback address, Host must be an IP address or localhost: a page whose name
// was made to point here (DNS rebinding) sends its own name. A request that changes something must
// come from a page of the same host, if from a page at all. Other sites may link here, but not load
// anything from here into their own pages.
//
// Pure functions, apart from ReadTokenFile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "endpoint/base/message.h"
#include "endpoint/http/request_parser.h"

namespace heapgauge::endpoint {

struct AccessRules {
  std::string token;          // "" none
  bool only_own_host = true;  // Host must be an IP address or localhost
};

// Nothing if the request may go on, else the answer.
std::optional<Response> Refuse(const RequestHead& head, const AccessRules& rules);

// The time taken does not depend on where they differ, nor on the length of `secret`.
bool SameSecret(std::string_view given, std::string_view secret);

// Whether the value of an Authorization field, Basic or Bearer, brings the token.
bool BringsToken(std::string_view authorization, std::string_view token);

// "localhost:9700", "127.0.0.1", "[::1]:80" and the like, but no other name.
bool IsOwnHost(std::string_view host);

// The token in a file: its first line without white space around it. Fails if it is empty, shorter
// than 16 characters, or readable by others.
Result<std::string> ReadTokenFile(const std::string& path);

}  // namespace heapgauge::endpoint
