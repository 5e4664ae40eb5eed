#include "endpoint/http/limits.h"

#include <algorithm>

#include "core/os/process.h"

namespace heapgauge::endpoint {
double RateLimit::Filled(const Bucket& bucket, uint64_t now_ns) const {
  const uint64_t passed = now_ns > bucket.filled_ns ? now_ns - bucket.filled_ns : 0;
  return std::min(most(), bucket.left + static_cast<double>(passed) / 1e9 * per_second_);
}

RateLimit::Bucket* RateLimit::Find(uint64_t peer, uint64_t now_ns) {
  if (const auto found = peers_.find(peer); found != peers_.end()) return &found->second;
  if (peers_.size() >= kMostPeers && now_ns >= next_prune_ns_) {
    // A full bucket is what a new peer gets anyway. Not more than once a second, since it looks at
    // all of them.
    next_prune_ns_ = now_ns + kSecondNs;
    for (auto it = peers_.begin(); it != peers_.end();) {
      it = Filled(it->second, now_ns) >= most() ? peers_.erase(it) : std::next(it);
    }
  }
  if (peers_.size() < kMostPeers)
    return &peers_.emplace(peer, Bucket{most(), now_ns}).first->second;
  if (!shared_used_) shared_ = {most(), now_ns};
  shared_used_ = true;
  return &shared_;
}

bool RateLimit::Take(uint64_t peer, uint64_t now_ns) {
  if (per_second_ == 0) return true;
  Bucket* bucket = Find(peer, now_ns);
  bucket->left = Filled(*bucket, now_ns);
  bucket->filled_ns = std::max(now_ns, bucket->filled_ns);
  if (bucket->left < 1) return false;
  bucket->left -= 1;
  return true;
}

}  // namespace heapgauge::endpoint
