// The statements of docs/query.md, with the answers that stand there. For tests.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace heapgauge::query::testing {

struct PageQuery {
  std::string title;
  std::string sql;
  std::string answer;
  size_t answer_at = 0;  // in the page

  bool any_source() const { return sql.starts_with("-- any source"); }
};

inline std::string ReadPage(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::vector<PageQuery> QueriesOf(const std::string& page) {
  constexpr std::string_view kSql = "\n```sql\n";
  constexpr std::string_view kEnd = "```\n";
  constexpr std::string_view kText = "```text\n";
  std::vector<PageQuery> queries;
  for (size_t at = 0; (at = page.find(kSql, at)) != std::string::npos;) {
    PageQuery& query = queries.emplace_back();
    const size_t heading = page.rfind("\n### ", at);
    query.title = page.substr(heading + 5, page.find('\n', heading + 1) - heading - 5);
    const size_t sql = at + kSql.size();
    const size_t end = page.find(kEnd, sql);
    query.sql = page.substr(sql, end - sql);
    at = end + kEnd.size();
    if (page.compare(at, kText.size(), kText) != 0) continue;
    query.answer_at = at + kText.size();
    query.answer = page.substr(query.answer_at, page.find(kEnd, query.answer_at) - query.answer_at);
  }
  return queries;
}

}  // namespace heapgauge::query::testing
