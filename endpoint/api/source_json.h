// A source as answers name it.
#ifndef HEAPGAUGE_ENDPOINT_API_SOURCE_JSON_H_
#define HEAPGAUGE_ENDPOINT_API_SOURCE_JSON_H_

#include "core/base/json.h"
#include "endpoint/api/source.h"

namespace heapgauge::endpoint::api {

Json SourceJson(const Source::Facts& facts);

}  // namespace heapgauge::endpoint::api

#endif  // HEAPGAUGE_ENDPOINT_API_SOURCE_JSON_H_
