#include "core/formats/heap_text/heap_text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/regex.h"
namespace heapgauge {
namespace {

Result<Profile> Read(const std::string& text, TextDialect dialect = TextDialect::kPprof) {
  const auto stream = StreamOf(text);
  TextReadOptions options;
  options.dialect = dialect;
  auto profile = ReadHeapText(stream.get(), "x.heap", options);
  if (profile) {
    const Status status = profile->Check();
    EXPECT_TRUE(status) << status.error().message;
  }
  return profile;
}

std::string MessageOf(const std::string& text) {
  const auto profile = Read(text);
  return profile ? "no error" : profile.error().message;
}

std::string Header(const std::string& kind) {
  return "heap profile:  3: 300 [ 5: 500] @ " + kind + "\n";
}

std::vector<uint64_t> Addresses(const Profile& profile, RowId row) {
  std::vector<LocationId> stack;
  profile.StackOf(row, &stack);
  std::vector<uint64_t> addresses;
  for (const LocationId id : stack) addresses.push_back(profile.locations[id].address);
  return addresses;
}

TEST(HeapTextReader, ReadsAnExactProfile) {
  const auto p = Read(Header("heapprofile") +
                      "  1: 100 [ 2: 200] @ 0x1005 0x2005\n"
                      "  2: 200 [ 3: 300] @ 0x1006 0x2005\n"
                      "\n"
                      "MAPPED_LIBRARIES:\n"
                      "1000-3000 r-xp 00000000 00:00 0 /bin/x\n");
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->sample_types.size(), 4u);
  EXPECT_EQ(p->sample_types[0].name, "alloc_objects");
  EXPECT_EQ(p->sample_types[3].name, "inuse_space");
  EXPECT_EQ(p->values, (std::vector<int64_t>{2, 200, 1, 100, 3, 300, 2, 200}));
  EXPECT_TRUE(p->estimates.empty());
  EXPECT_EQ(p->period, 1);
  EXPECT_EQ(p->period_type.name, "space");
  EXPECT_EQ(p->locations.size(), 3u);
  EXPECT_EQ(Addresses(*p, 0), (std::vector<uint64_t>{0x1005, 0x2005}));
  EXPECT_EQ(p->locations[0].lookup_address(), 0x1004u);
  ASSERT_EQ(p->modules.size(), 1u);
  EXPECT_EQ(p->modules[0].path, "/bin/x");
  ASSERT_EQ(p->LabelsOf(0).size(), 1u);
  EXPECT_EQ(p->strings[p->LabelsOf(0)[0].key], "bytes");
  EXPECT_EQ(p->LabelsOf(0)[0].number, 100);
}

TEST(HeapTextReader, ScalesASampledProfile) {
  const auto p = Read(
      "heap profile: 1: 9216 [ 1: 9216] @ heap_v2/524288\n"
      "1: 9216 [1: 9216] @ 0x1\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->sample_types[0].name, "objects");
  EXPECT_EQ(p->values, (std::vector<int64_t>{57, 528909}));
  EXPECT_EQ(p->period, 524288);
  ASSERT_EQ(p->estimates.size(), 2u);
  EXPECT_NEAR(p->estimates[1].value, 528909, 1);
  EXPECT_GT(p->estimates[1].variance, 0);
  EXPECT_EQ(p->rows[0].live_samples, 1u);
}

// Enough rows for a thread of their own.
constexpr uint64_t kManyRows = 20000;

std::string ManyRows() {
  std::string text = Header("heapprofile");
  for (uint64_t i = 0; i < kManyRows; ++i) {
    const std::string figures = std::to_string(1 + i % 3) + ": " + std::to_string(300 + i);
    text += figures + " [" + figures + "] @";
    for (uint64_t depth = 0; depth < i % 7; ++depth) {
      text += " 0x" + std::to_string(1000 + (i * 31 + depth * 17) % 991);
    }
    text += " 0x9000\n";
  }
  return text;
}

TEST(HeapTextReader, KeepsTheOrderOfManyRows) {
  const auto p = Read(ManyRows());
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->rows.size(), kManyRows);
  for (RowId row = 0; row < kManyRows; ++row) {
    const uint64_t i = row;
    std::vector<uint64_t> expected;
    for (uint64_t depth = 0; depth < i % 7; ++depth) {
      expected.push_back(
          std::stoull(std::to_string(1000 + (i * 31 + depth * 17) % 991), nullptr, 16));
    }
    expected.push_back(0x9000);
    ASSERT_EQ(Addresses(*p, row), expected) << row;
    ASSERT_EQ(p->value(row, kInuseSpace), static_cast<int64_t>(300 + i));
    ASSERT_EQ(p->LabelsOf(row)[0].number, static_cast<int64_t>((300 + i) / (1 + i % 3)));
  }
}

TEST(HeapTextReader, TellsOfAFaultBehindManyRows) {
  EXPECT_NE(MessageOf(ManyRows() + "1: 2 [3: 4]\n").find("line 20002: a row without a stack"),
            std::string::npos);
}

TEST(HeapTextReader, KnowsAllKinds) {
  for (const char* kind : {"heapprofile", "growth", "growthz", "fragmentation", "fragmentationz"}) {
    const auto p = Read(Header(kind) + "1: 100 [1: 100] @ 0x1\n");
    ASSERT_TRUE(p) << kind;
    EXPECT_EQ(p->period, 1) << kind;
    EXPECT_EQ(p->value(0, 3), 100) << kind;
  }
  for (const char* kind : {"heap_v2/4096", "heapz_v2/4096", "heap/8192"}) {
    const auto p = Read(Header(kind) + "1: 100 [1: 100] @ 0x1\n");
    ASSERT_TRUE(p) << kind;
    EXPECT_EQ(p->period, 4096) << kind;
    EXPECT_EQ(p->value(0, 3), 4146) << kind;
  }
  EXPECT_NE(MessageOf(Header("heap_v3/4096")).find("unknown kind of heap profile \"heap_v3\""),
            std::string::npos);
}

TEST(HeapTextReader, LeavesFiguresAloneWithoutARate) {
  const auto p = Read(Header("heap_v2") + "1: 100 [1: 100] @ 0x1\n");
  ASSERT_TRUE(p);
  EXPECT_EQ(p->value(0, 3), 100);
  const auto perl = Read(Header("heap_v2") + "1: 100 [1: 100] @ 0x1\n", TextDialect::kJeprof);
  EXPECT_EQ(perl->value(0, 3), 100);
  EXPECT_NEAR(perl->estimate(0, 3).value, 131122, 1) << "the perl tools take 128 KiB";
}

TEST(HeapTextReader, HasTheArithmeticOfThePerlTools) {
  const std::string go = Header("heap/8192") + "1: 100 [2: 8300] @ 0x1\n";
  const auto p = Read(go, TextDialect::kGooglePprof);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->value(0, kInuseSpace), 4146) << "whole numbers are pprof's in any case";
  EXPECT_DOUBLE_EQ(p->estimate(0, kInuseSpace).value, 4096);
  EXPECT_DOUBLE_EQ(p->estimate(0, kInuseObjects).value, 40.96);
  EXPECT_DOUBLE_EQ(p->estimate(0, kAllocSpace).value, 8300) << "above the rate all are sampled";
}

