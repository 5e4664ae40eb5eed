#include "endpoint/base/kept_profiles.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "endpoint/testing/fake_process.h"

namespace heapgauge::endpoint {
namespace {

std::shared_ptr<const Profile> SomeProfile() {
  Profile profile = testing::MakeHeapProfile();
  profile.recording.pid = 1;
  profile.recording.program = "/usr/bin/server";
  return std::make_shared<const Profile>(std::move(profile));
}

std::string KeepOne(KeptProfiles* kept, uint32_t pid, std::string_view type = "heap") {
  const auto one = kept->Keep(pid, type, SomeProfile());
  EXPECT_TRUE(one.has_value());
  return one ? (*one)->id : "";
}

TEST(KeptProfiles, GivesBackWhatWasKept) {
  KeptProfiles kept{Limits{}};
  const std::string id = KeepOne(&kept, 1);
  const auto found = kept.Find(1, "heap", id);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->live_bytes.value, 8 << 20);
  EXPECT_EQ(found->allocated_bytes.value, 51 << 20);
  EXPECT_EQ(found->unix_ns, 1'700'000'000'000'000'000);
  const auto profile = found->Read();
  ASSERT_TRUE(profile.has_value()) << profile.error().message;
  ASSERT_TRUE(profile->Check().has_value());
  EXPECT_EQ(profile->Total(kInuseSpace).value, 8 << 20);
  EXPECT_EQ(profile->Total(kAllocObjects).value, 834);
  EXPECT_EQ(profile->recording.program, "/usr/bin/server");
  EXPECT_GT(profile->Total(kInuseSpace).variance, 0) << "the interval tells how sure it is";
}

TEST(KeptProfiles, KnowsAgainHowSureFiguresAreAndWhichBlocksTheyAre) {
  Profile profile = testing::MakeHeapProfile();
  for (const int64_t value : profile.values) {
    Estimate estimate;
    estimate.value = static_cast<double>(value);
    estimate.variance = 3 * estimate.value;
    estimate.step = 7;
    profile.estimates.push_back(estimate);
  }
  // A row without a value is not written; those behind it move up.
  for (size_t type = 0; type < kHeapTypes; ++type) profile.value(0, type) = 0;
  SampledBlock block;
  block.row = 1;
  block.address = 0x7000;
  block.size = 2 << 20;
  block.birth_ns = 55;
  block.thread = 9;
  profile.blocks.push_back(block);
  profile.rows[1].samples = 77;
  KeptProfiles kept{Limits{}};
  const auto one = kept.Keep(1, "heap", std::make_shared<const Profile>(profile));
  ASSERT_TRUE(one.has_value());
  const auto again = (*one)->Read();
  ASSERT_TRUE(again.has_value()) << again.error().message;
  ASSERT_EQ(again->rows.size(), 2u);
  EXPECT_TRUE(again->Check().has_value());
  EXPECT_EQ(again->rows[0].samples, 77u);
  EXPECT_EQ(again->estimate(0, kInuseSpace).variance, 3.0 * (2 << 20));
  EXPECT_EQ(again->estimate(1, kAllocSpace).variance, 3.0 * (40 << 20));
  ASSERT_EQ(again->blocks.size(), 1u);
  EXPECT_EQ(again->blocks[0].row, 0u);
  EXPECT_EQ(again->blocks[0].address, 0x7000u);
  EXPECT_EQ(again->blocks[0].birth_ns, 55u);
  EXPECT_EQ(again->blocks[0].thread, 9u);
}

TEST(KeptProfiles, ASnapshotThatIsSharedIsKeptOnce) {
  KeptProfiles kept{Limits{}};
  const auto shared = SomeProfile();
  const auto one = kept.Keep(1, "heap", shared);
  const auto two = kept.Keep(1, "heap", shared);
  const auto growth = kept.Keep(1, "growth", shared);
  ASSERT_TRUE(one && two && growth);
  EXPECT_EQ((*one)->id, (*two)->id);
  EXPECT_NE((*one)->id, (*growth)->id);
  EXPECT_EQ(kept.List(1, "heap").size(), 1u);
}

TEST(KeptProfiles, GrowthIsAboutWhatWasAllocated) {
  KeptProfiles kept{Limits{}};
  const auto one = kept.Keep(1, "growth", SomeProfile());
  ASSERT_TRUE(one.has_value());
  const auto profile = (*one)->Read();
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->sample_types[profile->DefaultType()].name, "alloc_space");
}

