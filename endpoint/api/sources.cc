#include "endpoint/api/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "core/base/text.h"
#include "core/fold/measures.h"
#include "core/leaks/verdict/loss_records.h"
#include "endpoint/api/process_source.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint::api {
namespace {

std::shared_ptr<const PendingProfile> Given(Profile profile) {
  auto pending = std::make_shared<PendingProfile>();
  pending->Give(ProfileSource::Finished(std::move(profile)));
  return pending;
}

}  // namespace

ProfileSource::ProfileSource(Profile profile, std::string name)
    : ProfileSource(Given(std::move(profile)), std::move(name)) {}

ProfileSource::ProfileSource(std::shared_ptr<const PendingProfile> pending, std::string name)
    : profile_(std::move(pending)), name_(std::move(name)) {}

PendingProfile::Pointer ProfileSource::Finished(Profile profile) {
  EstimateFromPeriod(&profile);
  // Where a file would rather have another figure first (DHAT's, Go's of allocations), no words ask
  // for what is live all the same: every view, and the choice of figures, begin with that.
  const Measures measures = MeasuresOf(profile);
  if (measures.main != kNone && measures.name == "live") profile.default_type = measures.main;
  return std::make_shared<const Profile>(std::move(profile));
}

Source::Facts ProfileSource::facts() {
  Facts facts;
  facts.id = name_;
  facts.title = name_;
  if (const auto profile = profile_->IfThere()) facts.pid = profile->recording.pid;
  return facts;
}

Result<std::shared_ptr<const Profile>> ProfileSource::Ask(const Filter& filter) {
  HG_ASSIGN(const trace::Question question, QuestionOf(filter));
  if (question.only_freed() && !filter.peak) {
    HG_ASSIGN(const auto profile, profile_->Wait());
    auto with_freed = std::make_shared<Profile>(*profile);
    HG_TRY(AddFreed(question.blocks, with_freed.get()));
    return with_freed;
  }
  if (question.any() || filter.peak) {
    return Fail(ErrorCode::kInvalidArgument,
                "this profile does not know moments, ranges and single blocks; record a trace: "
                "heapgauge run --trace -o FILE.hgt -- COMMAND");
  }
  return profile_->Wait();
}

Result<Timeline> ProfileSource::Over(const Stretch& stretch) {
  HG_ASSIGN(const TimeRange range, RangeSinceStart(stretch));
  HG_ASSIGN(const auto profile, profile_->Wait());
  return TimelineIfKnown(*profile, range);
}

const char* KindName(Source::Kind kind) {
  switch (kind) {
    case Source::Kind::kProcess:
      return "process";
    case Source::Kind::kTrace:
      return "trace";
    case Source::Kind::kProfile:
      break;
  }
  return "profile";
}

std::string Source::EditionOf(const std::string& /*hold*/) { return "only"; }

Result<std::string> Source::Lifetimes(const Filter& /*filter*/, const LifetimeWords& /*words*/) {
  return Fail(
      ErrorCode::kInvalidArgument,
      "only a trace knows how long blocks lived: heapgauge run --trace -o FILE.hgt -- COMMAND");
}

Result<leaks::Check> Source::LeaksOfFile() {
  return Fail(ErrorCode::kInvalidArgument,
              "this profile does not tell single blocks and their ages; leaks are looked for in "
              "running processes, gauge files and traces: heapgauge run --trace -o FILE.hgt -- "
              "COMMAND");
}

Result<std::shared_ptr<Subject>> Opened::LostSubject(const Filter& filter) {
  const KeptChecks::Pointer judged = checks_.Last();
  if (judged == nullptr || !judged->looked()) {
    return Fail(ErrorCode::kInvalidArgument,
                "what is lost is not known: no leak check has looked at its memory; the view Leaks "
                "does that of a running program");
  }
  Filter rest = filter;
  rest.value.clear();
  rest.blocks = false;
  HG_ASSIGN(const trace::Question question, QuestionOf(rest));
  if (question.any() || filter.peak) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "what is lost is known of the moment of the check; it takes no other moment or kind "
        "of block");
  }
  const std::string key = KeyOf(filter, kProfileFields) + "#lost " + std::to_string(judged->number);
  const std::lock_guard lock(mutex_);
  if (const Answer* known = answers_.Find(key)) return known->subject;
  auto profile = std::make_shared<const Profile>(
      leaks::LostProfile(judged->check, judged->losses, filter.blocks));
  auto subject = std::make_shared<Subject>(profile);
  return answers_.Keep(key, {std::move(profile), std::move(subject)}).subject;
}

Result<std::string> Source::MemoryMap(const Filter& /*filter*/, const MapWords& /*words*/) {
  return Fail(ErrorCode::kInvalidArgument,
              "this profile has no addresses; a trace and a process that runs do");
}

