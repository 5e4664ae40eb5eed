// The reports with sources and machine code. Their text is compared with pprof's own by
// tests/pprof; here are the cases without files, and the rules for which lines a page shows.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/encode.h"
#include "core/model/testing/profile_maker.h"
#include "core/source/source_files.h"
#include "core/voices/pprof/frame_filter.h"
#include "core/voices/pprof/nodes.h"
#include "core/voices/pprof/report.h"
#include "core/voices/pprof/report_list.h"
#include "core/voices/pprof/weblist_code.h"

namespace heapgauge::pprof {
namespace {

using heapgauge::testing::Maker;

struct SourceReportsTest : ::testing::Test {
  SourceReportsTest() {
    std::string name = CleanPath(::testing::TempDir()) + "/listXXXXXX";
    root = mkdtemp(name.data());
    std::ofstream file(root + "/a.cc");
    for (int i = 1; i <= 30; ++i) file << "  line " << i << (i == 8 ? " <&>" : "") << "\n";
    file.close();
    const ModuleId gone = m.Module("/no/such/program");
    const LocationId inner = m.Function("inner", 3, root + "/a.cc", gone, "_Z5innerv");
    m.InlinedInto(inner, "outer", 8, root + "/a.cc");
    const LocationId main = m.Function("main", 25, root + "/a.cc", gone);
    const LocationId lost = m.Function("lost", 5, "/no/such/file.cc", gone);
    const LocationId bare = m.Function("bare", 0, "", gone);
    m.Row({inner, main}, 2048);
    m.Row({main}, 1024);
    m.Row({lost, main}, 512);
    m.Row({bare, main}, 256);
  }
  ~SourceReportsTest() override { std::filesystem::remove_all(root); }

  ReportInput Input(ReportKind kind, const std::string& pattern) {
    ReportRequest request;
    request.kind = kind;
    request.pattern = pattern;
    request.config.source_path = "/no/such/directory";
    auto input = Prepare(m.profile(), request);
    EXPECT_TRUE(input) << input.error().message;
    return *std::move(input);
  }

  // The report, or its error after "error: ".
  std::string Text(ReportKind kind, const std::string& pattern) {
    StringSink sink;
    const Status status = WriteReport(Input(kind, pattern), &sink);
    return status ? sink.Take() : "error: " + status.error().message;
  }

  Maker m;
  std::string root;
};

TEST_F(SourceReportsTest, ListShowsLinesAroundTheWeights) {
  const std::string text = Text(ReportKind::kList, "outer");
  EXPECT_EQ(text.find("Total: 3.75kB\nROUTINE ======================== outer in " + root +
                      "/a.cc\n         0        2kB (flat, cum) 53.33% of Total\n"
                      "         .          .      3:  line 3\n"),
            0u)
      << text;
  EXPECT_NE(text.find("\n         .        2kB      8:  line 8 <&>\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n         .          .     13:  line 13\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("line 14"), std::string::npos) << text;
}

TEST_F(SourceReportsTest, ListTellsWhatIsMissing) {
  EXPECT_NE(Text(ReportKind::kList, "lost")
                .find(" Error: open /no/such/file.cc: no such file or directory\n"),
            std::string::npos);
  EXPECT_EQ(Text(ReportKind::kList, "bare"), "Total: 3.75kB\nNo source information for bare\n");
  EXPECT_EQ(Text(ReportKind::kList, "nobody"), "error: no matches found for regexp: nobody");
}

TEST_F(SourceReportsTest, DisasmSaysWhyThereIsNoCode) {
  EXPECT_EQ(Text(ReportKind::kDisasm, "nobody"), "error: no matches found for regexp: nobody");
  const std::string text = Text(ReportKind::kDisasm, "inner|outer");
  EXPECT_EQ(text.find("error: no matches found for regexp: inner|outer ("), 0u) << text;
  EXPECT_NE(text.find("/no/such/program"), std::string::npos) << text;
}

TEST_F(SourceReportsTest, WeblistWithoutTheProgramStillShowsSourceFiguresAndInlinedCalls) {
  const std::string page = Text(ReportKind::kWeblist, "outer");
  EXPECT_EQ(page.find("<!DOCTYPE html>"), 0u);
  EXPECT_NE(page.find("<td>2kB<td>2kB<td>8<td>  line 8 &lt;&amp;&gt;"), std::string::npos) << page;
  EXPECT_NE(page.find("line 3 <i>a.cc:3</i>"), std::string::npos) << page;
  EXPECT_EQ(page.find("line 8 <&>"), std::string::npos) << "not escaped";
  EXPECT_EQ(Text(ReportKind::kWeblist, "nobody"), "error: no matches found for regexp: nobody");
}

TEST_F(SourceReportsTest, WeblistTakesAnAddress) {
  const auto code = FindWeblistCode(Input(ReportKind::kWeblist, "0x100f"));  // main
  ASSERT_TRUE(code);
  ASSERT_EQ(code->files.size(), 1u);
  EXPECT_EQ(code->files.begin()->second.lines.begin()->first, 25);
}

TEST_F(SourceReportsTest, FunctionsOfAPageAreStretchesOfLines) {
  WeblistCode code;
  CodeFile file;
  const auto add = [&](int64_t line, const char* name) {
    const auto address = static_cast<uint64_t>(line);
    code.instructions[address].cum = 10;
    file.lines[line].push_back({address, {}});
    file.functions[line] = name;
  };
  add(3, "f");
  add(10, "f");
  add(14, "g");
  add(60, "g");
  const auto functions = code.FunctionsOf(file);
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_EQ(functions[0].begin, 1);
  EXPECT_EQ(functions[0].end, 12);
  EXPECT_EQ(functions[0].cum, 20);
  EXPECT_EQ(functions[1].begin, 13);
  EXPECT_EQ(functions[1].end, 20);
  EXPECT_EQ(functions[2].begin, 55);
  EXPECT_EQ(functions[2].end, 66);
}

TEST(AddressOfPattern, IsForNumbersAlone) {
  EXPECT_EQ(AddressOfPattern("0x401136"), 0x401136u);
  EXPECT_EQ(AddressOfPattern("4096"), 4096u);
  EXPECT_EQ(AddressOfPattern("010"), 8u);
  EXPECT_EQ(AddressOfPattern("main"), std::nullopt);
  EXPECT_EQ(AddressOfPattern("0x"), std::nullopt);
  EXPECT_EQ(AddressOfPattern(""), std::nullopt);
  EXPECT_EQ(AddressOfPattern("0x10000000000000000"), std::nullopt);
}

TEST(HtmlText, LeavesNothingThatAPageWouldTakeForItsOwn) {
  EXPECT_EQ(HtmlText("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
}

}  // namespace
}  // namespace heapgauge::pprof
