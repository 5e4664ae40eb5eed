// Moments, ranges and peaks of a trace mean the same to all commands.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/trace/testing/make_trace.h"
#include "tests/cli/command.h"

namespace heapgauge::testing {
namespace {

using nlohmann::json;

// Many events have the same time, as in traces made of heaptrack's files.
class TraceMoments : public ::testing::Test {
 protected:
  TraceMoments() : path_(dir_ / "ticks.hgt") {
    const uint32_t f = made_.Stack({"f", "main"});
    made_.facts.records_mappings = true;
    made_.Allocate(0, 0, 1, f);
    made_.Allocate(10, 0, 1000, f);
    made_.Free(10, made_.Allocate(10, 0, 5000, f));  // the peak of the heap is between
    made_.Allocate(10, 0, 20, f);
    const uint64_t mapping = made_.Map(20, 0, 8192, f);  // that of mappings
    made_.Allocate(30, 0, 300, f);                       // and of both
    made_.Free(40, mapping);
    EXPECT_TRUE(made_.Write(path_));
  }

  json Ask(const std::vector<std::string>& arguments) {
    std::vector<std::string> all = arguments;
    all.insert(all.begin() + 1, "--json");
    all.push_back(path_);
    const Outcome outcome = Heapgauge(all);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  }

  // Bytes of what `top` counts.
  int64_t Top(const std::string& value, std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {"top", "--value", value});
    const json total = Ask(arguments)["total"];
    const bool has_name = value == "live" || value == "allocated";
    return static_cast<int64_t>(
        total[has_name ? value + "_bytes" : "value"]["value"].get<double>());
  }

  int64_t Lifetimes(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "lifetimes");
    return Ask(arguments)["total"]["bytes"].get<int64_t>();
  }

  ScratchDir dir_;
  trace::testing::MakeTrace made_;
  const std::string path_;
};

TEST_F(TraceMoments, ThePeakIsAfterItsEventWhereverItIsWritten) {
  EXPECT_EQ(Top("live", {"--at", "peak"}), 6001);
  EXPECT_EQ(Top("live", {"--to", "peak"}), 6001);
  EXPECT_EQ(Top("allocated", {"--live-at", "peak"}), 6001);
  EXPECT_EQ(Lifetimes({"--live-at", "peak"}), 6001);
  EXPECT_EQ(Lifetimes({"--to", "peak"}), 6001);
  EXPECT_EQ(Lifetimes({"--from", "peak"}), 320);
  EXPECT_EQ(Ask({"stats", "--from", "peak"})["totals"]["allocated"]["bytes"], 320);
  EXPECT_EQ(Ask({"timeline", "--to", "peak"})["end"]["live_bytes"], 6001);
  EXPECT_EQ(Ask({"timeline", "--from", "peak"})["allocated_bytes"], 320);
  EXPECT_EQ(Ask({"timeline", "--from", "peak"})["freed_bytes"], 5000);
}

TEST_F(TraceMoments, RangesThatAdjoinHaveEachEventOnce) {
  for (const std::string at : {"start", "0s", "10ns", "peak", "20ns", "25ns", "end"}) {
    for (const std::string value : {"allocated", "freed", "growth"}) {
      const int64_t whole = Top(value);
      EXPECT_EQ(Top(value, {"--to", at}) + Top(value, {"--from", at}), whole) << value << " " << at;
    }
    EXPECT_EQ(Lifetimes({"--to", at}) + Lifetimes({"--from", at}), 6321) << at;
    EXPECT_EQ(Top("growth", {"--from", at}), Top("live") - Top("live", {"--at", at})) << at;
  }
}

TEST_F(TraceMoments, ThePeakIsThatOfTheKind) {
  for (const std::vector<std::string>& kind :
       {std::vector<std::string>{"--kind", "mmap"}, {"--mmap-blocks"}}) {
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), kind.begin(), kind.end());
      return more;
    };
    const int64_t peak = kind.size() == 2 ? 8192 : 9513;
    EXPECT_EQ(Top("live", with({"--at", "peak"})), peak);
    EXPECT_EQ(Top("peak", with({})), peak);
    EXPECT_EQ(Top("live", with({"--to", "peak"})), peak);
    EXPECT_EQ(Lifetimes(with({"--live-at", "peak"})), peak);
    std::vector<std::string> timeline = with({});
    timeline.insert(timeline.begin(), "timeline");
    EXPECT_EQ(Ask(timeline)["peak"]["live_bytes"], peak);
    std::vector<std::string> stats = with({"--section", "pages"});
    stats.insert(stats.begin(), "stats");
    EXPECT_EQ(Ask(stats)["pages"][0]["bytes"], peak);
  }
}

TEST_F(TraceMoments, AreComparedWithFilesThatShowOtherFiguresByDefault) {
  const std::string dhat = dir_ / "ticks.json";  // shows what was allocated
  ASSERT_EQ(Heapgauge({"dhat", "-o", dhat, path_}).code, 0);
  const auto diff = [](const std::vector<std::string>& words) {
    const Outcome outcome = Heapgauge(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? json::parse(outcome.out) : json::object();
  };
  for (const auto& [before, after] : {std::pair(path_, dhat), std::pair(dhat, path_)}) {
    const json made = diff({"diff", "--json", before, after});
    EXPECT_EQ(made["figure"], "inuse_space") << before;
    EXPECT_EQ(made["total"]["before"]["value"], 1321);
    EXPECT_EQ(made["total"]["after"]["value"], 1321);
  }
  for (const char* peak : {"--peak", "--at=peak"}) {
    const json total = diff({"diff", "--json", peak, path_, dhat})["total"];
    EXPECT_EQ(total["before"]["value"], 6001) << peak;
    EXPECT_EQ(total["after"]["value"], 6001) << peak;
  }
}

TEST_F(TraceMoments, ADistanceToBeforeTheStartIsRefused) {
  for (const std::vector<std::string>& asked : {std::vector<std::string>{"top", "--at", "peak-1s"},
                                                {"top", "--live-at", "peak-1s"},
                                                {"lifetimes", "--to", "peak-1s"},
                                                {"timeline", "--to", "peak-1s"}}) {
    std::vector<std::string> all = asked;
    all.push_back(path_);
    const Outcome outcome = Heapgauge(all);
    EXPECT_NE(outcome.code, 0);
    EXPECT_NE(outcome.err.find("peak-1s is before the start of "), std::string::npos)
        << outcome.err;
  }
  EXPECT_EQ(Top("allocated", {"--from", "peak-1s"}), Top("allocated"));
}

}  // namespace
}  // namespace heapgauge::testing