Result<Source::History> Source::Recall(const Filter& /*filter*/, const RowsOverTime& /*rows*/) {
  History none;
  none.why_not = "only a trace knows what single functions had over time";
  return none;
}

Result<std::shared_ptr<Subject>> Opened::SubjectOf(const Filter& filter) {
  if (filter.value == kLostValue) return LostSubject(filter);
  const std::string edition = source_->EditionOf(filter.hold);
  const std::string key = KeyOf(filter, kProfileFields) + "#" + edition;
  const bool may_keep = !edition.empty();
  {
    const std::lock_guard lock(mutex_);
    if (const Answer* known = may_keep ? answers_.Find(key) : nullptr) return known->subject;
  }
  HG_ASSIGN(std::shared_ptr<const Profile> profile, source_->Ask(filter));
  const std::lock_guard lock(mutex_);
  // Another may have asked meanwhile, or the process gave the same snapshot again.
  if (const Answer* known = answers_.Find(key); known && (may_keep || known->profile == profile)) {
    return known->subject;
  }
  std::shared_ptr<const Profile> typed = profile;
  if (!filter.type.empty()) {
    auto copy = std::make_shared<Profile>(*profile);
    HG_TRY(ChooseType(filter.type, copy.get()));
    typed = std::move(copy);
  }
  auto subject = std::make_shared<Subject>(std::move(typed));
  return answers_.Keep(key, {std::move(profile), std::move(subject)}).subject;
}

Result<std::shared_ptr<const Timeline>> Opened::Over(const Source::Stretch& stretch) {
  const std::string edition = source_->EditionOf(stretch.filter.hold);
  std::string key = KeyOf(stretch.filter, kProfileFields | kRowFields) + "#" + edition;
  for (const size_t number : {stretch.steps, stretch.stacks, stretch.threads}) {
    key.append(" ").append(std::to_string(number));
  }
  if (!edition.empty()) {
    const std::lock_guard lock(mutex_);
    if (auto* known = timelines_.Find(key)) return *known;
  }
  HG_ASSIGN(Timeline timeline, source_->Over(stretch));
  auto made = std::make_shared<const Timeline>(std::move(timeline));
  const std::lock_guard lock(mutex_);
  if (!edition.empty()) timelines_.Keep(key, made);
  return made;
}

namespace {

// A source under another name.
class Renamed final : public Source {
 public:
  Renamed(std::shared_ptr<Source> source, std::string id)
      : source_(std::move(source)), id_(std::move(id)) {}
  Facts facts() override {
    Facts facts = source_->facts();
    facts.id = id_;
    return facts;
  }
  std::string EditionOf(const std::string& hold) override { return source_->EditionOf(hold); }
  Result<std::shared_ptr<const Profile>> Ask(const Filter& filter) override {
    return source_->Ask(filter);
  }
  Result<Timeline> Over(const Stretch& stretch) override { return source_->Over(stretch); }
  Result<std::string> Lifetimes(const Filter& filter, const LifetimeWords& words) override {
    return source_->Lifetimes(filter, words);
  }
  Result<leaks::Check> LeaksOfFile() override { return source_->LeaksOfFile(); }
  Result<std::string> MemoryMap(const Filter& filter, const MapWords& words) override {
    return source_->MemoryMap(filter, words);
  }
  Result<History> Recall(const Filter& filter, const RowsOverTime& rows) override {
    return source_->Recall(filter, rows);
  }
  std::shared_ptr<Process> process() override { return source_->process(); }
  std::shared_ptr<const trace::TraceFile> trace() override { return source_->trace(); }

 private:
  const std::shared_ptr<Source> source_;
  const std::string id_;
};

// The process itself, or what it left; a copy that was made of it meanwhile is another thing.
bool IsFileOf(Process* process, uint32_t pid) {
  if (process == nullptr || process->pid() != pid) return false;
  const auto facts = process->Facts();
  return !facts || (facts->state != RecordingState::kSnapshot && !facts->is_dump);
}

}  // namespace

std::shared_ptr<Source> Sources::WithOwnId(std::shared_ptr<Source> source) {
  const std::string id = source->facts().id;
  std::string name = id;
  const auto is_taken = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& other) { return other->source().facts().id == name; });
  };
  for (int i = 2; is_taken(added_) || is_taken(dumps_); ++i) name = id + "-" + std::to_string(i);
  if (name != id) source = std::make_shared<Renamed>(std::move(source), name);
  return source;
}

void Sources::Add(std::shared_ptr<Source> source) {
  const std::lock_guard lock(mutex_);
  added_.push_back(std::make_shared<Opened>(WithOwnId(std::move(source)), checker_));
}

std::string Sources::AddDump(std::shared_ptr<Source> source) {
  const std::lock_guard lock(mutex_);
  dumps_.push_back(std::make_shared<Opened>(WithOwnId(std::move(source)), checker_));
  if (dumps_.size() > kMostDumps) dumps_.pop_front();
  return dumps_.back()->source().facts().id;
}

