#include "agent/record/dump_file.h"

#include <errno.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "agent/sys/os.h"

namespace heapgauge::agent {
namespace {

// The path as an absolute one, seen from `base`.
template <size_t kBytes>
bool CopyFrom(const char* base, const char* path, char (&field)[kBytes]) {
  FixedText<kBytes> text;
  if (path[0] != '/') {
    text.Add(base);
    if (path[0] != '\0') text.Add('/');
  }
  text.Add(path);
  return CopyText(field, text.c_str()) && !text.cut();
}

void AddFourDigits(uint32_t number, DumpNames::Path* path) {
  for (uint32_t least = 1000; least > 1 && number < least; least /= 10) path->Add('0');
  path->Add(uint64_t{number});
}

}  // namespace

bool DumpNames::Remember(const DumpSettings& settings, const char* exe, const char* gauge_path) {
  char current[1024];
  if (os::CurrentDirectory(current, sizeof current) <= 0 || current[0] != '/') {
    CopyText(current, "/");
  }
  bool whole = CopyFrom(current, settings.directory, directory_[0]);
  directory_[1][0] = prefix_[0] = '\0';
  if (settings.prefix[0] != '\0') {
    whole = CopyFrom(directory_[0], settings.prefix, prefix_) && whole;
    // The temporary file goes beside it.
    const size_t length = static_cast<size_t>(BaseName(prefix_) - prefix_);
    memcpy(directory_[0], prefix_, length);
    directory_[0][length] = '\0';
  } else if (settings.directory[0] == '\0') {
    const size_t length = static_cast<size_t>(BaseName(gauge_path) - gauge_path);
    if (length > 1 && length < sizeof directory_[1]) {
      memcpy(directory_[1], gauge_path, length - 1);
      directory_[1][length - 1] = '\0';
    }
  }
  CopyText(program_, BaseName(exe));
  return whole;
}

void DumpNames::Final(uint32_t place, uint32_t pid, uint32_t sequence, wire::DumpReason reason,
                      Path* path) const {
  path->Clear();
  if (prefix_[0] != '\0') {
    path->Add(prefix_).Add('.');
    AddFourDigits(sequence, path);
  } else {
    path->Add(directory_[place]).Add('/').Add(program_).Add('.').Add(uint64_t{pid}).Add('.');
    AddFourDigits(sequence, path);
    path->Add('.').Add(wire::DumpReasonName(reason));
  }
  path->Add(".hg");
}

void DumpNames::Temporary(uint32_t place, uint32_t pid, Path* path) const {
  path->Clear();
  path->Add(directory_[place]).Add("/.").Add(program_).Add('.').Add(uint64_t{pid}).Add(".hg.tmp");
}

namespace {

using wire::SegmentKind;

constexpr uint32_t kWordsPerSequenced = sizeof(wire::LiveRecord) / sizeof(uint64_t);
static_assert(sizeof(wire::TimelineRecord) == sizeof(wire::LiveRecord));
static_assert(sizeof(wire::MappingRecord) == sizeof(wire::LiveRecord));

uint64_t Load(const uint64_t& word) {
  return std::atomic_ref(const_cast<uint64_t&>(word)).load(std::memory_order_relaxed);
}

// Copies a record that begins with a sequence word, or leaves it free if it does not hold still.
void CopySequenced(const uint64_t* from, uint64_t* to) {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = Load(from[0]);
    std::atomic_thread_fence(std::memory_order_acquire);
    to[0] = before;
    if (before == 0) break;
    for (uint32_t word = 1; word < kWordsPerSequenced; ++word) to[word] = Load(from[word]);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && Load(from[0]) == before) return;
  }
  memset(to, 0, kWordsPerSequenced * sizeof(uint64_t));
}

}  // namespace

int DumpFile::Write(const GaugeFile& from, const char* path, const wire::DumpInfo& info,
                    const wire::ProcessMemory& memory, const Turn& turn, int* fd) {
  *fd = os::CreateFile(path);
  if (*fd < 0) return *fd;
  if (os::FileIdentity(*fd, &device_, &inode_)) last_.store(*fd + 1);
  int result = WriteSegments(from, *fd, turn);
  if (result == 0 && turn.over()) result = -ESTALE;
  if (result == 0) result = WriteHeader(from, *fd, info, memory);
  if (result == 0) return 0;
  os::Close(*fd);
  if (!turn.over()) os::Unlink(path);
  return result;
}

