#include "core/report/views/leaks.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/report/testing/leaks_report.h"

namespace heapgauge::testing {
namespace {

TEST_F(LeaksReport, CanLookLikeMemchecks) {
  Plant();
  maker_.check().at_exit = true;
  options_.valgrind_style = true;
  options_.generate = GeneratedSuppressions::kValgrind;
  options_.limit = 1;
  EXPECT_EQ(Text(), R"(==4242== HEAP SUMMARY:
==4242==     in use at exit: 6,592 bytes in 5 blocks
==4242==   total heap usage: 12,345 allocs, 12,340 frees, 9,999,999 bytes allocated
==4242== 
==4242== 1,288 (1,048 direct, 240 indirect) bytes in 2 blocks are definitely lost in loss record 3 of 4
==4242==    at 0x1000: malloc (server.cc:10)
==4242==    by 0x1010: List::Push(int) (server.cc:11)
==4242==    by 0x1020: Serve(int) (server.cc:12)
==4242==    by 0x1030: main (server.cc:13)
{
   <insert_a_suppression_name_here>
   Memcheck:Leak
   match-leak-kinds: definite
   fun:*
   fun:*4List*4Push*
   fun:*5Serve*
   fun:main
}
==4242== 
==4242== LEAK SUMMARY:
==4242==    definitely lost: 1,048 bytes in 2 blocks
==4242==    indirectly lost: 240 bytes in 1 blocks
==4242==      possibly lost: 304 bytes in 1 blocks
==4242==    still reachable: 5,000 bytes in 1 blocks
==4242==                       of which reachable via heuristic:
==4242==                         newarray           : 5,000 bytes in 1 blocks
==4242==         suppressed: 0 bytes in 0 blocks
==4242== 
==4242== ERROR SUMMARY: 2 errors from 2 contexts (suppressed: 0 from 0)
)");
}

TEST_F(LeaksReport, GivesTheSuppressionsOfAllRecordsAlone) {
  Plant();
  options_.generate = GeneratedSuppressions::kLsan;
  options_.show_kinds = leaks::kAllKinds;
  options_.limit = 1;
  const std::string text = LeakSuppressionsText(Subject(), options_);
  // Two records are of one stack.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  leaks::Suppressions read;
  EXPECT_TRUE(read.AddText(text, "x"));
  EXPECT_EQ(read.rules().size(), 3u);
}

TEST_F(LeaksReport, ShowsTheKindsAskedForUpToALimit) {
  Plant();
  options_.show_kinds = leaks::kAllKinds;
  options_.limit = 1;
  std::string text = Text();
  EXPECT_TRUE(Contains(text, "5,000 bytes in 1 blocks are still reachable in loss record 4 of 4"));
  EXPECT_TRUE(Contains(text, "by newarray")) << text;
  EXPECT_FALSE(Contains(text, "definitely lost in loss"));
  EXPECT_TRUE(Contains(text, "3 more records, 1,592 bytes in 4 blocks (-n 0 shows all)")) << text;
  EXPECT_FALSE(Contains(text, "Not shown"));
  options_.limit = 0;
  options_.frames = 1;
  text = Text();
  EXPECT_TRUE(Contains(text, "240 bytes in 1 blocks are indirectly lost in loss record 1 of 4"));
  EXPECT_TRUE(Contains(text, "   at List::Push (server.cc:11)\n   2 more (--frames 0 shows all)"))
      << text;
}

TEST_F(LeaksReport, ListsSuppressionsThatWereUsed) {
  Plant();
  leaks::Suppressions suppressions;
  ASSERT_TRUE(suppressions.AddText("leak:Nothing\nleak:List::Push\n", "my.supp"));
  subject_.suppressions = &suppressions;
  const std::string text = Text();
  EXPECT_TRUE(Contains(text, "suppressed: 1,288 bytes in 3 blocks")) << text;
  EXPECT_TRUE(Contains(text,
                       "used_suppression:      2 leak:List::Push my.supp:2 suppressed: 1,288 bytes "
                       "in 3 blocks"))
      << text;
  EXPECT_EQ(CountLeakErrors(subject_, options_).records, 1u);
  const nlohmann::json json = JsonOf();
  EXPECT_EQ(json["suppressions"][0]["name"], "leak:List::Push");
  EXPECT_EQ(json["records"][1]["kind"], "suppressed");
  EXPECT_EQ(json["records"][1]["suppressed_kind"], "definite");
}

TEST_F(LeaksReport, ShowsSuspectsBeforeTheRecords) {
  Plant();
  leaks::Suspects suspects;
  leaks::Suspect suspect;
  suspect.function = "Cache::Insert";
  suspect.sentence =
      "holds 1.2 GB and grows 30 MB/min (p < 0.001); nothing of it was freed; still reachable";
  suspect.grows = true;
  suspect.live_bytes.value = 1.2e9;
  suspect.growth.bytes_per_second = 5e5;
  suspects.suspects.push_back(suspect);
  suspect.function = "Pool::Get";
  suspect.sentence = "holds 3 MB and is bounded";
  suspects.others.push_back(suspect);
  subject_.suspects = &suspects;
  const std::string text = Text();
  EXPECT_TRUE(Contains(text, R"(SUSPECTS:
  1  Cache::Insert holds 1.2 GB and grows 30 MB/min (p < 0.001); nothing of it
     was freed; still reachable

NOT SUSPECTED:
     Pool::Get holds 3 MB and is bounded

HEAP SUMMARY:)"))
      << text;
  const nlohmann::json json = JsonOf();
  EXPECT_EQ(json["suspects"]["suspected"][0]["function"], "Cache::Insert");
  EXPECT_EQ(json["suspects"]["not_suspected"].size(), 1u);
  // Few of what is not suspected, unless all is asked for.
  suspects.others.assign(5, suspect);
  EXPECT_TRUE(Contains(Text(), "is bounded\n     2 more (-n 0 shows all)\n")) << Text();
  options_.limit = 0;
  EXPECT_FALSE(Contains(Text(), "more (-n 0")) << Text();
  suspects.others.resize(1);
  // With nothing lost, growth is the news.
  for (leaks::Verdict& verdict : maker_.check().verdicts) verdict.kind = Kind::kReachable;
  EXPECT_EQ(LeakVerdict(Subject()),
            "server: nothing is definitely lost, but Cache::Insert holds 1.1 GB and grows "
            "28.6 MB/min.");
}

}  // namespace
}  // namespace heapgauge::testing
