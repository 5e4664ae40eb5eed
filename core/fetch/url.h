// Addresses of profiles on servers, as pprof understands them.
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heapgauge {

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

}  // namespace heapgauge
