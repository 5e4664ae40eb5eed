#include "examples/demo_service/thumbnail_cache.h"

#include <cstring>

namespace demo {

uint64_t ThumbnailCache::Lookup(uint64_t picture) {
  const std::lock_guard lock(mutex_);
  const auto found = thumbnails_.find(picture);
  const Thumbnail& thumbnail =
      found != thumbnails_.end() ? found->second : GrowThumbnailCache(picture);
  return thumbnail.pixels[0] + thumbnail.pixels[thumbnail.bytes - 1];
}

ThumbnailCache::Thumbnail& ThumbnailCache::GrowThumbnailCache(uint64_t picture) {
  Thumbnail& thumbnail = thumbnails_[picture];
  thumbnail.bytes = (12 + picture % 24) * 1024;  // 12 to 35 KiB
  thumbnail.pixels.reset(new uint8_t[thumbnail.bytes]);
  std::memset(thumbnail.pixels.get(), static_cast<int>(picture), thumbnail.bytes);
  account_.Allocated(thumbnail.bytes);
  return thumbnail;
}

}  // namespace demo
