#include "core/leaks/capture/process_memory_image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kPage = TouchedPages::kPage;
constexpr uint64_t kInMemory = uint64_t{1} << 63;
constexpr uint64_t kSwappedOut = uint64_t{1} << 62;

// A page map of which the given pages have an entry.
class FakePageMap final : public ByteSource {
 public:
  explicit FakePageMap(std::vector<std::pair<uint64_t, uint64_t>> pages)
      : pages_(std::move(pages)) {}
  uint64_t Size() const override { return 0; }
  size_t ReadAt(uint64_t offset, void* buffer, size_t size) const override {
    std::memset(buffer, 0, size);
    for (const auto& [page, entry] : pages_) {
      const uint64_t at = page * 8;
      if (at >= offset && at + 8 <= offset + size) {
        std::memcpy(static_cast<char*>(buffer) + (at - offset), &entry, 8);
      }
    }
    return size;
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> pages_;
};

using Others = TouchedPages::Others;

TouchedPages Make(std::vector<std::pair<uint64_t, uint64_t>> pages, uint64_t budget = 1 << 30) {
  return TouchedPages(std::make_unique<FakePageMap>(std::move(pages)), budget);
}

TEST(TouchedPagesTest, OnlyPagesInMemoryOrSwappedOutCount) {
  TouchedPages pages = Make({{100, kInMemory}, {500, kSwappedOut}, {900, 1}});
  EXPECT_EQ(pages.In(0, 1000 * kPage),
            (std::vector<AddressRange>{{100 * kPage, 101 * kPage}, {500 * kPage, 501 * kPage}}));
}

TEST(TouchedPagesTest, SmallHolesAreReadAlong) {
  TouchedPages pages = Make({{100, kInMemory}, {104, kInMemory}});
  EXPECT_EQ(pages.In(0, 1000 * kPage), (std::vector<AddressRange>{{100 * kPage, 105 * kPage}}));
}

TEST(TouchedPagesTest, PartsAreCutToTheRange) {
  TouchedPages pages = Make({{100, kInMemory}, {101, kInMemory}});
  EXPECT_EQ(pages.In(100 * kPage + 8, 101 * kPage + 16),
            (std::vector<AddressRange>{{100 * kPage + 8, 101 * kPage + 16}}));
  EXPECT_EQ(pages.In(8, 8), std::vector<AddressRange>{});
}

TEST(TouchedPagesTest, WhereNothingIsKnownEverythingIsTouched) {
  TouchedPages unknown(nullptr);
  EXPECT_EQ(unknown.In(5, 500), (std::vector<AddressRange>{{5, 500}}));
  TouchedPages tired = Make({{1, kInMemory}}, 40);
  EXPECT_EQ(tired.In(0, 100 * kPage),
            (std::vector<AddressRange>{{1 * kPage, 2 * kPage}, {40 * kPage, 100 * kPage}}));
}

TEST(TouchedPagesTest, OtherPagesAreLeftOutOnRequest) {
  const std::vector<std::pair<uint64_t, uint64_t>> map = {
      {10, kInMemory}, {11, kInMemory}, {13, kInMemory}};
  const std::vector<AddressRange> known = {{10 * kPage, 12 * kPage}, {13 * kPage, 14 * kPage}};
  for (const Others others : {Others::kUnknownToo, Others::kNone}) {
    TouchedPages pages = Make(map);
    EXPECT_EQ(pages.In(0, 100 * kPage, others), known);
    EXPECT_EQ(pages.unknown_bytes(), 0u);
    TouchedPages tired = Make(map, 40);
    std::vector<AddressRange> told = known;
    if (others == Others::kUnknownToo) told.push_back({40 * kPage, 100 * kPage});
    EXPECT_EQ(tired.In(0, 100 * kPage, others), told);
    EXPECT_EQ(tired.unknown_bytes(), others == Others::kNone ? 60 * kPage : 0);
  }
  TouchedPages unknown(nullptr);
  EXPECT_EQ(unknown.In(5, 500, Others::kNone), std::vector<AddressRange>{});
  EXPECT_EQ(unknown.unknown_bytes(), 495u);
}

}  // namespace
}  // namespace heapgauge::leaks
