// A copy that searches its own memory finds what reading it finds. The program is forked from the
// test, so that both have the same memory.
#include "core/leaks/capture/picture.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <optional>
#include <random>
#include <utility>

#include "tests/leaks/capture/child.h"
#include "tests/leaks/capture/tracing_test.h"

namespace heapgauge::leaks {
namespace {

constexpr size_t kPage = 4096;
constexpr uint64_t kLow = 0x5000'0000'0000;
constexpr uint64_t kSpan = 0x1000'0000;

// Memory that a child gets as well, some words of which have values that are looked for.
class Memory {
 public:
  Memory(size_t bytes, uint32_t one_in) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    words_ = static_cast<uint64_t*>(memory);
    std::mt19937_64 random(bytes);
    for (size_t i = 0; i < bytes / 8; ++i) {
      words_[i] = random() % one_in == 0 ? kLow + random() % kSpan : random() % 3 * (kLow + kSpan);
    }
    words_[0] = kLow;
    words_[1] = kLow + kSpan - 1;
    words_[2] = kLow - 1;
    words_[3] = kLow + kSpan;
    words_[4] = ~uint64_t{0};
    words_[bytes / 8 - 1] = kLow + 5;
  }
  ~Memory() { munmap(words_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  uint64_t start() const { return reinterpret_cast<uint64_t>(words_); }
  uint64_t end() const { return start() + bytes_; }
  void Forbid(size_t page) {
    EXPECT_EQ(mprotect(reinterpret_cast<char*>(words_) + page * kPage, kPage, PROT_NONE), 0);
  }

 private:
  uint64_t* words_ = nullptr;
  size_t bytes_;
};

class CopySearchTest : public TracingTest {
 protected:
  void TakePicture(const SearchingCopy::Means& means = {}) {
    picture_.reset();
    child_.emplace();
    PictureOptions options;
    options.may_look_in_place = false;
    auto picture = Picture::Take(child_->id(), options);
    ASSERT_TRUE(picture) << picture.error().message;
    picture_ = *std::move(picture);
    if (!picture_->PrepareSearch(means)) GTEST_SKIP() << "copies cannot search here";
  }

  using Words = std::vector<std::pair<uint64_t, uint64_t>>;  // address and value
  Words Search(const MemoryImage& image, const std::vector<AddressRange>& ranges) {
    Words words;
    const auto search = image.Search(ranges, kLow, kSpan);
    if (search == nullptr) {
      ADD_FAILURE() << "no search";
      return words;
    }
    WordSearch::Found found;
    while (search->Next(&found)) {
      for (size_t i = 0; i < found.count; ++i) {
        words.emplace_back(found.base + uint64_t{8} * found.places[i], found.values[i]);
      }
    }
    EXPECT_FALSE(search->failed());
    unreadable_ = search->unreadable_bytes();
    EXPECT_GT(search->cpu_ns(), 0u);
    return words;
  }
  static Words Expected(const MemoryImage& image, const std::vector<AddressRange>& ranges) {
    Words words;
    for (const AddressRange& range : ranges) {
      for (uint64_t at = range.start; at < range.end; at += 8) {
        uint64_t word = 0;
        if (image.Read(at, sizeof word, &word) != sizeof word) continue;
        if (word - kLow < kSpan) words.emplace_back(at, word);
      }
    }
    return words;
  }

  // With everything, and with each thing less that a machine or a program may not have.
  static constexpr SearchingCopy::Means kMeans[] = {
      {true, true}, {false, true}, {true, false}, {false, false}};

  std::optional<PausingChild> child_;
  std::unique_ptr<Picture> picture_;
  uint64_t unreadable_ = 0;
};

TEST_F(CopySearchTest, FindsWhatReadingFinds) {
  const Memory few(300 * kPage, 1000);
  const Memory many(200 * kPage, 1);  // more than fit at a time
  std::vector<AddressRange> ranges;
  // Of all lengths that are looked at together or not, and nothing at all.
  uint64_t at = few.start();
  for (uint64_t words = 0; words < 70; ++words) {
    ranges.push_back({at, at + words * 8});
    at += words * 8 + 8 * (words % 3);
  }
  ranges.push_back({at, few.end()});
  ranges.push_back({many.start(), many.end()});
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
  for (const SearchingCopy::Means& means : kMeans) {
    ASSERT_NO_FATAL_FAILURE(TakePicture(means));
    if (IsSkipped()) return;
    const CopyImage image(picture_.get());
    const Words words = Search(image, ranges);
    EXPECT_GT(words.size(), 200 * kPage / 8 - 10);
    EXPECT_EQ(words, Expected(image, ranges));
    EXPECT_EQ(unreadable_, 0u);
    // And again.
    EXPECT_EQ(Search(image, ranges), words);
  }
}

TEST_F(CopySearchTest, TakesManyRangesThatLieFarApart) {
  const Memory near(100 * kPage, 4);
  // Beyond what AddressSanitizer takes for itself.
  void* const far_away =
      mmap(reinterpret_cast<void*>(0x2000'0000'0000), kPage, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_NE(far_away, MAP_FAILED);
  static_cast<uint64_t*>(far_away)[7] = kLow + 1;
  const auto first = reinterpret_cast<uint64_t>(far_away);
  std::vector<AddressRange> ranges = {{first, first + kPage}};
  for (uint64_t at = near.start(); at + 32 <= near.end(); at += 32) ranges.push_back({at, at + 16});
  ASSERT_GT(ranges.size(), 2 * SearchingCopy::kMostRanges);
  ASSERT_NO_FATAL_FAILURE(TakePicture());
  munmap(far_away, kPage);
  if (IsSkipped()) return;
  const CopyImage image(picture_.get());
  const Words words = Search(image, ranges);
  ASSERT_FALSE(words.empty());
  EXPECT_EQ(words.front(), (std::pair<uint64_t, uint64_t>(first + 56, kLow + 1)));
  EXPECT_EQ(words, Expected(image, ranges));
}

TEST_F(CopySearchTest, PassesOverWhatCannotBeRead) {
  Memory memory(64 * kPage, 3);
  // Not even /proc/PID/mem reads what is not there; it does read what is forbidden.
  const std::vector<AddressRange> ranges = {{memory.start(), memory.start() + 5 * kPage + 40},
                                            {memory.start() + 5 * kPage + 48, memory.end()}};
  memory.Forbid(0);
  memory.Forbid(7);
  for (const size_t page : {5, 20, 21, 22, 63}) {
    EXPECT_EQ(munmap(reinterpret_cast<void*>(memory.start() + page * kPage), kPage), 0);
  }
  for (const SearchingCopy::Means& means : kMeans) {
    ASSERT_NO_FATAL_FAILURE(TakePicture(means));
    if (IsSkipped()) return;
    const CopyImage image(picture_.get());
    const Words words = Search(image, ranges);
    EXPECT_EQ(words, Expected(image, ranges));
    EXPECT_EQ(unreadable_, 5 * kPage - 8);
  }
}

TEST_F(CopySearchTest, EndsWhenTheCopyIsKilled) {
  const Memory memory(64 * kPage, 3);
  const std::vector<AddressRange> ranges = {{memory.start(), memory.end()}};
  ASSERT_NO_FATAL_FAILURE(TakePicture());
  if (IsSkipped()) return;
  const CopyImage image(picture_.get());
  kill(static_cast<pid_t>(picture_->memory_process()), SIGKILL);
  const auto search = image.Search(ranges, kLow, kSpan);
  ASSERT_NE(search, nullptr);
  WordSearch::Found found;
  while (search->Next(&found)) {
  }
  EXPECT_TRUE(search->failed());
  // Between taking the signal and giving its memory up, it has it still.
  EXPECT_TRUE(Eventually("the copy is gone", [&] { return !picture_->intact(); }));
}

}  // namespace
}  // namespace heapgauge::leaks
