// Questions that are asked at the same time.

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "endpoint/api/recent.h"
#include "endpoint/api/sources.h"
#include "endpoint/testing/ask.h"
#include "endpoint/testing/fake_process.h"

namespace heapgauge::endpoint::api {
namespace {

using testing::AskAt;

TEST(MadeOnce, WhatIsMadeDoesNotHoldUpOthers) {
  MadeOnce<int> made(4);
  std::latch both(2);
  const auto make = [&]() -> Result<std::shared_ptr<const int>> {
    both.arrive_and_wait();  // for ever, if one waited for the other
    return std::make_shared<const int>(1);
  };
  std::thread other([&] { EXPECT_TRUE(made.Get("a", make)); });
  EXPECT_TRUE(made.Get("b", make));
  other.join();
}

TEST(MadeOnce, IsMadeOnceForAllWhoAsk) {
  MadeOnce<int> made(4);
  std::atomic<int> times{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto got = made.Get("a", [&]() -> Result<std::shared_ptr<const int>> {
        return std::make_shared<const int>(41 + ++times);
      });
      ASSERT_TRUE(got);
      EXPECT_EQ(**got, 42);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(times, 1);
}

TEST(MadeOnce, FailuresAndTheOldestAreNotKept) {
  MadeOnce<std::string> made(2);
  const auto get = [&](const std::string& name, bool fails) {
    return made.Get(name, [&]() -> Result<std::shared_ptr<const std::string>> {
      if (fails) return Fail(ErrorCode::kNotFound, "no");
      return std::make_shared<const std::string>(name + " made");
    });
  };
  const auto first = get("a", false);
  ASSERT_TRUE(first);
  EXPECT_FALSE(get("b", true));
  EXPECT_FALSE(get("c", true));
  const auto again = get("a", true);
  ASSERT_TRUE(again) << "failures pushed it out";
  EXPECT_EQ(*again, *first);
  EXPECT_TRUE(get("b", false));
  EXPECT_TRUE(get("c", false));
  EXPECT_FALSE(get("a", true)) << "it is the third";
}

// Profiles alone, no process.
struct Host {
  Response Get(const std::string& target) { return AskAt(&endpoint, "GET", target); }

  std::shared_ptr<Processes> processes =
      std::make_shared<testing::FakeProcesses>(std::vector<std::shared_ptr<Process>>{});
  std::shared_ptr<Sources> sources = std::make_shared<Sources>(processes);
  Endpoint endpoint{processes, sources, {}};
};

TEST(SideBySide, QuestionsWaitForAProfileThatIsStillRead) {
  Host host;
  const auto pending = std::make_shared<PendingProfile>();
  host.sources->Add(std::make_shared<ProfileSource>(pending, "heap.pb.gz"));
  EXPECT_NE(host.Get("/api/v1/sources").body.find("heap.pb.gz"), std::string::npos);
  Response waited;
  std::thread other([&] { waited = host.Get("/api/v1/summary?brief=1"); });
  pending->Give(ProfileSource::Finished(testing::MakeHeapProfile()));
  other.join();
  EXPECT_EQ(waited.status, 200) << waited.body;
  EXPECT_EQ(waited.body, host.Get("/api/v1/summary?brief=1").body);
}

TEST(SideBySide, WhyAProfileCouldNotBeReadIsTheAnswer) {
  Host host;
  const auto pending = std::make_shared<PendingProfile>();
  host.sources->Add(std::make_shared<ProfileSource>(pending, "heap.pb.gz"));
  pending->Give(Fail(ErrorCode::kCorrupt, "byte 7: it is damaged"));
  const Response response = host.Get("/api/v1/summary");
  EXPECT_NE(response.status, 200);
  EXPECT_NE(response.body.find("byte 7: it is damaged"), std::string::npos);
}

// Everything that views ask for first, all at once; for ThreadSanitizer as much as for the answers.
TEST(SideBySide, AnswersAreThoseOfOneAtATime) {
  const std::vector<std::string> questions = {"summary?brief=1",
                                              "summary",
                                              "table?both=1",
                                              "table?granularity=modules",
                                              "flame",
                                              "tree",
                                              "tree?callers=1",
                                              "flame?callers=1&focus=Read",
                                              "peek?pattern=main",
                                              "graph",
                                              "source",
                                              "timeline"};
  const auto add = [](Host* host) {
    host->sources->Add(std::make_shared<ProfileSource>(testing::MakeHeapProfile(), "heap.pb.gz"));
  };
  std::map<std::string, std::string> alone;
  for (const std::string& question : questions) {
    Host host;
    add(&host);
    alone[question] = host.Get("/api/v1/" + question).body;
  }
  Host host;
  add(&host);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (size_t k = 0; k < questions.size(); ++k) {
        const std::string& question = questions[(k * 5 + i * 3) % questions.size()];
        EXPECT_EQ(host.Get("/api/v1/" + question).body, alone.at(question)) << question;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace heapgauge::endpoint::api
