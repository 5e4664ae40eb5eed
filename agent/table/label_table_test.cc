#include "agent/table/label_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/sys/thread_state.h"
#include "agent/testing/gauge_file_test.h"

namespace heapgauge::agent {
namespace {

class LabelTableTest : public GaugeFileTest {
 protected:
  void SetUp() override {
    GaugeFileTest::SetUp();
    labels_->Start(12345);
  }

  uint32_t Push(uint32_t parent, const std::string& key, const std::string& value,
                uint16_t flags = 0) {
    const LabelText label(key.c_str(), value.c_str());
    const uint32_t known = labels_->Find(parent, label, flags);
    return known != 0 ? known : labels_->Add(file_.get(), parent, label, flags);
  }
  static const wire::LabelRecord* InFile(const GaugeFile& file, uint32_t set) {
    return file.Existing<wire::LabelRecord>(wire::SegmentKind::kLabels, set);
  }

  std::unique_ptr<LabelTable> labels_ = std::make_unique<LabelTable>();
};

TEST_F(LabelTableTest, TheSameLabelOnTheSameSetIsOneNumber) {
  const uint32_t a = Push(0, "handler", "search");
  const uint32_t b = Push(a, "tenant", "blue");
  EXPECT_EQ(Push(0, "handler", "search"), a);
  EXPECT_EQ(Push(a, "tenant", "blue"), b);
  EXPECT_NE(a, b);
  EXPECT_NE(Push(0, "tenant", "blue"), b);
  EXPECT_NE(Push(0, "handlersearch", ""), a);
  EXPECT_NE(Push(0, "handler", "searches"), a);
  const wire::LabelRecord* record = InFile(*file_, b);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->valid, 1u);
  EXPECT_EQ(record->parent, a);
  EXPECT_STREQ(record->key, "tenant");
  EXPECT_STREQ(record->value, "blue");
  EXPECT_GT(file_->header()->label_count, b);
}

TEST_F(LabelTableTest, TextsOfEveryLengthAreToldApart) {
  std::vector<uint32_t> sets;
  for (size_t length = 1; length <= 47; ++length) {
    sets.push_back(Push(0, std::string(length, 'k'), "v"));
    sets.push_back(Push(0, "k", std::string(length, 'k')));
    sets.push_back(Push(0, "k", std::string(length, 'k') + "l"));
  }
  for (size_t i = 0; i < sets.size(); ++i) {
    ASSERT_NE(sets[i], 0u);
    for (size_t k = 0; k < i; ++k) ASSERT_NE(sets[i], sets[k]) << i << " " << k;
  }
}

TEST_F(LabelTableTest, ALabelThatIsInForceAddsNothing) {
  const uint32_t a = Push(0, "k", "v");
  EXPECT_EQ(Push(a, "k", "v"), a);
  const uint32_t b = Push(a, "other", "x");
  EXPECT_EQ(Push(b, "k", "v"), b);
  const uint32_t hidden = Push(b, "k", "w");
  EXPECT_NE(hidden, b);
  EXPECT_NE(Push(hidden, "k", "v"), hidden) << "the outer value is hidden";
}

TEST_F(LabelTableTest, LongTextsAreCutBetweenCharacters) {
  const std::string key(60, 'k');
  const std::string value = std::string(190, 'v') + "\u00e9\u00e9";  // bytes 190 and 191
  const uint32_t set = Push(0, key, value);
  ASSERT_NE(set, 0u);
  EXPECT_EQ(std::string(labels_->Get(set)->key), std::string(47, 'k'));
  EXPECT_EQ(std::string(labels_->Get(set)->value), std::string(190, 'v'));
  EXPECT_EQ(Push(0, key + "more", value + "more"), set);
  EXPECT_EQ(std::string(labels_->Get(Push(0, "a", std::string(191, 'v')))->value),
            std::string(191, 'v'));
}

TEST_F(LabelTableTest, ThereIsAnEndToNumbersAndToDepth) {
  uint32_t set = 0;
  for (uint32_t i = 0; i < wire::kMaxLabelDepth; ++i) {
    set = Push(set, "k" + std::to_string(i), "v");
    ASSERT_NE(set, 0u);
  }
  EXPECT_EQ(Push(set, "one", "more"), 0u);
  uint32_t made = wire::kMaxLabelDepth;
  while (Push(0, "n", std::to_string(made)) != 0) ++made;
  EXPECT_EQ(made, wire::kMaxLabelSets);
  EXPECT_EQ(Push(0, "x", "y"), 0u);
  EXPECT_NE(Push(0, "n", "100"), 0u) << "what is there is still found";
}

TEST_F(LabelTableTest, AForkedChildsFileHasThemAll) {
  uint32_t last = 0;
  for (int i = 0; i < 600; ++i) last = Push(i % 2 == 0 ? 0 : last, "k", std::to_string(i));
  GaugeFile copy;
  ASSERT_EQ(copy.Create(Path("u.hg").c_str()), 0);
  labels_->CopyTo(&copy);
  EXPECT_EQ(copy.header()->label_count, 601u);
  for (uint32_t i = 1; i <= 600; ++i) {
    ASSERT_EQ(std::memcmp(InFile(copy, i), InFile(*file_, i), sizeof(wire::LabelRecord)), 0) << i;
  }
}

TEST_F(LabelTableTest, ManyThreadsAgree) {
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 5000; ++i) {
        const std::string value = std::to_string(i % 700);
        const uint32_t set = Push(0, "k", value);
        const wire::LabelRecord* record = labels_->Get(set);
        ASSERT_NE(record, nullptr);
        ASSERT_EQ(record->value, value);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(LabelTableTest, APoolHasOneNumberHoweverOftenItsSetWasNumbered) {
  auto pools = std::make_unique<PoolTable>();
  const LabelText label("pool", "arena");
  const uint32_t one = labels_->Add(file_.get(), 0, label);
  const uint32_t two = labels_->Add(file_.get(), 0, label);
  ASSERT_NE(one, two);
  EXPECT_EQ(pools->Intern(*labels_, one), 1u);
  EXPECT_EQ(pools->Intern(*labels_, two), 1u);
  EXPECT_EQ(pools->Intern(*labels_, Push(0, "pool", "other")), 2u);
  EXPECT_EQ(pools->SetOf(1), one);
  for (const int none : {0, -1, -5, 3, 1024, 1025, 1 << 30}) EXPECT_EQ(pools->SetOf(none), 0u);
  for (int i = 0; i < 1022; ++i) {
    EXPECT_NE(pools->Intern(*labels_, Push(0, "pool", std::to_string(i))), 0u);
  }
  EXPECT_EQ(pools->Intern(*labels_, Push(0, "pool", "one too many")), 0u);
}

TEST(ThreadExclusion, NestsAndBelongsToOneThread) {
  EXPECT_FALSE(ThreadIsExcluded());
  ExcludeThread(true);
  ExcludeThread(true);
  ExcludeThread(false);
  EXPECT_TRUE(ThreadIsExcluded());
  std::thread([] { EXPECT_FALSE(ThreadIsExcluded()); }).join();
  ExcludeThread(false);
  EXPECT_FALSE(ThreadIsExcluded());
  ExcludeThread(false);  // one too many
  ExcludeThread(true);
  EXPECT_TRUE(ThreadIsExcluded());
  ExcludeThread(false);
}

}  // namespace
}  // namespace heapgauge::agent
