#include "core/trace/answer/trace_filter.h"

#include <gtest/gtest.h>

#include "core/trace/answer/trace_profile.h"
#include "core/trace/answer/trace_question.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::FakeFrame;
using testing::MakeTrace;

// The sizes of the blocks that match, added up: each block has a bit of its own.
class Stacks : public ::testing::Test {
 protected:
  Stacks() {
    const FakeFrame main("main", "main.cc", 1, "/bin/server");
    const FakeFrame parse("Parse", "parse.cc", 7, "/bin/server");
    const FakeFrame cache("Cache<int>::Add(unsigned long)", "cache.cc", 9, "/lib/libcache.so");
    made_.Allocate(1, 0, 1, made_.Stack({parse, main}));
    made_.Allocate(2, 1, 2, made_.Stack({cache, main}));
    made_.Allocate(3, 1, 4, made_.Stack({cache, parse, main}));
    made_.Allocate(4, 0, 8, 0);
    made_.NameThread(0, "main");
    made_.NameThread(1, "worker-7");
    trace_ = made_.Open();
    stacks_ = *trace_->ReadStacks();
  }

  uint64_t Sum(const BlockFilter& filter) {
    const auto matcher = Matcher::Compile(filter, *trace_, *stacks_);
    if (!matcher) return UINT64_MAX;
    uint64_t sum = 0;
    for (const Block& block : made_.blocks()) sum += matcher->Matches(block) ? block.size : 0;
    return sum;
  }
  uint64_t Sum(std::string BlockFilter::*member, const std::string& pattern) {
    BlockFilter filter;
    filter.*member = pattern;
    return Sum(filter);
  }

  MakeTrace made_;
  std::shared_ptr<const TraceFile> trace_;
  std::shared_ptr<const TraceFile::Stacks> stacks_;
};

TEST_F(Stacks, MappingsAreToldToBeCountedAnewWhenTheyAreCut) {
  BlockFilter filter;
  filter.mappings = true;
  ASSERT_EQ(NotesOn(filter, *trace_).size(), 1u);
  EXPECT_NE(NotesOn(filter, *trace_)[0].find("was not recorded"), std::string::npos);
  EXPECT_TRUE(NotesOn(BlockFilter(), *trace_).empty()) << "of the heap";
  made_.facts.records_mappings = true;
  const auto trace = made_.Open();
  EXPECT_TRUE(NotesOn(BlockFilter(), *trace).empty()) << "of the heap";
  ASSERT_EQ(NotesOn(filter, *trace).size(), 1u);
  EXPECT_NE(NotesOn(filter, *trace)[0].find("counts as a new one"), std::string::npos);
  filter.mappings.reset();
  EXPECT_EQ(NotesOn(filter, *trace).size(), 1u) << "both";
}

TEST_F(Stacks, ThreadsWithoutANameAreTold) {
  BlockFilter filter;
  filter.thread_name = "worker";
  EXPECT_TRUE(NotesOn(filter, *trace_).empty());
  made_.Allocate(5, 2, 16, 0);
  made_.NameThread(2, "");
  const auto trace = made_.Open();
  EXPECT_EQ(NotesOn(filter, *trace),
            std::vector<std::string>{"1 thread has no known name: --thread leaves it out"});
  EXPECT_TRUE(NotesOn(BlockFilter(), *trace).empty());
  ProfileRequest request;
  request.filter = filter;
  EXPECT_EQ(ReadTraceProfile(*trace, request)->notes, NotesOn(filter, *trace));
}

TEST_F(Stacks, PatternsMeanAnyFrame) {
  EXPECT_EQ(Sum(BlockFilter()), 15u);
  EXPECT_EQ(Sum(&BlockFilter::function, "Parse"), 5u);
  EXPECT_EQ(Sum(&BlockFilter::not_function, "Parse"), 10u);
  EXPECT_EQ(Sum(&BlockFilter::function, "^main$"), 7u) << "an unknown stack has no frame";
  EXPECT_EQ(Sum(&BlockFilter::module, "libcache"), 6u);
  EXPECT_EQ(Sum(&BlockFilter::not_module, "libcache"), 9u);
  EXPECT_EQ(Sum(&BlockFilter::source, "parse\\.cc"), 5u);
  EXPECT_EQ(Sum(&BlockFilter::not_source, "parse\\.cc"), 10u);
  EXPECT_EQ(Sum(&BlockFilter::stack, "cache"), 6u) << "module or file";
  EXPECT_EQ(Sum(&BlockFilter::not_stack, "[Cc]ache|parse"), 8u);
  EXPECT_EQ(Sum(&BlockFilter::function, "cache"), 0u) << "files are no functions";
  EXPECT_EQ(Sum(&BlockFilter::function, "("), UINT64_MAX);
}

TEST_F(Stacks, AFunctionIsMeantByItsWholeNameOrByTheShortOne) {
  for (const char* name : {"^Cache<…>::Add$", "<int>", "Add\\(unsigned long\\)$"}) {
    EXPECT_EQ(Sum(&BlockFilter::function, name), 6u) << name;
    EXPECT_EQ(Sum(&BlockFilter::stack, name), 6u) << name;
    EXPECT_EQ(Sum(&BlockFilter::not_function, name), 9u) << name;
  }
}

TEST_F(Stacks, AllConditionsMustHold) {
  BlockFilter filter;
  filter.function = "Parse";
  filter.not_module = "libcache";
  EXPECT_EQ(Sum(filter), 1u);
  filter.least_size = 2;
  EXPECT_EQ(Sum(filter), 0u);
}

TEST_F(Stacks, ThreadsGoByIdAndName) {
  BlockFilter filter;
  filter.threads = {1001};
  EXPECT_EQ(Sum(filter), 6u);
  filter.threads = {1000, 1001};
  EXPECT_EQ(Sum(filter), 15u);
  filter.thread_name = "work";
  EXPECT_EQ(Sum(filter), 6u);
  filter.threads = {5};
  EXPECT_EQ(Sum(filter), 0u);
}

TEST_F(Stacks, SumsAnswerPatternsToo) {
  ProfileRequest request;
  request.filter.function = "Parse";
  const auto profile = ReadTraceProfile(*trace_, request);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->Total(kInuseSpace).value, 5);
}

TEST_F(Stacks, AQuestionFindsItsThread) {
  Question question;
  question.thread = "1001";
  EXPECT_EQ(FilterOf(question, *trace_)->threads, std::vector<uint32_t>{1001});
  question.thread = "worker";
  EXPECT_EQ(FilterOf(question, *trace_)->thread_name, "worker");
  question.thread = "nobody";
  const auto none = FilterOf(question, *trace_);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("it has 1000 main, 1001 worker-7"), std::string::npos)
      << none.error().message;
}

TEST(TraceFilter, SaysWhatItIs) {
  BlockFilter filter;
  EXPECT_EQ(filter.Text(), "");
  EXPECT_TRUE(filter.only_time_and_stacks());
  filter.least_size = 1 << 20;
  filter.greatest_lifetime_ns = 2'500'000;
  filter.freed = true;
  filter.temporary_within = 3;
  filter.not_function = "Cache";
  EXPECT_EQ(filter.Text(),
            "at least 1.0 MB, lived at most 2.5ms, freed, freed within 3 allocations of the "
            "thread, no function ~ Cache");
  EXPECT_FALSE(filter.only_time_and_stacks());
  EXPECT_TRUE(filter.asks_about_stacks());
  EXPECT_FALSE(filter.asks_about_times());
}

}  // namespace
}  // namespace heapgauge::trace
