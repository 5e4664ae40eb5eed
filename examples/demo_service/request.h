// A request as it comes off the wire, and what parsing makes of it.
//
// This is where the service's churn is: every request is read into a buffer of its own, split into
// fields and thrown away a moment later. A profile by allocated bytes shows it far ahead of all the
// rest; a profile by live bytes hardly shows it at all.
#ifndef HEAPGAUGE_EXAMPLES_DEMO_SERVICE_REQUEST_H_
#define HEAPGAUGE_EXAMPLES_DEMO_SERVICE_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "examples/demo_service/accounting.h"

namespace demo {

enum class Route { kPage, kPicture, kLogin };

// What waits in the queue: enough to make the request's bytes, as a socket would deliver them.
struct Arrival {
  uint64_t id = 0;
  uint64_t random = 0;
};

struct Request {
  Route route = Route::kPage;
  uint64_t user = 0;
  uint64_t object = 0;  // number of the page or picture
  std::vector<std::string> headers;
};

// Reads the bytes of `arrival` into fresh buffers, as from a socket, and parses them.
Request ParseRequest(const Arrival& arrival, Account* churn);

}  // namespace demo

#endif  // HEAPGAUGE_EXAMPLES_DEMO_SERVICE_REQUEST_H_
