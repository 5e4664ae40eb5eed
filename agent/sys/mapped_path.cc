#include "agent/sys/mapped_path.h"

#include <errno.h>

#include <cstring>

#include "agent/sys/os.h"

namespace heapgauge::agent {
namespace {

constexpr char kDeleted[] = " (deleted)";
constexpr size_t kDeletedBytes = sizeof kDeleted - 1;

}  // namespace

void MapsSearch::ReadNumber(char c, char end, Part then) {
  if (c == end) {
    const bool is_before = part_ == Part::kStart ? number_ <= address_ : number_ > address_;
    part_ = is_before ? then : Part::kOtherLine;
    number_ = 0;
    return;
  }
  const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
  number_ = number_ * 16 + static_cast<uint64_t>(digit);
}

MapsSearch::Outcome MapsSearch::EndLine() {
  if (length_ > kDeletedBytes &&
      memcmp(path_ + length_ - kDeletedBytes, kDeleted, kDeletedBytes) == 0) {
    length_ -= kDeletedBytes;
  }
  path_[length_] = '\0';
  return length_ > 0 && path_[0] == '/' ? Outcome::kFound : Outcome::kNone;
}

// Start-end, rights, offset, device, inode, all ended by one space or more; then the path, in which
// there may be spaces as well.
MapsSearch::Outcome MapsSearch::Read(const char* text, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    const char c = text[i];
    if (c == '\n') {
      if (part_ == Part::kFields || part_ == Part::kPath) return EndLine();
      part_ = Part::kStart;
      number_ = 0;
      continue;
    }
    switch (part_) {
      case Part::kStart:
        ReadNumber(c, '-', Part::kEnd);
        break;
      case Part::kEnd:
        ReadNumber(c, ' ', Part::kFields);
        in_space_ = true;
        spaces_ = 1;
        break;
      case Part::kFields:
        if (c == ' ') {
          spaces_ += in_space_ ? 0 : 1;
          in_space_ = true;
          break;
        }
        in_space_ = false;
        if (spaces_ < 5) break;
        part_ = Part::kPath;
        [[fallthrough]];
      case Part::kPath:
        if (length_ + 1 >= bytes_) return Outcome::kNone;
        path_[length_++] = c;
        break;
      case Part::kOtherLine:
        break;
    }
  }
  return Outcome::kOpen;
}

bool MappedPath(uintptr_t address, char* path, size_t bytes) {
  const int fd = os::OpenForReading("/proc/self/maps");
  if (fd < 0) return false;
  MapsSearch search(address, path, bytes);
  MapsSearch::Outcome outcome = MapsSearch::Outcome::kOpen;
  char text[1024];
  while (outcome == MapsSearch::Outcome::kOpen) {
    const long got = os::Read(fd, text, sizeof text);
    if (got == -EINTR) continue;
    if (got <= 0) break;
    outcome = search.Read(text, static_cast<size_t>(got));
  }
  os::Close(fd);
  return outcome == MapsSearch::Outcome::kFound;
}

}  // namespace heapgauge::agent
