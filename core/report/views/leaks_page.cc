#include "core/report/views/leaks_page.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/function_name.h"
#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/leaks/verdict/run_clock.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/report/views/leak_owners.h"
#include "core/report/views/leak_parts.h"

namespace heapgauge {
namespace {

using leaks::Check;
using leaks::LossRecord;
using leaks::StackFrame;
using leaks::Suspect;

constexpr size_t kOwnerFrames = 24;

NodeId LeafOf(const LeaksSubject& subject, uint32_t stack) {
  return subject.check->known.stacks[stack].leaf;
}

// Where the function of that name is in the stack, "cache.cc:42"; "" if that is not known: a line
// of another function would be read as its own.
std::string PlaceText(const Profile& profile, const std::vector<StackFrame>& stack,
                      const std::string& name) {
  for (const StackFrame& frame : stack) {
    const Function* function = FunctionOf(profile, frame);
    if (function == nullptr || function->file.empty() || frame.frame == kNone) continue;
    if (WithoutParameters(function->name) != name) continue;
    std::string text(BaseName(function->file));
    const uint32_t line = profile.frames[frame.frame].line;
    return line == 0 ? text : text + ":" + std::to_string(line);
  }
  return "";
}

// Which stacks the expressions leave.
class StackFilter {
 public:
  static Result<StackFilter> Compile(const Profile& profile, const LeaksPage& page) {
    StackFilter filter(profile);
    for (const auto& [pattern, regex] :
         {std::pair(&page.focus, &filter.focus_), std::pair(&page.ignore, &filter.ignore_)}) {
      if (pattern->empty()) continue;
      HG_ASSIGN(Regex compiled, Regex::CompileTyped(*pattern));
      *regex = std::make_unique<Regex>(std::move(compiled));
    }
    return filter;
  }

  bool Passes(NodeId leaf) const {
    if (focus_ == nullptr && ignore_ == nullptr) return true;
    bool found = focus_ == nullptr;
    for (const StackFrame& frame : leaks::FramesOf(profile_, leaf)) {
      const Function* function = FunctionOf(profile_, frame);
      if (function == nullptr) continue;
      const uint8_t verdict = VerdictOn(*function);
      if ((verdict & kIgnored) != 0) return false;
      found = found || (verdict & kFocused) != 0;
    }
    return found;
  }

 private:
  enum : uint8_t { kKnown = 1, kFocused = 2, kIgnored = 4 };

  explicit StackFilter(const Profile& profile)
      : profile_(profile), verdicts_(profile.functions.size()) {}

  // Many stacks have the same functions.
  uint8_t VerdictOn(const Function& function) const {
    uint8_t& verdict = verdicts_[static_cast<size_t>(&function - profile_.functions.data())];
    if (verdict == 0) {
      verdict = kKnown;
      if (focus_ != nullptr && focus_->Matches(function.name)) verdict |= kFocused;
      if (ignore_ != nullptr && ignore_->Matches(function.name)) verdict |= kIgnored;
    }
    return verdict;
  }

  const Profile& profile_;
  std::unique_ptr<Regex> focus_;
  std::unique_ptr<Regex> ignore_;
  mutable std::vector<uint8_t> verdicts_;  // by function; 0: not asked yet
};

// How many records each stack has.
std::vector<uint32_t> CountRecords(const LeaksSubject& subject) {
  std::vector<uint32_t> counts(subject.check->known.stacks.size());
  for (const LossRecord& record : subject.losses->records) ++counts[record.stack];
  return counts;
}

class PageMaker {
 public:
  PageMaker(const LeaksSubject& subject, const LeaksPage& page, const StackFilter& filter)
      : subject_(subject),
        page_(page),
        filter_(filter),
        names_(subject.check->known.profile),
        of_stack_(CountRecords(subject)) {}

  Json Suspects(const std::vector<Suspect>& all, uint64_t* count) {
    Json list = Json::Array();
    *count = 0;
    for (const Suspect& suspect : all) {
      const bool passes =
          std::any_of(suspect.stacks.begin(), suspect.stacks.end(),
                      [&](uint32_t stack) { return filter_.Passes(LeafOf(subject_, stack)); });
      if (!passes || ++*count > page_.suspects) continue;
      Json json = LeakSuspectJson(subject_, suspect);
      AddRecords(suspect, &json);
      list.Add(std::move(json));
    }
    return list;
  }

  Json Records(uint64_t* count) {
    const leaks::LossRecords& losses = *subject_.losses;
    Json list = Json::Array();
    *count = 0;
    for (size_t i = losses.records.size(); i-- > 0;) {
      const LossRecord& record = losses.records[i];
      const uint32_t bit = record.suppressed() ? kSuppressedBit : leaks::Bit(record.kind);
      if ((page_.kinds & bit) == 0 || !PassesFilter(subject_, page_.changes, i) ||
          !filter_.Passes(LeafOf(subject_, record.stack)) || ++*count > page_.records) {
        continue;
      }
      list.Add(Record(i, page_.frames));
    }
    return list;
  }

  Json Record(size_t index, size_t frames) {
    const Profile& profile = subject_.check->known.profile;
    const NodeId leaf = LeafOf(subject_, subject_.losses->records[index].stack);
    const std::vector<StackFrame> stack = leaks::FramesOf(profile, leaf);
    Json json = LeakRecordJson(subject_, index, frames);
    json["key"] = LeakKey(subject_, index);
    const std::string name = names_.Of(leaf);
    json["name"] = name;
    json["place"] = PlaceText(profile, stack, name);
    json["frame_count"] = stack.size();
    return json;
  }

