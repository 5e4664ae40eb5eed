// The last thing that happens to every answer: headers that keep browsers from doing harm with it,
// and limits.
//
// Pure functions.
#ifndef HEAPGAUGE_ENDPOINT_FINISH_H_
#define HEAPGAUGE_ENDPOINT_FINISH_H_

#include "endpoint/endpoint.h"
#include "endpoint/message.h"

namespace heapgauge::endpoint {

// Adds the headers that the answer does not have itself. An answer that is too long becomes an
// error; `head` takes the body off.
Response Finish(Response response, bool head, const Limits& limits);

}  // namespace heapgauge::endpoint

#endif  // HEAPGAUGE_ENDPOINT_FINISH_H_
