// What the agent and libheapgauge_service.so hand to each other. The service library holds what
// needs a heap and the C++ library: readers, writers, symbols, the endpoint and its server. The
// agent loads it when it is first asked for something of that kind, and passes calls of the
// program's interface (heapgauge/heapgauge.h) on.
//
// Both come from one build as a rule; the version tells a mixture, which is refused. Plain C types:
// the two sides share no C++ library.
//
// Results are the HEAPGAUGE_* codes. Threads: any, unless said otherwise; none of these is
// signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

struct heapgauge_request;
struct heapgauge_response;
struct heapgauge_snapshot;

namespace heapgauge::wire {

inline constexpr uint32_t kServiceVersion = 1;

// The agent's side.
struct ServiceHost {
  uint32_t version;
  // The gauge file of this process; "" if it has none. A forked child gets one when it asks.
  const char* (*gauge_path)();
  // What the calling thread allocates is not sampled until the same call with 0. Nests.
  void (*exclude_thread)(int on);
  // Has the agent follow the control words of the gauge file now, not at its next sample.
  void (*follow_control)();
  // HEAPGAUGE_DUMP_DIR, absolute; "" if it is not set.
  const char* dump_directory;
};

// The service's side.
struct Service {
  uint32_t version;
  // The words for the last failure in the calling thread; good until its next call.
  const char* (*error)();
  // "" for no token file.
  int (*serve)(const char* address, const char* token_file, int insecure);
  // Where it serves: "http://127.0.0.1:9700", "unix:PATH"; "" nowhere.
  const char* (*url)();
  int (*handle)(const heapgauge_request* request, heapgauge_response* response);
  void (*free_response)(heapgauge_response* response);
  int (*dump)(const char* path, int format);
  int (*dump_data)(int format, void** data, size_t* size);
  void (*free_data)(void* data);
  int (*take_snapshot)(heapgauge_snapshot** snapshot);
  int (*diff)(const heapgauge_snapshot* before, const heapgauge_snapshot* after, int format,
              void** data, size_t* size);
  void (*release_snapshot)(heapgauge_snapshot* snapshot);
  // The program ends in good order. Other calls may be under way, and may still come.
  void (*end)();
};

// The one symbol that the library exports. Null if it cannot work with this host, which must stay
// valid for ever.
using ServiceEntry = const Service*(const ServiceHost* host);
inline constexpr char kServiceEntryName[] = "heapgauge_service_v1";
inline constexpr char kServiceFileName[] = "libheapgauge_service.so";

}  // namespace heapgauge::wire
