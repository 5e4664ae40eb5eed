// The parts that record a process, put together as recorder.cc does, in a directory of the test's
// own. One process has many of them here; hg_control_word leads to the last one.
#include "agent/record/session.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "agent/record/control.h"
#include "agent/record/labels.h"
#include "agent/record/mappings.h"
#include "agent/record/samples.h"

namespace heapgauge::agent {
namespace {

// What a forked child does for its record, set by the test.
bool (*make_childs_record)() = nullptr;

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "heapgauge-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    hg_thread = {};  // it belongs to one record
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void Start() {
    Settings settings;
    settings.directory = directory_.c_str();
    settings.interval = 1 << 20;
    ASSERT_TRUE(parts_->session.Start(
        settings, [] { return make_childs_record(); }, 0));
    parts_->samples.Start(settings);
    ASSERT_TRUE(parts_->session.CreateFile());
    header().control.active = 1;
    header().control.interval = settings.interval;
    ControlFollower::ReadFrom(header());
    hg_seen_generation = 0;
    parts_->session.HasStarted();
  }

  // As the stubs call, from this function.
  [[gnu::noinline]] static Registers Caller() {
    Registers caller;
    caller.pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    caller.sp = reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa());
    __asm__ volatile("mov %%rbp, %0" : "=r"(caller.fp));
    return caller;
  }
  bool Sample(uintptr_t address) {
    if (!parts_->control.BeginSample()) return false;
    // So large that it stands for itself alone.
    constexpr uint64_t kSize = uint64_t{1} << 30;
    parts_->samples.RecordAllocation(
        {address, kSize, kSize, 1 << 20, wire::AllocationFunction::kMalloc, 0}, Caller());
    return true;
  }
  bool Free(uintptr_t address) {
    wire::LiveRecord record;
    if (!parts_->samples.TakeOut(address, &record)) return false;
    parts_->samples.CountFree(record);
    return true;
  }

  wire::Header& header() { return *parts_->session.file().header(); }
  uint64_t lost() {
    uint64_t sum = 0;
    for (const uint64_t count : header().totals.lost) sum += count;
    return sum;
  }

  struct Parts {
    Session session;
    Dumper dumper;
    Samples samples{session, dumper};
    ControlFollower control{session, samples};
    ProgramLabels labels{session, samples};
    Mappings mappings{session};
  };
  std::unique_ptr<Parts> parts_ = std::make_unique<Parts>();
  std::string directory_;
};

TEST_F(SessionTest, RecordsNothingBeforeItsStart) {
  EXPECT_FALSE(parts_->session.Available());
  EXPECT_FALSE(Sample(4096));
  EXPECT_FALSE(Free(4096));
  EXPECT_FALSE(parts_->control.RequestActive(true));
  EXPECT_LT(parts_->labels.Push("key", "value"), 0);
  wire::MappingRecord taken{};
  parts_->mappings.RecordUnmap(4096, 4096, &taken);
  parts_->control.Follow();
  EXPECT_STREQ(parts_->session.OwnPath(), "");
}

TEST_F(SessionTest, IsNotAvailableWithoutAPlaceForItsFile) {
  Settings settings;
  const std::string nowhere = directory_ + "/none/below";
  settings.directory = nowhere.c_str();
  ASSERT_TRUE(parts_->session.Start(settings, nullptr, 0));
  EXPECT_FALSE(parts_->session.CreateFile());
  EXPECT_FALSE(parts_->session.Available());
  EXPECT_FALSE(Sample(4096));
}

TEST_F(SessionTest, ShowsASampleAndItsFreeInTheTotals) {
  Start();
  ASSERT_TRUE(Sample(4096));
  ASSERT_TRUE(Sample(8192));
  EXPECT_EQ(lost(), 0u);
  EXPECT_EQ(header().totals.live_samples, 2u);
  EXPECT_EQ(header().totals.live_bytes, uint64_t{2} << 30);
  EXPECT_EQ(header().totals.live_objects, 2u);
  EXPECT_TRUE(Free(4096));
  EXPECT_FALSE(Free(4096));
  EXPECT_EQ(header().totals.live_samples, 1u);
  EXPECT_EQ(header().totals.freed_bytes, uint64_t{1} << 30);
  EXPECT_EQ(header().totals.allocated_bytes, uint64_t{2} << 30);
}

