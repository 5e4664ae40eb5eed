// How many requests a peer may send: so many per second, and twice as many at once after a quiet
// time.
//
// Owned by one thread. Memory: at most kMostPeers entries; peers that find no place share one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace heapgauge::endpoint {

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

}  // namespace heapgauge::endpoint
