#include "endpoint/report_questions.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/report/views/leaks_page.h"
#include "endpoint/api/figure_choices.h"

namespace heapgauge::endpoint {
namespace {

// Every pair of so many sources is compared; of more, each with the first.
constexpr size_t kAllPairs = 4;

Headers With(Headers parameters, const Headers& more) {
  parameters.insert(parameters.end(), more.begin(), more.end());
  return parameters;
}

// By rank: what matters most has rank 0, and ranks follow each other in the report.
class List {
 public:
  void Add(size_t rank, std::string resource, Headers parameters, Headers how_much = {}) {
    ranks_[rank].push_back({std::move(resource), std::move(parameters), std::move(how_much)});
  }
  void Flame(size_t rank, const Headers& parameters) {
    Add(rank, "flame", parameters, {{"depth", "250"}, {"width", "4000"}, {"most", "20000"}});
  }
  void Table(size_t rank, const Headers& parameters) {
    Add(rank, "table", parameters, {{"rows", "2000"}, {"both", "1"}});
  }
  void MemoryMap(size_t rank, const Headers& parameters) {
    Add(rank, "memory-map", parameters, {{"cells", "3000"}, {"rows", "400"}});
  }
  std::vector<ReportQuestion> Take() {
    std::vector<ReportQuestion> all;
    for (auto& rank : ranks_) {
      for (ReportQuestion& question : rank) all.push_back(std::move(question));
    }
    return all;
  }

 private:
  std::array<std::vector<ReportQuestion>, 5> ranks_;
};

// Records of a leak check whose details are in the report: those behind suspects, then the largest.
constexpr size_t kMostLeaks = 60;

std::vector<std::string> KeysOfLeaks(api::Opened* opened) {
  std::vector<std::string> keys;
  const auto check = opened->checks().Get();
  if (!check) return keys;  // of this source there is none
  const LeaksSubject subject = (*check)->Subject(nullptr);
  const size_t count = subject.losses->records.size();
  const auto add = [&](size_t record) {
    if (record >= count || keys.size() == kMostLeaks) return;
    std::string key = LeakKey(subject, record);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  };
  for (const leaks::Suspect& suspect : subject.suspects->suspects) {
    if (keys.size() == kMostLeaks / 2) break;
    add(RecordOfSuspect(subject, suspect));
  }
  for (size_t i = count; i-- > 0 && keys.size() < kMostLeaks;) add(i);
  return keys;
}

void AddSource(const api::Source::Facts& facts, const std::vector<api::FigureChoice>& choices,
               const std::vector<std::string>& leak_keys, List* list) {
  const Headers all = {{"source", facts.id}};
  const bool is_trace = facts.kind == api::Source::Kind::kTrace;
  list->Add(0, "summary", all);
  list->Add(0, "timeline", all);
  list->Table(0, all);
  list->Flame(0, all);
  if (is_trace) list->Add(1, "timeline", With(all, {{"stacks", "6"}}));
  if (is_trace) list->Add(1, "timeline", With(all, {{"threads", "8"}}), {{"steps", "400"}});
  if (is_trace) list->Add(1, "lifetimes", all, {{"rows", "200"}});
  list->Add(1, "leaks", all);
  for (const std::string& key : leak_keys)
    list->Add(3, "leaks/record", With(all, {{"record", key}}));
  list->MemoryMap(1, all);
  for (const auto& word : Headers{{"peak", "1"}, {"by", "stack"}, {"by", "thread"}}) {
    if (is_trace) list->MemoryMap(3, With(all, {word}));
  }
  list->Flame(1, With(all, {{"callers", "1"}}));
  list->Table(1, With(all, {{"cumulative", "1"}}));
  for (const api::FigureChoice& choice : choices) {
    if (choice.parameters.empty()) continue;
    const Headers one = With(all, choice.parameters);
    list->Add(2, "summary", one, {{"brief", "1"}});
    list->Flame(2, one);
    list->Table(2, one);
    list->Flame(4, With(one, {{"callers", "1"}}));
    list->Table(4, With(one, {{"cumulative", "1"}}));
  }
  for (const char* granularity : {"lines", "files", "modules"}) {
    list->Table(3, With(all, {{"granularity", granularity}}));
  }
  if (!is_trace) list->Table(3, With(all, {{"sort", "age"}}));
}

}  // namespace

Result<std::vector<ReportQuestion>> ReportQuestions(api::Sources* sources) {
  List list;
  list.Add(0, "sources", {});
  list.Add(1, "snapshots", {});
  std::vector<std::string> ids;
  for (const auto& opened : sources->List()) {
    const api::Source::Facts facts = opened->source().facts();
    api::Filter filter;
    filter.hold = "report";
    HG_ASSIGN(const auto subject, opened->SubjectOf(filter));
    AddSource(facts, api::FigureChoices(facts.kind, *subject), KeysOfLeaks(opened.get()), &list);
    ids.push_back(facts.id);
  }
  for (size_t base = 0; base < ids.size(); ++base) {
    if (base > 0 && ids.size() > kAllPairs) break;
    for (const std::string& id : ids) {
      if (id == ids[base]) continue;
      const Headers pair = {{"source", id}, {"base", ids[base]}};
      list.Add(1, "diff", pair, {{"rows", "2000"}});
      list.Flame(2, pair);
      list.Flame(3, With(pair, {{"callers", "1"}}));
      list.Add(3, "diff", With(pair, {{"cumulative", "1"}}), {{"rows", "2000"}});
    }
  }
  return list.Take();
}

}  // namespace heapgauge::endpoint
