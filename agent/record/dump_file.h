// What dumps are called (DumpNames), and how one is written: a copy of the gauge file as it is at
// this moment (DumpFile).
//
// Allocation-free.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/record/settings.h"
#include "agent/sys/text.h"
#include "agent/table/gauge_file.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

// The names of dumps: `<dir>/<program>.<pid>.<sequence>.<reason>.hg`, or
// `<prefix>.<sequence>.hg` if a prefix was asked for.
//
// Without a directory in the settings dumps go to the one in which the program was started, since
// the gauge directory is memory and may be gone with the container; if that one will not have them,
// to the gauge directory after all. The texts are copied at the start: a program may overwrite its
// environment and change its directory.
class DumpNames {
 public:
  using Path = FixedText<1400>;

  // False if the texts are too long: there can be no dumps then.
  bool Remember(const DumpSettings& settings, const char* exe, const char* gauge_path);

  // Places to try, in this order.
  uint32_t places() const { return directory_[1][0] != '\0' ? 2 : 1; }
  void Final(uint32_t place, uint32_t pid, uint32_t sequence, wire::DumpReason reason,
             Path* path) const;
  // The name while it is being written. The same for all dumps of a process, so that one that is
  // killed in the middle of many leaves one such file at the most.
  void Temporary(uint32_t place, uint32_t pid, Path* path) const;

 private:
  char directory_[2][1024] = {};
  char prefix_[1024] = {};  // absolute, or ""
  char program_[256] = {};
};

// Writes a copy of the gauge file, as it is at this moment, to a file of its own.
//
// The copy is made from the mapping, one segment at a time, while other threads continue. A record
// with a sequence word is left out if it changes during the copy, and what is referred to is
// copied after what refers to it, as readers do. Segments are numbered anew, so the copy has no
// holes.
//
// Needs no address space, so it works when there is none left. For one thread at a time. Zeroed
// memory is ready for use; 96 KiB, touched only by a dump.
class DumpFile {
 public:
  // Whose turn it is to write. A writer that a slow disk holds up for so long that another thread
  // has taken its place gives up when it goes on: -ESTALE.
  struct Turn {
    const std::atomic<uint32_t>* now;
    uint32_t mine;
    bool over() const { return now->load() != mine; }
  };

  // Makes the file `path`, which must not exist, and leaves it open in *fd. 0 or -errno: then there
  // is no file. REQUIRES: os::SignalsBlocked.
  int Write(const GaugeFile& from, const char* path, const wire::DumpInfo& info,
            const wire::ProcessMemory& memory, const Turn& turn, int* fd);
  // In a forked child: closes what another thread of the parent was writing. Its number may be the
  // program's by now, so the file is looked at.
  void CloseInherited();
  // Changes what the open copy says about itself.
  static int Describe(int fd, const wire::DumpInfo& info);

 private:
  int WriteSegments(const GaugeFile& from, int fd, const Turn& turn);
  int WriteKind(const GaugeFile& from, int fd, const Turn& turn, wire::SegmentKind kind,
                bool sequenced);
  int WriteHeader(const GaugeFile& from, int fd, const wire::DumpInfo& info,
                  const wire::ProcessMemory& memory);

  // The last file. Not forgotten when it is closed: fork copies descriptors first and memory later.
  std::atomic<int> last_{0};  // its descriptor and one; 0 none
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  uint32_t count_ = 0;  // segments written, the header's included
  uint32_t peak_ = 0;   // wire::Header::peak_current of what was copied; 0 none
  wire::PeakInfo peak_info_{};
  alignas(64) uint64_t buffer_[wire::kSegmentBytes / sizeof(uint64_t)] = {};
  uint32_t directory_[wire::kMaxSegments] = {};
};

}  // namespace heapgauge::agent
