#include "core/formats/jemalloc/jemalloc.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

constexpr const char* kSmall =
    "heap_v2/524288\n"
    "  t*: 3: 27648 [0: 0]\n"
    "  t0: 1: 9216 [0: 0]\n"
    "  t7: 2: 18432 [0: 0] worker one\n"
    "@ 0x1001 0x2001\n"
    "  t*: 2: 18432 [0: 0]\n"
    "  t0: 1: 9216 [0: 0]\n"
    "  t7: 1: 9216 [0: 0]\n"
    "@ 0x1002 0x2001\n"
    "  t*: 1: 9216 [0: 0]\n"
    "  t7: 1: 9216 [0: 0]\n"
    "\n"
    "MAPPED_LIBRARIES:\n"
    "1000-3000 r-xp 00000000 00:00 0 /bin/x\n";

Result<Profile> Read(const std::string& text, const std::string& thread = "") {
  const auto stream = StreamOf(text);
  TextReadOptions options;
  options.thread = thread;
  auto profile = ReadJemalloc(stream.get(), "x.heap", options);
  if (profile) {
    const Status status = profile->Check();
    EXPECT_TRUE(status) << status.error().message;
  }
  return profile;
}

std::string MessageOf(const std::string& text, const std::string& thread = "") {
  const auto profile = Read(text, thread);
  return profile ? "no error" : profile.error().message;
}

TEST(JemallocReader, ReadsTheSumOfAllThreads) {
  const auto p = Read(kSmall);
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->rows.size(), 2u);
  EXPECT_EQ(p->sample_types.size(), 2u);
  EXPECT_EQ(p->value(0, 1), 2 * 528909);
  EXPECT_EQ(p->value(1, 0), 57);
  EXPECT_EQ(p->estimates.size(), 4u);
  EXPECT_EQ(p->modules[0].path, "/bin/x");
  EXPECT_EQ(p->period, 524288);
}

TEST(JemallocReader, ReadsEachThread) {
  const auto p = Read(kSmall, "*");
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->rows.size(), 3u);
  const auto first = p->LabelsOf(0);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(p->strings[first[0].key], "bytes");
  EXPECT_EQ(p->strings[first[1].key], "thread");
  EXPECT_EQ(first[1].number, 0);
  const auto second = p->LabelsOf(1);
  ASSERT_EQ(second.size(), 3u);
  EXPECT_EQ(p->strings[second[0].key], "thread_name");
  EXPECT_EQ(p->strings[second[0].text], "worker one");
  EXPECT_EQ(second[2].number, 7);
}

TEST(JemallocReader, ReadsOneThread) {
  const auto p = Read(kSmall, "0");
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->rows.size(), 1u);
  EXPECT_EQ(p->value(0, 0), 57);
  EXPECT_EQ(MessageOf(kSmall, "3"), "jemalloc heap profile: x.heap: there is no thread 3 in it");
  EXPECT_EQ(MessageOf(kSmall, "seven"),
            "no thread \"seven\": give its number in the profile, or *");
}

TEST(JemallocReader, TellsAllocationsIfTheyWereAccumulated) {
  const auto p =
      Read("heap_v2/1\n  t*: 1: 2 [3: 6]\n@ 0x1\n  t*: 0: 0 [2: 4]\n@ 0x2\n  t*: 1: 2 [1: 2]\n");
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->sample_types.size(), 4u);
  EXPECT_EQ(p->values, (std::vector<int64_t>{2, 4, 0, 0, 1, 2, 1, 2}));
  EXPECT_EQ(p->LabelsOf(0)[0].number, 2);
}

TEST(JemallocReader, ReadsAnEmptyProfile) {
  const auto p = Read("heap_v2/524288\n  t*: 0: 0 [0: 0]\n  t0: 0: 0 [0: 0]\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_TRUE(p->rows.empty());
}

TEST(JemallocReader, SaysWhereSomethingIsWrong) {
  EXPECT_EQ(MessageOf(""), "jemalloc heap profile: x.heap: line 0: the profile is empty");
  EXPECT_NE(MessageOf("heap_v1/5\n").find("line 1: not the header"), std::string::npos);
  EXPECT_NE(MessageOf("heap_v2/1\n@ 0x1\n  t*: 0: 5 [0: 0]\n").find("line 3: bytes without"),
            std::string::npos);
  EXPECT_NE(MessageOf("heap_v2/1\n@ 0x1\n  u*: 0: 5 [0: 0]\n").find("line 3: not a line of"),
            std::string::npos);
  EXPECT_NE(MessageOf("heap_v2/1\n@ 0x1\n  t1: 0: 99999999999999999999 [0: 0]\n")
                .find("line 3: a number is too large"),
            std::string::npos);
  EXPECT_NE(MessageOf("heap_v2/1\n@ 0x12345678901234567\n").find("line 2: an address has more"),
            std::string::npos);
}

TEST(JemallocReader, ReadsWhatIsThereOfATruncatedFile) {
  const std::string whole = kSmall;
  for (size_t size = 0; size <= whole.size(); ++size) {
    Read(whole.substr(0, size));
    Read(whole.substr(0, size), "*");
  }
}

}  // namespace
}  // namespace heapgauge
