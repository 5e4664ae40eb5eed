// The routes of each dialect, for the table of all routes (endpoint/target.h).
#pragma once

#include <span>

#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

std::span<const Route> GoRoutes();          // /debug/pprof/
std::span<const Route> GperftoolsRoutes();  // /pprof/heap, growth, cmdline, symbol, /symbolz
std::span<const Route> EnvoyRoutes();       // /heap_dump, /memory ...
std::span<const Route> UserverRoutes();     // /service/jemalloc/prof/, /prof/
std::span<const Route> PrometheusRoutes();  // /metrics
std::span<const Route> HotspotsRoutes();    // /hotspots/heap, /hotspots/growth

}  // namespace heapgauge::endpoint
