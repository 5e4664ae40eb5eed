#include "cli/pprof/flags.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "cli/pprof/flag_table.h"
#include "cli/pprof/perl_shell.h"

namespace heapgauge::cli {
namespace {

using Words = std::vector<std::string>;

PprofCommandLine Parse(const Words& words, const std::string& called_as = "heapgauge") {
  auto line = ParsePprofFlags(words, called_as);
  EXPECT_TRUE(line) << (line ? "" : line.error().message);
  return line ? *line : PprofCommandLine{};
}

std::string ErrorOf(const Words& words, const std::string& called_as = "heapgauge") {
  const auto line = ParsePprofFlags(words, called_as);
  EXPECT_FALSE(line);
  return line ? "" : line.error().message;
}

const std::string kProgram = std::filesystem::read_symlink("/proc/self/exe").string();

TEST(PprofFlagsTest, OneDashOrTwoAndValuesInBothWays) {
  for (const Words& words :
       {Words{"-top", "-focus=x", "h.pb.gz"}, Words{"--top", "--focus", "x", "h.pb.gz"},
        Words{"h.pb.gz", "-focus", "x", "-top"}}) {
    const PprofCommandLine line = Parse(words);
    EXPECT_EQ(line.dialect, Dialect::kPprof);
    ASSERT_NE(line.command, nullptr);
    EXPECT_STREQ(line.command->name, "top");
    EXPECT_EQ(line.settings.config.focus, "x");
    EXPECT_EQ(line.source.sources, Words{"h.pb.gz"});
  }
}

TEST(PprofFlagsTest, SwitchesTakeAValueBehindAnEqualsSignAlone) {
  EXPECT_TRUE(Parse({"-mean=true", "p"}).settings.config.mean);
  EXPECT_FALSE(Parse({"-trim=false", "p"}).settings.config.trim);
  EXPECT_EQ(Parse({"-mean", "false"}).source.sources, Words{"false"});
  EXPECT_EQ(ErrorOf({"-mean=maybe", "p"}), "-mean is a switch; 'maybe' is neither true nor false");
  EXPECT_EQ(Parse({"-top=false", "-tree", "p"}).command->name, std::string("tree"));
}

TEST(PprofFlagsTest, EveryReportAndOptionIsAFlag) {
  for (const pprof::ReportCommand& command : pprof::AllCommands()) {
    Words words = {"-" + std::string(command.name)};
    if (command.takes_pattern) words.push_back("f");
    words.push_back("p");
    const PprofCommandLine line = Parse(words);
    ASSERT_NE(line.command, nullptr) << command.name;
    EXPECT_STREQ(line.command->name, command.name);
    EXPECT_EQ(line.pattern, command.takes_pattern ? "f" : "");
  }
  for (const pprof::Setting& setting : pprof::AllSettings()) {
    if (setting.type != pprof::SettingType::kText) continue;
    const PprofCommandLine line = Parse({"-" + std::string(setting.name) + "=value", "p"});
    EXPECT_EQ(pprof::GetSetting(line.settings, setting), "value") << setting.name;
  }
}

TEST(PprofFlagsTest, NoReportMeansTheShell) {
  EXPECT_EQ(Parse({"p"}).command, nullptr);
  EXPECT_EQ(Parse({"-list=", "p"}).command, nullptr);
}

TEST(PprofFlagsTest, ReportsAndChoicesExcludeEachOther) {
  EXPECT_EQ(ErrorOf({"-top", "-tree", "p"}), "one report at a time: -top or -tree");
  EXPECT_EQ(ErrorOf({"-cum", "-flat", "p"}), "-cum and -flat exclude each other; give one of them");
  EXPECT_EQ(ErrorOf({"-lines", "-files", "p"}),
            "-files and -lines exclude each other; give one of them");
  EXPECT_TRUE(Parse({"-cum", "-flat=false", "p"}).settings.config.sort_by_cum);
}

TEST(PprofFlagsTest, TheFirstValueWinsAndTheRestIsWarnedOf) {
  const PprofCommandLine line = Parse({"-alloc_space", "-inuse_objects", "p"});
  EXPECT_EQ(line.settings.config.sample_index, "inuse_objects");
  EXPECT_EQ(line.warnings, Words{"Multiple value selections, ignoring -alloc_space"});
  const PprofCommandLine index = Parse({"-sample_index=1", "-inuse_space", "p"});
  EXPECT_EQ(index.settings.config.sample_index, "1");
  EXPECT_EQ(index.warnings.size(), 1u);
  const PprofCommandLine delay = Parse({"-mean_delay", "p"});
  EXPECT_EQ(delay.settings.config.sample_index, "delay");
  EXPECT_TRUE(delay.settings.config.mean);
}

TEST(PprofFlagsTest, BasesAreRepeatedButNotMixed) {
  const PprofCommandLine line = Parse({"-base=a", "-base", "b", "-base=", "p"});
  EXPECT_EQ(line.source.bases, (Words{"a", "b"}));
  EXPECT_FALSE(line.source.diff_base);
  EXPECT_TRUE(Parse({"-diff_base=a", "p"}).source.diff_base);
  EXPECT_NE(ErrorOf({"-diff_base=a", "-base=b", "p"}), "");
  EXPECT_NE(ErrorOf({"-normalize", "p"}), "");
  EXPECT_TRUE(Parse({"-normalize", "-base=a", "p"}).source.normalize);
}

TEST(PprofFlagsTest, MistakesAreOneLineWithASuggestion) {
  EXPECT_EQ(ErrorOf({"-tops", "p"}), "there is no option '-tops'; did you mean '-top'?");
  EXPECT_EQ(ErrorOf({"--nodecuont=3", "p"}),
            "there is no option '--nodecuont'; did you mean '--nodecount'?");
  EXPECT_EQ(ErrorOf({"p", "-focus"}), "-focus needs a value: -focus=...");
  EXPECT_EQ(ErrorOf({"-nodecount=x", "p"}), "-nodecount takes a number, not \"x\"");
  EXPECT_EQ(ErrorOf({"-seconds=1.5", "p"}), "-seconds takes a whole number, not '1.5'");
  EXPECT_NE(ErrorOf({"-top"}).find("no profile is named"), std::string::npos);
  EXPECT_NE(ErrorOf({"-no_browser", "p"}), "");
  EXPECT_NE(ErrorOf({"-http=:80", "-top", "p"}), "");
}

TEST(PprofFlagsTest, TheFirstOfSeveralWordsMayBeTheProgram) {
  const PprofCommandLine line = Parse({"-top", kProgram, "p"});
  EXPECT_EQ(line.source.program, kProgram);
  EXPECT_EQ(line.source.sources, Words{"p"});
  EXPECT_EQ(Parse({kProgram}).source.sources, Words{kProgram});
  EXPECT_EQ(Parse({"0123456789abcdef", "p"}).source.build_id, "0123456789abcdef");
  EXPECT_EQ(Parse({"4242", "4243"}).source.sources, (Words{"4242", "4243"})) << "processes";
}

TEST(PprofFlagsTest, DashesEndTheFlags) {
  EXPECT_EQ(Parse({"-top", "--", "-top"}).source.sources, Words{"-top"});
  EXPECT_EQ(Parse({"-top", "-"}).source.sources, Words{"-"});
}

TEST(PprofFlagsTest, HelpComesBeforeAnythingElse) {
  EXPECT_TRUE(Parse({"--help"}).help);
  EXPECT_TRUE(Parse({"-h"}).help);
  const std::string help = PprofHelp();
  for (const FlagKind& flag : AllFlags()) {
    if (flag.name == "test" || flag.name == "debug" || flag.name == "h") continue;
    EXPECT_NE(help.find("-" + flag.name), std::string::npos) << flag.name;
  }
}

TEST(PerlFlagsTest, AFlagThatOnlyTheyHaveDecides) {
  EXPECT_EQ(Parse({"--text", "--show_bytes", "p"}).dialect, Dialect::kPerl);
  EXPECT_EQ(Parse({"--text", "--thread=3", "p"}).dialect, Dialect::kJeprof);
  EXPECT_EQ(Parse({"--text", "--stacks", "p"}).dialect, Dialect::kGooglePprof);
  EXPECT_EQ(Parse({"--text", "--cum", "p"}).dialect, Dialect::kPprof);
  EXPECT_EQ(Parse({"--jeprof", "--text", "p"}).dialect, Dialect::kJeprof);
  EXPECT_EQ(Parse({"--text", "p"}, "/usr/local/bin/jeprof").dialect, Dialect::kJeprof);
  EXPECT_EQ(Parse({"--text", "p"}, "google-pprof").dialect, Dialect::kGooglePprof);
  EXPECT_EQ(Parse({"--text", "p"}, "pprof").dialect, Dialect::kPprof);
}

TEST(PerlFlagsTest, TheSidesDoNotMix) {
  EXPECT_NE(ErrorOf({"-tagfocus=x", "--show_bytes", "p"}), "");
  EXPECT_NE(ErrorOf({"-tagfocus=x", "--jeprof", "p"}), "");
  EXPECT_NE(ErrorOf({"--thread=1", "--stacks", "p"}), "");
  EXPECT_NE(ErrorOf({"--thread=1", "--google-pprof", "p"}), "");
}

TEST(PerlFlagsTest, OptionsAreFilledIn) {
  const PprofCommandLine line =
      Parse({"--jeprof", "--text", "--cum", "--lines", "--alloc_objects", "--focus=f", "--ignore=i",
             "--retain=r", "--exclude=e", "--nodecount=7", "--nodefraction=.1", "--maxdegree=3",
             "--lib_prefix=/a,/b", "--base=old", "--base=older", "--drop_negative", "p"});
  const perl::Options& options = line.perl;
  EXPECT_EQ(options.tool, perl::Tool::kJeprof);
  EXPECT_EQ(options.report, perl::Report::kText);
  EXPECT_TRUE(options.cum);
  EXPECT_TRUE(options.drop_negative);
  EXPECT_EQ(options.grain, perl::Grain::kLines);
  EXPECT_EQ(options.heap_value, perl::HeapValue::kAllocObjects);
  EXPECT_EQ(options.focus + options.ignore + options.retain + options.exclude, "fire");
  EXPECT_EQ(options.node_count, 7);
  EXPECT_EQ(options.node_fraction, .1);
  EXPECT_EQ(options.max_degree, 3);
  EXPECT_EQ(options.lib_prefix, "/a,/b");
  EXPECT_EQ(line.source.bases, Words{"older"});
}

TEST(PerlFlagsTest, BeginningsAndNegationsAreUnderstood) {
  EXPECT_TRUE(Parse({"--jeprof", "--show_b", "p"}).perl.show_bytes);
  EXPECT_TRUE(Parse({"--jeprof", "--Show_Bytes", "p"}).perl.show_bytes);
  EXPECT_FALSE(Parse({"--jeprof", "--cum", "--nocum", "p"}).perl.cum);
  EXPECT_FALSE(Parse({"--jeprof", "--cum", "--no-cum", "p"}).perl.cum);
  EXPECT_NE(ErrorOf({"--jeprof", "--a", "p"}).find("may mean"), std::string::npos);
}

TEST(PerlFlagsTest, OneReportAndOneValueAtATime) {
  EXPECT_EQ(ErrorOf({"--jeprof", "--text", "--dot", "p"}),
            "only one output at a time: --dot or --text");
  EXPECT_NE(ErrorOf({"--jeprof", "--inuse_space", "--alloc_space", "p"}), "");
  EXPECT_NE(ErrorOf({"--jeprof", "--text", "--interactive", "p"}), "");
}

TEST(PerlFlagsTest, SymbolsNeedAProgramAlone) {
  const PprofCommandLine line = Parse({"--symbols", kProgram});
  EXPECT_EQ(line.perl.report, perl::Report::kSymbols);
  EXPECT_EQ(line.perl.program, kProgram);
}

TEST(PerlShellTest, CommandsBecomeReports) {
  const perl::Options options;
  const PerlStep top = ParsePerlLine("top20 --cum -skip -this", options);
  ASSERT_TRUE(top.report);
  EXPECT_EQ(top.report->report, perl::Report::kText);
  EXPECT_EQ(top.report->line_limit, 20);
  EXPECT_TRUE(top.report->cum);
  EXPECT_EQ(top.report->shell_ignore, "skip|this");
  EXPECT_EQ(ParsePerlLine("text", options).report->line_limit, 10);
  EXPECT_EQ(ParsePerlLine(" list main -x", options).report->pattern, "main");
  EXPECT_EQ(ParsePerlLine("gv a b", options).report->shell_focus, "a|b");
  EXPECT_EQ(ParsePerlLine("weblist f", options).report->report, perl::Report::kWeblist);
  EXPECT_EQ(ParsePerlLine("callgrind out.cg", options).output, "out.cg");
  EXPECT_TRUE(ParsePerlLine("quit", options).quit);
  EXPECT_FALSE(ParsePerlLine("  ", options).report);
  EXPECT_EQ(ParsePerlLine("frob", options).messages, Words{"Unknown command: try 'help'."});
}

}  // namespace
}  // namespace heapgauge::cli
