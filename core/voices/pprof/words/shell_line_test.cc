#include "core/voices/pprof/words/shell_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heapgauge::pprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = ShellStep::Kind;

class ShellLineTest : public ::testing::Test {
 protected:
  std::vector<ShellStep> Run(std::string_view line) {
    return RunShellLine(line, profile_, &settings_);
  }
  ShellStep RunOne(std::string_view line) {
    const std::vector<ShellStep> steps = Run(line);
    EXPECT_EQ(steps.size(), 1u) << line;
    return steps.empty() ? ShellStep{} : steps.front();
  }
  std::string ErrorOf(std::string_view line) {
    const ShellStep step = RunOne(line);
    EXPECT_EQ(step.kind, Kind::kError) << line;
    return step.text;
  }

  ShellProfile profile_{{"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"}, 3};
  Settings settings_;
};

TEST_F(ShellLineTest, TopShowsTenEntriesUnlessToldOtherwise) {
  const ShellStep top = RunOne("top");
  ASSERT_EQ(top.kind, Kind::kReport);
  EXPECT_STREQ(top.command->name, "top");
  EXPECT_EQ(top.settings.config.node_count, 10);
  EXPECT_EQ(RunOne("top25").settings.config.node_count, 25);
  EXPECT_EQ(RunOne("top 7").settings.config.node_count, 7);
  EXPECT_EQ(RunOne("tree").settings.config.node_count, -1);
  settings_.config.node_count = 3;
  EXPECT_EQ(RunOne("text").settings.config.node_count, 3);
}

TEST_F(ShellLineTest, WordsFocusAndIgnoreForOneReportAlone) {
  const ShellStep step = RunOne("  top5 alpha beta -gamma -delta --cum > out.txt ");
  EXPECT_EQ(step.settings.config.focus, "alpha|beta");
  EXPECT_EQ(step.settings.config.ignore, "gamma|delta");
  EXPECT_TRUE(step.settings.config.sort_by_cum);
  EXPECT_EQ(step.settings.output, "out.txt");
  EXPECT_EQ(settings_.config.focus, "");
  EXPECT_FALSE(settings_.config.sort_by_cum);
  EXPECT_EQ(settings_.output, "");
}

TEST_F(ShellLineTest, OutputMayTouchItsSign) {
  EXPECT_EQ(RunOne("traces >t.txt").settings.output, "t.txt");
  EXPECT_EQ(ErrorOf("traces >"), "unexpected end of line after >");
}

TEST_F(ShellLineTest, TagsSelectByLabel) {
  const ShellStep step = RunOne("tags bytes -thread");
  EXPECT_EQ(step.settings.config.tag_focus, "bytes");
  EXPECT_EQ(step.settings.config.tag_ignore, "thread");
  EXPECT_EQ(step.settings.config.focus, "");
}

TEST_F(ShellLineTest, ReportsOnFunctionsNeedOne) {
  const ShellStep list = RunOne("list main.* -x 4");
  EXPECT_EQ(list.pattern, "main.*");
  EXPECT_EQ(list.settings.config.ignore, "x");
  EXPECT_EQ(list.settings.config.node_count, 4);
  EXPECT_EQ(ErrorOf("peek"), "command peek requires an argument");
}

TEST_F(ShellLineTest, AssignmentsStay) {
  EXPECT_EQ(RunOne("unit=megabytes").kind, Kind::kNothing);
  EXPECT_EQ(settings_.config.unit, "megabytes");
  RunOne("  focus = a=b //: only those");
  EXPECT_EQ(settings_.config.focus, "a=b");
  RunOne("noinlines");
  EXPECT_TRUE(settings_.config.no_inlines);
  RunOne("noinlines=no");
  EXPECT_FALSE(settings_.config.no_inlines);
  RunOne("sort=cum");
  EXPECT_TRUE(settings_.config.sort_by_cum);
  RunOne("flat");
  EXPECT_FALSE(settings_.config.sort_by_cum);
  RunOne("lines=1");
  EXPECT_EQ(settings_.config.granularity, Shape::kLines);
}

TEST_F(ShellLineTest, ASwitchedOffChoiceMeansNothing) {
  EXPECT_EQ(ErrorOf("cum=0"), "unknown config field \"cum\"");
}

TEST_F(ShellLineTest, AnOptionWithoutItsValueIsAskedFor) {
  EXPECT_EQ(ErrorOf("focus"), "please specify a value, e.g. focus=<val>");
  EXPECT_EQ(ErrorOf("focus main"), "did you mean: focus=main");
  EXPECT_EQ(ErrorOf("nodecount 5 6"), "did you mean: nodecount=5");
}