TEST_F(SessionTest, FollowsTheControlWordsAtTheNextSample) {
  Start();
  header().control.interval = 4096;
  header().control.active = 0;
  header().control.generation = 7;
  EXPECT_FALSE(Sample(4096));
  EXPECT_EQ(parts_->samples.sampler().interval(), 4096u);
  EXPECT_EQ(header().interval, 4096u);
  EXPECT_EQ(header().active, 0u);
  EXPECT_EQ(header().seen_generation, 7u);
  EXPECT_TRUE(parts_->control.RequestActive(true));
  EXPECT_TRUE(Sample(4096));
  EXPECT_EQ(header().seen_generation, 8u);
}

TEST_F(SessionTest, AResetForgetsWhatWasThereBefore) {
  Start();
  ASSERT_TRUE(Sample(4096));
  ASSERT_TRUE(parts_->control.RequestReset());
  EXPECT_EQ(header().resets, 1u);
  EXPECT_EQ(header().totals.live_bytes, 0u);
  ASSERT_TRUE(Sample(8192));
  EXPECT_TRUE(Free(4096));
  EXPECT_EQ(header().totals.live_samples, 1u);
  EXPECT_EQ(header().totals.freed_bytes, 0u) << "it is older than the reset";
}

TEST_F(SessionTest, PopGoesBackToTheLabelsOfItsPush) {
  Start();
  const int64_t outer = parts_->labels.Push("handler", "a");
  ASSERT_GE(outer, 0);
  const uint16_t labels = hg_thread.labels;
  EXPECT_GE(parts_->labels.Push("step", "1"), 0);
  EXPECT_NE(hg_thread.labels, labels);
  EXPECT_EQ(parts_->labels.NameThread("worker"), 0);
  parts_->labels.Pop(outer);
  EXPECT_EQ(hg_thread.labels, hg_thread.name) << "that of the thread is left";
  parts_->labels.Pop(outer + (int64_t{1} << 20));
  EXPECT_EQ(hg_thread.labels, hg_thread.name) << "a token of another thread";
}

TEST_F(SessionTest, KeepsBlocksOfPoolsApart) {
  Start();
  const int pool = parts_->labels.FindPool("arena");
  ASSERT_GT(pool, 0);
  EXPECT_EQ(parts_->labels.FindPool("arena"), pool);
  EXPECT_FALSE(parts_->labels.IsPool(pool + 1));
  ASSERT_TRUE(Sample(4096));
  parts_->labels.RecordAllocation(
      pool, {4096, 100, 100, 1 << 20, wire::AllocationFunction::kPool, 0}, Caller());
  EXPECT_EQ(header().totals.live_samples, 1u);
  EXPECT_EQ(header().pool_live_count, 2u);
  parts_->labels.RecordFree(pool, 4096);
  EXPECT_TRUE(Free(4096)) << "that of the heap is still there";
}

TEST_F(SessionTest, PutsAMappingBackThatCouldNotBeGivenBack) {
  Start();
  parts_->mappings.Record({.address = uint64_t{1} << 30,
                           .length = 65536,
                           .protection = 3,
                           .map_flags = 2,
                           .of_allocator = false},
                          Caller());
  EXPECT_EQ(parts_->session.tables().mappings.count(), 1u);
  wire::MappingRecord taken{};
  parts_->mappings.RecordUnmap(uint64_t{1} << 30, 65536, &taken);
  EXPECT_EQ(parts_->session.tables().mappings.count(), 0u);
  EXPECT_EQ(taken.protection, 3u);
  parts_->mappings.PutBack(taken);
  EXPECT_EQ(parts_->session.tables().mappings.count(), 1u);
  EXPECT_EQ(lost(), 0u);
}

TEST_F(SessionTest, AForkedChildGetsItsRecordAtItsFirstSample) {
  static Parts* parts;
  Start();
  ASSERT_TRUE(Sample(4096));
  parts = parts_.get();
  make_childs_record = [] {
    GaugeFile* const file = parts->session.CreateChildsFile();
    if (file == nullptr) return false;
    parts->session.CopyTables();
    parts->samples.ShowInherited(file->header());
    file->header()->control.active = 1;
    parts->control.StartInChild(*file->header());
    parts->session.SwitchToChildsFile();
    return true;
  };
  const std::string parents = parts_->session.OwnPath();
  const pid_t child = fork();
  if (child == 0) {
    const bool free_is_known = Free(4096);  // in no file: it has none yet
    const bool none_yet = parts_->session.OwnFile() == nullptr;
    const bool sampled = Sample(8192);
    const bool own = parts_->session.OwnPath() != parents;
    _exit(free_is_known && none_yet && sampled && own && header().totals.live_samples == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(header().totals.live_samples, 1u);
  EXPECT_TRUE(Free(4096)) << "the parent has not noticed";
}

}  // namespace
}  // namespace heapgauge::agent
