// How a dialect is written: a table of routes, each a path suffix, the methods it takes, and a
// function from what is known of the request to a reply.
//
// The router has found the process, decoded the query and checked the method before a route is
// called. HEAD is answered by the GET route without its body. A route may throw; the answer is 500.
//
// A Call lives as long as the function that it is given to. What a promised reply needs (the
// process above all) it must hold itself.
#ifndef HEAPGAUGE_ENDPOINT_ROUTE_H_
#define HEAPGAUGE_ENDPOINT_ROUTE_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "endpoint/endpoint.h"
#include "endpoint/message.h"
#include "endpoint/process.h"

namespace heapgauge::endpoint {

class KeptProfiles;
namespace api {
class Sources;
}

struct Call {
  const Request& request;
  std::string_view route;            // the suffix that matched, without its leading '/'
  std::string_view rest;             // for a route that ends in '/': what follows, decoded
  Headers parameters;                // of the query, decoded; and of the body, if that is a form
  std::shared_ptr<Process> process;  // null only on routes that need none
  Processes& processes;
  KeptProfiles& kept;
  api::Sources& sources;
  const Limits& limits;
  bool is_named = false;  // the path named the process; else it is the only one that runs

  // The value of a parameter; nothing if it is not there.
  std::optional<std::string_view> Parameter(std::string_view name) const;
  // The engine that ?engine= names; null for native or none. Fails for one that is not there.
  Result<Engine*> ChosenEngine() const;
};

struct Route {
  std::string_view path;     // "pprof/heap"; "service/jemalloc/prof/" takes a rest
  std::string_view methods;  // "GET, HEAD", "POST, PUT": as the Allow header says it
  Reply (*handle)(const Call&);
  bool needs_process = true;
  std::string_view summary = {};  // for the index: what it gives; "" not listed
  bool raw_body = false;          // not taken apart as a form, whatever its type says
};

// Each dialect, in its own file below dialects/ and pages/.
std::span<const Route> GoRoutes();          // /debug/pprof/
std::span<const Route> GperftoolsRoutes();  // /pprof/heap, growth, cmdline, symbol, /symbolz
std::span<const Route> EnvoyRoutes();       // /heap_dump, /memory ...
std::span<const Route> UserverRoutes();     // /service/jemalloc/prof/, /prof/
std::span<const Route> PrometheusRoutes();  // /metrics
std::span<const Route> HotspotsRoutes();    // /hotspots/heap, /hotspots/growth
std::span<const Route> ApiRoutes();         // /api/v1/: what the web UI asks for
std::span<const Route> UiRoutes();          // /ui/: the page
std::span<const Route> IndexRoutes();       // /, /pid/<PID>/

// All of them, the dialects in the order in which the index shows them.
std::span<const Route* const> AllRoutes();

// Beside kept_profiles.h, so that the router need not know what is kept.
std::shared_ptr<KeptProfiles> MakeKeptProfiles(const Limits& limits);
std::shared_ptr<api::Sources> MakeSources(std::shared_ptr<Processes> processes);

}  // namespace heapgauge::endpoint

#endif  // HEAPGAUGE_ENDPOINT_ROUTE_H_
