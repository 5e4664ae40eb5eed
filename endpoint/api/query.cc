// GET api/v1/query: a statement of SQL and its rows, as `heapgauge query` runs it.

#include "endpoint/api/api.h"
#include "endpoint/api/queries.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kParameters[] = {"sql", "rows"};

Result<std::string> AnswerQuery(const Call& call, const Filter& filter) {
  HG_ASSIGN(const uint64_t rows, NumberOf(call, "rows", 1, 100'000, 1000));
  const std::string sql(call.Parameter("sql").value_or(""));
  const std::shared_ptr<Queries> queries = call.sources.queries();
  if (queries == nullptr) {
    return Fail(ErrorCode::kUnavailable,
                "this host has no SQL: look at it with heapgauge ui, or heapgauge query");
  }
  HG_ASSIGN(const auto opened, OpenedOf(call, filter));
  std::shared_ptr<const Profile> profile;
  if (opened->source().trace() == nullptr) {
    HG_ASSIGN(const auto subject, opened->SubjectOf(filter));
    profile = subject->profile();
  }
  HG_ASSIGN(const std::string schema, queries->Schema(&opened->source(), profile));
  Queries::Answer answer;
  if (!sql.empty()) {
    HG_ASSIGN(answer, queries->Run(&opened->source(), profile, sql, rows));
  }
  return Json{{"columns", answer.columns},
              {"rows", std::move(answer.rows)},
              {"cut", answer.cut},
              {"schema", schema}}
      .Line();
}

}  // namespace

const Resource kQueryResource = {"api/v1/query", kParameters, AnswerQuery};

}  // namespace heapgauge::endpoint::api
