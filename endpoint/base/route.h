// How a dialect is written: a table of routes, each a path suffix, the methods it takes, and a
// function from what is known of the request to a reply; and what dialects and pages share: closed
// lists of parameters, profiles by the engine that a request names, the usual forms of answers.
//
// The router has found the process, decoded the query and checked the method before a route is
// called. HEAD is answered by the GET route without its body. A route may throw; the answer is 500.
//
// Any thread.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "endpoint/base/message.h"
#include "endpoint/base/process.h"

namespace heapgauge::endpoint {

class KeptProfiles;
namespace api {
class Sources;
}

struct Limits {
  uint32_t seconds = 300;                // longest profile over time
  uint32_t waiting = 64;                 // replies promised at a time; 503 above
  uint32_t kept_profiles = 32;           // per process and type, for View and Diff
  size_t kept_bytes = size_t{64} << 20;  // of all of them
  // Graphs may be laid out by Graphviz in a child process, which is held to limits of time and
  // memory. Never inside a service: it is not ours to fork. Graphs are then laid out plainly.
  bool may_fork = false;
  size_t response_bytes = size_t{512} << 20;
};

// What is known of a request. It lives as long as the function that it is given to. What a promised
// reply needs (the process above all) it must hold itself.
struct Call {
  const Request& request;
  std::string_view route;            // the suffix that matched, without its leading '/'
  std::string_view rest;             // for a route that ends in '/': what follows, decoded
  Headers parameters;                // of the query, decoded; and of the body, if that is a form
  std::shared_ptr<Process> process;  // null only on routes that need none
  Processes& processes;
  KeptProfiles& kept;
  api::Sources& sources;
  const Limits& limits;
  bool is_named = false;  // the path named the process; else it is the only one that runs

  // The value of a parameter; nothing if it is not there.
  std::optional<std::string_view> Parameter(std::string_view name) const;
  // The engine that ?engine= names; null for native or none. Fails for one that is not there.
  Result<Engine*> ChosenEngine() const;
};

struct Route {
  std::string_view path;     // "pprof/heap"; "service/jemalloc/prof/" takes a rest
  std::string_view methods;  // "GET, HEAD", "POST, PUT": as the Allow header says it
  Reply (*handle)(const Call&);
  bool needs_process = true;
  std::string_view summary = {};  // for the index: what it gives; "" not listed
  bool raw_body = false;          // not taken apart as a form, whatever its type says
};

// Text that nobody can guess, for ids and nonces: 128 bits from the kernel as 32 hexadecimal
// digits; "" if it has none to give.
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
