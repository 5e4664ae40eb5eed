// What the dialects and pages have in common: closed lists of parameters, profiles by the engine
// that a request names, and the usual forms of answers.
//
// Any thread.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

// Text that nobody can guess, for ids and nonces.
//
// Any thread.

// 128 bits from the kernel as 32 hexadecimal digits; "" if it has none to give.
std::string RandomText();

// 400 unless all parameters are among these, each at most once. Nothing if all is well.
std::optional<Response> RefuseOthers(const Call& call,
                                     std::initializer_list<std::string_view> allowed);

// The error as an answer: 400 for what makes no sense, 404 for what is not there, 403, 409 for what
// cannot be done now, otherwise 500.
Response FailureOf(const Error& error);

// The live heap (or the peak's, or all allocations) with names, by the native profiler or by the
// engine that ?engine= names. Engines have no peak.
enum class Wanted { kHeap, kPeak, kGrowth };
Result<std::shared_ptr<const Profile>> TakeNamed(const Call& call, Wanted wanted);

// Compressed proto as a download.
Result<Response> ProtoDownload(const Profile& profile, const std::string& file_name);

// For a person with a browser: ?console=0 and 1 decide, otherwise User-Agent, as with brpc: absent
// or curl is a terminal.
bool WantsHtml(const Call& call);

// What the client put before the route: "/pid/4242" of "/pid/4242/prof/dump"; "" if it has
// characters that need escaping anywhere.
std::string PrefixOf(const Call& call);

// The name that people know the process by.
std::string NameOf(const RecordingFacts& recording);

}  // namespace heapgauge::endpoint