TEST(KeptProfiles, AnIdIsOfOneProcessAndType) {
  KeptProfiles kept{Limits{}};
  const std::string id = KeepOne(&kept, 1);
  EXPECT_EQ(kept.Find(2, "heap", id), nullptr);
  EXPECT_EQ(kept.Find(1, "growth", id), nullptr);
  EXPECT_EQ(kept.Find(1, "heap", ""), nullptr);
  EXPECT_EQ(kept.Find(1, "heap", id.substr(0, 31)), nullptr);
  EXPECT_EQ(kept.Find(1, "heap", "../../etc/passwd"), nullptr);
}

TEST(KeptProfiles, IdsAreThirtyTwoRandomDigits) {
  KeptProfiles kept{Limits{}};
  std::set<std::string> ids;
  for (int i = 0; i < 20; ++i) {
    const std::string id = KeepOne(&kept, 1);
    EXPECT_EQ(id.size(), 32u);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 20u);
}

TEST(KeptProfiles, PrunesEachProcessAndTypeByItself) {
  Limits limits;
  limits.kept_profiles = 3;
  KeptProfiles kept{limits};
  const std::string other = KeepOne(&kept, 2);
  const std::string growth = KeepOne(&kept, 1, "growth");
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(KeepOne(&kept, 1));
  EXPECT_EQ(kept.Find(1, "heap", ids[1]), nullptr);
  EXPECT_NE(kept.Find(1, "heap", ids[2]), nullptr);
  EXPECT_NE(kept.Find(2, "heap", other), nullptr);
  EXPECT_NE(kept.Find(1, "growth", growth), nullptr);
  const auto list = kept.List(1, "heap");
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]->id, ids[4]);
  EXPECT_EQ(list[2]->id, ids[2]);
}

TEST(KeptProfiles, MemoryIsBoundedWhateverTheNumberOfProcesses) {
  Limits limits;
  limits.kept_bytes = 40'000;
  KeptProfiles kept{limits};
  for (uint32_t pid = 1; pid <= 100; ++pid) {
    KeepOne(&kept, pid);
    EXPECT_LE(kept.bytes(), limits.kept_bytes);
  }
  EXPECT_EQ(kept.List(1, "heap").size(), 0u);
  EXPECT_EQ(kept.List(100, "heap").size(), 1u);
}

TEST(KeptProfiles, TheNewestStaysEvenIfItIsLargerThanAllowed) {
  Limits limits;
  limits.kept_bytes = 1;
  limits.kept_profiles = 0;
  KeptProfiles kept{limits};
  KeepOne(&kept, 1);
  const std::string id = KeepOne(&kept, 1);
  EXPECT_EQ(kept.List(1, "heap").size(), 1u);
  EXPECT_NE(kept.Find(1, "heap", id), nullptr);
}

TEST(KeptProfiles, AWindowIsOpenedOnceAndClosedOnce) {
  KeptProfiles kept{Limits{}};
  const auto start = SomeProfile();
  EXPECT_EQ(kept.CloseWindow(1, "alloc"), nullptr);
  EXPECT_TRUE(kept.OpenWindow(1, "alloc", start));
  EXPECT_FALSE(kept.OpenWindow(1, "alloc", start));
  EXPECT_TRUE(kept.OpenWindow(1, "heap", start));
  EXPECT_TRUE(kept.IsOpen(1, "alloc"));
  EXPECT_EQ(kept.CloseWindow(1, "alloc"), start);
  EXPECT_EQ(kept.CloseWindow(1, "alloc"), nullptr);
  EXPECT_FALSE(kept.IsOpen(1, "alloc"));
}

TEST(KeptProfiles, TheNumberOfWindowsIsBounded) {
  KeptProfiles kept{Limits{}};
  for (uint32_t pid = 0; pid < KeptProfiles::kMostWindows; ++pid) {
    EXPECT_TRUE(kept.OpenWindow(pid, "alloc", nullptr));
  }
  EXPECT_TRUE(kept.OpenWindow(9999, "alloc", nullptr));
  EXPECT_FALSE(kept.IsOpen(0, "alloc")) << "the oldest is forgotten";
  EXPECT_TRUE(kept.IsOpen(1, "alloc"));
  EXPECT_TRUE(kept.IsOpen(9999, "alloc"));
}

TEST(KeptProfiles, ManyThreadsKeepAndFindAtOnce) {
  Limits limits;
  limits.kept_profiles = 4;
  KeptProfiles kept{limits};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&kept, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string id = KeepOne(&kept, t % 2);
        if (const auto found = kept.Find(t % 2, "heap", id)) {
          EXPECT_TRUE(found->Read().has_value());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(kept.List(0, "heap").size(), 4u);
  EXPECT_EQ(kept.List(1, "heap").size(), 4u);
}

}  // namespace
}  // namespace heapgauge::endpoint
