// What a server may be told: where it listens, who may ask, and its limits.
//
// Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "endpoint/base/message.h"

namespace heapgauge::endpoint {

inline constexpr uint64_t kMsNs = 1'000'000;  // nanoseconds of a millisecond

struct ServerOptions {
  std::string address;    // "host:port", "[v6]:port", ":port" and "port" on loopback, "unix:PATH"
  std::string token;      // asked for by Basic (any user, this password) or Bearer; "" none
  bool insecure = false;  // without a token also on addresses that others can reach
  unsigned workers = 0;   // threads that call the handler; 0: the one of Run()
  std::function<void()> worker_started;  // called first in each of them, if it is set
  // Which requests do not wait for a worker, if it is set: those that must get through when all of
  // them are busy. The handler must not block on these, since nobody else is served meanwhile.
  std::function<bool(const Request&)> at_once;

  size_t head_bytes = 16 << 10;
  size_t body_bytes = 64 << 20;  // symbol requests of large profiles have megabytes
  // Bodies and answers of all clients, from the first byte that came to the last that went: also of
  // requests that wait for a worker or are worked on. 503 above.
  size_t held_bytes = 256 << 20;
  unsigned connections = 256;
  unsigned connections_per_peer = 64;  // not on unix sockets
  unsigned requests_per_second = 200;  // per peer, in bursts of twice as many
  unsigned head_ms = 10'000;           // to send a whole request head
  unsigned body_ms = 60'000;
  unsigned idle_ms = 30'000;   // between requests of a connection
  unsigned write_ms = 60'000;  // for each 1 MiB of an answer that a client takes
};

}  // namespace heapgauge::endpoint
