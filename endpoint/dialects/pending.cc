// Tables of dialects that are not there yet. Each moves to its own file.

#include "endpoint/route.h"

namespace heapgauge::endpoint {

std::span<const Route> GoRoutes() { return {}; }
std::span<const Route> GperftoolsRoutes() { return {}; }
std::span<const Route> EnvoyRoutes() { return {}; }
std::span<const Route> UserverRoutes() { return {}; }
std::span<const Route> PrometheusRoutes() { return {}; }
std::span<const Route> HotspotsRoutes() { return {}; }

class KeptProfiles {};
std::shared_ptr<KeptProfiles> MakeKeptProfiles(const Limits& /*limits*/) {
  return std::make_shared<KeptProfiles>();
}

}  // namespace heapgauge::endpoint
