// The endpoint: every dialect that people's clients speak, as one function from a request to a
// reply. Hosted beside the process (`heapgauge serve`), inside it (service/) and by the collector;
// any web framework can mount it.
//
// Paths. A route is known by the end of its path, so everything works below any prefix:
// `/pid/<PID>/pprof/heap`, `/name/<NAME>/pprof/heap`, `/some/mount/point/pprof/heap`. Without /pid
// or /name the only process is meant; if there are several, the index lists them. Pages link
// relatively.
//
// Changing state needs POST or PUT; anything else gets 405 with Allow. Parameters come from closed
// lists. No part of a request becomes part of a file name, a command, or unescaped HTML.
//
// Threads: any number at a time. Allocation: an answer is built in memory, at most
// Limits::response_bytes of it. Never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "endpoint/base/message.h"
#include "endpoint/base/process.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {
namespace api {
class Sources;
}

class Endpoint {
 public:
  explicit Endpoint(std::shared_ptr<Processes> processes, Limits limits = {});
  // The web UI shows these sources: files beside the processes.
  Endpoint(std::shared_ptr<Processes> processes, std::shared_ptr<api::Sources> sources,
           Limits limits);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Reply Handle(const Request& request);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace heapgauge::endpoint
