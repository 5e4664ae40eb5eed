// SOURCE on the command line becomes a profile: a file of any format, standard input ("-"), the
// number of a process, a directory of gauge files, or a server.
//
// Servers are asked at the same time, each from a thread of its own; messages come from the
// caller's thread alone.
#ifndef HEAPGAUGE_CLI_PPROF_SOURCES_H_
#define HEAPGAUGE_CLI_PPROF_SOURCES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/fetch/http.h"
#include "core/fetch/url.h"
#include "core/formats/read_profile.h"
#include "core/model/profile.h"

namespace heapgauge::cli {

// Tells the user a line while the command works.
using Say = std::function<void(const std::string&)>;

struct ReadingOptions {
  ReadOptions read;
  std::string pick;  // of a directory: newest or oldest
  // What a server without a path is asked for.
  std::string default_path = "/debug/pprof/heap";
  int seconds = -1;
  int timeout = -1;
  HttpOptions http;
  Say say;
};

struct SourceProfile {
  Profile profile;
  std::optional<Url> url;  // of the server that it came from
};

// One result for each source, in their order.
std::vector<Result<SourceProfile>> ReadSources(const std::vector<std::string>& sources,
                                               const ReadingOptions& options);

// All of them, added up; fails if one cannot be read.
Result<Profile> ReadMerged(const std::vector<std::string>& sources, const ReadingOptions& options);

}  // namespace heapgauge::cli

#endif  // HEAPGAUGE_CLI_PPROF_SOURCES_H_
