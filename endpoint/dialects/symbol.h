// Names for addresses over HTTP, as every remote pprof asks for them:
//
//   GET  num_symbols: 1                     yes, names can be had
//   POST 0x1234+0x5678                      0x1234<TAB>main
//
// The body is never a form, although the perl clients say so: '+' is what stands between addresses.
// They take a chain of inlined calls for an answer, outermost first and "--" in between, and only
// they do; "--" inside of a name gets a blank. Others get the innermost function that is not
// about allocating. Addresses without a name are left out: clients show them in their own way.
//
// Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

// Addresses in hexadecimal, "+" or white space in between; what is none is skipped. Nothing if
// there are more than a client can have met.
inline constexpr size_t kMostAddresses = 1 << 20;
std::optional<std::vector<uint64_t>> ParseAddresses(std::string_view text);

// What one address is called in one line.
std::string ChainText(const std::vector<std::string>& innermost_first);
std::string SingleName(const std::vector<std::string>& innermost_first);

// /pprof/symbol and /symbolz.
Reply GperftoolsSymbol(const Call& call);
// /debug/pprof/symbol: the count comes first in every answer, and a GET may ask in its query.
Reply GoSymbol(const Call& call);

}  // namespace heapgauge::endpoint
