// A small service to try heapgauge on: demo_service [SECONDS]
//
// It serves made-up requests for some seconds (6 by default) and prints at the end what each of
// its parts holds by its own count, so that the profile can be compared with the truth. It links
// nothing of heapgauge.

#include <cstdio>
#include <cstdlib>

#include "examples/demo_service/service.h"

int main(int argc, char** argv) {
  double seconds = 6;
  if (argc > 1) {
    char* end = nullptr;
    seconds = std::strtod(argv[1], &end);
    if (argc > 2 || end == argv[1] || *end != '\0' || !(seconds > 0 && seconds < 1e6)) {
      std::fprintf(stderr, "usage: demo_service [SECONDS]\n");
      return 2;
    }
  }
  // Never destroyed, as in many real services: what it holds at the end is there to be looked at.
  auto* service = new demo::Service;
  const std::string error = service->Start();
  if (!error.empty()) {
    std::fprintf(stderr, "demo_service: cannot load the template plugin: %s\n", error.c_str());
    return 1;
  }
  constexpr int kWorkers = 4;
  constexpr int kRequestsPerSecond = 4000;
  service->Run(kWorkers, kRequestsPerSecond, seconds);
  service->PrintUsage();
  return 0;
}
