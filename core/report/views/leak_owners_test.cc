#include "core/report/views/leak_owners.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/leaks/testing/make_check.h"

namespace heapgauge {
namespace {

using leaks::Kind;
using leaks::kNoBlock;
using leaks::testing::CheckMaker;

class LeakOwners : public ::testing::Test {
 protected:
  // A table in the program's data points to a holder, which points to an item; one item is lost.
  LeakOwners() {
    const uint32_t holder = maker_.Stack({"Table::Table()", "main"});
    const uint32_t item = maker_.Stack({"Cache::Insert(int)", "Serve(int)", "main"});
    maker_.Block(holder, 64, Kind::kReachable);
    maker_.Block(item, 1000, Kind::kReachable);
    maker_.Block(item, 900, Kind::kReachable);
    maker_.Block(item, 10, Kind::kDefinite);
    leaks::Check& check = maker_.check();
    check.roots.objects.push_back({"/opt/app/bin/server", 0});
    leaks::RootRange data;
    data.range = {0x8000, 0x9000};
    data.kind = leaks::RootKind::kData;
    data.object = 1;
    check.roots.ranges.push_back(data);
    Point(0, 0x8010, kNoBlock);
    Point(1, check.known.blocks[0].address + 16, 0);
    Point(2, check.known.blocks[0].address + 24, 0);
    losses_ = leaks::MakeLossRecords(check, {});
    subject_.check = &check;
    subject_.losses = &losses_;
    options_.layout.width = 80;
  }

  void Point(uint32_t block, uint64_t from, uint32_t holder) {
    leaks::Verdict& verdict = maker_.check().verdicts[block];
    verdict.has_pointer = true;
    verdict.set_pointer(from);
    verdict.from = holder;
  }

  std::string Text(const std::string& asked, size_t limit = 0) {
    const auto owners = FindLeakOwners(subject_, asked, limit, nullptr);
    if (!owners) return owners.error().message;
    return LeakOwnersText(subject_, options_, asked, *owners).text();
  }

  CheckMaker maker_;
  leaks::LossRecords losses_;
  LeaksSubject subject_;
  LeaksOptions options_;
};

TEST_F(LeakOwners, OfAFunctionAreToldByRootsAndByExample) {
  EXPECT_EQ(Text("Cache::"),
            R"(1,900 bytes in 2 blocks are still reachable in loss record 3 of 3
   at Cache::Insert (server.cc:12)
   by Serve (server.cc:13)
   by main (server.cc:11)
   held by
      2 of 2 blocks: data of /opt/app/bin/server at 0x8010
   for example
      data of /opt/app/bin/server at 0x8010
   -> offset 16 of the block at 0x110000 (64 bytes)
         at Table::Table (server.cc:10)
         by main (server.cc:11)
   -> block at 0x210000 (1,000 bytes, 1m00s old)

10 bytes in 1 blocks are definitely lost in loss record 1 of 3
   at Cache::Insert (server.cc:12)
   by Serve (server.cc:13)
   by main (server.cc:11)
   Nothing points to the largest of them, the block at 0x410000 (10 bytes, 1m00s old).

)");
}

TEST_F(LeakOwners, OfAnAddressAreThoseOfTheBlockThatHoldsIt) {
  const std::string text = Text("0x210007");
  EXPECT_EQ(text.rfind("The block at 0x210000 (1,000 bytes, 1m00s old) is still reachable.\n", 0),
            0u)
      << text;
  EXPECT_NE(text.find("   the way to it\n      data of /opt/app/bin/server at 0x8010\n"),
            std::string::npos)
      << text;
  EXPECT_NE(Text("0x410000").find("is definitely lost.\n"), std::string::npos);
  EXPECT_NE(Text("0x410000").find("   Nothing points to it.\n"), std::string::npos);
}

TEST_F(LeakOwners, AreAsManyRecordsAsAskedForTheLargestFirst) {
  const auto owners = FindLeakOwners(subject_, "main", 1, nullptr);
  ASSERT_TRUE(owners);
  ASSERT_EQ(owners->size(), 1u);
  EXPECT_EQ(owners->front().record, 2u);
}

TEST_F(LeakOwners, SayWhyThereAreNone) {
  EXPECT_EQ(Text("0x10"), "no known block holds 0x10");
  EXPECT_EQ(Text("Nobody"), "no block was allocated by a function that matches 'Nobody'");
  EXPECT_NE(Text("(").find("is not a regular expression"), std::string::npos);
  maker_.check().look = leaks::Look::kNone;
  EXPECT_NE(Text("main").find("needs the memory of a running program"), std::string::npos);
}

TEST_F(LeakOwners, AreWrittenAsJson) {
  const auto owners = FindLeakOwners(subject_, "0x210000", 0, nullptr);
  ASSERT_TRUE(owners);
  const nlohmann::json json = nlohmann::json::parse(LeakOwnersJson(subject_, *owners));
  EXPECT_EQ(json["format"], "heapgauge-leak-owners");
  const nlohmann::json& owner = json["owners"][0];
  EXPECT_EQ(owner["address"], 0x210000);
  EXPECT_EQ(owner["kind"], "reachable");
  ASSERT_EQ(owner["path"].size(), 2u);
  EXPECT_EQ(owner["path"][1]["stack"][0]["function"], "Table::Table()");
}

TEST(AskedAddress, IsHexadecimalOrDecimalAsInJson) {
  EXPECT_EQ(AskedAddress("0x1f"), 0x1fu);
  EXPECT_FALSE(AskedAddress("0x"));
  EXPECT_FALSE(AskedAddress("0x1g"));
  EXPECT_EQ(AskedAddress("140129462202560"), 140129462202560u);
  EXPECT_FALSE(AskedAddress("1234a"));
  EXPECT_FALSE(AskedAddress(""));
  EXPECT_FALSE(AskedAddress("-1"));
  EXPECT_FALSE(AskedAddress("0x11112222333344445"));
}

}  // namespace
}  // namespace heapgauge
