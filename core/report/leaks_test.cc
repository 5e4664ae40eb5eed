#include "core/report/leaks.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/leaks/estimate_text.h"
#include "core/leaks/testing/make_check.h"
#include "core/report/leak_words.h"

namespace heapgauge {
namespace {

using leaks::Kind;
using leaks::kNoBlock;
using leaks::testing::CheckMaker;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class LeaksReport : public ::testing::Test {
 protected:
  LeaksReport() {
    options_.layout.width = 80;
    options_.version = "1.2.3";
  }

  // A list that is lost as a whole, a block that may be, one that is held.
  void Plant() {
    list_ = maker_.Stack({"malloc", "List::Push(int)", "Serve(int)", "main"});
    const uint32_t node = maker_.Stack({"malloc", "Node::Make()", "Serve(int)", "main"});
    const uint32_t held = maker_.Stack({"malloc", "Cache::Get()", "main"});
    const uint32_t head = maker_.Block(list_, 1000, Kind::kDefinite, kNoBlock, 1, 7200);
    maker_.Block(list_, 48, Kind::kDefinite, kNoBlock, 1, 3);
    maker_.Block(node, 240, Kind::kIndirect, head);
    maker_.Block(held, 304, Kind::kPossible);
    maker_.Block(held, 5000, Kind::kReachable);
    leaks::Check& check = maker_.check();
    check.allocations = 12345;
    check.frees = 12340;
    check.allocated_bytes = 9'999'999;
    check.scanned_bytes = 3 << 20;
    check.scan_ns = 2'500'000;
    check.pause_ns = 1'200'000;
    check.verdicts[4].heuristic = leaks::Heuristic::kNewArray;
  }

  void PlantSamples() {
    maker_.check().known.exact = false;
    list_ = maker_.Stack({"List::Push(int)", "main"});
    for (uint64_t i = 0; i < 37; ++i) {
      maker_.Block(list_, 4096, Kind::kDefinite, kNoBlock, 2100, 200 * i);
    }
    for (int i = 0; i < 3; ++i) maker_.Block(list_, 4096, Kind::kReachable, kNoBlock, 2100);
  }

  const LeaksSubject& Subject() {
    leaks::LossOptions how;
    how.suppressions = subject_.suppressions;
    losses_ = leaks::MakeLossRecords(maker_.check(), how);
    subject_.check = &maker_.check();
    subject_.losses = &losses_;
    return subject_;
  }
  std::string Text() { return LeaksText(Subject(), options_).text(); }
  nlohmann::json JsonOf() {
    StringSink sink;
    EXPECT_TRUE(WriteLeaksJson(Subject(), options_, &sink));
    return nlohmann::json::parse(sink.text());
  }

  CheckMaker maker_;
  uint32_t list_ = 0;
  leaks::LossRecords losses_;
  LeaksSubject subject_;
  LeaksOptions options_;
};

TEST_F(LeaksReport, SaysTheVerdictFirstThenWhatMemcheckSays) {
  Plant();
  EXPECT_EQ(Text(),
            R"(server leaks: 1.3 kB in 3 blocks are lost, at one place, the last 3.0s ago.

process    pid 4242  server --port 80
blocks     all 5 live blocks are known
memory     program paused for 1.2 ms; 3.0 MB searched in 2.5 ms of CPU time

HEAP SUMMARY:
        in use now: 6,592 bytes in 5 blocks
  total heap usage: 12,345 allocs, 12,340 frees, 9,999,999 bytes allocated

1,288 (1,048 direct, 240 indirect) bytes in 2 blocks are definitely lost in loss record 3 of 4
   oldest 2h00m, newest 3.0s
   at List::Push (server.cc:11)
   by Serve (server.cc:12)
   by main (server.cc:13)

304 bytes in 1 blocks are possibly lost in loss record 2 of 4
   oldest 1m00s
   at Cache::Get (server.cc:15)
   by main (server.cc:13)

LEAK SUMMARY:
   definitely lost: 1,048 bytes in 2 blocks
   indirectly lost: 240 bytes in 1 blocks
     possibly lost: 304 bytes in 1 blocks
   still reachable: 5,000 bytes in 1 blocks
                      of which reachable via heuristic:
                        newarray           : 5,000 bytes in 1 blocks
        suppressed: 0 bytes in 0 blocks
Not shown: indirectly lost, still reachable (--show-leak-kinds all)
)");
}

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
   fun:*4List4Push*
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

TEST_F(LeaksReport, OfSamplesTellsHowSureItIs) {
  PlantSamples();
  const std::string text = Text();
  EXPECT_TRUE(Contains(text, "server leaks: about 304 MB \u00b1 ")) << text;
  EXPECT_TRUE(Contains(text, " lost in loss record 2 of 2")) << text;
  EXPECT_TRUE(Contains(text, "   37 of 40 sampled blocks of this stack; oldest 2h00m, newest 0ms"))
      << text;
  EXPECT_TRUE(Contains(text, "blocks     40 sampled blocks stand for \u2248 328 MB")) << text;
  options_.layout.utf8 = false;
  const std::string plain = Text();
  EXPECT_TRUE(Contains(plain, "~ 304 MB +- ")) << plain;
}

TEST_F(LeaksReport, SaysInOneSentenceThatThereIsNoLeak) {
  maker_.Block(maker_.Stack({"main"}), 1000, Kind::kReachable);
  EXPECT_EQ(LeakVerdict(Subject()), "server: no leak; the one live block can be reached (1000 B).");
  EXPECT_TRUE(Contains(Text(), "the one live block is known")) << Text();
  maker_.Block(0, 10, Kind::kPossible);
  EXPECT_EQ(LeakVerdict(Subject()),
            "server: nothing is definitely lost; one block of 10 B is possibly lost.");
  maker_.Block(0, 10, Kind::kPossible);
  EXPECT_EQ(LeakVerdict(Subject()),
            "server: nothing is definitely lost; 20 B in 2 blocks are possibly lost.");
  maker_.check().look = leaks::Look::kNone;
  maker_.check().verdicts.clear();
  EXPECT_EQ(LeakVerdict(Subject()),
            "server: memory was not looked at, so no block can be called lost.");
  const auto memory = [&](RecordingState state) {
    LeaksSubject subject = Subject();
    leaks::Check check = *subject.check;
    check.known.profile.recording.state = state;
    subject.check = &check;
    return LeaksText(subject, options_).text();
  };
  EXPECT_TRUE(Contains(memory(RecordingState::kLive), "not looked at: who points to a block"));
  EXPECT_TRUE(Contains(memory(RecordingState::kKilled), "not looked at: the program was killed"));
  EXPECT_TRUE(Contains(memory(RecordingState::kReplaced),
                       "not looked at: the process executed another program"));
}

TEST_F(LeaksReport, SaysFirstThatSomeAreSuppressed) {
  leaks::Suppressions suppressions;
  ASSERT_TRUE(suppressions.AddText("leak:Known\n", "s"));
  subject_.suppressions = &suppressions;
  const uint32_t known = maker_.Stack({"Known()", "main"});
  maker_.Block(known, 10, Kind::kDefinite);
  EXPECT_EQ(LeakVerdict(Subject()), "server: no leak but those that are suppressed.");
  const uint32_t held = maker_.Stack({"main"});
  maker_.Block(held, 1000, Kind::kReachable);
  EXPECT_EQ(LeakVerdict(Subject()),
            "server: no leak but a block that is suppressed; one other live block can be reached "
            "(1000 B).");
  maker_.Block(known, 10, Kind::kDefinite);
  maker_.Block(held, 1000, Kind::kReachable);
  EXPECT_EQ(LeakVerdict(Subject()),
            "server: no leak but 2 blocks that are suppressed; 2 other live blocks can be reached "
            "(2.0 kB).");
  maker_.check().known.exact = false;
  EXPECT_EQ(LeakVerdict(Subject()),
            "server: no leak but 2 blocks that are suppressed; 2 other sampled blocks are pointed "
            "to.");
}

TEST_F(LeaksReport, HasAKindOfItsOwnForWhatWasNotLookedAt) {
  Plant();
  maker_.check().look = leaks::Look::kNone;
  maker_.check().verdicts.clear();
  maker_.check().notes = {"it was ended by a signal"};
  const nlohmann::json summary = JsonOf()["summary"];
  EXPECT_EQ(summary["unknown"]["bytes"], 6592);
  EXPECT_EQ(summary["unknown"]["blocks"], 5);
  for (const char* kind : {"definite", "indirect", "possible", "reachable", "suppressed"}) {
    EXPECT_EQ(summary[kind]["blocks"], 0) << kind;
  }
  std::string text = Text();
  EXPECT_TRUE(Contains(text, "       never freed: 6,592 bytes in 5 blocks\n")) << text;
  EXPECT_TRUE(Contains(text, "Not shown: never freed (--show-leak-kinds all)\n")) << text;
  EXPECT_FALSE(Contains(text, "reachable")) << text;
  options_.show_kinds = leaks::kAllKinds;
  options_.generate = GeneratedSuppressions::kValgrind;
  text = Text();
  EXPECT_TRUE(Contains(text, "5,304 bytes in 2 blocks were never freed in loss record 3 of 3\n"))
      << text;
  EXPECT_TRUE(Contains(text, "   at Cache::Get (server.cc:15)\n")) << text;
  EXPECT_FALSE(Contains(text, "Not shown")) << text;
  EXPECT_EQ(LeakSuppressionsText(Subject(), options_), "");
  options_.valgrind_style = true;
  text = Text();
  EXPECT_TRUE(Contains(text, "==4242== Memory was not looked at: whether a block is lost")) << text;
  EXPECT_TRUE(Contains(text, "==4242== note: it was ended by a signal\n")) << text;
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

TEST_F(LeaksReport, SaysNothingOfAProgramWhoseSamplesAreMissing) {
  maker_.check().known.exact = false;
  EXPECT_EQ(LeakVerdict(Subject()), "server: no leak is known; no live block was sampled.");
  EXPECT_FALSE(Contains(Text(), "no leaks are possible")) << Text();
  leaks::Check& check = maker_.check();
  check.known.profile.recording.lost = {{"no room in the file", 190}};
  const LeaksSubject subject{&check, &losses_};
  EXPECT_EQ(LeakVerdict(subject),
            "server: nothing can be said; no live block is known, and 190 samples are missing "
            "(heapgauge doctor).");
}

TEST_F(LeaksReport, SaysWhatMissingEventsMeanForTheVerdict) {
  leaks::Check& check = maker_.check();
  check.known.exact = false;
  check.known.gap = leaks::Gap::kEvents;
  check.at_exit = true;
  EXPECT_FALSE(Contains(Text(), "no leaks are possible")) << Text();
  EXPECT_FALSE(Contains(Text(), "all blocks were freed")) << Text();
  check.at_exit = false;
  Plant();
  std::string text = Text();
  EXPECT_TRUE(Contains(text, "Events are missing: what was freed unseen may count as lost"))
      << text;
  EXPECT_TRUE(Contains(text, "5 blocks count as live; some may be freed, others be missing\n"))
      << text;
  EXPECT_FALSE(Contains(text, "sampled")) << text;
  nlohmann::json json = JsonOf();
  EXPECT_EQ(json["check"]["exact"], false);
  EXPECT_EQ(json["check"]["missing"], "events");
  EXPECT_FALSE(json["summary"]["in_use"].contains("bytes_low"));
  check.look = leaks::Look::kNone;
  check.verdicts.clear();
  text = Text();
  EXPECT_TRUE(Contains(text, "what was freed unseen may count as never freed")) << text;
  check.known.gap = leaks::Gap::kEnd;
  check.known.now_ns = 12'000'000'000;
  EXPECT_TRUE(Contains(LeakVerdict(Subject()),
                       "The trace breaks off at 12s: what was freed later is not known."))
      << LeakVerdict(Subject());
}

TEST_F(LeaksReport, TellsWhatMayBeThereAtTheCoarsestInterval) {
  leaks::Check& check = maker_.check();
  check.known.exact = false;
  Recording& recording = maker_.names().profile().recording;
  recording.interval = 64 << 10;
  EXPECT_TRUE(Contains(LeakVerdict(Subject()), "sampled (a leak below 236 kB may not show)."));
  recording.interval_in_force = 512 << 10;
  EXPECT_TRUE(Contains(LeakVerdict(Subject()), "sampled (a leak below 1.8 MB may not show)."));
  EXPECT_TRUE(Contains(Text(), "in use now: 0-1.8 MB in blocks of which none was sampled"))
      << Text();
  const nlohmann::json summary = JsonOf()["summary"];
  EXPECT_EQ(summary["in_use"]["bytes"], 0);
  EXPECT_GT(summary["in_use"]["bytes_high"], 1'800'000);
  EXPECT_GT(summary["definite"]["bytes_high"], 1'800'000);
  EXPECT_EQ(summary["unknown"]["bytes_high"], 0);
  // The cap worked when this one was born.
  recording.interval_in_force = recording.interval;
  maker_.Block(maker_.Stack({"Keep()", "main"}), 4096, Kind::kReachable, kNoBlock, 512);
  heapgauge::Block block;
  block.interval = 2 << 20;
  maker_.names().profile().blocks.push_back(block);
  EXPECT_EQ(LeakVerdict(Subject()),
            "server: no leak; the one sampled block is pointed to (a leak below 7.4 MB may not "
            "show).");
  // What is possibly lost is no clean bill.
  maker_.Block(maker_.Stack({"Guess()", "main"}), 4096, Kind::kPossible, kNoBlock, 512);
  EXPECT_TRUE(Contains(LeakVerdict(Subject()),
                       "server: no leak; all 2 sampled blocks are pointed to, 1 of them in a way "
                       "that leaves it open: about "))
      << LeakVerdict(Subject());
}

TEST_F(LeaksReport, OfAProgramThatFreedAllSaysSo) {
  maker_.check().at_exit = true;
  const std::string text = Text();
  EXPECT_TRUE(Contains(text, "no leak; all blocks were freed")) << text;
  EXPECT_TRUE(Contains(text, "All heap blocks were freed -- no leaks are possible")) << text;
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

TEST_F(LeaksReport, WritesJsonWithAllRecords) {
  Plant();
  const nlohmann::json json = JsonOf();
  EXPECT_EQ(json["format"], "heapgauge-leaks");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["check"]["pid"], 4242);
  EXPECT_EQ(json["check"]["look"], "copy");
  EXPECT_EQ(json["summary"]["definite"]["bytes"], 1048);
  EXPECT_EQ(json["summary"]["indirect"]["blocks"], 1);
  EXPECT_EQ(json["summary"]["heuristics"]["newarray"]["bytes"], 5000);
  EXPECT_EQ(json["summary"]["errors"], 2);
  ASSERT_EQ(json["records"].size(), 4u);
  const nlohmann::json& record = json["records"][1];
  EXPECT_EQ(record["kind"], "definite");
  EXPECT_EQ(record["bytes"], 1048);
  EXPECT_EQ(record["blocks"], 2);
  EXPECT_EQ(record["indirect_bytes"], 240);
  EXPECT_EQ(record["oldest_age_ns"], 7200 * CheckMaker::kSecond);
  EXPECT_FALSE(record.contains("bytes_low"));
  const nlohmann::json& frame = record["stack"][1];
  EXPECT_EQ(frame["function"], "List::Push(int)");
  EXPECT_EQ(frame["file"], "/src/server.cc");
  EXPECT_EQ(frame["line"], 11);
  EXPECT_EQ(frame["module"], "/opt/app/bin/server");
  EXPECT_EQ(frame["address"], 0x1010);
}

TEST_F(LeaksReport, WritesRangesOfSampledFigures) {
  PlantSamples();
  const nlohmann::json record = JsonOf()["records"][0];
  EXPECT_EQ(record["sampled_blocks"], 37);
  EXPECT_EQ(record["sampled_blocks_of_stack"], 40);
  EXPECT_LT(record["bytes_low"], record["bytes"]);
  EXPECT_LT(record["bytes"], record["bytes_high"]);
}

TEST_F(LeaksReport, ComparesWithItsOwnJson) {
  Plant();
  StringSink before;
  ASSERT_TRUE(WriteLeaksJson(Subject(), options_, &before));
  const auto earlier = leaks::ParseEarlierCheck(before.text(), "old.json");
  ASSERT_TRUE(earlier) << earlier.error().message;
  maker_.Block(list_, 52, Kind::kDefinite);
  maker_.Block(maker_.Stack({"Fresh()", "main"}), 9, Kind::kDefinite);
  const LeaksSubject& subject = Subject();
  const leaks::Changes changes = leaks::CompareChecks(*subject.check, losses_, *earlier);
  subject_.changes = &changes;
  options_.filter = LeakFilter::kIncreased;
  const std::string text = LeaksText(subject_, options_).text();
  EXPECT_TRUE(Contains(text,
                       "1,340 (+52) (1,100 (+52) direct, 240 indirect) bytes in 3 (+1) blocks are "
                       "definitely lost in loss record 4 of 5\n"))
      << text;
  EXPECT_TRUE(Contains(text,
                       "9 (+9) bytes in 1 (+1) blocks are definitely lost in loss record 1 "
                       "of 5 new\n"))
      << text;
  EXPECT_TRUE(Contains(text, "1 record is as before")) << text;
  EXPECT_TRUE(Contains(text, "definitely lost: 1,109 (+61) bytes in 4 (+2) blocks")) << text;
  EXPECT_EQ(CountLeakErrors(subject_, options_).records, 2u);
  options_.filter = LeakFilter::kNew;
  EXPECT_EQ(CountLeakErrors(subject_, options_).records, 1u);
  EXPECT_EQ(LeakVerdict(subject_, LeakFilter::kNew),
            "server leaks: 1.3 kB in 5 blocks are lost, at 2 places of which one is new since the "
            "earlier check, the last 3.0s ago.");
}

TEST_F(LeaksReport, SaysFirstThatNothingIsNewSince) {
  Plant();
  StringSink before;
  ASSERT_TRUE(WriteLeaksJson(Subject(), options_, &before));
  const auto earlier = leaks::ParseEarlierCheck(before.text(), "old.json");
  ASSERT_TRUE(earlier) << earlier.error().message;
  const leaks::Changes changes = leaks::CompareChecks(*Subject().check, losses_, *earlier);
  subject_.changes = &changes;
  EXPECT_TRUE(Contains(LeakVerdict(subject_), "server leaks: 1.3 kB"));
  for (const auto& [filter, says] : {std::pair(LeakFilter::kNew, "nothing new is lost"),
                                     std::pair(LeakFilter::kIncreased, "no more is lost"),
                                     std::pair(LeakFilter::kChanged, "nothing has changed")}) {
    options_.filter = filter;
    const std::string verdict = std::string("server: ") + says +
                                " since the earlier check; 1.3 kB at one place are lost as before.";
    EXPECT_EQ(LeakVerdict(subject_, filter), verdict);
    EXPECT_TRUE(LeaksText(subject_, options_).text().starts_with(verdict));
    EXPECT_EQ(JsonOf()["summary"]["verdict"], verdict);
  }
}

TEST_F(LeaksReport, SaysThatMoreIsLostWhereNothingIsNew) {
  Plant();
  StringSink before;
  ASSERT_TRUE(WriteLeaksJson(Subject(), options_, &before));
  const auto earlier = leaks::ParseEarlierCheck(before.text(), "old.json");
  ASSERT_TRUE(earlier) << earlier.error().message;
  const leaks::Check& check = *Subject().check;
  for (size_t i = 0; i < check.verdicts.size(); ++i) {
    if (check.verdicts[i].kind != Kind::kDefinite) continue;
    maker_.Block(check.known.blocks[i].stack, 5000, Kind::kDefinite);
    break;
  }
  const leaks::Changes changes = leaks::CompareChecks(*Subject().check, losses_, *earlier);
  subject_.changes = &changes;
  const std::string verdict = LeakVerdict(subject_, LeakFilter::kNew);
  EXPECT_TRUE(Contains(verdict,
                       "server: nothing new is lost since the earlier check, but more than "
                       "before at one place; "))
      << verdict;
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

// What SARIF 2.1.0 requires of what is written here.
TEST_F(LeaksReport, WritesSarif) {
  Plant();
  leaks::Suppressions suppressions;
  ASSERT_TRUE(suppressions.AddText("{\n known\n Memcheck:Leak\n ...\n fun:Cache::*\n}\n", "s"));
  subject_.suppressions = &suppressions;
  const nlohmann::json sarif = nlohmann::json::parse(LeaksSarif(Subject(), options_));
  EXPECT_EQ(sarif["version"], "2.1.0");
  ASSERT_EQ(sarif["runs"].size(), 1u);
  const nlohmann::json& run = sarif["runs"][0];
  const nlohmann::json& driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "heapgauge");
  EXPECT_EQ(driver["version"], "1.2.3");
  EXPECT_TRUE(run["invocations"][0]["executionSuccessful"].is_boolean());
  ASSERT_EQ(run["results"].size(), 2u);
  for (const nlohmann::json& result : run["results"]) {
    EXPECT_TRUE(result["message"]["text"].is_string());
    const size_t rule = result["ruleIndex"];
    ASSERT_LT(rule, driver["rules"].size());
    EXPECT_EQ(driver["rules"][rule]["id"], result["ruleId"]);
    const std::string level = result["level"];
    EXPECT_TRUE(level == "error" || level == "warning" || level == "note");
    for (const nlohmann::json& location : result["locations"]) {
      EXPECT_GE(location["physicalLocation"]["region"]["startLine"], 1);
    }
    for (const nlohmann::json& stack : result["stacks"]) {
      ASSERT_TRUE(stack["frames"].is_array());
      for (const nlohmann::json& frame : stack["frames"]) {
        EXPECT_TRUE(frame["location"].is_object());
      }
    }
  }
  const nlohmann::json& lost = run["results"][0];
  EXPECT_EQ(lost["ruleId"], "definite");
  EXPECT_EQ(lost["message"]["text"],
            "1,288 (1,048 direct, 240 indirect) bytes in 2 blocks are definitely lost, allocated "
            "in List::Push(int).");
  EXPECT_EQ(lost["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///src/server.cc");
  EXPECT_FALSE(lost.contains("suppressions"));
  EXPECT_EQ(run["results"][1]["suppressions"][0]["kind"], "external");
  EXPECT_EQ(run["results"][1]["suppressions"][0]["justification"], "known");
}

TEST_F(LeaksReport, WritesWhatKcachegrindReads) {
  Plant();
  StringSink sink;
  ASSERT_TRUE(WriteLeaksXtree(Subject(), &sink));
  EXPECT_TRUE(Contains(sink.text(), "events: RB PB IB DB DIB RBk PBk IBk DBk\n"));
  EXPECT_TRUE(Contains(sink.text(), R"(
fl=(1)
fn=(2)
12
cfi=(1)
cfn=(6) List::Push(int)
calls=0 11
12 0 0 0 1288 240 0 0 0 2
fl=(1)
fn=(6)
11
cfi=(1)
cfn=(4)
calls=0 10
11 0 0 0 1288 240 0 0 0 2
fl=(1)
fn=(4)
10 0 0 0 1288 240 0 0 0 2
)")) << sink.text();
  EXPECT_TRUE(Contains(sink.text(), "\ntotals: 5000 304 240 1288 240 1 1 1 2\n")) << sink.text();
}

TEST(LeakWordsTest, TellAnEstimateInOneWay) {
  constexpr double kMega = 1 << 20;
  const auto text = [](double value, double deviation) {
    return leaks::EstimateText({value, deviation * deviation, 1, 0, 0});
  };
  EXPECT_TRUE(Contains(text(310 * kMega, 20 * kMega), "310 MB ± 39"))
      << text(310 * kMega, 20 * kMega);
  // Not ± 0.0.
  const std::string sure = text(1800 * kMega, 20 * kMega);
  EXPECT_TRUE(Contains(sure, "1.8 GB ± 39") && Contains(sure, " MB")) << sure;
  EXPECT_EQ(text(1800 * kMega, 0.1 * kMega), "1.8 GB");
  EXPECT_TRUE(Contains(text(65 * 1024, 65 * 1024), "65.0 kB (95 %: "))
      << text(65 * 1024, 65 * 1024);
}

TEST(LeakWordsTest, GiveTheRangeWhereItIsWiderThanTheFigure) {
  const Estimate one = {1000 * 1024.0, 1e6 * 1024.0 * 1024.0, 999 * 1024.0, 1024, 1e9};
  const std::string text = leaks::EstimateText(one);
  EXPECT_TRUE(Contains(text, "1000 kB (95 %: ")) << text;
  EXPECT_EQ(WithCommas(1234567), "1,234,567");
  EXPECT_EQ(WithCommas(-1), "0");
}

}  // namespace
}  // namespace heapgauge
