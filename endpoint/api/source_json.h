// A source as answers name it.
#pragma once

#include "core/base/json.h"
#include "endpoint/api/source.h"

namespace heapgauge::endpoint::api {

Json SourceJson(const Source::Facts& facts);

}  // namespace heapgauge::endpoint::api
