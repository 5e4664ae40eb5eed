#include "core/leaks/capture/uncopied_memory.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/base/file.h"
#include "core/leaks/capture/glibc_state.h"
#include "core/os/memory_maps.h"
#include "core/os/process.h"

namespace heapgauge::leaks {
namespace {

constexpr size_t kReadAtOnce = 1 << 20;

// Drivers keep theirs from children, and it is not the program's memory.
bool IsDevice(std::string_view name) {
  return (name.starts_with("/dev/") && !name.starts_with("/dev/shm/") && name != "/dev/zero") ||
         name.starts_with("anon_inode:");
}

// The list is the same as in smaps, without the costly figures.
std::vector<AddressRange> MappingsOf(uint32_t process, bool all) {
  std::vector<AddressRange> ranges;
  const auto maps = ReadSmaps(ProcessDirectory(process) + "/maps");
  if (!maps) return ranges;
  for (const MappingUsage& m : maps->mappings) {
    if (all || (m.readable && !m.shared && !IsDevice(m.name))) ranges.push_back({m.start, m.end});
  }
  return Merged(std::move(ranges));
}

// REQUIRES: both merged.
std::vector<AddressRange> InBoth(const std::vector<AddressRange>& a,
                                 const std::vector<AddressRange>& b) {
  return Without(a, Without(a, b));
}

}  // namespace

UncopiedMemory::UncopiedMemory(uint32_t program, uint64_t most_bytes)
    : program_(program),
      most_bytes_(most_bytes),
      memory_(program),
      touched_(OpenSource(ProcessDirectory(program) + "/pagemap")),
      before_(MappingsOf(program, false)) {}

void UncopiedMemory::ReadMissing(uint32_t copy) {
  const std::vector<AddressRange> copied = MappingsOf(copy, true);
  // It has ended: then nothing of it can be read, and others say so.
  if (copied.empty()) return;
  const std::vector<AddressRange> missing = Without(before_, copied);
  if (missing.empty()) return;
  unread_missing_bytes_ += ReadAll(InBoth(missing, MappingsOf(program_, false)));
  missing_bytes_ = read_bytes_;
}

void UncopiedMemory::ReadWiped(const std::vector<AddressRange>& ranges) {
  unread_wiped_bytes_ += ReadAll(ranges);
}

uint64_t UncopiedMemory::ReadAll(const std::vector<AddressRange>& ranges) {
  uint64_t unread = 0;
  for (const AddressRange& range : ranges) {
    for (const AddressRange& part :
         touched_.In(range.start, range.end, TouchedPages::Others::kUnknownToo)) {
      unread += ReadPart(part);
    }
  }
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.start < b.start; });
  ranges_.clear();
  for (const Piece& piece : pieces_) {
    ranges_.push_back({piece.start, piece.start + piece.bytes.size()});
  }
  ranges_ = Merged(std::move(ranges_));
  return unread;
}

uint64_t UncopiedMemory::ReadPart(const AddressRange& range) {
  for (uint64_t at = range.start; at < range.end;) {
    const auto wanted = static_cast<size_t>(std::min(
        {range.end - at, uint64_t{kReadAtOnce}, most_bytes_ - std::min(most_bytes_, read_bytes_)}));
    Piece piece{at, std::vector<char>(wanted)};
    const size_t got = wanted == 0 ? 0 : memory_.Read(at, wanted, piece.bytes.data());
    if (got == 0) return range.end - at;
    piece.bytes.resize(got);
    read_bytes_ += got;
    at += got;
    pieces_.push_back(std::move(piece));
  }
  return 0;
}

size_t UncopiedMemory::Read(uint64_t address, size_t size, void* to) const {
  auto it = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                             [](uint64_t at, const Piece& p) { return at < p.start; });
  if (it == pieces_.begin()) return 0;
  --it;
  size_t done = 0;
  for (; done < size && it != pieces_.end() && address + done >= it->start; ++it) {
    const auto offset = static_cast<size_t>(address + done - it->start);
    if (offset >= it->bytes.size()) break;
    const size_t part = std::min(size - done, it->bytes.size() - offset);
    std::memcpy(static_cast<char*>(to) + done, it->bytes.data() + offset, part);
    done += part;
  }
  return done;
}

size_t CompletedImage::Read(uint64_t address, size_t size, void* to) const {
  const std::vector<AddressRange>& ranges = uncopied_.ranges();
  size_t done = 0;
  while (done < size) {
    const uint64_t at = address + done;
    char* const rest = static_cast<char*>(to) + done;
    const auto next = std::upper_bound(ranges.begin(), ranges.end(), at,
                                       [](uint64_t a, const AddressRange& r) { return a < r.end; });
    const bool is_uncopied = next != ranges.end() && next->start <= at;
    const uint64_t end = next == ranges.end() ? UINT64_MAX : is_uncopied ? next->end : next->start;
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(size - done, end - at));
    const size_t got =
        is_uncopied ? uncopied_.Read(at, wanted, rest) : copy_.Read(at, wanted, rest);
    done += got;
    if (got < wanted) break;
  }
  return done;
}

uint64_t CompletedImage::NextReadable(uint64_t address, uint64_t end) const {
  const uint64_t next = copy_.NextReadable(address, end);
  for (const AddressRange& range : uncopied_.ranges()) {
    if (range.end > address + 1) return std::min(next, std::max(range.start, address + 1));
  }
  return next;
}

std::unique_ptr<WordSearch> CompletedImage::Search(std::vector<AddressRange> ranges, uint64_t low,
                                                   uint64_t span) const {
  if (InBoth(Merged(ranges), uncopied_.ranges()).empty()) {
    return copy_.Search(std::move(ranges), low, span);
  }
  return nullptr;
}

}  // namespace heapgauge::leaks
