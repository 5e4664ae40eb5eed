// GET api/v1/query: a statement of SQL and its rows, as `heapgauge query` runs it.

#include "endpoint/api/query.h"

#include <algorithm>

#include "endpoint/api/api.h"
#include "endpoint/base/message.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kQueryParameters[] = {"sql", "rows", "seconds", "run"};

Result<std::string> AnswerQuery(const Call& call, const Filter& filter) {
  HG_ASSIGN(const uint64_t rows, NumberOf(call, "rows", 1, 100'000, 1000));
  Queries::Statement statement;
  statement.rows = rows;
  statement.sql = call.Parameter("sql").value_or("");
  statement.run = call.Parameter("run").value_or("");
  HG_ASSIGN(statement.seconds, NumberOf(call, "seconds", 1, 600, 30));
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
  HG_ASSIGN(Queries::Schema schema, queries->SchemaOf(&opened->source(), profile));
  Queries::Answer answer;
  if (!statement.sql.empty()) {
    HG_ASSIGN(answer, queries->Run(&opened->source(), profile, statement));
  }
  return Json{{"columns", answer.columns},
              {"rows", std::move(answer.rows)},
              {"cut", answer.cut},
              {"schema", schema.text},
              {"tables", std::move(schema.tables)},
              {"functions", std::move(schema.functions)}}
      .Line();
}

}  // namespace

// POST api/v1/cancel: a statement that takes too long is ended. Only its own run is.
Reply HandleCancel(const Call& call) {
  const std::shared_ptr<Queries> queries = call.sources.queries();
  const auto run = call.Parameter("run");
  if (!run || run->empty() || call.parameters.size() != 1) {
    return JsonFailure(Error{ErrorCode::kInvalidArgument, "run is needed, and nothing else"});
  }
  const bool ended = queries != nullptr && queries->Cancel(std::string(*run));
  return JsonReply(Json{{"ended", ended}}.Line());
}

const Resource kQueryResource = {"api/v1/query", kQueryParameters, AnswerQuery};

}  // namespace heapgauge::endpoint::api
