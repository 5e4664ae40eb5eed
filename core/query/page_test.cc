// docs/query.md: every statement works and answers what the page says. After a change on purpose,
// HEAPGAUGE_WRITE_PAGE=1 writes the answers into the page.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/query/testing/ask.h"
#include "core/query/testing/example_trace.h"
#include "core/query/testing/query_page.h"

namespace heapgauge::query {
namespace {

std::string Answer(Query* query, const std::string& sql) {
  StringSink sink;
  const auto writer = MakeResultWriter({}, &sink);
  const Status status = query->Run(sql, writer.get());
  return status ? sink.text() : "error: " + status.error().message + "\n";
}

TEST(QueryPage, HasTheAnswersOfTheExample) {
  std::string page = testing::ReadPage(HEAPGAUGE_QUERY_PAGE);
  const auto queries = testing::QueriesOf(page);
  ASSERT_GE(queries.size(), 12u);
  const auto made = testing::ExampleTrace();
  const auto source = QuerySource::OfTrace(made.Open(), {});
  const auto query = *Query::Open(source.get(), {});
  const bool write = std::getenv("HEAPGAUGE_WRITE_PAGE") != nullptr;
  for (size_t i = queries.size(); i-- > 0;) {
    const testing::PageQuery& one = queries[i];
    const std::string answer = Answer(query.get(), one.sql);
    EXPECT_EQ(answer.find("error: "), std::string::npos) << one.title << "\n" << answer;
    EXPECT_GE(std::count(answer.begin(), answer.end(), '\n'), 2) << one.title << ": no rows";
    if (write) {
      page.replace(one.answer_at, one.answer.size(), answer);
    } else {
      EXPECT_EQ(answer, one.answer) << one.title;
    }
  }
  if (write) std::ofstream(HEAPGAUGE_QUERY_PAGE) << page;
}

}  // namespace
}  // namespace heapgauge::query
