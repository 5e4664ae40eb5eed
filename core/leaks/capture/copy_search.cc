#include "core/leaks/capture/copy_search.h"

#include <time.h>

#include <algorithm>
#include <utility>

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kMostSpan = uint64_t{31} << 30;  // that places can tell
// What the code looks at together.
constexpr uint64_t kTogether = 128;
constexpr uint64_t kPage = 4096;

uint64_t ClockNow(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

CopySearch::CopySearch(Picture* picture, const MemoryImage& image, std::vector<AddressRange> ranges,
                       uint64_t low, uint64_t span)
    : picture_(picture), image_(image), ranges_(std::move(ranges)), low_(low), span_(span) {
  picture_->AskCopy([this](SearchingCopy* copy) { Work(copy); });
}

CopySearch::~CopySearch() { picture_->WaitForCopy(); }

bool CopySearch::Next(Found* found) {
  picture_->WaitForCopy();
  const Piece& piece = pieces_[filling_];
  const bool last = ended_;
  if (piece.count == 0 && last) return false;
  *found = {piece.values, piece.places, piece.count, piece.base};
  filling_ = 1 - filling_;
  pieces_[filling_].count = 0;
  if (!last) picture_->AskCopy([this](SearchingCopy* copy) { Work(copy); });
  return true;
}

void CopySearch::Work(SearchingCopy* copy) {
  clockid_t copy_clock{};
  const bool has_clock =
      clock_getcpuclockid(static_cast<pid_t>(picture_->memory_process()), &copy_clock) == 0;
  const uint64_t own = ClockNow(CLOCK_THREAD_CPUTIME_ID);
  const uint64_t theirs = has_clock ? ClockNow(copy_clock) : 0;
  Fill(copy);
  cpu_ns_ += ClockNow(CLOCK_THREAD_CPUTIME_ID) - own;
  if (has_clock) cpu_ns_ += ClockNow(copy_clock) - theirs;
}

void CopySearch::Fill(SearchingCopy* copy) {
  Piece& piece = pieces_[filling_];
  if (first_ == last_) {
    if (first_ == ranges_.size()) {
      ended_ = true;
      return;
    }
    piece.base = ranges_[first_].start;
    while (last_ < ranges_.size() && last_ - first_ < SearchingCopy::kMostRanges &&
           ranges_[last_].end - piece.base <= kMostSpan) {
      searched_bytes_ += ranges_[last_].size();
      ++last_;
    }
    const std::vector<AddressRange> now(ranges_.begin() + static_cast<ptrdiff_t>(first_),
                                        ranges_.begin() + static_cast<ptrdiff_t>(last_));
    if (!copy->Begin(now, piece.base, low_, span_)) {
      ended_ = failed_ = true;
      return;
    }
    pieces_[1 - filling_].base = piece.base;
  }
  piece.values = copy->values(filling_);
  piece.places = copy->places(filling_);
  const SearchingCopy::Result result = copy->Run(filling_, &piece.count);
  switch (result.stop) {
    case SearchingCopy::Stop::kDone:
      first_ = last_;
      return;
    case SearchingCopy::Stop::kFull:
      return;
    case SearchingCopy::Stop::kUnreadable: {
      const AddressRange& range = ranges_[first_ + result.range];
      const uint64_t to =
          std::min(range.end, ((result.address + kTogether - 1) / kPage + 1) * kPage);
      ReadPart(result.address, to, &piece);
      const uint64_t next = to == range.end ? to : image_.NextReadable(to - 1, range.end);
      const uint64_t aligned = std::min(range.end, (next + 7) & ~uint64_t{7});
      unreadable_bytes_ += aligned - to;
      copy->SkipTo(aligned);
      return;
    }
    case SearchingCopy::Stop::kGone:
      break;
  }
  ended_ = failed_ = true;
}

// Where the copy cannot look at some words together, as one of them is not there.
void CopySearch::ReadPart(uint64_t from, uint64_t to, Piece* piece) {
  uint64_t words[SearchingCopy::kMoreWords];
  static_assert(sizeof words >= 2 * kPage);
  uint64_t at = from;
  while (at < to) {
    const size_t got = image_.Read(at, static_cast<size_t>(to - at), words) & ~size_t{7};
    for (size_t i = 0; i < got / 8; ++i) {
      if (words[i] - low_ >= span_) continue;
      piece->values[piece->count] = words[i];
      piece->places[piece->count++] = static_cast<uint32_t>((at - piece->base) / 8 + i);
    }
    at += got;
    if (at >= to) break;
    const uint64_t next = std::max(at + 8, image_.NextReadable(at, to) & ~uint64_t{7});
    unreadable_bytes_ += std::min(next, to) - at;
    at = next;
  }
}

CopyImage::CopyImage(Picture* picture)
    : ProcessMemoryImage(picture->memory_process()), picture_(picture) {}

std::unique_ptr<WordSearch> CopyImage::Search(std::vector<AddressRange> ranges, uint64_t low,
                                              uint64_t span) const {
  if (!picture_->PrepareSearch()) return nullptr;
  return std::make_unique<CopySearch>(picture_, *this, std::move(ranges), low, span);
}

}  // namespace heapgauge::leaks
