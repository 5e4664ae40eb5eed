#include "endpoint/base/gauge_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "core/elf/elf_file.h"
#include "core/gauge/testing/gauge_builder.h"

extern "C" __attribute__((noinline)) int HeapgaugeNamedForTest(int x) { return x * 3 + 1; }

namespace heapgauge::endpoint {
namespace {

namespace fs = std::filesystem;
using heapgauge::testing::GaugeBuilder;

class GaugeProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() /
                 ("heapgauge_endpoint_" + std::to_string(getpid()) + "_" +
                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }
  std::string Path(const std::string& name) const { return (directory_ / name).string(); }

  fs::path directory_;
};

std::string BuildIdOf(const std::string& path) {
  const auto file = ElfFile::Open(path);
  if (!file) return {};
  const std::string& text = (*file)->build_id();
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// This very program as the module of a gauge file.
void AddThisProgram(GaugeBuilder* builder) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        uint64_t end = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type == PT_LOAD) {
            end = std::max<uint64_t>(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
          }
        }
        const std::string path = fs::read_symlink("/proc/self/exe").string();
        static_cast<GaugeBuilder*>(data)->AddModule(path, info->dlpi_addr + 0x1000, end,
                                                    info->dlpi_addr, BuildIdOf(path));
        return 1;
      },
      builder);
}

uint64_t AddressOfNamed() { return reinterpret_cast<uint64_t>(&HeapgaugeNamedForTest); }

TEST_F(GaugeProcessTest, GivesTheProfileWithAndWithoutNames) {
  GaugeBuilder builder;
  AddThisProgram(&builder);
  const uint32_t stack = builder.AddStack({AddressOfNamed() + 3});
  builder.AddLive(stack, 1 << 20);
  builder.WriteTo(Path("x.1.hg"));
  GaugeProcess process(Path("x.1.hg"));
  EXPECT_EQ(process.pid(), static_cast<uint32_t>(getpid()));
  const auto plain = process.Take(Moment::kNow);
  ASSERT_TRUE(plain) << plain.error().message;
  ASSERT_EQ((*plain)->rows.size(), 1u);
  EXPECT_EQ((*plain)->locations.at(0).frame_count, 0u);
  const auto named = process.TakeWithNames(Moment::kNow);
  ASSERT_TRUE(named) << named.error().message;
  ASSERT_NE((*named)->locations.at(0).frame_count, 0u);
  EXPECT_EQ((*named)->functions.at(0).name, "HeapgaugeNamedForTest")
      << ((*named)->notes.empty() ? "" : (*named)->notes[0]);
}

TEST_F(GaugeProcessTest, NamesAddressesInPositionIndependentCode) {
  GaugeBuilder builder;
  AddThisProgram(&builder);
  builder.AddLive(builder.AddStack({AddressOfNamed() + 3}), 1 << 20);
  builder.WriteTo(Path("x.1.hg"));
  GaugeProcess process(Path("x.1.hg"));
  const auto names = process.NamesOf({AddressOfNamed() + 2, AddressOfNamed() + 3, 16});
  ASSERT_EQ(names.size(), 3u);
  ASSERT_FALSE(names[0].empty());
  EXPECT_EQ(names[0].back(), "HeapgaugeNamedForTest");
  EXPECT_EQ(names[1], names[0]);
  EXPECT_TRUE(names[2].empty());
}

TEST_F(GaugeProcessTest, NamesWhatIsMappedButInNoModuleOfTheFile) {
  GaugeBuilder builder;  // of this process, without any module
  builder.AddLive(builder.AddStack({0x10}), 1 << 20);
  builder.WriteTo(Path("x.1.hg"));
  // A file is that of a live process if the process maps it.
  const int fd = open(Path("x.1.hg").c_str(), O_RDONLY);
  ASSERT_GE(fd, 0);
  void* mapping = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  ASSERT_NE(mapping, MAP_FAILED);
  GaugeProcess process(Path("x.1.hg"));
  const auto facts = process.Facts();
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->state, RecordingState::kLive);
  const auto names = process.NamesOf({AddressOfNamed() + 2});
  munmap(mapping, 4096);
  ASSERT_FALSE(names[0].empty());
  EXPECT_EQ(names[0].back(), "HeapgaugeNamedForTest");
}

uint64_t g_now = 0;

TEST_F(GaugeProcessTest, SharesASnapshotBetweenThoseWhoAskAtOnce) {
  GaugeBuilder builder;
  builder.AddModule("/bin/server", 0x1000, 0x9000);
  const uint32_t stack = builder.AddStack({0x1234});
  builder.AddLive(stack, 4096);
  builder.AddPeak(stack, 8192);
  builder.WriteTo(Path("x.1.hg"));
  GaugeProcessOptions options;
  g_now = 1'000'000'000;
  options.clock = [] { return g_now; };
  GaugeProcess process(Path("x.1.hg"), options);
  const auto first = *process.Take(Moment::kNow);
  const auto named = *process.TakeWithNames(Moment::kNow);
  EXPECT_NE(named, first);
  g_now += Process::kSharedNs - 1;
  EXPECT_EQ(*process.Take(Moment::kNow), first);
  EXPECT_EQ(*process.TakeWithNames(Moment::kNow), named);
  EXPECT_NE(*process.Take(Moment::kPeak), first);
  g_now += 2;
  const auto second = *process.Take(Moment::kNow);
  EXPECT_NE(second, first);
  EXPECT_NE(*process.TakeWithNames(Moment::kNow), named);
  EXPECT_EQ(second->rows.size(), 1u);
}