TEST(HeapTextReader, ReadsHeadersOlderThanAllKinds) {
  const auto sampled = Read("heap profile: 1: 1024 [ 1: 1024]\n1: 1024 [1: 1024] @ 0x1\n");
  ASSERT_TRUE(sampled) << sampled.error().message;
  EXPECT_EQ(sampled->value(0, 0), 128);
  EXPECT_EQ(sampled->value(0, 1), 131072);
  const auto exact = Read("heap profile: 1: 1024 [ 2: 2048]\n1: 1024 [2: 2048] @ 0x1\n");
  EXPECT_EQ(exact->value(0, 3), 1024);
}

TEST(HeapTextReader, TellsAllocationsOnlyIfTheyDifferAndAreThere) {
  EXPECT_EQ(Read("heap profile: 1: 2 [ 0: 0] @ heap_v2/1\n")->sample_types.size(), 2u);
  EXPECT_EQ(Read("heap profile: 1: 2 [ 1: 2] @ heap_v2/1\n")->sample_types.size(), 2u);
  EXPECT_EQ(Read("heap profile: 1: 2 [ 1: 3] @ heap_v2/1\n")->sample_types.size(), 4u);
}

TEST(HeapTextReader, SkipsCommentsOfGo) {
  const auto p = Read(Header("heap/2") +
                      "1: 100 [1: 100] @ 0x11\n"
                      "#\t0x1\tmain.main+0x1\tmain.go:1\n"
                      "\n"
                      "# runtime.MemStats\n"
                      "# Alloc = 17\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->rows.size(), 1u);
  EXPECT_EQ(p->modules.size(), 1u) << "one that spans all";
}

TEST(HeapTextReader, TakesNegativeCountsAndEmptyStacks) {
  const auto p = Read(Header("heapprofile") + "-1: -100 [0: 0] @\n2: 10 [2: 10] @ 0x0\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->value(0, 2), -1);
  EXPECT_EQ(p->value(0, 3), -100);
  EXPECT_EQ(p->rows[0].leaf, kNone);
  EXPECT_EQ(p->LabelsOf(0)[0].number, 100);
  EXPECT_EQ(p->locations[0].lookup_address(), ~uint64_t{0}) << "one below zero, as in pprof";
}

TEST(HeapTextReader, TakesPrefixesOfLoggersAndWindowsLines) {
  const auto p = Read(
      "%warn something\r\nheap profile: 1: 2 [ 0: 0] @ heapprofile\r\n"
      "I0101 x.cc:12] 1: 2 [0: 0] @ 0x12 0x34\r\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(Addresses(*p, 0), (std::vector<uint64_t>{0x12, 0x34}));
}

TEST(HeapTextReader, SaysWhereSomethingIsWrong) {
  EXPECT_EQ(MessageOf(""), "gperftools heap profile: x.heap: line 0: the profile is empty");
  EXPECT_EQ(MessageOf(Header("heapprofile") + "\n1: 2 [3: 4] 0x1\n"),
            "gperftools heap profile: x.heap: line 3: a row without a stack (@ 0x...): "
            "\"1: 2 [3: 4] 0x1\"");
  EXPECT_EQ(MessageOf(Header("heapprofile") + "0: 2 [3: 4] @ 0x1\n"),
            "gperftools heap profile: x.heap: line 2: bytes without a block: "
            "\"0: 2 [3: 4] @ 0x1\"");
  EXPECT_NE(MessageOf(Header("heapprofile") + "1: 99999999999999999999 [3: 4] @ 0x1\n")
                .find("line 2: a number is too large"),
            std::string::npos);
  EXPECT_NE(MessageOf(Header("heapprofile") + "1: 2 [3: 4] @ 0x11111111111111111\n")
                .find("line 2: an address has more than 64 bits"),
            std::string::npos);
  EXPECT_NE(MessageOf(Header("heapprofile") + "hello\n").find("line 2: not a row"),
            std::string::npos);
  EXPECT_NE(MessageOf("heap profile: 1: 99999999999999999999 [ 0: 0] @ heap\n").find("too large"),
            std::string::npos);
}

TEST(HeapTextReader, RefusesStacksThatAreTooDeep) {
  std::string text = Header("heapprofile") + "1: 2 [3: 4] @";
  for (int i = 0; i < 65536; ++i) text += " 0x1";
  EXPECT_NE(MessageOf(text).find("more than 65535 frames"), std::string::npos);
}

TEST(HeapTextReader, ReadsWhatIsThereOfATruncatedFile) {
  const std::string whole = Header("heap_v2/4096") + "1: 100 [1: 100] @ 0x1 0x2\n";
  for (size_t size = 0; size <= whole.size(); ++size) Read(whole.substr(0, size));
}

TEST(HeapTextReader, SetsFramesToLeaveOut) {
  const auto p = Read(Header("heapprofile"));
  ASSERT_TRUE(p);
  const auto drop = Regex::Compile(p->drop_frames);
  ASSERT_TRUE(drop);
  for (const char* name :
       {"malloc", "tc_malloc", "tc_newarray_nothrow", "operator new[]", "operator new",
        "__gnu_cxx::new_allocator::allocate", "runtime.mallocgc", "tcmalloc::X::Y",
        "__builtin_vec_new", "::do_malloc_pages", "malloc_zone_free", "cpp_alloc", "posix_memalign",
        "__posix_memalign", "tc_posix_memalign", "allocate"}) {
    EXPECT_TRUE(drop->MatchesWhole(name)) << name;
  }
  for (const char* name : {"my_malloc", "operator new[]x", "main", "tc_new_", "::allocate",
                           "do_memalign2", "tc_do_memalign", "__malloc"}) {
    EXPECT_FALSE(drop->MatchesWhole(name)) << name;
  }
  EXPECT_TRUE(Regex::Compile(p->keep_frames)->MatchesWhole("runtime.call32"));
}

}  // namespace
}  // namespace heapgauge