TEST_F(ShellLineTest, UnknownCommandsAreNamed) {
  EXPECT_EQ(ErrorOf("frobnicate"), "unrecognized command: \"frobnicate\"");
  EXPECT_EQ(ErrorOf("frob12 x"), "unrecognized command: \"frob\"");
  EXPECT_EQ(ErrorOf("12"), "unrecognized command: \"12\"");
}

TEST_F(ShellLineTest, ValuesOfTheProfileAreCommands) {
  Run("alloc_space");
  EXPECT_EQ(settings_.config.sample_index, "alloc_space");
  EXPECT_EQ(Run("mean_alloc_objects").size(), 2u);
  EXPECT_EQ(settings_.config.sample_index, "alloc_objects");
  EXPECT_TRUE(settings_.config.mean);
  Run("total_alloc_objects");
  EXPECT_FALSE(settings_.config.mean);
}

TEST_F(ShellLineTest, AValueIsFoundByNameOrNumber) {
  Run("sample_index=1");
  EXPECT_EQ(settings_.config.sample_index, "alloc_space");
  EXPECT_EQ(ErrorOf("sample_index=9"), "sample_index 9 is outside the range [0..3]");
  EXPECT_EQ(ErrorOf("sample_index=cpu"),
            "sample_index \"cpu\" must be one of: [alloc_objects alloc_space inuse_objects "
            "inuse_space]");
  profile_ = {{"objects", "space"}, 1};
  Run("sample_index=inuse_objects");
  EXPECT_EQ(settings_.config.sample_index, "objects");
}

TEST_F(ShellLineTest, AColonClearsFiveFilters) {
  Config& config = settings_.config;
  config.focus = config.ignore = config.hide = config.tag_focus = config.tag_ignore = "x";
  config.show = "kept";
  Run(" : ");
  EXPECT_EQ(config.focus + config.ignore + config.hide + config.tag_focus + config.tag_ignore, "");
  EXPECT_EQ(config.show, "kept");
}

TEST_F(ShellLineTest, ManyWordsLeave) {
  for (const char* word : {"q", "quit", "exit", "quit now"}) {
    EXPECT_EQ(RunOne(word).kind, Kind::kQuit) << word;
  }
  EXPECT_TRUE(Run("   ").empty());
}

TEST_F(ShellLineTest, TheListOfOptionsIsSorted) {
  settings_.config.compact_labels = true;
  const std::string text = RunOne("o").text;
  EXPECT_THAT(text, HasSubstr("  call_tree                 = false                \n"));
  EXPECT_THAT(text, HasSubstr("  focus                     = \"\"                   \n"));
  EXPECT_THAT(text, HasSubstr("  nodecount                 = -1                   //: default\n"));
  EXPECT_THAT(text, HasSubstr("  sample_index              = inuse_space          //: "
                              "[alloc_objects | alloc_space | inuse_objects | inuse_space]\n"));
  EXPECT_THAT(text, HasSubstr("  sort                      = flat                 //: "
                              "[cum | flat]\n"));
  EXPECT_LT(text.find("  call_tree"), text.find("  unit"));
}

TEST_F(ShellLineTest, HelpKnowsEveryCommandAndOption) {
  const std::string overview = RunOne("help").text;
  for (const ReportCommand& command : AllCommands()) {
    EXPECT_THAT(overview, HasSubstr("    " + std::string(command.name) + " "));
    EXPECT_EQ(RunOne("help " + std::string(command.name)).kind, Kind::kMessage);
  }
  for (const Setting& setting : AllSettings()) {
    EXPECT_EQ(RunOne("help " + std::string(setting.name)).kind, Kind::kMessage) << setting.name;
  }
  EXPECT_EQ(ErrorOf("help nothing"), "Unknown command: nothing");
}

TEST_F(ShellLineTest, WordsAreCompleted) {
  const std::vector<std::string> functions = {"main.load", "main.store", "net.Dial"};
  EXPECT_THAT(Completions("tra", functions), ElementsAre("traces"));
  EXPECT_GT(Completions("t", functions).size(), 1u);
  EXPECT_THAT(Completions("help weba", functions), ElementsAre());
  EXPECT_THAT(Completions("help webl", functions), ElementsAre("weblist"));
  EXPECT_THAT(Completions("list Dia", functions), ElementsAre("net.Dial"));
  EXPECT_THAT(Completions("top10 -load", functions), ElementsAre("-main.load"));
  EXPECT_THAT(Completions("tags Dial", functions), ElementsAre());
  EXPECT_THAT(Completions("peek main", functions), ElementsAre("main.load", "main.store"));
  EXPECT_THAT(Completions("tagr", functions), ElementsAre("tagroot"));
}

}  // namespace
}  // namespace heapgauge::pprof
