// Tables of dialects that are not there yet. Each moves to its own file.

#include "endpoint/route.h"

namespace heapgauge::endpoint {

std::span<const Route> GoRoutes() { return {}; }
std::span<const Route> GperftoolsRoutes() { return {}; }

}  // namespace heapgauge::endpoint
