// GET api/v1/leaks: what a leak check says, as `heapgauge leaks --json` has it, cut to what a page
// shows. Of a process that is the last look at its memory, or what its file alone tells.
// GET api/v1/leaks/record: one loss record with its stack, its owner and texts that silence it.
// POST api/v1/leaks/check: looks at the memory of a process now, which stops it for a moment.

#include <algorithm>
#include <optional>

#include "core/base/text.h"
#include "core/leaks/scan/data_symbols.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/report/views/leaks_page.h"
#include "endpoint/api/api.h"
#include "endpoint/api/kept_checks.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kLeaksParameters[] = {"rows", "kinds", "changes", "since", "no-memory"};
constexpr std::string_view kRecordParameters[] = {"record", "no-memory"};
constexpr std::string_view kCheckParameters[] = {"source"};

// A check is about one moment, and about all blocks.
Status RefuseMoments(const Filter& filter) {
  View view = filter;
  view.value.clear();  // the figure that other views show
  view.blocks = false;
  HG_ASSIGN(const trace::Question question, QuestionOf(view));
  if (!question.any() && !filter.peak) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "a leak check is about what is live at the end: it takes no moment, range or kind of "
              "block; focus and ignore choose stacks");
}

Result<uint32_t> KindsOf(std::string_view text) {
  if (text.empty()) return ~0u;
  uint32_t kinds = 0;
  while (!text.empty()) {
    const std::string_view word = TakeUntil(&text, ',');
    if (word == "suppressed") {
      kinds |= kSuppressedBit;
      continue;
    }
    bool known = false;
    for (uint32_t k = 0; k < leaks::kKinds; ++k) {
      if (word != KindName(static_cast<leaks::Kind>(k))) continue;
      kinds |= leaks::Bit(static_cast<leaks::Kind>(k));
      known = true;
    }
    if (!known) {
      return Fail(ErrorCode::kInvalidArgument,
                  "kinds are some of: definite, indirect, possible, reachable, suppressed");
    }
  }
  return kinds;
}

Result<LeakFilter> ChangesOf(std::string_view word) {
  if (word.empty() || word == "all") return LeakFilter::kAll;
  if (word == "new") return LeakFilter::kNew;
  if (word == "increased") return LeakFilter::kIncreased;
  if (word == "changed") return LeakFilter::kChanged;
  return Fail(ErrorCode::kInvalidArgument, "changes is one of: all, new, increased, changed");
}

Result<KeptChecks::Pointer> CheckOf(const Call& call, Opened* opened) {
  HG_ASSIGN(const bool no_memory, FlagOf(call, "no-memory"));
  return no_memory ? opened->checks().OfFile() : opened->checks().Get();
}

Json EarlierJson(const std::vector<KeptChecks::Earlier>& earlier) {
  Json list = Json::Array();
  for (const KeptChecks::Earlier& one : earlier) {
    list.Add({{"number", one.number}, {"unix_ns", one.check->unix_ns}});
  }
  return list;
}

// What changed since the earlier check of that number; 0: since the one before.
Result<std::optional<leaks::Changes>> ChangesSince(const JudgedCheck& judged,
                                                   const std::vector<KeptChecks::Earlier>& earlier,
                                                   uint64_t* since) {
  std::optional<leaks::Changes> none;
  if (!judged.looked() || (*since == 0 && earlier.empty())) return none;
  for (const KeptChecks::Earlier& one : earlier) {
    if (*since != 0 && one.number != *since) continue;
    *since = one.number;
    return std::optional(leaks::CompareChecks(judged.check, judged.losses, *one.check));
  }
  return Fail(ErrorCode::kNotFound, "there is no earlier check of that number");
}

Result<std::string> AnswerLeaks(const Call& call, const Filter& filter) {
  HG_TRY(RefuseMoments(filter));
  LeaksPage page;
  HG_ASSIGN(page.records, NumberOf(call, "rows", 0, 2000, 100));
  HG_ASSIGN(page.kinds, KindsOf(call.Parameter("kinds").value_or("")));
  HG_ASSIGN(page.changes, ChangesOf(call.Parameter("changes").value_or("")));
  page.focus = filter.focus;
  page.ignore = filter.ignore;
  HG_ASSIGN(uint64_t since, NumberOf(call, "since", 0, UINT32_MAX, 0));
  HG_ASSIGN(const auto opened, OpenedOf(call, filter));
  HG_ASSIGN(const KeptChecks::Pointer judged, CheckOf(call, opened.get()));
  const std::vector<KeptChecks::Earlier> earlier = opened->checks().EarlierOnes();
  HG_ASSIGN(const std::optional<leaks::Changes> changes, ChangesSince(*judged, earlier, &since));
  const LeaksSubject subject = judged->Subject(changes ? &*changes : nullptr);
  HG_ASSIGN(Json json, LeaksPageJson(subject, page));
  const Source::Facts facts = opened->source().facts();
  json["number"] = judged->number;
  json["may_look"] =
      facts.live && opened->checks().may_look() && opened->source().process() != nullptr;
  json["since"] = changes ? Json(since) : Json();
  json["earlier"] = EarlierJson(earlier);
  return json.Line();
}

Result<std::string> AnswerRecord(const Call& call, const Filter& filter) {
  HG_TRY(RefuseMoments(filter));
  HG_ASSIGN(const auto opened, OpenedOf(call, filter));
  HG_ASSIGN(const KeptChecks::Pointer judged, CheckOf(call, opened.get()));
  const LeaksSubject subject = judged->Subject(nullptr);
  const size_t record = FindLeak(subject, call.Parameter("record").value_or(""));
  if (record == judged->losses.records.size()) {
    return Fail(ErrorCode::kNotFound, "the last check has no such record");
  }
  SymbolizeOptions options;
  if (opened->source().facts().live) options.pid = judged->check.pid;
  leaks::DataSymbols symbols(judged->check.roots, options);
  return LeakDetailsJson(subject, record, &symbols).Line();
}

Result<std::string> MakeCheck(const Call& call) {
  for (const auto& [name, value] : call.parameters) {
    if (std::find(std::begin(kCheckParameters), std::end(kCheckParameters), name) ==
        std::end(kCheckParameters)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "there is no parameter " + Printable(name) + " here");
    }
  }
  HG_ASSIGN(const auto opened, call.sources.Find(std::string(call.Parameter("source").value_or("")),
                                                 call.process, call.is_named));
  HG_ASSIGN(const KeptChecks::Pointer judged, opened->checks().Look());
  const leaks::Check& check = judged->check;
  return Json{{"number", judged->number},
              {"pid", check.pid},
              {"verdict", LeakVerdict(judged->Subject(nullptr))},
              {"pause_ns", check.pause_ns},
              {"scan_cpu_ns", check.scan_ns},
              {"scanned_bytes", check.scanned_bytes},
              {"unix_ns", check.unix_ns}}
      .Line();
}

}  // namespace

const Resource kLeaksResource = {"api/v1/leaks", kLeaksParameters, AnswerLeaks};
const Resource kLeakResource = {"api/v1/leaks/record", kRecordParameters, AnswerRecord};

// The router has refused pages of other sites.
Reply HandleLeakCheck(const Call& call) {
  auto text = MakeCheck(call);
  return text ? JsonReply(*std::move(text)) : JsonFailure(text.error());
}

}  // namespace heapgauge::endpoint::api
