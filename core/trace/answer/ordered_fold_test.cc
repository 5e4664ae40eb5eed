#include "core/trace/answer/fold_segments.h"

#include <gtest/gtest.h>

#include <fstream>
#include <mutex>
#include <set>

#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::MakeTrace;
using testing::RandomTrace;
using testing::TemporaryTrace;

MakeTrace Random() {
  MakeTrace made;
  RandomTrace how;
  how.events = 5000;
  AddRandomEvents(how, &made);
  return made;
}

class Listener : public ProgressSink {
 public:
  void Report(std::string_view, uint64_t done, uint64_t total, std::string_view unit) override {
    EXPECT_GE(done, last);
    EXPECT_LE(done, total);
    EXPECT_EQ(unit, "events");
    last = done;
    whole = total;
    ++reports;
  }
  uint64_t last = 0;
  uint64_t whole = 0;
  uint64_t reports = 0;
};

TEST(OrderedFold, VisitsEachSegmentOnceAndTakesTurns) {
  const auto trace = Random().Open();
  const size_t count = trace->segments().size();
  ASSERT_GT(count, 20u);
  for (const size_t workers : {1, 2, 5}) {
    Listener listener;
    OrderedFoldOptions options;
    options.workers = workers;
    options.first = 3;
    options.progress = &listener;
    std::mutex mutex;
    std::set<size_t> visited;
    std::vector<size_t> order;
    OrderedFold fold;
    fold.each = [&](size_t worker, size_t index, const Segment& segment) {
      EXPECT_LT(worker, workers);
      EXPECT_EQ(segment.info.first_event, trace->segments()[index].first_event);
      const std::lock_guard<std::mutex> lock(mutex);
      EXPECT_TRUE(visited.insert(index).second);
    };
    fold.in_order = [&](size_t index, const Segment& segment) {
      EXPECT_EQ(segment.info.first_event, trace->segments()[index].first_event);
      order.push_back(index);
    };
    ASSERT_TRUE(FoldOrdered(*trace, options, fold));
    EXPECT_EQ(visited.size(), count - 3);
    EXPECT_EQ(order.size(), count - 3);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(listener.last, listener.whole) << "progress comes to its end";
    EXPECT_EQ(listener.reports, count - 3);
  }
}

TEST(OrderedFold, SkipsWhatIsNotWanted) {
  const auto trace = Random().Open();
  OrderedFoldOptions options;
  options.workers = 3;
  options.wanted = [](size_t index) { return index % 4 == 1; };
  std::vector<size_t> order;
  OrderedFold fold;
  fold.in_order = [&](size_t index, const Segment&) { order.push_back(index); };
  ASSERT_TRUE(FoldOrdered(*trace, options, fold));
  ASSERT_FALSE(order.empty());
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], 4 * i + 1);
}

TEST(OrderedFold, StopsAtTheFirstSegmentThatCannotBeRead) {
  const TemporaryTrace file;
  ASSERT_TRUE(Random().Write(file.path()));
  size_t damaged = 0;
  {
    const auto trace = TraceFile::Open(file.path());
    ASSERT_TRUE(trace);
    damaged = (*trace)->segments().size() / 2;
    const SegmentInfo& info = (*trace)->segments()[damaged];
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (uint64_t i = info.bytes / 3; i < info.bytes; ++i) {
      bytes.seekp(static_cast<std::streamoff>(info.offset + i));
      bytes.put('\xa5');
    }
  }
  const auto trace = TraceFile::Open(file.path());
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_GT((*trace)->segments().size(), damaged + 2);
  for (const size_t workers : {1, 4}) {
    OrderedFoldOptions options;
    options.workers = workers;
    std::vector<size_t> order;
    OrderedFold fold;
    fold.in_order = [&](size_t index, const Segment&) { order.push_back(index); };
    const Status status = FoldOrdered(**trace, options, fold);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find(file.path()), std::string::npos)
        << status.error().message;
    EXPECT_EQ(order.size(), damaged) << "all before it, none behind";
  }
}

}  // namespace
}  // namespace heapgauge::trace
