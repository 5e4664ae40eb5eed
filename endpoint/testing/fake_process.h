// A process that exists only in memory, for tests of dialects and pages: a profile that the test
// makes, facts that it sets, and notes of what was asked of it. Not for use outside of tests.
//
//   auto process = std::make_shared<FakeProcess>(4242);
//   process->facts.active = false;
//   FakeProcesses processes({process});
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/testing/profile_maker.h"
#include "endpoint/base/process.h"

namespace heapgauge::endpoint::testing {

// Three stacks: 6 MiB in LoadCache, 2 MiB in ReadRequest, and 40 MiB that Scratch took and gave
// back.
inline Profile MakeHeapProfile() {
  heapgauge::testing::Maker m;
  const ModuleId program = m.Module("/usr/bin/server");
  const LocationId main = m.Function("main", 10, "main.cc", program);
  const LocationId load = m.Function("Server::LoadCache(int)", 42, "cache.cc", program);
  const LocationId read = m.Function("Server::ReadRequest()", 7, "request.cc", program);
  const LocationId scratch = m.Function("Server::Scratch()", 99, "scratch.cc", program);
  m.Row({load, main}, 6 << 20, 8 << 20);
  m.Row({read, main}, 2 << 20, 3 << 20);
  m.Row({scratch, main}, 0, 40 << 20);
  Profile profile = m.profile();
  const int64_t objects[][2] = {{800, 600}, {30, 20}, {4, 0}};
  for (RowId row = 0; row < 3; ++row) {
    profile.value(row, kAllocObjects) = objects[row][0];
    profile.value(row, kInuseObjects) = objects[row][1];
  }
  profile.default_type = kInuseSpace;
  profile.period_type = {"space", "bytes"};
  profile.period = 512 << 10;
  profile.time_ns = 1'700'000'000'000'000'000;
  return profile;
}

// A heap with a page of another owner in its mapping, and a library.
inline MemorySurvey SmallSurvey() {
  MemorySurvey survey;
  MappingUsage heap;
  heap.start = 0x1000;
  heap.end = 0x9000;
  heap.name = "[heap]";
  heap.readable = heap.writable = true;
  heap.resident = 0x6000;
  heap.private_dirty = 0x6000;
  heap.swapped = 0x1000;
  MappingUsage library;
  library.start = 0x20000;
  library.end = 0x30000;
  library.name = "/usr/lib/<b>libx.so";
  library.inode = 7;
  library.readable = library.executable = true;
  library.resident = 0x4000;
  survey.smaps.mappings = {heap, library};
  survey.pieces = {{0x1000, 0x8000, Owner::kHeap, 0, kNoRecord, 0x5000},
                   {0x8000, 0x9000, Owner::kStack, 0, kNoRecord, 0x1000},
                   {0x20000, 0x30000, Owner::kProgram, 1, kNoRecord, 0x4000}};
  survey.accounting.resident = 0xa000;
  survey.accounting.parts[static_cast<size_t>(Part::kFree)] = 0x5000;
  survey.accounting.parts[static_cast<size_t>(Part::kStacks)] = 0x1000;
  survey.accounting.parts[static_cast<size_t>(Part::kProgram)] = 0x4000;
  return survey;
}

class FakeProcess : public Process {
 public:
  explicit FakeProcess(uint32_t pid, Profile taken_profile = MakeHeapProfile())
      : profile(std::move(taken_profile)) {
    facts.state = RecordingState::kLive;
    facts.program = "/usr/bin/server";
    facts.command_line = {"/usr/bin/server", "--port=80"};
    facts.pid = pid;
    facts.allocator = "glibc";
    facts.start_unix_ns = 1'700'000'000'000'000'000;
    facts.duration_ns = 60'000'000'000;
    facts.interval = facts.interval_in_force = 512 << 10;
    facts.samples = 106;
    facts.live_samples = 16;
    facts.file_bytes = 1 << 20;
    facts.private_bytes = 2 << 20;
  }

  uint32_t pid() const override { return facts.pid; }
  Result<RecordingFacts> Facts() override {
    if (!error.empty()) return Fail(ErrorCode::kUnavailable, error);
    return facts;
  }

