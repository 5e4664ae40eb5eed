#include <vector>

#include "endpoint/route.h"

namespace heapgauge::endpoint {

std::span<const Route* const> AllRoutes() {
  static const std::vector<const Route*> all = [] {
    std::vector<const Route*> routes;
    for (const auto table :
         {GperftoolsRoutes(), GoRoutes(), HotspotsRoutes(), EnvoyRoutes(), UserverRoutes(),
          PrometheusRoutes(), ApiRoutes(), UiRoutes(), IndexRoutes()}) {
      for (const Route& route : table) routes.push_back(&route);
    }
    return routes;
  }();
  return all;
}

}  // namespace heapgauge::endpoint
