// The reports on a whole gauge file, through the binary.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/gauge/testing/gauge_builder.h"
#include "tests/cli/command.h"

namespace heapgauge::testing {
namespace {

class Reports : public ::testing::Test {
 protected:
  Reports() : path_(dir_ / "server.1.hg") {
    EXPECT_EQ(Command({HEAPGAUGE_MAKE_GAUGE, path_}).Wait().code, 0);
  }
  ScratchDir dir_;
  std::string path_;
};

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Reports, Top) {
  const Outcome outcome = Heapgauge({"top", path_});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* part :
       {"killed after", "glibc", "1 in 512 kB", "shop::LoadCatalogue",
        "make_gauge.cc:", "shop::Cart::AddItem", "95 % range", "3 samples, about 1.5 MB"}) {
    EXPECT_TRUE(Contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
  EXPECT_FALSE(Contains(outcome.out, "malloc ")) << "the allocator is not a row\n" << outcome.out;
  EXPECT_TRUE(Contains(Heapgauge({"top", "--cum", path_}).out, "shop::HandleRequest"));
  EXPECT_FALSE(Contains(Heapgauge({"top", "--ignore", "Cart", path_}).out, "shop::Cart"));
  EXPECT_TRUE(Contains(Heapgauge({"top", "--peak", path_}).out, "this is the peak"));
  EXPECT_TRUE(
      Contains(Heapgauge({"top", "--sort", "age", "-n", "1", path_}).out, "more functions"));
}

TEST_F(Reports, CommandsToPasteNameTheFileAsOneWord) {
  const std::string copy = dir_ / "my server's.hg";
  const Outcome saved = Heapgauge({"save", "-o", copy, path_});
  EXPECT_EQ(saved.code, 0) << saved.err;
  EXPECT_TRUE(Contains(saved.out, "heapgauge top 'my server'\\''s.hg'\n")) << saved.out;
  const std::string dump = dir_ / "a dump.hg";
  const Outcome dumped = Heapgauge({"ctl", path_, "dump", "-o", dump});
  EXPECT_EQ(dumped.code, 0) << dumped.err;
  EXPECT_TRUE(Contains(dumped.out, "heapgauge top '" + dump + "'\n")) << dumped.out;
}

TEST_F(Reports, TopAsJson) {
  const auto json = nlohmann::json::parse(Heapgauge({"top", "--json", path_}).out);
  EXPECT_EQ(json["recording"]["state"], "killed");
  EXPECT_EQ(json["functions"][0]["function"], "shop::Cart::AddItem(int)");
  EXPECT_EQ(json["functions"][0]["flat"]["live_samples"], 40);
}

TEST_F(Reports, Tree) {
  const Outcome outcome = Heapgauge({"tree", path_});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(outcome.out.find("shop::HandleRequest"), outcome.out.find("shop::LoadCatalogue"));
  const Outcome callers = Heapgauge({"tree", "--callers", path_});
  EXPECT_GT(callers.out.find("shop::HandleRequest"), callers.out.find("shop::Cart::AddItem"));
  const auto json = nlohmann::json::parse(Heapgauge({"tree", "--json", path_}).out);
  EXPECT_EQ(json["nodes"][1]["function"], "shop::HandleRequest(int)");
  for (const char* fold : {"-1", "101", "x"}) {
    EXPECT_EQ(Heapgauge({"tree", "--fold", fold, path_}).code, 2) << fold;
  }
  EXPECT_TRUE(Contains(Heapgauge({"tree", "--focus", "Nobody", path_}).out, "No samples"));
}

TEST_F(Reports, TracesAndCollapsed) {
  EXPECT_TRUE(Contains(Heapgauge({"traces", path_}).out, "shop::HandleRequest"));
  const Outcome outcome = Heapgauge({"collapsed", path_});
  EXPECT_TRUE(Contains(outcome.out, "shop::HandleRequest;shop::LoadCatalogue 1")) << outcome.out;
  const std::string file = dir_ / "out.txt";
  EXPECT_EQ(Heapgauge({"collapsed", "-o", file, path_}).out, "");
  EXPECT_EQ(ReadWholeFile(file, 1 << 20).value_or(""), outcome.out);
}

TEST_F(Reports, ProtoOpensInPprof) {
  const std::string file = dir_ / "heap.pb.gz";
  ASSERT_EQ(Heapgauge({"proto", "-o", file, path_}).code, 0);
  if (Command({"go", "version"}).Wait().code != 0) GTEST_SKIP() << "go is not installed";
  const Environment environment = {{"PPROF_TMPDIR", dir_.path()}, {"HOME", dir_.path()}};
  for (const char* type : {"-inuse_space", "-alloc_space", "-inuse_objects", "-alloc_objects"}) {
    const Outcome outcome =
        Command({"go", "tool", "pprof", "-top", type, file}, environment).Wait();
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(Contains(outcome.out, "shop::Cart::AddItem")) << outcome.out;
    EXPECT_TRUE(Contains(outcome.out, std::string("Type: ") + (type + 1))) << outcome.out;
    EXPECT_FALSE(Contains(outcome.out, "malloc")) << "drop_frames: " << outcome.out;
  }
  const Outcome plain = Command({"go", "tool", "pprof", "-top", file}, environment).Wait();
  EXPECT_TRUE(Contains(plain.out, "Type: inuse_space")) << "the default\n" << plain.out;
}

TEST_F(Reports, PsListsAndPrunes) {
  const Environment environment = {{"HEAPGAUGE_DIR", dir_.path()}};
  std::ofstream(dir_ / "junk.9.hg") << "junk";
  const Outcome table = Heapgauge({"ps"}, environment);
  EXPECT_EQ(table.code, 0);
  EXPECT_TRUE(Contains(table.out, "killed")) << table.out;
  EXPECT_TRUE(Contains(table.out, path_)) << table.out;
  EXPECT_TRUE(Contains(table.out, "broken")) << table.out;
  bool found = false;
  for (const auto& entry : nlohmann::json::parse(Heapgauge({"ps", "--json"}, environment).out)) {
    if (entry["file"] != path_) continue;
    found = true;
    EXPECT_EQ(entry["state"], "killed");
    EXPECT_GT(entry["live_bytes"]["high"], entry["live_bytes"]["low"]);
  }
  EXPECT_TRUE(found);
}

// Pruning looks into all directories of the user, so the test is a user that has none.
TEST_F(Reports, PruneRemovesWhatIsGone) {
  const Environment environment = {{"HEAPGAUGE_DIR", dir_.path()}, {"XDG_RUNTIME_DIR", ""}};
  std::filesystem::permissions(dir_.path(), std::filesystem::perms::all);
  std::filesystem::permissions(path_, std::filesystem::perms::all);
  Command command(HeapgaugeCommand({"ps", "--prune"}), environment, "", User::kNobody);
  const Outcome outcome = command.Wait();
  if (outcome.code == kCannotBeNobody) GTEST_SKIP() << "only root can become another user here";
  EXPECT_TRUE(Contains(outcome.out, "removed " + path_)) << outcome.out << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Reports, DumpMakesACopyThatOpens) {
  const std::string copy = dir_ / "copy.hg";
  EXPECT_EQ(Heapgauge({"ctl", path_, "dump", "-o", copy}).code, 0);
  EXPECT_TRUE(Contains(Heapgauge({"top", copy}).out, "shop::LoadCatalogue"));
  EXPECT_TRUE(Contains(Heapgauge({"ctl", path_, "peak"}).out, "this is the peak"));
}

TEST(Control, ChangesAreSeenOrSaidToBePending) {
  const ScratchDir dir;
  const std::string path = dir / "server.1.hg";
  GaugeBuilder b;  // this process is the program
  b.AddLive(b.AddStack({0x1000}), 1000);
  b.WriteTo(path);
  const auto file = File::OpenForUpdate(path);
  ASSERT_TRUE(file);
  void* map = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file->fd(), 0);
  ASSERT_NE(map, MAP_FAILED);
  const Environment environment = {{"HEAPGAUGE_DIR", dir.path()}};
  const std::string pid = std::to_string(getpid());

  const Outcome status = Heapgauge({"ctl", pid, "status"}, environment);
  EXPECT_TRUE(Contains(status.out, "running for")) << status.out << status.err;
  const Outcome pending = Heapgauge({"ctl", pid, "sample", "64K"}, environment);
  EXPECT_EQ(pending.code, 0);
  EXPECT_TRUE(Contains(pending.out, "has not seen it yet")) << pending.out << pending.err;
  const uint32_t seen = 100;  // an agent that has seen everything up to there
  ASSERT_TRUE(file->WriteAt(offsetof(wire::Header, seen_generation), &seen, sizeof seen));
  EXPECT_EQ(Heapgauge({"ctl", pid, "disable"}, environment).out, "sampling is off\n");
  EXPECT_EQ(Heapgauge({"ctl", path, "max-rate", "0"}, environment).out, "no cap on samples\n");
  EXPECT_TRUE(Contains(Heapgauge({"ctl", pid, "reset"}, environment).out, "reset"));

  wire::Header header{};
  file->ReadAt(0, &header, sizeof header);
  EXPECT_EQ(header.control.generation, 4u);
  EXPECT_EQ(header.control.interval, 65536u);
  EXPECT_EQ(header.control.active, 0u);
  EXPECT_EQ(header.control.max_samples_per_second, 0u);
  EXPECT_EQ(header.control.reset_requests, 1u);
  munmap(map, 4096);
}

TEST(Help, EveryCommandTeaches) {
  EXPECT_TRUE(Contains(Heapgauge({"--version"}).out, "heapgauge "));
  EXPECT_TRUE(Contains(Heapgauge({"--help"}).out, "heapgauge run -- "));
  for (const char* verb : {"run", "top", "tree", "traces", "collapsed", "proto", "ps", "ctl"}) {
    const Outcome outcome = Heapgauge({verb, "--help"});
    EXPECT_EQ(outcome.code, 0) << verb;
    EXPECT_TRUE(Contains(outcome.out, std::string("heapgauge ") + verb) ||
                Contains(outcome.out, "HEAPGAUGE_DIR"))
        << outcome.out;
  }
}

TEST_F(Reports, AReaderThatHasGoneIsNoError) {
  // The reader ends at once; the pause makes sure of it before anything is written.
  const std::string script = "(sleep 0.2; " + std::string(HEAPGAUGE_PROGRAM) + " top " + path_ +
                             "; echo code $? >&2) | true";
  const Outcome outcome = Command({"sh", "-c", script}).Wait();
  EXPECT_EQ(outcome.err, "code 0\n");
}

}  // namespace
}  // namespace heapgauge::testing