std::shared_ptr<Opened> Sources::OfSnapshot(const std::shared_ptr<const KeptProfile>& kept) {
  const std::lock_guard lock(mutex_);
  if (auto* known = snapshots_.Find(kept->id)) return *known;
  return snapshots_.Keep(kept->id,
                         std::make_shared<Opened>(std::make_shared<SnapshotSource>(kept)));
}

std::shared_ptr<Opened> Sources::OfProcess(const std::shared_ptr<Process>& process) {
  std::shared_ptr<Opened>& opened = of_processes_[process];
  if (opened == nullptr) {
    opened = std::make_shared<Opened>(std::make_shared<ProcessSource>(process), checker_);
  }
  return opened;
}

std::vector<std::shared_ptr<Opened>> Sources::List() {
  const std::vector<std::shared_ptr<Process>> processes = processes_->List();
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Opened>> list = added_;
  // What is gone is forgotten.
  std::erase_if(of_processes_, [&](const auto& known) {
    return std::find(processes.begin(), processes.end(), known.first) == processes.end();
  });
  for (const auto& process : processes) {
    const bool added = std::any_of(added_.begin(), added_.end(), [&](const auto& other) {
      return IsFileOf(other->source().process().get(), process->pid());
    });
    if (!added) list.push_back(OfProcess(process));
  }
  list.insert(list.end(), dumps_.begin(), dumps_.end());
  return list;
}

std::string Sources::IdOf(uint32_t pid) {
  for (const auto& opened : List()) {
    if (IsFileOf(opened->source().process().get(), pid)) return opened->source().facts().id;
  }
  return {};
}

Result<std::shared_ptr<Opened>> Sources::Find(const std::string& id,
                                              const std::shared_ptr<Process>& process,
                                              bool is_named) {
  if (id.empty() && process != nullptr) {
    const std::lock_guard lock(mutex_);
    if (!is_named && !added_.empty()) return added_.front();
    for (const auto& opened : added_) {
      if (IsFileOf(opened->source().process().get(), process->pid())) return opened;
    }
    return OfProcess(process);
  }
  const auto list = List();
  for (const auto& opened : list) {
    if (id.empty() || opened->source().facts().id == id) return opened;
  }
  if (id.empty()) {
    return Fail(ErrorCode::kNotFound,
                "there is nothing to show: start a program with heapgauge run -- ./program");
  }
  return Fail(ErrorCode::kNotFound, "there is no source '" + Printable(id) + "'");
}

namespace {

constexpr std::string_view kPrefix = "snapshot-";

std::string UtcClock(int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm utc{};
  char text[32] = "";
  if (gmtime_r(&seconds, &utc) == nullptr || strftime(text, sizeof text, "%H:%M:%S", &utc) == 0) {
    return "?";
  }
  return text;
}

}  // namespace

Source::Facts FactsOf(const KeptProfile& kept) {
  Source::Facts facts;
  facts.id = std::string(kPrefix) + kept.id;
  const std::string name = kept.recording.name();
  facts.title = fmt::format("{}{}{} at {} UTC", name, name.empty() ? "" : " ", kept.pid,
                            UtcClock(kept.unix_ns));
  if (kept.type != "heap") facts.title += ", " + kept.type;
  facts.pid = kept.pid;
  facts.taken_unix_ns = kept.unix_ns;
  return facts;
}

Source::Facts SnapshotSource::facts() { return FactsOf(*kept_); }

Result<ProfileSource*> SnapshotSource::Unpacked() {
  const std::lock_guard lock(mutex_);
  if (unpacked_ == nullptr) {
    HG_ASSIGN(Profile profile, kept_->Read());
    unpacked_ = std::make_unique<ProfileSource>(std::move(profile), "");
  }
  return unpacked_.get();
}

Result<std::shared_ptr<const Profile>> SnapshotSource::Ask(const Filter& filter) {
  HG_ASSIGN(ProfileSource* const profile, Unpacked());
  return profile->Ask(filter);
}

Result<Timeline> SnapshotSource::Over(const Stretch& stretch) {
  HG_ASSIGN(ProfileSource* const profile, Unpacked());
  return profile->Over(stretch);
}

bool IsSnapshotId(std::string_view id) { return id.starts_with(kPrefix); }

Result<std::shared_ptr<Opened>> OpenedSnapshot(const Call& call, std::string_view id) {
  const auto kept = call.kept.Find(id.substr(kPrefix.size()));
  if (kept != nullptr) return call.sources.OfSnapshot(kept);
  return Fail(ErrorCode::kNotFound,
              fmt::format("this snapshot is not kept any more: the last {} of each process are, as "
                          "long as the server runs; take a new one",
                          call.limits.kept_profiles));
}

}  // namespace heapgauge::endpoint::api
