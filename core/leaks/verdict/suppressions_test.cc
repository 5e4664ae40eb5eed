#include "core/leaks/verdict/suppressions.h"

#include <gtest/gtest.h>

#include "core/leaks/testing/make_check.h"
#include "core/leaks/verdict/loss_records.h"
#include "wire/gauge_format.h"

namespace heapgauge::leaks {
namespace {

using testing::CheckMaker;

Suppressions Read(const std::string& text) {
  Suppressions suppressions;
  const Status status = suppressions.AddText(text, "my.supp");
  EXPECT_TRUE(status) << status.error().message;
  return suppressions;
}

std::string ErrorOf(const std::string& text) {
  Suppressions suppressions;
  const Status status = suppressions.AddText(text, "my.supp");
  return status ? "" : status.error().message;
}

std::string Entry(const std::string& lines) {
  return "{\n  name\n  Memcheck:Leak\n" + lines + "\n}\n";
}

class SuppressionsTest : public ::testing::Test {
 protected:
  SuppressionsTest() {
    stack_ = maker_.StackAt(
        {maker_.Function("Cache::Insert(Key const&, int)", "_ZN5Cache6InsertERK3Keyi"),
         maker_.Function("Serve(int)", "_Z5Servei"), maker_.Function("main")});
  }

  bool Silences(const std::string& text, Kind kind = Kind::kDefinite,
                uint32_t function = kNoFunction) {
    const Suppressions suppressions = Read(text);
    const Profile profile = maker_.check().known.profile;
    SuppressionMatcher matcher(suppressions, profile);
    return matcher.Match(maker_.check().known.stacks[stack_].leaf, kind, function) != kNone;
  }
  // For what is definitely lost by the stack.
  std::string Generated() {
    const Profile profile = maker_.check().known.profile;
    return GenerateSuppression(profile, maker_.check().known.stacks[stack_].leaf, Kind::kDefinite);
  }
  bool SilencesBlockOf(wire::AllocationFunction function, const std::string& lines) {
    return Silences(Entry(lines), Kind::kDefinite, static_cast<uint32_t>(function));
  }

