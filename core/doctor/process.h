// A process: is the agent in it, and if not, why not; what the process is allowed to do. Facts come
// from /proc once, the checks on them are pure.
//
// Everything in /proc may be gone at the next look, and much of it is written by the process
// itself: sizes are bounded, nothing is believed. Single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/doctor/executable.h"
#include "core/doctor/finding.h"
#include "core/gauge/gauge_directory.h"

namespace heapgauge {

inline constexpr uint64_t kNoLimit = ~uint64_t{0};

// A library that LD_PRELOAD names, as the process finds it.
struct PreloadEntry {
  std::string name;       // as written
  std::string problem;    // why the file cannot be loaded; "" none known
  bool is_agent = false;  // by its name
  bool defines_malloc = false;
  std::string allocator;  // "jemalloc" and so on
};

struct ProcessFacts {
  uint32_t pid = 0;
  bool exists = false;
  char state = '?';
  bool kernel_thread = false;
  std::string name;  // of the program, short
  std::string exe;   // path as the process sees it; "" if it may not be read
  std::vector<std::string> command_line;
  uint32_t uid = 0;  // real
  uint32_t gid = 0;  // real
  uint32_t effective_uid = 0;
  uint32_t parent = 0;
  std::string parent_name;
  uint32_t first_child = 0;

  bool maps_readable = false;
  std::vector<std::string> agents;  // paths of the copies of the agent that are mapped
  std::vector<GaugeInMemory> gauges;
  std::string valgrind;   // the mapping that tells of it, or ""
  std::string sanitizer;  // likewise

  bool environment_readable = false;
  std::map<std::string, std::string> environment;  // LD_PRELOAD, HEAPGAUGE_*, XDG_RUNTIME_DIR, ...
  std::vector<PreloadEntry> preload;
  std::string ancestor_with_agent;  // "name (pid N)" of one whose environment names the agent
  std::optional<bool> secure;       // AT_SECURE

  std::string root;  // what to put before its paths: "" or "/proc/PID/root"
  bool other_mount_namespace = false;
  bool other_user_namespace = false;
  uint32_t inner_pid = 0;  // its number in its own pid namespace, 0 if it is the same
  bool in_container = false;
  std::string container_evidence;
  std::string unit;  // systemd's, "" if unknown

  uint32_t seccomp = 0;             // mode
  bool seccomp_is_its_own = false;  // the parent has fewer filters
  uint64_t file_size_limit = kNoLimit;
  uint64_t address_space_limit = kNoLimit;
  uint64_t address_space = 0;
  uint64_t memory_limit = kNoLimit;  // of the cgroup that is fullest
  uint64_t memory_usage = 0;

  bool agent_loaded() const { return !agents.empty(); }
};

ProcessFacts ReadProcessFacts(uint32_t pid);

// Whether there is a process to look into; the rest makes no sense where this finds a problem.
Findings CheckPresence(const ProcessFacts& facts);
// Why the agent is not there, or is there and gets no calls. `executable` is that of the process.
Findings CheckAgent(const ProcessFacts& facts, const Findings& executable);
// Limits and namespaces.
Findings CheckSurroundings(const ProcessFacts& facts);

// Evidence that `root` is that of a container; "" if none.
std::string ContainerEvidence(const std::string& root, const std::string& cgroups);

// The memory cgroup with the least room, of those above the process; no change if none has a limit.
void ReadMemoryLimit(uint32_t pid, uint64_t* limit, uint64_t* usage);

// Splits LD_PRELOAD and looks at each file as user `uid` would find it; `root` as above.
std::vector<PreloadEntry> ReadPreload(const std::string& list, const std::string& root,
                                      uint32_t uid);

}  // namespace heapgauge