  Result<std::shared_ptr<const Profile>> Take(Moment moment) override {
    if (!error.empty()) return Fail(ErrorCode::kUnavailable, error);
    ++taken;
    auto copy = std::make_shared<Profile>(moment == Moment::kPeak && has_peak ? peak : profile);
    copy->recording = facts;
    copy->recording.is_peak = moment == Moment::kPeak;
    return std::shared_ptr<const Profile>(std::move(copy));
  }
  Result<std::shared_ptr<const Profile>> TakeWithNames(Moment moment) override {
    return Take(moment);
  }
  void AddNames(Profile* /*profile*/) override {}
  std::vector<std::vector<std::string>> NamesOf(const std::vector<uint64_t>& addresses) override {
    std::vector<std::vector<std::string>> names(addresses.size());
    for (size_t i = 0; i < addresses.size(); ++i) {
      for (const auto& [address, chain] : symbols) {
        if (address == addresses[i]) names[i] = chain;
      }
    }
    return names;
  }

  Result<bool> SetActive(bool active) override {
    if (!control_error.empty()) return Fail(ErrorCode::kUnavailable, control_error);
    facts.active = active;
    return seen;
  }
  Result<bool> SetInterval(uint64_t bytes) override {
    if (!control_error.empty()) return Fail(ErrorCode::kUnavailable, control_error);
    facts.interval = facts.interval_in_force = bytes;
    return seen;
  }
  Result<bool> Reset() override {
    if (!control_error.empty()) return Fail(ErrorCode::kUnavailable, control_error);
    ++resets;
    facts.reset_ns = 1000 + static_cast<uint64_t>(resets);
    return seen;
  }
  Result<std::string> Dump() override {
    if (!dump_error.empty()) return Fail(ErrorCode::kIo, dump_error);
    return std::string("/var/dumps/server.4242.0001.hg");
  }
  std::shared_ptr<Process> OfDump(const std::string& /*path*/) override { return dump; }
  Status MayChange() override {
    if (!control_error.empty()) return Fail(ErrorCode::kUnavailable, control_error);
    return {};
  }
  Status MayDump() override {
    if (!dump_error.empty()) return Fail(ErrorCode::kUnavailable, dump_error);
    return {};
  }
  std::optional<uint64_t> ResidentBytes() override { return resident; }
  Result<MemorySurvey> Memory() override {
    if (!error.empty()) return Fail(ErrorCode::kUnavailable, error);
    MemorySurvey result = survey;
    result.recording = facts;
    result.live = facts.state == RecordingState::kLive;
    return result;
  }
  std::optional<MemoryNow> GlanceAtMemory() override { return memory_now; }
  std::vector<Engine*> engines() override { return own_engines; }

  Profile profile;
  bool has_peak = false;
  Profile peak;
  RecordingFacts facts;
  MemorySurvey survey;
  std::optional<MemoryNow> memory_now;
  std::string error;          // of everything that reads
  std::string control_error;  // of everything that changes
  std::string dump_error;
  std::shared_ptr<FakeProcess> dump;  // what a dump holds; null: it cannot be opened
  std::optional<uint64_t> resident = uint64_t{20} << 20;
  bool seen = true;
  int taken = 0;
  int resets = 0;
  std::vector<std::pair<uint64_t, std::vector<std::string>>> symbols;
  std::vector<Engine*> own_engines;
};

class FakeEngine : public Engine {
 public:
  std::string_view name() const override { return engine_name; }
  State state() override { return facts; }
  Result<std::string> TakeHeap() override { return heap; }
  Result<std::string> TakeGrowth() override { return heap; }
  Status SetActive(bool active) override {
    facts.active = active;
    return {};
  }
  Status SetInterval(uint64_t bytes) override {
    facts.interval = bytes;
    return {};
  }
  Status Reset() override {
    ++resets;
    return {};
  }
  Result<std::string> Statistics(const std::string& options) override {
    return "statistics of " + engine_name + " with " + options + "\n";
  }
  std::vector<std::pair<std::string, uint64_t>> Figures() override {
    return {{"allocated", 1000}, {"active", 4096}, {"resident", 8192}};
  }

  std::string engine_name = "jemalloc";
  State facts{true, "", false, 512 << 10, "5.3.0"};
  // A profile in the engine's own format: two objects of 3000 bytes in all.
  std::string heap =
      "heap_v2/524288\n  t*: 2: 3000 [0: 0]\n@ 0x1000 0x2000\n  t*: 2: 3000 [0: 0]\n\n"
      "MAPPED_LIBRARIES:\n";
  int resets = 0;
};

class FakeProcesses : public Processes {
 public:
  explicit FakeProcesses(std::vector<std::shared_ptr<Process>> processes)
      : processes_(std::move(processes)) {}
  std::vector<std::shared_ptr<Process>> List() override { return processes_; }
  std::shared_ptr<Process> Find(uint32_t pid) override {
    for (const auto& process : processes_) {
      if (process->pid() == pid) return process;
    }
    return nullptr;
  }

 private:
  std::vector<std::shared_ptr<Process>> processes_;
};

}  // namespace heapgauge::endpoint::testing
