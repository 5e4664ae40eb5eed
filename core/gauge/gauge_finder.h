// Finds the gauge files that a program and its children make, soon after they are made.
//
// A program that was told by whom it is recorded says so in its file, and so do all that it starts,
// whoever is their parent by now; of others the parents decide.
//
// Looks at the times of the directories and lists them only when they changed. Files are told apart
// by device and inode: a process that executes another program has its old file renamed. One
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/gauge/gauge_directory.h"

namespace heapgauge::trace {

class GaugeFinder {
 public:
  // `directory` is the one of the program's gauge files; "" for the usual ones. Files that are
  // older than this object are not meant.
  explicit GaugeFinder(std::string directory);

  // Those that were not found before, the oldest first.
  std::vector<GaugeOwner> FindNew(uint32_t program);
  // All of them once more next time: some were renamed before they could be opened.
  void Forget() {
    seen_.clear();
    look_again_ = true;
  }

 private:
  using FileId = std::pair<uint64_t, uint64_t>;  // device, inode
  bool HasChanged(const std::string& directory);
  bool IsOurs(const GaugeOwner& owner, uint32_t program);

  std::string directory_;
  uint32_t recorder_;  // this process, as programs were told
  std::vector<std::string> directories_;
  bool found_any_ = false;
  uint64_t next_list_ns_ = 0;              // when to find out again which there are
  uint64_t started_ns_;                    // Unix time
  std::map<std::string, uint64_t> times_;  // when directories were changed last
  bool look_again_ = true;                 // some file was not finished
  // Whose file it is: its process, and when its program started, which is the same for all that it
  // forks.
  struct Whose {
    explicit Whose(const GaugeOwner& owner)
        : pid(owner.pid),
          process_start_ticks(owner.process_start_ticks),
          start_realtime_ns(owner.start_realtime_ns) {}
    bool operator==(const Whose&) const = default;

    uint32_t pid;
    uint64_t process_start_ticks;
    uint64_t start_realtime_ns;
  };
  std::map<std::string, std::map<FileId, Whose>> seen_;  // by directory: ours, and others
  std::set<uint32_t> pids_;  // the program and those of its children that we know
};

// Removes the file that `fd` is, whatever it is called by now; `path` is what it was called once.
void RemoveGauge(int fd, const std::string& path);

}  // namespace heapgauge::trace
