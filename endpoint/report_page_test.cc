#include "endpoint/report_page.h"

#include <gtest/gtest.h>

#include <string>

#include "endpoint/api/sources.h"
#include "endpoint/testing/fake_process.h"
#include "endpoint/web/assets.h"

namespace heapgauge::endpoint {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::shared_ptr<api::Sources> TwoSources(const std::string& name) {
  auto sources = std::make_shared<api::Sources>(NoProcesses());
  for (const char* const ending : {".1", ".2"}) {
    sources->Add(std::make_shared<api::ProfileSource>(testing::MakeHeapProfile(), name + ending));
  }
  return sources;
}

TEST(ReportQuestions, BeginWithWhatMattersMost) {
  const auto sources = TwoSources("heap");
  const auto questions = ReportQuestions(sources.get());
  ASSERT_TRUE(questions);
  EXPECT_EQ(questions->front().resource, "sources");
  EXPECT_EQ((*questions)[1].resource, "summary");
  std::vector<std::string> pairs;
  size_t first_diff = 0;
  for (size_t i = 0; i < questions->size(); ++i) {
    const ReportQuestion& question = (*questions)[i];
    if (question.resource != "diff" || question.parameters.size() != 2) continue;
    if (pairs.empty()) first_diff = i;
    pairs.push_back(question.parameters[1].second + " to " + question.parameters[0].second);
  }
  EXPECT_EQ(pairs, (std::vector<std::string>{"heap.1 to heap.2", "heap.2 to heap.1"}));
  EXPECT_GT(first_diff, 4u);
}

TEST(ReportPage, IsTheSameForTheSameSourcesAndHoldsNamesAsText) {
  if (WebAssets().empty()) GTEST_SKIP() << "built without the web UI";
  const std::string name = "</script><script>alert(1)</script>\xe2\x80\xa8<!--";
  ReportPageOptions options;
  options.title = "</title><script>alert(2)</script>";
  options.command = "heapgauge ui '" + name + "'";
  const auto page = MakeReportPage(TwoSources(name), options);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_GT(page->answers, 10u);
  EXPECT_EQ(page->left_out, 0u);
  EXPECT_EQ(Count(page->html, "<script"), 2u);
  EXPECT_EQ(Count(page->html, "</script>"), 2u);
  EXPECT_EQ(Count(page->html, "<title>&lt;/title&gt;"), 1u);
  EXPECT_EQ(Count(page->html, "\xe2\x80\xa8"), 0u);
  EXPECT_EQ(Count(page->html, "script-src 'sha256-"), 1u);
  const auto again = MakeReportPage(TwoSources(name), options);
  ASSERT_TRUE(again);
  EXPECT_EQ(page->html, again->html);
}

TEST(ReportPage, LeavesOutWhatHasNoRoomAndSaysSo) {
  if (WebAssets().empty()) GTEST_SKIP() << "built without the web UI";
  ReportPageOptions options;
  options.most_bytes = 2000;
  const auto page = MakeReportPage(TwoSources("heap"), options);
  ASSERT_TRUE(page);
  EXPECT_GT(page->left_out, 0u);
  EXPECT_GT(page->answers, 0u);
  EXPECT_EQ(Count(page->html, "answers had no room in 2.0 kB"), 1u);
}

}  // namespace
}  // namespace heapgauge::endpoint
