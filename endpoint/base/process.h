// A profiled process as the endpoint sees it, and the set of them that one host serves.
//
// The gauge file is all that is needed, from outside and from inside (gauge_process.h); the engines
// of allocators are there only inside. A collector serves stored profiles through the same
// interface.
//
// Threads: any number at a time, unless said otherwise. Every call is bounded in time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/memory/survey.h"
#include "core/model/profile.h"
#include "endpoint/base/engine.h"

namespace heapgauge::endpoint {

enum class Moment { kNow, kPeak };

// What the kernel says of a process, in a moment; 0 unknown.
struct MemoryNow {
  uint64_t resident_bytes = 0;
  uint64_t swapped_bytes = 0;
  uint64_t cgroup_bytes = 0;
  uint64_t cgroup_limit = 0;
};

class Process {
 public:
  virtual ~Process() = default;

  virtual uint32_t pid() const = 0;
  // Who it is, how it is sampled, what was lost: the header of the file, no walk through it.
  virtual Result<RecordingFacts> Facts() = 0;

  // The profile, without names. Two that ask within kSharedNs of each other get the same one.
  static constexpr uint64_t kSharedNs = 200'000'000;
  virtual Result<std::shared_ptr<const Profile>> Take(Moment moment) = 0;
  // The same with functions, lines and inlined calls.
  virtual Result<std::shared_ptr<const Profile>> TakeWithNames(Moment moment) = 0;
  // Names for a profile that was kept or taken before.
  virtual void AddNames(Profile* profile) = 0;

  // Names for addresses in the process, innermost first; none where unknown. The addresses are as
  // clients send them: return addresses, mostly decreased by one, sometimes not.
  virtual std::vector<std::vector<std::string>> NamesOf(const std::vector<uint64_t>& addresses) = 0;

  // Each waits until the process has seen it, for a short time at most, and fails if it does not
  // run any more. `seen` in the result: false if it was noted but the process has not sampled
  // since.
  virtual Result<bool> SetActive(bool active) = 0;
  virtual Result<bool> SetInterval(uint64_t bytes) = 0;
  virtual Result<bool> Reset() = 0;

  // A dump into the directory that the host was told; its path. Fails, naming the directory, if
  // that is missing or cannot be written.
  virtual Result<std::string> Dump() = 0;
  // What such a dump holds; null where the host cannot open it.
  virtual std::shared_ptr<Process> OfDump(const std::string& /*path*/) { return nullptr; }

  // Whether the calls above can be made now; what is in their way, in one line.
  virtual Status MayChange() { return {}; }
  virtual Status MayDump() { return {}; }

  // As the kernel counts it now; nothing if that is not known here.
  virtual std::optional<uint64_t> ResidentBytes() { return {}; }
  virtual Result<MemorySurvey> Memory() = 0;
  // A glance at the same, cheap enough for each request. Nothing if it does not run.
  virtual std::optional<MemoryNow> GlanceAtMemory() { return std::nullopt; }

  virtual std::vector<Engine*> engines() { return {}; }

  // The file that is behind it; "" none.
  virtual std::string gauge_path() const { return {}; }
};

class Processes {
 public:
  virtual ~Processes() = default;
  // Those that run now, and those that have ended but left a file, newest first.
  virtual std::vector<std::shared_ptr<Process>> List() = 0;
  virtual std::shared_ptr<Process> Find(uint32_t pid) = 0;  // null: none
};

}  // namespace heapgauge::endpoint