// What was taken just before the end would otherwise be the last that is known of it.
TEST_F(GaugeProcessTest, SaysThatAProgramHasEndedAtOnce) {
  GaugeBuilder builder;
  builder.AddModule("/bin/server", 0x1000, 0x9000);
  builder.AddLive(builder.AddStack({0x1234}), 4096);
  builder.WriteTo(Path("x.1.hg"));
  GaugeProcessOptions options;
  g_now = 1'000'000'000;
  options.clock = [] { return g_now; };
  GaugeProcess process(Path("x.1.hg"), options);
  // A program that runs has its file mapped.
  const int file = open(Path("x.1.hg").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  void* const mapped = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  ASSERT_NE(mapped, MAP_FAILED);
  ASSERT_EQ((*process.Take(Moment::kNow))->recording.state, RecordingState::kLive);
  EXPECT_TRUE(process.MayChange());
  EXPECT_GT(process.ResidentBytes().value_or(0), 0u);
  munmap(mapped, 4096);
  g_now += 1;
  EXPECT_NE((*process.Take(Moment::kNow))->recording.state, RecordingState::kLive);
  EXPECT_FALSE(process.MayChange());
  EXPECT_FALSE(process.ResidentBytes());
}

TEST_F(GaugeProcessTest, ServesManyThreads) {
  GaugeBuilder builder;
  AddThisProgram(&builder);
  builder.AddLive(builder.AddStack({AddressOfNamed() + 3}), 4096);
  builder.WriteTo(Path("x.1.hg"));
  GaugeProcess process(Path("x.1.hg"));
  std::atomic<int> whole = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      if (i % 2 == 0) {
        const auto profile = process.TakeWithNames(Moment::kNow);
        if (profile && (*profile)->rows.size() == 1) ++whole;
      } else if (process.NamesOf({AddressOfNamed() + 2})[0].size() == 1) {
        ++whole;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(whole, 8);
}

TEST_F(GaugeProcessTest, RefusesToChangeAProcessThatIsGone) {
  GaugeBuilder builder;
  builder.header().ended_ns = 1'000'000'000;
  builder.WriteTo(Path("x.1.hg"));
  GaugeProcess process(Path("x.1.hg"));
  EXPECT_TRUE(process.Take(Moment::kNow));
  for (const auto& result :
       {process.SetActive(false), process.SetInterval(4096), process.Reset()}) {
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("does not run any more"), std::string::npos);
  }
}

TEST_F(GaugeProcessTest, DumpsIntoTheDirectoryOfTheHost) {
  GaugeBuilder builder;
  builder.AddModule("/bin/server", 0x1000, 0x9000);
  builder.AddLive(builder.AddStack({0x1234}), 4096);
  builder.WriteTo(Path("x.1.hg"));
  EXPECT_FALSE(GaugeProcess(Path("x.1.hg")).Dump());
  GaugeProcessOptions options;
  options.dump_directory = Path("missing");
  const auto failed = GaugeProcess(Path("x.1.hg"), options).Dump();
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("missing"), std::string::npos) << failed.error().message;
  options.dump_directory = Path("");
  const auto dumped = GaugeProcess(Path("x.1.hg"), options).Dump();
  ASSERT_TRUE(dumped) << dumped.error().message;
  EXPECT_TRUE(fs::exists(*dumped));
}

TEST_F(GaugeProcessTest, FileThatIsGoneOrBrokenIsAnError) {
  GaugeProcess gone(Path("none.hg"));
  EXPECT_FALSE(gone.Facts());
  EXPECT_FALSE(gone.Take(Moment::kNow));
  EXPECT_EQ(gone.NamesOf({1, 2}).size(), 2u);
  EXPECT_FALSE(gone.Memory());
}

TEST_F(GaugeProcessTest, DirectoryHoldsOneProcessForEachNumber) {
  for (const uint32_t pid : {101u, 102u}) {
    GaugeBuilder builder;
    builder.header().pid = pid;
    builder.header().ended_ns = 5;
    builder.header().start_realtime_ns = 1000 + pid;
    builder.WriteTo(Path("x." + std::to_string(pid) + ".hg"));
  }
  GaugeBuilder again;  // the number came round
  again.header().pid = 101;
  again.header().ended_ns = 5;
  again.header().start_realtime_ns = 5000;
  again.WriteTo(Path("y.101.hg"));
  GaugeProcesses processes({{directory_.string()}, {}, {}});
  const auto list = processes.List();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]->pid(), 101u);  // the newest first
  EXPECT_EQ(list[1]->pid(), 102u);
  EXPECT_EQ(static_cast<GaugeProcess&>(*list[0]).path(), Path("y.101.hg"));
  EXPECT_EQ(processes.Find(102), list[1]);  // the same object, with what it remembers
  EXPECT_EQ(processes.Find(103), nullptr);
  GaugeProcesses one({{directory_.string()}, {102}, {}});
  EXPECT_EQ(one.List().size(), 1u);
  GaugeProcesses file({{}, {}, {Path("x.102.hg")}});
  ASSERT_EQ(file.List().size(), 1u);
  EXPECT_EQ(file.List()[0]->pid(), 102u);
}

}  // namespace
}  // namespace heapgauge::endpoint
