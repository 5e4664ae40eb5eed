// What a report of leaks says first: whether there are any, and how sure that is.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/report/testing/leaks_report.h"

namespace heapgauge::testing {
namespace {

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
  RecordingFacts& recording = maker_.names().profile().recording;
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
  heapgauge::SampledBlock block;
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

}  // namespace
}  // namespace heapgauge::testing
