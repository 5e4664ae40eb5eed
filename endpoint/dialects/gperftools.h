// The dialect of gperftools and brpc: /pprof/heap, growth, cmdline, symbol. What is declared here
// is the text that the perl clients and Go's pprof all read, and names for addresses;
// docs/endpoints.md has the rules.
//
// Any thread. Pure functions but for the routes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

// Addresses in hexadecimal, "+" or white space in between; what is none is skipped. Nothing if
// there are more than a client can have met.
inline constexpr size_t kMostAddresses = 1 << 20;
std::optional<std::vector<uint64_t>> ParseAddresses(std::string_view text);

// What one address is called in one line: by the perl clients, which alone take a chain of inlined
// calls for an answer, and by all others.
std::string ChainText(const std::vector<std::string>& innermost_first);
std::string SingleName(const std::vector<std::string>& innermost_first);

// /pprof/symbol and /symbolz: names for addresses over HTTP, as every remote pprof requests them.
//
//   GET  num_symbols: 1                     yes, names can be had
//   POST 0x1234+0x5678                      0x1234<TAB>main
//
// The body is never a form, although the perl clients say so: '+' is what stands between addresses.
// They take a chain of inlined calls for an answer, outermost first and "--" in between, and only
// they do; "--" inside of a name gets a blank. Others get the innermost function that is not
// about allocating. Addresses without a name are left out: clients show them in their own way.
Reply GperftoolsSymbol(const Call& call);
// /debug/pprof/symbol: the count comes first in every answer, and a GET may ask in its query.
Reply GoSymbol(const Call& call);

// The live heap. Behind the first line, lines that begin with '#' tell about the recording.
Result<std::string> HeapPage(const Profile& profile);

// All allocations since the start or the last reset; what was freed is not taken off.
Result<std::string> GrowthPage(const Profile& profile);

// The arguments of the program, `between` them. Never empty.
std::string CommandLine(const RecordingFacts& recording, char between);

// The first line with figures for allocations that differ from those in use: where they do not,
// Go's pprof leaves them out, and the perl clients take the profile for a sampled one.
std::string TellApart(std::string text);

}  // namespace heapgauge::endpoint
