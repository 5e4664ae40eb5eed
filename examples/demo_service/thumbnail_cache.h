// A cache of scaled-down pictures that was given no limit: it grows with every new picture.
//
// Not a leak, since all of it can be reached, and still the reason why the service gets killed some
// day. Threads: any.
#ifndef HEAPGAUGE_EXAMPLES_DEMO_SERVICE_THUMBNAIL_CACHE_H_
#define HEAPGAUGE_EXAMPLES_DEMO_SERVICE_THUMBNAIL_CACHE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "examples/demo_service/accounting.h"

namespace demo {

class ThumbnailCache {
 public:
  // Returns a checksum of the picture's thumbnail, which is made at the first use.
  uint64_t Lookup(uint64_t picture);

  const Account& account() const { return account_; }

 private:
  struct Thumbnail {
    uint64_t bytes = 0;
    std::unique_ptr<uint8_t[]> pixels;
  };

  [[gnu::noinline]] Thumbnail& GrowThumbnailCache(uint64_t picture);

  std::mutex mutex_;
  std::map<uint64_t, Thumbnail> thumbnails_;
  Account account_;
};

}  // namespace demo

#endif  // HEAPGAUGE_EXAMPLES_DEMO_SERVICE_THUMBNAIL_CACHE_H_