 private:
  void AddRecords(const Suspect& suspect, Json* json) {
    uint64_t count = 0;
    for (const uint32_t stack : suspect.stacks) count += of_stack_[stack];
    (*json)["record_count"] = count;
    (*json)["stack_count"] = suspect.stacks.size();
    if (count != 0) (*json)["record"] = LeakKey(subject_, RecordOfSuspect(subject_, suspect));
  }

  const LeaksSubject& subject_;
  const LeaksPage& page_;
  const StackFilter& filter_;
  leaks::SiteNames names_;
  const std::vector<uint32_t> of_stack_;
};

// When the blocks of one record were born; null where single blocks are not known any more.
Json AgesOf(const LeaksSubject& subject, size_t record) {
  const leaks::KnownBlocks& known = subject.check->known;
  if (subject.losses->record_of.size() != known.blocks.size() || known.blocks.empty()) return {};
  const leaks::RunClock clock(known.profile, known.now_ns);
  std::vector<double> bytes(leaks::kAgeParts);
  for (size_t i = 0; i < known.blocks.size(); ++i) {
    if (subject.losses->record_of[i] != record) continue;
    const auto part = static_cast<size_t>(clock.ByTime(known.blocks[i].birth_ns) *
                                          static_cast<double>(leaks::kAgeParts));
    bytes[std::min(part, leaks::kAgeParts - 1)] +=
        static_cast<double>(known.blocks[i].size) * std::max(known.blocks[i].weight, 1.0);
  }
  for (double& sum : bytes) sum = std::round(sum);
  return {{"step_ns", clock.length_ns() / leaks::kAgeParts}, {"bytes", bytes}};
}

}  // namespace

std::string LeakKey(const LeaksSubject& subject, size_t record) {
  const LossRecord& of = subject.losses->records[record];
  return std::string(RecordKind(*subject.check, of)) + "-" +
         leaks::StackIdOf(subject.check->known.profile, LeafOf(subject, of.stack)).places;
}

size_t FindLeak(const LeaksSubject& subject, std::string_view key) {
  const auto& records = subject.losses->records;
  for (size_t i = records.size(); i-- > 0;) {
    if (key.starts_with(RecordKind(*subject.check, records[i])) && LeakKey(subject, i) == key)
      return i;
  }
  return records.size();
}

size_t RecordOfSuspect(const LeaksSubject& subject, const Suspect& suspect) {
  const auto& records = subject.losses->records;
  size_t best = records.size();
  std::vector<bool> own(subject.check->known.stacks.size());
  for (const uint32_t stack : suspect.stacks) own[stack] = true;
  const auto is_lost = [&](size_t i) { return records[i].kind >= leaks::Kind::kIndirect; };
  for (size_t i = records.size(); i-- > 0;) {
    if (best != records.size() && (is_lost(best) || !is_lost(i))) continue;
    if (own[records[i].stack]) best = i;
  }
  return best;
}

Result<Json> LeaksPageJson(const LeaksSubject& subject, const LeaksPage& page) {
  HG_ASSIGN(const StackFilter filter, StackFilter::Compile(subject.check->known.profile, page));
  PageMaker maker(subject, page, filter);
  LeaksOptions options;
  // As the command line: of samples, that only memory of unknown blocks points to one is no news.
  if (!subject.check->known.exact) options.error_kinds = leaks::Bit(leaks::Kind::kDefinite);
  uint64_t suspected = 0;
  uint64_t others = 0;
  uint64_t records = 0;
  Json json = {{"check", LeakCheckJson(*subject.check)},
               {"summary", LeakSummaryJson(subject, options)}};
  Json suspects = {{"suspected", maker.Suspects(subject.suspects->suspects, &suspected)},
                   {"not_suspected", maker.Suspects(subject.suspects->others, &others)},
                   {"whole", subject.suspects->whole_sentence},
                   {"run_ns", subject.suspects->run_ns}};
  suspects["suspected_count"] = suspected;
  suspects["not_suspected_count"] = others;
  json["suspects"] = std::move(suspects);
  json["suppressions"] = LeakSuppressionsJson(subject);
  json["notes"] = subject.check->notes;
  json["records"] = maker.Records(&records);
  json["record_count"] = records;
  return json;
}

Json LeakDetailsJson(const LeaksSubject& subject, size_t record, leaks::DataSymbols* symbols) {
  const Profile& profile = subject.check->known.profile;
  const LossRecord& of = subject.losses->records[record];
  const NodeId leaf = LeafOf(subject, of.stack);
  const LeaksPage page;
  const auto filter = StackFilter::Compile(profile, page);
  PageMaker maker(subject, page, *filter);
  Json json = {{"record", maker.Record(record, SIZE_MAX)},
               {"ages", AgesOf(subject, record)},
               {"suppressions",
                {{"valgrind", leaks::GenerateSuppression(profile, leaf, of.kind)},
                 {"lsan", leaks::GenerateLsanSuppression(profile, leaf)}}},
               {"owner", nullptr}};
  if (subject.check->look != leaks::Look::kNone) {
    json["owner"] = LeakOwnerJson(
        subject, FindLeakOwner(subject, static_cast<uint32_t>(record), symbols), kOwnerFrames);
  }
  return json;
}

}  // namespace heapgauge