void DumpFile::CloseInherited() {
  const int fd = last_.exchange(0) - 1;
  uint64_t device, inode;
  if (fd < 0 || !os::FileIdentity(fd, &device, &inode)) return;
  if (device == device_ && inode == inode_) os::Close(fd);
}

int DumpFile::WriteSegments(const GaugeFile& from, int fd, const Turn& turn) {
  count_ = 1;
  directory_[0] = wire::DirectoryWord(SegmentKind::kHeader, 0);
  for (const SegmentKind kind : {SegmentKind::kLive, SegmentKind::kPoolLive, SegmentKind::kMappings,
                                 SegmentKind::kTimeline}) {
    if (const int result = WriteKind(from, fd, turn, kind, true); result != 0) return result;
  }
  // The buffer that is current is not written to before the other one has become so.
  wire::Header& header = *from.header();
  const std::atomic_ref<uint32_t> current(header.peak_current);
  peak_ = current.load(std::memory_order_acquire);
  if (peak_ == 1 || peak_ == 2) {
    peak_info_ = header.peak[peak_ - 1];
    const SegmentKind kind = peak_ == 1 ? SegmentKind::kPeak0 : SegmentKind::kPeak1;
    if (const int result = WriteKind(from, fd, turn, kind, false); result != 0) return result;
  }
  if (current.load(std::memory_order_acquire) != peak_ || peak_ > 2) peak_ = 0;
  for (const SegmentKind kind :
       {SegmentKind::kStacks, SegmentKind::kLabels, SegmentKind::kNodes, SegmentKind::kModules}) {
    if (const int result = WriteKind(from, fd, turn, kind, false); result != 0) return result;
  }
  return 0;
}

int DumpFile::WriteKind(const GaugeFile& from, int fd, const Turn& turn, SegmentKind kind,
                        bool sequenced) {
  int result = 0;
  from.ForEachSegment(kind, [&](uint32_t ordinal, const char* segment) {
    if (turn.over() || count_ >= wire::kMaxSegments) {
      result = count_ >= wire::kMaxSegments ? -EFBIG : -ESTALE;
      return false;
    }
    const auto* words = reinterpret_cast<const uint64_t*>(segment);
    constexpr uint32_t kWords = wire::kSegmentBytes / sizeof(uint64_t);
    if (sequenced) {
      for (uint32_t i = 0; i < kWords; i += kWordsPerSequenced)
        CopySequenced(words + i, buffer_ + i);
    } else {
      for (uint32_t i = 0; i < kWords; ++i) buffer_[i] = Load(words[i]);
    }
    result = os::WriteAt(fd, buffer_, sizeof buffer_, uint64_t{count_} * wire::kSegmentBytes);
    directory_[count_++] = wire::DirectoryWord(kind, ordinal);
    return result == 0;
  });
  return result;
}

int DumpFile::WriteHeader(const GaugeFile& from, int fd, const wire::DumpInfo& info,
                          const wire::ProcessMemory& memory) {
  memset(buffer_, 0, sizeof buffer_);
  auto& header = *reinterpret_cast<wire::Header*>(buffer_);
  memcpy(&header, from.header(), sizeof header);
  header.is_copy = 1;
  header.dump = info;
  header.memory = memory;
  header.segment_count = count_;
  header.peak_current = peak_;
  if (peak_ != 0) header.peak[peak_ - 1] = peak_info_;
  memcpy(reinterpret_cast<char*>(buffer_) + wire::kHeaderBytes, directory_,
         count_ * sizeof directory_[0]);
  return os::WriteAt(fd, buffer_, sizeof buffer_, 0);
}

int DumpFile::Describe(int fd, const wire::DumpInfo& info) {
  return os::WriteAt(fd, &info, sizeof info, offsetof(wire::Header, dump));
}

}  // namespace heapgauge::agent
