#include <gtest/gtest.h>

#include "core/model/stacks.h"
#include "core/voices/perl/names.h"
#include "core/voices/perl/report.h"
#include "core/voices/perl/writers.h"

namespace heapgauge::perl {
namespace {

std::string Short(std::string_view name, Tool tool = Tool::kJeprof, bool keep_templates = false) {
  Options options;
  options.tool = tool;
  options.no_strip_temp = keep_templates;
  return ShortFunctionName(name, options);
}

TEST(PerlNames, ParametersTemplatesAndLeadingTypesGo) {
  EXPECT_EQ(Short("svc::Cache<std::pair<double, char> >::Fill(int, unsigned long) const"),
            "svc::Cache::Fill");
  EXPECT_EQ(Short("void std::sort<int*>(int*, int*)"), "std::sort");
  EXPECT_EQ(Short("void sort<int*>(int*, int*)"), "void sort");
  EXPECT_EQ(Short("svc::(anonymous namespace)::Hidden(int)"), "svc::::Hidden");
  EXPECT_EQ(Short("main::{lambda(int)#1}::operator()(int) const"), "main::{lambda#1}::operator");
  EXPECT_EQ(Short("make(int (*)(char))<0000000000001234>"), "make");
  EXPECT_EQ(Short(""), "");
  EXPECT_EQ(Short(")(("), ")((");
}

TEST(PerlNames, GooglePprofCanKeepTemplateArguments) {
  EXPECT_EQ(Short("A<int>::f(char)<00001234>", Tool::kGooglePprof, true), "A<int>::f");
  EXPECT_EQ(Short("A<int>::f(char)<00001234>", Tool::kGooglePprof), "A::f");
}

TEST(PerlNames, OperandsStayInDisassembly) {
  EXPECT_EQ(CleanDisassembly("call   1234 <f(int, A<char>)>"), "call   1234 <f>");
  EXPECT_EQ(CleanDisassembly("mov    0x8(%rax,%rbx,8),%rcx"), "mov    0x8(%rax,%rbx,8),%rcx");
}

TEST(PerlNames, FiguresAreInTheUnitsOfTheKind) {
  Options options;
  EXPECT_EQ(Unparse(1572864, Kind::kHeap, options), "1.5");
  EXPECT_STREQ(UnitsOf(Kind::kHeap, options), "MB");
  options.show_bytes = true;
  EXPECT_EQ(Unparse(1572864.9, Kind::kHeap, options), "1572864");
  EXPECT_EQ(Unparse(-0.5, Kind::kHeap, options), "0");
  options.heap_value = HeapValue::kAllocObjects;
  EXPECT_STREQ(UnitsOf(Kind::kHeap, options), "objects");
  EXPECT_EQ(Unparse(1.5e9, Kind::kContention, options), "1.500");
  EXPECT_EQ(Percent(1, 3), "33.3%");
  EXPECT_EQ(Percent(0, 0), "nan");
  EXPECT_EQ(Percent(-2, 0), "-inf");
}

TEST(PerlReport, AdjustmentsAreAnnounced) {
  EXPECT_EQ(Announcement("heap profile: 1: 2 [ 1: 2] @ heap_v2/524288\n"),
            "Adjusting heap profiles for 1-in-524288 sampling rate\nHeap version 2\n");
  EXPECT_EQ(Announcement("heap profile: 1: 2 [ 3: 4] @ heap/1048576"),
            "Adjusting heap profiles for 1-in-524288 sampling rate\n");
  EXPECT_EQ(Announcement("heap profile: 1: 2 [ 1: 2]"),
            "Adjusting heap profiles for 1-in-128KB sampling rate\n");
  EXPECT_EQ(Announcement("heap profile: 1: 2 [ 3: 4] @ heapprofile"), "");
  EXPECT_EQ(Announcement("heap_v2/524288"), "");
  EXPECT_EQ(Announcement(std::string("\0\x1f", 2)), "");
}

// A profile whose locations have names: main calls work calls malloc, and main calls malloc.
Profile Named() {
  Profile p;
  p.sample_types = {{"objects", "count"}, {"space", "bytes"}};
  for (const char* name : {"malloc", "svc::work(int)", "main"}) {
    Function function;
    function.name = name;
    function.file = "/src/a.cc";
    p.functions.push_back(function);
    Frame frame;
    frame.function = static_cast<FunctionId>(p.functions.size() - 1);
    frame.line = static_cast<uint32_t>(10 * p.functions.size());
    p.frames.push_back(frame);
    Location location;
    location.address = 0x1000 * p.functions.size();
    location.exact = true;
    location.first_frame = static_cast<uint32_t>(p.frames.size() - 1);
    location.frame_count = 1;
    p.locations.push_back(location);
  }
  StackBuilder builder(&p);
  for (const std::vector<LocationId>& stack : {std::vector<LocationId>{0, 1, 2}, {0, 2}, {1, 2}}) {
    Row row;
    row.leaf = builder.Leaf(stack);
    p.rows.push_back(row);
  }
  p.values = {1, 3 << 20, 2, 1 << 20, 0, 0};
  return p;
}

std::string Write(const Profile& profile, const Options& options, const Profile* base = nullptr) {
  StringSink out;
  StringSink err;
  const Status status = WriteReport(profile, base, options, {}, &out, &err);
  return status ? out.Take() : "error: " + status.error().message;
}

TEST(PerlReport, TextHasOneRowForEachFunctionWithoutTheAllocator) {
  EXPECT_EQ(Write(Named(), {}),
            "Total: 4.0 MB\n"
            "     3.0  75.0%  75.0%      3.0  75.0% svc::work\n"
            "     1.0  25.0% 100.0%      4.0 100.0% main\n");
}

TEST(PerlReport, PercentagesAreOfWhatIsLeft) {
  Options options;
  options.ignore = "work";
  EXPECT_EQ(Write(Named(), options),
            "Total: 4.0 MB\n"
            "     1.0 100.0% 100.0%      1.0 100.0% main\n");
}

TEST(PerlReport, TheShellTellsWhatWasNarrowed) {
  Options options;
  options.in_shell = true;
  options.line_limit = 1;
  options.shell_focus = "work";
  EXPECT_EQ(Write(Named(), options),
            "Total: 4.0 MB\n"
            "After focusing on 'work': 3.0 MB of 4.0 (75.0%)\n"
            "     3.0 100.0% 100.0%      3.0 100.0% svc::work\n");
}

TEST(PerlReport, TheShellDoesNotMixGraphsWithWhatItTells) {
  Options options;
  options.in_shell = true;
  options.report = Report::kWeb;
  StringSink out;
  StringSink err;
  ASSERT_TRUE(WriteReport(Named(), nullptr, options, {}, &out, &err));
  EXPECT_EQ(out.text().substr(0, 8), "digraph ");
  EXPECT_EQ(err.text().substr(0, 14), "Total: 4.0 MB\n");
}

TEST(PerlReport, ABaseIsSubtracted) {
  const Profile profile = Named();
  Profile base = Named();
  base.values[1] = 1 << 20;
  base.values[3] = 2 << 20;
  Options options;
  EXPECT_EQ(Write(profile, options, &base),
            "Total: 1.0 MB\n"
            "     2.0 200.0% 200.0%      2.0 200.0% svc::work\n"
            "    -1.0 -100.0% 100.0%      1.0 100.0% main\n");
  options.drop_negative = true;
  EXPECT_EQ(Write(profile, options, &base),
            "Total: 2.0 MB\n"
            "     2.0 100.0% 100.0%      2.0 100.0% svc::work\n"
            "     0.0   0.0% 100.0%      2.0 100.0% main\n");
}

TEST(PerlReport, CollapsedStacksBeginAtTheRoot) {
  Options options;
  options.report = Report::kCollapsed;
  EXPECT_EQ(Write(Named(), options),
            "main;svc::work(int) 3145728\n"
            "main 1048576\n");
}

TEST(PerlReport, LinesAndFilesAreEntriesToo) {
  Options options;
  options.grain = Grain::kLines;
  EXPECT_NE(Write(Named(), options).find("svc::work /src/a.cc:20\n"), std::string::npos);
  options.grain = Grain::kFiles;
  EXPECT_EQ(Write(Named(), options),
            "Total: 4.0 MB\n     4.0 100.0% 100.0%      4.0 100.0% /src/a.cc\n");
}

TEST(PerlReport, NamesOfSymbolizedProfilesAreTakenAsTheyAre) {
  Profile profile = Named();
  for (Location& location : profile.locations) location.exact = false;
  profile.functions[1].system_name = "_ZN3svc4workEi";
  profile.locations[2].frame_count = 0;
  profile.recording.program = "/bin/server";
  EXPECT_EQ(Write(profile, {}),
            "Total: 4.0 MB\n"
            "     3.0  75.0%  75.0%      3.0  75.0% _ZN3svc4workEi\n"
            "     1.0  25.0% 100.0%      4.0 100.0% 0x0000000000002fff\n");
  Options options;
  options.tool = Tool::kGooglePprof;
  options.report = Report::kDot;
  const std::string text = Write(profile, options);
  EXPECT_NE(text.find("digraph \"/bin/server; 4.0 MB\""), std::string::npos) << text;
  EXPECT_NE(text.find("0x0000000000003000"), std::string::npos) << text;
}

TEST(PerlReport, AWrongPatternIsAnError) {
  Options options;
  options.focus = "(";
  EXPECT_EQ(Write(Named(), options).substr(0, 29), "error: regular expression '('");
  options.focus.clear();
  options.report = Report::kList;
  options.pattern = "[";
  EXPECT_EQ(Write(Named(), options).substr(0, 29), "error: regular expression '['");
}

TEST(PerlReport, AnEmptyProfileHasNoRowsAndNoGraph) {
  Profile profile = Named();
  profile.rows.clear();
  profile.values.clear();
  EXPECT_EQ(Write(profile, {}), "");
  Options options;
  options.report = Report::kDot;
  EXPECT_EQ(Write(profile, options), "error: No nodes to print");
}

TEST(PerlReport, GraphsHaveNodesOfCallersAndCallees) {
  Options options;
  options.report = Report::kDot;
  options.program = "server";
  const std::string text = Write(Named(), options);
  EXPECT_NE(text.find("digraph \"server; 4.0 MB\" {\n"), std::string::npos) << text;
  EXPECT_NE(text.find("N1 [label=\"main\\n1.0 (25.0%)\\rof 4.0 (100.0%)\\r\",shape=box,"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("N1 -> N2 [label=3.0, weight=35351, style=\"setlinewidth(2.000000)\"];\n"),
            std::string::npos)
      << text;
}

TEST(PerlReport, SymbolsOfUnknownAddressesAreQuestionMarks) {
  Options options;
  options.program = "/nonexistent/program";
  StringSink out;
  StringSink err;
  ASSERT_TRUE(WriteSymbols("0x1234\nffff 0xabc\nnothing\n", options, {}, &out, &err));
  EXPECT_EQ(out.text(), "??\n??\n");
}

}  // namespace
}  // namespace heapgauge::perl
