// What /proc tells about a process: enough to know whether the process that made a gauge file still
// runs, or another one has got its number since.
//
// A process may go at any moment; every answer was true when it was read and need not be any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapgauge {

// A process is there as long as one of its threads is. The first one, whose number it has, may end
// before the others (pthread_exit in main); of such a process the kernel shows the memory, the
// program and its arguments only through another thread.
struct ProcessInfo {
  uint32_t pid = 0;
  uint32_t thread = 0;  // the first one if that has not ended, or another
  uint32_t parent = 0;
  char state = '?';          // of that thread, as in stat; 'Z' has ended but was not waited for
  uint64_t start_ticks = 0;  // since boot; with the pid it names one process for good
  bool ended() const { return state == 'Z' || state == 'X'; }
};

// Nothing if there is no such process.
std::optional<ProcessInfo> ReadProcess(uint32_t pid);

// "/proc/PID", or that of another thread where the first one has ended.
std::string ProcessDirectory(uint32_t pid);

// Resident memory; nothing if the process is gone.
std::optional<uint64_t> ResidentBytes(uint32_t pid);

// Where /proc/PID/exe points to; "" if it may not be read.
std::string ProcessExecutable(uint32_t pid);

// A file that has been seen, to be known again when its name is gone.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  std::string name;  // the last part of its path
};
std::optional<FileIdentity> IdentityOf(const std::string& path);

// The number that a process, or a thread of one, has in its own, innermost pid namespace; 0 if that
// cannot be told. `directory` is its own in /proc.
uint32_t InnermostPidOf(const std::string& directory);

// The pid namespace of a process, by the inode of its /proc/PID/ns/pid; 0 if it cannot be told.
uint64_t PidNamespaceOf(uint32_t pid);

// That whose numbers /proc shows.
uint64_t ProcNamespace();

// True if /proc shows this process every other one of the machine: it is that of the first pid
// namespace, and hides none.
bool ProcShowsAll();

// Running processes other than this one that began at `since_ticks` or later.
std::vector<uint32_t> ProcessesSince(uint64_t since_ticks);

// Those of them that map one of the files, as far as it may be told.
std::vector<uint32_t> ProcessesMapping(std::vector<FileIdentity> files, uint64_t since_ticks);

// Which of the files are mapped by some process other than this one, as far as it may be told.
// Reads the mappings of all processes once.
std::vector<bool> MappedBySome(const std::vector<FileIdentity>& files);

// Whether the process maps this very file; nothing if it cannot be told.
std::optional<bool> ProcessMapsFile(uint32_t pid, const std::string& path);

// Paths of the files that the process maps as shared memory, as the kernel writes them: behind one
// whose name is gone stands " (deleted)". Nothing if it cannot be told.
std::optional<std::vector<std::string>> SharedMappings(uint32_t pid);

// True if `pid` is `ancestor` or descends from it.
bool IsDescendant(uint32_t pid, uint32_t ancestor);

// CLOCK_MONOTONIC and Unix time in nanoseconds.
inline constexpr uint64_t kSecondNs = 1'000'000'000;
uint64_t MonotonicNow();
uint64_t RealtimeNow();

}  // namespace heapgauge
