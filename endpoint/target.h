// What a path means: which process, which route. A pure function of the path and the tables, apart
// from asking which processes there are.
//
// A path is cut at its slashes and each piece decoded. Empty pieces and "." count for nothing; ".."
// is refused, since no client of ours sends it. Nothing here, or behind it, opens a file by a path.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "endpoint/base/message.h"
#include "endpoint/base/process.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

// The routes that the path ends in, all with the same pieces: they differ in methods.
struct Match {
  std::vector<const Route*> routes;  // empty: none
  size_t begin = 0;                  // the first piece of the path that belongs to it
  std::string rest;                  // for a route that ends in '/'
  bool lacks_slash = false;          // such a route, without its slash at the end
};
// The longest match wins, and of two as long the one without a rest. A rest is one piece at most,
// so that the name of a folder cannot hide what is below it.
Match FindRoutes(const Path& path);

// The process that the pieces before `end` name: by the last "pid/<PID>" or "name/<NAME>", else
// the only one, else the only one that runs.
struct Target {
  std::shared_ptr<Process> process;
  std::optional<Response> problem;  // 404 there is none, 409 there are several
  bool named = false;               // the path asked for a certain one
};
Target FindProcess(const Path& path, size_t end, Processes* processes);

// The path ends with what names a process.
bool EndsInProcess(const Path& path);
// A place for the index: the root, a process, or a mount point of the name "heapgauge".
bool IsIndexPath(const Path& path);

// All of them, the dialects in the order in which the index shows them.
std::span<const Route* const> AllRoutes();
std::span<const Route> IndexRoutes();  // /, /pid/<PID>/

// Whether that is what is asked. It is needed most when statements keep all threads of a host busy,
// and its answer waits for nobody: the thread that serves can give it. Pure.
bool IsCancel(const Request& request);

}  // namespace heapgauge::endpoint
