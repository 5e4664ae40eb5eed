// What a request compares with: another source, another moment of the same one, or both. The words
// are base, base-at, base-from, base-to, base-peak and base-hold, the same for every resource that
// compares.
//
// Pure functions.
#pragma once

#include <string>

#include "core/base/result.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {

// The filter of the request, but for where and when.
Result<Filter> BaseOf(const Call& call, const Filter& filter);

// Whether any of the words is there: without one there is nothing to compare with.
bool HasBase(const Call& call);

// A profile as a comparison names it: "server.hgt at 2s".
std::string NameOf(const Looked& looked);

}  // namespace heapgauge::endpoint::api
