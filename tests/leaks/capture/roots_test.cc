#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "core/leaks/capture/picture.h"
#include "core/leaks/capture/process_memory_image.h"
#include "core/leaks/capture/process_roots.h"
#include "core/leaks/capture/saved_memory.h"
#include "tests/leaks/capture/started_program.h"
#include "tests/leaks/capture/tracing_test.h"

namespace heapgauge::leaks {
namespace {

class RootsTest : public testing::TestWithParam<Look> {
 protected:
  void SetUp() override {
    const std::string why = WhyNoTracing();
    if (!why.empty()) GTEST_SKIP() << why;
    program_.emplace(std::vector<std::string>{HEAPGAUGE_HOLDERS});
    while (true) {
      const std::string line = program_->ReadLine();
      const size_t space = line.find(' ');
      ASSERT_NE(space, std::string::npos);
      if (line == "ready 0") break;
      places_[line.substr(0, space)] = std::strtoull(line.c_str() + space + 1, nullptr, 16);
    }
    PictureOptions options;
    options.in_place = GetParam() != Look::kCopy;
    options.may_look_in_place = options.in_place;
    if (GetParam() == Look::kSaved) {
      auto saved = SavedMemory::Prepare(static_cast<uint32_t>(program_->pid()), 10'000'000'000);
      ASSERT_TRUE(saved) << saved.error().message;
      saved_ = *std::move(saved);
      options.save_to = saved_.get();
    }
    auto picture = Picture::Take(static_cast<uint32_t>(program_->pid()), options);
    ASSERT_TRUE(picture) << picture.error().message;
    picture_ = *std::move(picture);
    ASSERT_EQ(picture_->look(), GetParam());
    const ProcessMemoryImage image(picture_->memory_process());
    RootsInput input;
    input.saved = saved_.get();
    input.process = picture_->memory_process();
    input.program = static_cast<uint32_t>(program_->pid());
    input.threads = &picture_->threads();
    // The kernel may have merged the large one with a mapping beside it.
    blocks_ = {{.address = Place("heap"), .size = 5000},
               {.address = Place("large"), .size = 1 << 20}};
    input.blocks = &blocks_;
    auto found = saved_ ? FindRoots(input, *saved_) : FindRoots(input, image);
    ASSERT_TRUE(found) << found.error().message;
    found_ = *std::move(found);
  }

  uint64_t Place(const char* name) {
    EXPECT_NE(places_[name], 0u) << name;
    return places_[name];
  }
  const RootRange* RootAt(const char* name) { return RootHolding(Place(name)); }
  const RootRange* RootHolding(uint64_t address) {
    for (const RootRange& range : found_.roots.ranges) {
      if (address >= range.range.start && address < range.range.end) return &range;
    }
    return nullptr;
  }
  void ExpectRoot(const char* name, RootKind kind) {
    const RootRange* range = RootAt(name);
    ASSERT_NE(range, nullptr) << name;
    EXPECT_EQ(range->kind, kind) << name << " " << int(range->kind);
  }

  std::optional<StartedProgram> program_;
  std::map<std::string, uint64_t> places_;
  std::unique_ptr<SavedMemory> saved_;
  std::unique_ptr<Picture> picture_;
  std::vector<KnownBlock> blocks_;
  ProcessRoots found_;
};

TEST_P(RootsTest, EveryPlaceIsWhatItIs) {
  ExpectRoot("main.stack", RootKind::kStack);
  ExpectRoot("live.stack", RootKind::kStack);
  EXPECT_EQ(RootAt("main.stack")->thread, static_cast<uint32_t>(program_->pid()));
  EXPECT_EQ(RootAt("live.stack")->thread, Place("live.id"));
  ExpectRoot("main.tls", RootKind::kThreadLocal);
  ExpectRoot("live.tls", RootKind::kThreadLocal);
  EXPECT_EQ(RootAt("live.tls")->thread, Place("live.id"));
  ExpectRoot("global", RootKind::kData);
  ExpectRoot("data", RootKind::kData);
  ExpectRoot("relocated", RootKind::kData);
  ExpectRoot("mapping", RootKind::kMapping);
  ExpectRoot("shared", RootKind::kMapping);
  EXPECT_NE(FindRange(found_.roots.heap, Place("heap")), nullptr);
  EXPECT_NE(FindRange(found_.roots.heap, Place("large")), nullptr);
  for (const char* name :
       {"heap", "large", "code", "arena", "dead.stack", "dead.tls", "untouched"}) {
    EXPECT_EQ(RootAt(name), nullptr) << name << " " << int(RootAt(name)->kind);
  }
  EXPECT_NE(FindRange(found_.roots.code, Place("code")), nullptr);
  EXPECT_NE(FindRange(found_.roots.files, Place("relocated")), nullptr);
}

// To read a hole of shared memory would fill it.
TEST_P(RootsTest, HolesOfSharedMemoryAreNoRoots) {
  for (uint64_t page = 0; page < 90; ++page) {
    EXPECT_EQ(RootHolding(Place("sparse") + page * 4096) != nullptr, page % 9 == 0) << page;
  }
}

TEST_P(RootsTest, DataNamesItsObjectAndPlace) {
  const RootRange* range = RootAt("global");
  ASSERT_NE(range, nullptr);
  const Roots::Object& object = found_.roots.objects.at(range->object);
  EXPECT_EQ(object.path, HEAPGAUGE_HOLDERS);
  EXPECT_LT(Place("global") - object.load_bias, uint64_t{1} << 24);
}

TEST_P(RootsTest, RangesAreSortedAndApart) {
  uint64_t last = 0;
  for (const RootRange& range : found_.roots.ranges) {
    EXPECT_LE(last, range.range.start);
    EXPECT_LT(range.range.start, range.range.end);
    last = range.range.end;
    EXPECT_EQ(FindRange(found_.roots.heap, range.range.start), nullptr);
  }
}

TEST_P(RootsTest, EachThreadBringsItsRegistersAndItsVector) {
  std::map<uint32_t, int> registers;
  std::map<uint32_t, int> vectors;
  for (const RootRegister& r : found_.roots.registers) {
    ++(std::string(r.name) == "thread vector" ? vectors : registers)[r.thread];
  }
  EXPECT_EQ(registers.size(), 2u);
  for (const auto& [thread, count] : registers) EXPECT_EQ(count, 15) << thread;
  // One more is kept, with the stack of the thread that has ended.
  EXPECT_EQ(vectors.size(), 3u);
  EXPECT_EQ(vectors[0], 1);
  const auto live = static_cast<uint32_t>(Place("live.id"));
  for (const RootRegister& r : found_.roots.registers) {
    if (r.thread != live || std::string(r.name) != "thread vector") continue;
    // It is no block that is known, so it counts by itself.
    const RootRange* range = RootHolding(r.value);
    ASSERT_NE(range, nullptr);
    EXPECT_EQ(range->kind, RootKind::kThreadLocal);
  }
}

INSTANTIATE_TEST_SUITE_P(InEachWay, RootsTest,
                         testing::Values(Look::kCopy, Look::kInPlace, Look::kSaved),
                         [](const auto& p) {
                           return p.param == Look::kCopy      ? "InACopy"
                                  : p.param == Look::kInPlace ? "InPlace"
                                                              : "Saved";
                         });

}  // namespace
}  // namespace heapgauge::leaks
