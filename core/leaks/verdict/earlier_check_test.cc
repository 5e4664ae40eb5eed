#include "core/leaks/verdict/earlier_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/leaks/testing/make_check.h"

namespace heapgauge::leaks {
namespace {

using testing::CheckMaker;

std::string File(const std::string& records) {
  return R"({"format": "heapgauge-leaks", "version": 1, "check": {"pid": 7, "unix_ns": 5},)"
         R"("summary": {"records": [{"kind": "definite", "bytes": 1}]}, "records": [)" +
         records + "]}";
}

std::string Record(const StackId& id, const char* kind, int bytes, int blocks) {
  return fmt::format(
      R"({{"kind": "{}", "bytes": {}, "blocks": {}, "indirect_bytes": 0, "id": "{}", )"
      R"("fingerprint": "{}", "stack": [{{"bytes": 99, "kind": "x"}}]}})",
      kind, bytes, blocks, id.places, id.functions);
}

TEST(EarlierCheck, IsReadFromJson) {
  const auto check = ParseEarlierCheck(File(Record({"a", "b"}, "possible", 12, 3)), "x");
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->pid, 7u);
  EXPECT_EQ(check->unix_ns, 5u);
  ASSERT_EQ(check->records.size(), 1u);
  EXPECT_EQ(check->records[0].kind, "possible");
  EXPECT_EQ(check->records[0].bytes, 12);
  EXPECT_EQ(check->records[0].blocks, 3);
  EXPECT_EQ(check->records[0].stack.places, "a");
  EXPECT_EQ(check->records[0].stack.functions, "b");
}

TEST(EarlierCheck, TellsWhatIsNotOne) {
  EXPECT_NE(ParseEarlierCheck("{\"format\": ", "x").error().message.find("'x' is no JSON at byte"),
            std::string::npos);
  EXPECT_NE(ParseEarlierCheck("", "x").error().message.find("is no JSON"), std::string::npos);
  EXPECT_NE(ParseEarlierCheck("{}", "x").error().message.find("not the JSON of a leak check"),
            std::string::npos);
  EXPECT_NE(ParseEarlierCheck(R"({"format": "heapgauge-leaks", "version": 3})", "x")
                .error()
                .message.find("version"),
            std::string::npos);
  const std::string deep(200'000, '[');
  EXPECT_FALSE(ParseEarlierCheck(deep, "x"));
  EXPECT_FALSE(ReadEarlierCheck("/nonexistent/x.json"));
}

class ChangesTest : public ::testing::Test {
 protected:
  ChangesTest() {
    a_ = maker_.Stack({"A()", "main"});
    b_ = maker_.Stack({"B()", "main"});
    maker_.Block(a_, 100, Kind::kDefinite);
    maker_.Block(a_, 100, Kind::kDefinite);
    maker_.Block(b_, 1000, Kind::kDefinite);
  }
  StackId Id(uint32_t stack) {
    return StackIdOf(maker_.check().known.profile, maker_.check().known.stacks[stack].leaf);
  }
  Changes Since(const std::string& records) {
    const auto earlier = ParseEarlierCheck(File(records), "x");
    EXPECT_TRUE(earlier);
    return CompareChecks(maker_.check(), MakeLossRecords(maker_.check(), {}), *earlier);
  }

  CheckMaker maker_;
  uint32_t a_ = 0;
  uint32_t b_ = 0;
};

TEST_F(ChangesTest, TellNewFromGrown) {
  const Changes changes = Since(Record(Id(a_), "definite", 100, 1));
  EXPECT_FALSE(changes.other_build);
  EXPECT_FALSE(changes.records[0].is_new);
  EXPECT_EQ(changes.records[0].bytes, 100);
  EXPECT_EQ(changes.records[0].blocks, 1);
  EXPECT_TRUE(changes.records[1].is_new);
  EXPECT_EQ(changes.records[1].bytes, 1000);
  EXPECT_EQ(changes.kinds[static_cast<size_t>(Kind::kDefinite)].bytes, 1100);
  EXPECT_EQ(changes.gone, 0u);
}

TEST_F(ChangesTest, SeeWhatShrankAndWhatIsGone) {
  const Changes changes =
      Since(Record(Id(a_), "definite", 500, 5) + "," + Record(Id(b_), "definite", 1000, 1) + "," +
            Record({"gone", "gone"}, "possible", 7, 1));
  EXPECT_EQ(changes.records[0].bytes, -300);
  EXPECT_EQ(changes.records[0].blocks, -3);
  EXPECT_FALSE(changes.records[0].increased());
  EXPECT_FALSE(changes.records[1].any());
  EXPECT_EQ(changes.gone, 1u);
  EXPECT_EQ(changes.gone_bytes, 7);
  EXPECT_EQ(changes.kinds[static_cast<size_t>(Kind::kPossible)].bytes, -7);
}

TEST_F(ChangesTest, TakeAnotherKindForAnotherRecord) {
  const Changes changes = Since(Record(Id(a_), "possible", 200, 2));
  EXPECT_TRUE(changes.records[0].is_new);
  EXPECT_EQ(changes.gone, 1u);
}

TEST_F(ChangesTest, KnowAgainWhatWasNotLookedAt) {
  maker_.check().look = Look::kNone;
  maker_.check().verdicts.clear();
  const Changes changes =
      Since(Record(Id(a_), "unknown", 200, 2) + "," + Record(Id(b_), "unknown", 900, 1));
  EXPECT_FALSE(changes.records[0].any());
  EXPECT_FALSE(changes.records[1].is_new);
  EXPECT_EQ(changes.unknown.bytes, 100);
  EXPECT_EQ(changes.gone, 0u);
}

TEST_F(ChangesTest, GoByNamesOfFunctionsAgainstAnotherBuild) {
  const Changes changes = Since(Record({"elsewhere", Id(a_).functions}, "definite", 150, 1));
  EXPECT_TRUE(changes.other_build);
  EXPECT_FALSE(changes.records[0].is_new);
  EXPECT_EQ(changes.records[0].bytes, 50);
  EXPECT_TRUE(changes.records[1].is_new);
}

}  // namespace
}  // namespace heapgauge::leaks
