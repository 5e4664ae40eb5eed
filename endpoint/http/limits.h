// What a server may be told (ServerOptions), and what holds its clients to its limits: requests per
// second (RateLimit) and bytes that are held for them (HeldBytes).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "endpoint/base/message.h"

namespace heapgauge::endpoint {

inline constexpr uint64_t kMsNs = 1'000'000;  // nanoseconds of a millisecond

// Where a server listens, who may ask, and its limits. Plain data.
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

// How many requests a peer may send: so many per second, and twice as many at once after a quiet
// time.
//
// Owned by one thread. Memory: at most kMostPeers entries; peers that find no place share one.
class RateLimit {
 public:
  static constexpr size_t kMostPeers = 4096;

  explicit RateLimit(unsigned per_second) : per_second_(per_second) {}

  // Counts a request; false if it is one too many. 0 per second is no limit.
  bool Take(uint64_t peer, uint64_t now_ns);

 private:
  struct Bucket {
    double left = 0;
    uint64_t filled_ns = 0;
  };
  double Filled(const Bucket& bucket, uint64_t now_ns) const;
  Bucket* Find(uint64_t peer, uint64_t now_ns);
  double most() const { return 2.0 * per_second_; }

  double per_second_;
  std::unordered_map<uint64_t, Bucket> peers_;
  Bucket shared_;
  bool shared_used_ = false;
  uint64_t next_prune_ns_ = 0;
};

// Bytes that count as held for a client as long as this lives: it travels with what they are.
//
// Movable. The sum must outlive it, and may be read and changed by any thread.
class HeldBytes {
 public:
  HeldBytes() = default;
  HeldBytes(std::atomic<size_t>* sum, size_t bytes) noexcept : sum_(sum), bytes_(bytes) {
    *sum_ += bytes_;
  }
  HeldBytes(HeldBytes&& other) noexcept
      : sum_(std::exchange(other.sum_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  HeldBytes& operator=(HeldBytes&& other) noexcept {
    std::swap(sum_, other.sum_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;
  ~HeldBytes() {
    if (sum_ != nullptr) *sum_ -= bytes_;
  }

 private:
  std::atomic<size_t>* sum_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace heapgauge::endpoint