  CheckMaker maker_;
  uint32_t stack_ = 0;
};

TEST_F(SuppressionsTest, MatchMangledAndReadableNames) {
  EXPECT_TRUE(Silences(Entry("fun:_ZN5Cache6InsertERK3Keyi")));
  EXPECT_TRUE(Silences(Entry("fun:_ZN5Cache*")));
  EXPECT_TRUE(Silences(Entry("fun:Cache::Insert(Key const&, int)")));
  EXPECT_TRUE(Silences(Entry("fun:Cache::Insert")));
  EXPECT_TRUE(Silences(Entry("fun:Cache::In?ert")));
  EXPECT_FALSE(Silences(Entry("fun:Cache::Ins")));
  EXPECT_FALSE(Silences(Entry("fun:Serve")));
}

TEST_F(SuppressionsTest, GoFromTheInnermostFrameOutwards) {
  EXPECT_TRUE(Silences(Entry("fun:Cache::Insert\nfun:Serve\nfun:main")));
  EXPECT_FALSE(Silences(Entry("fun:Cache::Insert\nfun:main")));
  EXPECT_TRUE(Silences(Entry("fun:Cache::Insert\n...\nfun:main")));
  EXPECT_TRUE(Silences(Entry("...\nfun:main")));
  EXPECT_TRUE(Silences(Entry("...\nfun:Serve\n...")));
  EXPECT_FALSE(Silences(Entry("fun:Cache::Insert\nfun:Serve\nfun:main\nfun:_start")));
  EXPECT_FALSE(Silences(Entry("...\nfun:Serve\nfun:Cache*")));
}

TEST_F(SuppressionsTest, MayNameTheAllocatingFunctionThatTheAgentDoesNotShow) {
  EXPECT_TRUE(Silences(Entry("fun:malloc\nfun:_ZN5Cache*")));
  EXPECT_TRUE(Silences(Entry("fun:_Znwm\nfun:_ZN5Cache*")));
  EXPECT_TRUE(Silences(Entry("fun:*alloc\nfun:_ZN5Cache*")));
  EXPECT_TRUE(Silences(Entry("fun:operator new(unsigned long)\nfun:_ZN5Cache*")));
  EXPECT_FALSE(Silences(Entry("fun:free\nfun:_ZN5Cache*")));
  EXPECT_FALSE(Silences(Entry("fun:malloc\nfun:malloc\nfun:_ZN5Cache*")));
}

TEST_F(SuppressionsTest, NameTheFunctionThatReallyAllocated) {
  using Made = wire::AllocationFunction;
  struct Case {
    Made function;
    std::vector<std::string> names;
    std::vector<std::string> others;
  };
  const Case cases[] = {
      {Made::kMalloc, {"malloc", "m*c", "*"}, {"calloc", "realloc", "_Znwm", "_Znam"}},
      {Made::kCalloc, {"calloc", "?alloc"}, {"malloc", "_Znwm"}},
      {Made::kRealloc, {"realloc", "re*", "malloc"}, {"calloc", "memalign", "_Znwm"}},
      {Made::kAligned, {"memalign", "posix_memalign", "aligned_alloc"}, {"malloc", "_Znwm*"}},
      {Made::kNewArray, {"_Znam", "_Zna*", "operator new[]*"}, {"malloc", "_Znwm*"}},
      // The program may have called new[].
      {Made::kNew, {"_Znwm", "_ZnwmSt11align_val_t", "_Znam", "operator new*"}, {"malloc"}},
  };
  for (const Case& c : cases) {
    for (const std::string& name : c.names) {
      EXPECT_TRUE(SilencesBlockOf(c.function, "fun:" + name + "\n...")) << name;
      EXPECT_TRUE(SilencesBlockOf(c.function, "fun:" + name + "\nfun:_ZN5Cache*")) << name;
    }
    for (const std::string& name : c.others) {
      EXPECT_FALSE(SilencesBlockOf(c.function, "fun:" + name + "\n...")) << name;
      EXPECT_FALSE(SilencesBlockOf(c.function, "fun:" + name)) << name;
    }
    EXPECT_TRUE(SilencesBlockOf(c.function, "obj:*vgpreload_memcheck*\nfun:_ZN5Cache*"));
  }
}

// Without a frame of new[], which jumps to new.
TEST_F(SuppressionsTest, NameNewWhereItsFrameIsShown) {
  stack_ = maker_.StackAt({maker_.Function("operator new(unsigned long)", "_Znwm"),
                           maker_.Function("Lose()", "_Z4Losev"), maker_.Function("main")});
  for (const char* const name : {"_Znam", "_Znwm", "operator new[]*"}) {
    const std::string lines = std::string("fun:") + name + "\nfun:_Z4Losev\nfun:main";
    EXPECT_TRUE(SilencesBlockOf(wire::AllocationFunction::kNew, lines)) << name;
  }
  EXPECT_FALSE(SilencesBlockOf(wire::AllocationFunction::kNew, "fun:malloc\nfun:_Z4Losev"));
  EXPECT_FALSE(SilencesBlockOf(wire::AllocationFunction::kNew, "fun:malloc\n..."));
}

TEST_F(SuppressionsTest, KnowTheNamesThatTheCLibraryHasForItsOwn) {
  stack_ = maker_.Stack({"__strdup", "LoseName()", "main"});
  EXPECT_TRUE(
      SilencesBlockOf(wire::AllocationFunction::kMalloc, "fun:malloc\nfun:strdup\nfun:LoseName*"));
  EXPECT_TRUE(SilencesBlockOf(wire::AllocationFunction::kMalloc, "fun:malloc\nfun:__GI___strdup"));
  EXPECT_FALSE(SilencesBlockOf(wire::AllocationFunction::kMalloc, "fun:malloc\nfun:strndup"));
  stack_ = maker_.Stack({"strdup", "main"});
  EXPECT_TRUE(
      SilencesBlockOf(wire::AllocationFunction::kMalloc, "fun:malloc\nfun:__strdup\nfun:main"));
}

TEST_F(SuppressionsTest, MayNameItInFrontOfFunctionsThatAllocateForTheirCaller) {
  stack_ = maker_.Stack({"strdup", "LoseName()", "main"});
  EXPECT_TRUE(Silences(Entry("fun:malloc\nfun:strdup\nfun:LoseName*\nfun:main")));
  EXPECT_TRUE(Silences(Entry("fun:strdup\nfun:LoseName*")));
  EXPECT_FALSE(Silences(Entry("fun:malloc\nfun:LoseName*")));
}

TEST_F(SuppressionsTest, MatchObjectsAndSources) {
  EXPECT_TRUE(Silences(Entry("obj:/opt/app/bin/server")));
  EXPECT_TRUE(Silences(Entry("obj:*/server\nobj:*")));
  EXPECT_FALSE(Silences(Entry("obj:*/libfoo.so")));
  EXPECT_TRUE(Silences(Entry("src:server.cc")));
  EXPECT_TRUE(Silences(Entry("src:/src/*:10")));
  EXPECT_FALSE(Silences(Entry("src:server.cc:11")));
}

TEST_F(SuppressionsTest, AreForTheKindsTheyName) {
  const std::string text = Entry("match-leak-kinds: possible,reachable\nfun:Cache::*");
  EXPECT_FALSE(Silences(text, Kind::kDefinite));
  EXPECT_TRUE(Silences(text, Kind::kPossible));
  EXPECT_TRUE(Silences(text, Kind::kReachable));
  EXPECT_TRUE(Silences(Entry("match-leak-kinds:all\nfun:Cache::*"), Kind::kIndirect));
}

TEST_F(SuppressionsTest, PassOverEntriesOfOtherTools) {
  const Suppressions suppressions =
      Read("{\n a\n Memcheck:Param\n write(buf)\n fun:x\n}\n{\n b\n Helgrind:Race\n fun:x\n}\n" +
           std::string("{\n c\n Addrcheck,Memcheck:Leak\n fun:x\n}\n"));
  ASSERT_EQ(suppressions.rules().size(), 1u);
  EXPECT_EQ(suppressions.rules()[0].name, "c");
}

TEST_F(SuppressionsTest, OfLeakSanitizerMatchAnyFrameByAnyName) {
  EXPECT_TRUE(Silences("leak:Insert\n"));
  EXPECT_TRUE(Silences("# why\n\nleak:Serve"));
  EXPECT_TRUE(Silences("leak:_ZN5Cache\r\n"));
  EXPECT_TRUE(Silences("leak:server.cc\n"));
  EXPECT_TRUE(Silences("leak:bin/server\n"));
  EXPECT_TRUE(Silences("leak:^server$\n"));
  EXPECT_TRUE(Silences("leak:^Cache::*Key\n"));
  EXPECT_TRUE(Silences("leak:^main$\n"));
  EXPECT_FALSE(Silences("leak:^Insert\n"));
  EXPECT_FALSE(Silences("leak:Cache::Ins$\n"));
  EXPECT_FALSE(Silences("leak:Inse?t\n"));
  EXPECT_FALSE(Silences("leak:Insert\n", Kind::kReachable));
}

TEST_F(SuppressionsTest, AreTriedInTheirOrder) {
  const Suppressions suppressions = Read("leak:nothing\n" + Entry("fun:Cache*") + "leak:Cache\n");
  const Profile profile = maker_.check().known.profile;
  SuppressionMatcher matcher(suppressions, profile);
  EXPECT_EQ(matcher.Match(maker_.check().known.stacks[stack_].leaf, Kind::kDefinite, kNoFunction),
            1u);
  EXPECT_EQ(matcher.Match(maker_.check().known.stacks[stack_].leaf, Kind::kDefinite, kNoFunction),
            1u);
  EXPECT_EQ(suppressions.rules()[1].line, 2u);
}

TEST_F(SuppressionsTest, ThatAreGeneratedMatch) {
  const Profile profile = maker_.check().known.profile;
  const NodeId leaf = maker_.check().known.stacks[stack_].leaf;
  const std::string entry = GenerateSuppression(profile, leaf, Kind::kDefinite);
  EXPECT_EQ(entry,
            "{\n   <insert_a_suppression_name_here>\n   Memcheck:Leak\n"
            "   match-leak-kinds: definite\n   fun:*\n   fun:_ZN5Cache6InsertERK3Keyi\n"
            "   fun:_Z5Servei\n   fun:main\n}\n");
  EXPECT_TRUE(Silences(entry));
  EXPECT_FALSE(Silences(entry, Kind::kReachable));
  const std::string line = GenerateLsanSuppression(profile, leaf);
  EXPECT_EQ(line, "leak:^Cache::Insert$\n");
  EXPECT_TRUE(Silences(line));
  EXPECT_EQ(GenerateSuppression(profile, kNone, Kind::kDefinite), "");
}

TEST_F(SuppressionsTest, ThatAreGeneratedEndWithMainAsStacksOfValgrindDo) {
  stack_ = maker_.Stack({"f()", "main", "__libc_start_main", "_start"});
  const std::string entry = Generated();
  EXPECT_NE(entry.find("   fun:main\n}\n"), std::string::npos) << entry;
  EXPECT_TRUE(Silences(entry));
}

// Without a linker name such a function is known by its name and line; lines move.
TEST_F(SuppressionsTest, ThatAreGeneratedForFunctionsOfOneFileGoByTheirNames) {
  const std::string name = "(anonymous namespace)::Lose<std::string>(int)";
  stack_ = maker_.StackAt({maker_.Function(name, name + ":29"), maker_.Function("main")});
  const std::string entry = Generated();
  EXPECT_NE(entry.find("   fun:*12_GLOBAL__N_14Lose*\n   fun:main\n"), std::string::npos) << entry;
  EXPECT_TRUE(Silences(entry));
  // As Valgrind has it, and others that are not meant.
  EXPECT_TRUE(Silences(Entry("fun:malloc\nfun:_ZN12_GLOBAL__N_14LoseISsEEvi\nfun:main")));
  EXPECT_FALSE(Silences(Entry("fun:malloc\nfun:_ZN12_GLOBAL__N_15Loser\nfun:main")));
  stack_ = maker_.StackAt({maker_.Function("Loser(int)"), maker_.Function("main")});
  EXPECT_FALSE(Silences(entry));
}

TEST_F(SuppressionsTest, KnowStaticFunctionsOfANamespaceAndThoseOfStd) {
  const std::string name = "app::Lose(int)";
  stack_ = maker_.StackAt({maker_.Function(name, name + ":29"), maker_.Function("main")});
  EXPECT_TRUE(Silences(Entry("fun:malloc\nfun:_ZN3appL4LoseEi\nfun:main")));
  EXPECT_FALSE(Silences(Entry("fun:malloc\nfun:_ZN3appL5LoserEi\nfun:main")));
  const std::string of_std = "std::__invoke_impl<void, int (*)()>(int (*&&)())";
  stack_ = maker_.StackAt({maker_.Function(of_std, of_std), maker_.Function("main")});
  EXPECT_TRUE(Silences(Entry("fun:malloc\nfun:_ZSt13__invoke_implIvPFivEJEET_v\nfun:main")));
  EXPECT_NE(Generated().find("   fun:*St13__invoke_impl*\n"), std::string::npos) << Generated();
}

// Valgrind knows them by their names alone.
TEST_F(SuppressionsTest, KnowFunctionsThatWereInlined) {
  Profile profile = maker_.check().known.profile;
  const NodeId leaf = maker_.check().known.stacks[stack_].leaf;
  // Cache::Insert(Key const&, int) in a function of its own, within which it was inlined.
  Location& innermost = profile.locations[profile.nodes[leaf].location];
  ASSERT_EQ(innermost.frame_count, 1u);
  const Frame frame = profile.frames[innermost.first_frame];
  innermost.first_frame = static_cast<uint32_t>(profile.frames.size());
  innermost.frame_count = 2;
  profile.frames.insert(profile.frames.end(), {frame, frame});
  const std::string entry = GenerateSuppression(profile, leaf, Kind::kDefinite);
  EXPECT_NE(entry.find("   fun:*\n   fun:Insert\n   fun:_ZN5Cache6InsertERK3Keyi\n"),
            std::string::npos)
      << entry;
  const auto silences = [&](const std::string& text) {
    const Suppressions suppressions = Read(text);
    return SuppressionMatcher(suppressions, profile).Match(leaf, Kind::kDefinite, kNoFunction) !=
           kNone;
  };
  EXPECT_TRUE(silences(entry));
  // Only one of both is inlined.
  EXPECT_FALSE(silences(Entry("fun:malloc\nfun:Insert\nfun:Insert")));
}

TEST_F(SuppressionsTest, ThatAreGeneratedForFunctionsOfACFileAreTheirNames) {
  stack_ = maker_.StackAt({maker_.Function("lose", "lose:7"), maker_.Function("main")});
  const std::string entry = Generated();
  EXPECT_NE(entry.find("   fun:lose\n   fun:main\n"), std::string::npos) << entry;
  EXPECT_TRUE(Silences(entry));
}

// What main lost does not hide what its functions lose later.
TEST_F(SuppressionsTest, ThatAreGeneratedAreAboutOneStack) {
  stack_ = maker_.Stack({"main"});
  const std::string entry = Generated();
  EXPECT_TRUE(Silences(entry));
  stack_ = maker_.Stack({"parse", "main"});
  EXPECT_FALSE(Silences(entry));
}

TEST_F(SuppressionsTest, ThatAreGeneratedHaveOneFrameForOperatorNew) {
  stack_ = maker_.StackAt({maker_.Function("operator new(unsigned long)", "_Znwm"),
                           maker_.Function("f()", "_Z1fv"), maker_.Function("main")});
  const std::string entry = Generated();
  EXPECT_NE(entry.find("   fun:*\n   fun:_Z1fv\n   fun:main\n"), std::string::npos) << entry;
  EXPECT_TRUE(Silences(entry));
}

// Frames that Valgrind has other names for, or none.
TEST_F(SuppressionsTest, KnowWhatValgrindCallsTheEndsOfStacks) {
  stack_ = maker_.Stack({"work", "start_thread", "__clone3"});
  EXPECT_TRUE(Silences(Entry("fun:malloc\nfun:work\nfun:start_thread\nfun:clone")));
  const std::string entry = Generated();
  EXPECT_NE(entry.find("   fun:work\n   fun:start_thread\n}"), std::string::npos) << entry;
  stack_ = maker_.Stack({"work", "__libc_start_call_main", "__libc_start_main@@GLIBC_2.34"});
  EXPECT_TRUE(Silences(Entry("fun:malloc\nfun:work\nfun:(below main)")));
  EXPECT_FALSE(Silences(Entry("fun:malloc\nfun:(below main)")));
  const std::string ends = Generated();
  EXPECT_NE(ends.find("   fun:work\n   fun:(below main)\n}"), std::string::npos) << ends;
}

// Valgrind has the name that programs use.
TEST_F(SuppressionsTest, ThatAreGeneratedHavePublicNamesOfTheCLibrary) {
  stack_ = maker_.Stack({"__strdup", "main"});
  const std::string entry = Generated();
  EXPECT_NE(entry.find("   fun:*strdup\n   fun:main\n"), std::string::npos) << entry;
  EXPECT_TRUE(Silences(entry));
}

TEST_F(SuppressionsTest, TakeAllKindsOfAConstructorForOne) {
  stack_ = maker_.StackAt({maker_.Function("W::W()", "_ZN1WC2Ev"), maker_.Function("main")});
  EXPECT_TRUE(Silences(Entry("fun:malloc\nfun:_ZN1WC1Ev\nfun:main")));
  EXPECT_FALSE(Silences(Entry("fun:malloc\nfun:_ZN1WD1Ev\nfun:main")));
  const std::string entry = Generated();
  EXPECT_NE(entry.find("   fun:_ZN1WC?Ev\n"), std::string::npos) << entry;
  EXPECT_TRUE(Silences(entry));
}

TEST_F(SuppressionsTest, KnowLambdasByWhatTheyAreIn) {
  const std::string name = "c(int)::{unnamed type, line 9}::operator()() const";
  stack_ = maker_.StackAt({maker_.Function(name, name), maker_.Function("main")});
  const std::string entry = Generated();
  EXPECT_NE(entry.find("   fun:*1c*\n   fun:main\n"), std::string::npos) << entry;
  EXPECT_TRUE(Silences(entry));
  EXPECT_TRUE(Silences(Entry("fun:malloc\nfun:_ZZ1ciENKUlvE_clEv\nfun:main")));
  // One of which nothing is known but that it is one.
  const std::string bare = "{lambda()#1}::operator()() const";
  stack_ = maker_.StackAt({maker_.Function(bare, bare), maker_.Function("main")});
  EXPECT_FALSE(Silences(Entry("fun:malloc\nfun:_Z5Otherv\nfun:main")));
}

TEST_F(SuppressionsTest, TellWhatIsWrongAndWhere) {
  EXPECT_EQ(ErrorOf("# fine\nrace:foo\n"),
            "suppressions 'my.supp': line 2: neither '{' (Valgrind) nor 'leak:' (LeakSanitizer): "
            "'race:foo'");
  EXPECT_EQ(ErrorOf("leak:\n"),
            "suppressions 'my.supp': line 1: no pattern behind 'leak:': 'leak:'");
  EXPECT_EQ(ErrorOf("\n{\n a\n Memcheck:Leak\n fun:x\n"),
            "suppressions 'my.supp': the entry at line 2 lacks '}'");
  EXPECT_EQ(ErrorOf("{\n a\n Memcheck:Leak\n}\n"),
            "suppressions 'my.supp': the entry at line 1 lacks fun:, obj: or src: lines");
  EXPECT_EQ(ErrorOf(Entry("frame:x")),
            "suppressions 'my.supp': line 4: not fun:, obj:, src: or ...: 'frame:x'");
  EXPECT_NE(ErrorOf(Entry("match-leak-kinds: lost\nfun:x")).find("line 4: 'lost' is no kind"),
            std::string::npos);
  EXPECT_NE(ErrorOf(std::string("\x01\xff\0{", 4)).find("line 1"), std::string::npos);
}

TEST_F(SuppressionsTest, AreBounded) {
  std::string many;
  for (size_t i = 0; i <= Suppressions::kMaxRules; ++i) many += "leak:x\n";
  EXPECT_NE(ErrorOf(many).find("line 20001: more than 20000 rules"), std::string::npos);
  std::string deep;
  for (size_t i = 0; i <= Suppressions::kMaxFrames; ++i) deep += "fun:x\n";
  EXPECT_NE(ErrorOf(Entry(deep)).find("more than 500 frames"), std::string::npos);
  EXPECT_NE(ErrorOf("leak:" + std::string(5000, 'x')).find("too long"), std::string::npos);
}

}  // namespace
}  // namespace heapgauge::leaks
