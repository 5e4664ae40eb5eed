#include "endpoint/api/trace_source.h"

#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/leaks/verdict/check_file.h"
#include "core/report/draw/timeline_bands.h"
#include "core/report/views/lifetimes.h"
#include "core/report/views/memory_map.h"
#include "core/trace/answer/lifetimes.h"
#include "core/trace/answer/stats.h"
#include "core/trace/answer/trace_moment.h"
#include "core/trace/answer/trace_timeline.h"

namespace heapgauge::endpoint::api {

TraceSource::TraceSource(std::shared_ptr<const trace::TraceFile> trace, std::string name,
                         trace::NameStacks name_stacks)
    : name_(std::move(name)),
      newest_(std::make_shared<Reading>(std::move(trace), std::move(name_stacks))) {}

std::shared_ptr<TraceSource::Reading> TraceSource::Newest() {
  const std::lock_guard lock(mutex_);
  // What was read stays if the file cannot be read any more.
  if (auto renewed = newest_->trace->Renew(); renewed && *renewed != newest_->trace) {
    newest_ = std::make_shared<Reading>(*std::move(renewed), newest_.get());
  }
  return newest_;
}

std::shared_ptr<TraceSource::Reading> TraceSource::Held(const std::string& hold) {
  if (hold.empty()) return Newest();
  {
    const std::lock_guard lock(mutex_);
    if (const auto* known = held_.Find(hold)) return *known;
  }
  std::shared_ptr<Reading> newest = Newest();
  const std::lock_guard lock(mutex_);
  if (const auto* known = held_.Find(hold)) return *known;
  return held_.Keep(hold, std::move(newest));
}

std::string TraceSource::EditionOf(const std::string& hold) {
  return std::to_string(Held(hold)->number);
}

Source::Facts TraceSource::facts() {
  Facts facts;
  facts.id = name_;
  facts.title = name_;
  facts.kind = Kind::kTrace;
  const std::shared_ptr<Reading> newest = Newest();
  facts.pid = newest->trace->facts().recording.pid;
  facts.live = newest->trace->facts().being_written;
  return facts;
}

Result<std::shared_ptr<const Profile>> TraceSource::Ask(const Filter& filter) {
  HG_ASSIGN(trace::Question question, QuestionOf(filter.words));
  if (filter.peak && question.at.empty()) question.at = "peak";
  const std::shared_ptr<Reading> reading = Held(filter.hold);
  HG_ASSIGN(const trace::ProfileRequest request, RequestOf(question, *reading->trace));
  HG_ASSIGN(Profile profile, reading->answers.Ask(request));
  return std::make_shared<const Profile>(std::move(profile));
}

Result<trace::BlockChoice> TraceSource::ChoiceOf(Reading* reading, const Filter& filter,
                                                 std::string* text,
                                                 std::vector<std::string>* notes) {
  trace::Selection selection;
  HG_ASSIGN(const trace::Question question, QuestionOf(filter.words.Blocks()));
  HG_ASSIGN(selection.filter, FilterOf(question, *reading->trace));
  selection.rows = {filter.focus, filter.ignore};
  selection.granularity = GranularityOf(filter.granularity);
  *notes = trace::NotesOn(selection.filter, *reading->trace);
  if (!selection.any()) return trace::BlockChoice();
  *text = selection.Text();
  HG_ASSIGN(const auto stacks, reading->answers.Stacks());
  return trace::SelectBlocks(*reading->trace, *stacks, selection);
}

Result<Timeline> TraceSource::Over(const Stretch& stretch) {
  const std::shared_ptr<Reading> reading = Held(stretch.filter.hold);
  const trace::TraceFile& trace = *reading->trace;
  const trace::QuestionWords& words = stretch.filter.words;
  trace::TimelineRequest request;
  const trace::Mappings mappings = words.with_mappings ? trace::Mappings() : false;
  HG_ASSIGN(request.range, trace::ParseRange(trace, words.from, words.to, mappings));
  request.steps = stretch.steps;
  request.bands = stretch.stacks;
  request.lanes = stretch.threads;
  std::string text;
  std::vector<std::string> notes;
  HG_ASSIGN(request.counts, ChoiceOf(reading.get(), stretch.filter, &text, &notes));
  HG_ASSIGN(trace::TraceTimeline made, trace::ReadTraceTimeline(trace, request));
  made.timeline.recording.filter = text;
  for (std::string& note : notes) made.timeline.notes.push_back(std::move(note));
  if (!made.stacks.empty()) {
    HG_ASSIGN(const auto stacks, reading->answers.Stacks());
    NameBands(*stacks, &made);
  }
  return std::move(made.timeline);
}

Result<leaks::Check> TraceSource::LeaksOfFile() {
  const std::shared_ptr<Reading> reading = Newest();
  HG_ASSIGN(const auto stacks, reading->answers.Stacks());
  return leaks::CheckTrace(*reading->trace, *stacks);
}

namespace {

// What the trace does not have, and what the filter cannot know of it.
std::vector<std::string> AllNotes(const trace::BlockFilter& blocks, const trace::TraceFile& trace) {
  std::vector<std::string> notes = trace.notes();
  for (std::string& note : trace::NotesOn(blocks, trace)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace

struct TraceSource::Placed {
  std::shared_ptr<const trace::TraceFile::Stacks> stacks;
  std::unique_ptr<const trace::BlockGroups> groups;
  std::string filter;
  std::vector<std::string> notes;
  trace::PageUse use;
  std::vector<trace::PlacedBlock> blocks;
};

Result<std::shared_ptr<const TraceSource::Placed>> TraceSource::PlacedAt(Reading* reading,
                                                                         const Filter& filter,
                                                                         const MapWords& words) {
  const std::string key = filter.ProfileKey() + "#" + words.by + "#" + std::to_string(words.page);
  const trace::TraceFile& trace = *reading->trace;
  const std::lock_guard lock(reading->placed_mutex);
  if (reading->placed != nullptr && reading->placed_key == key) return reading->placed;
  reading->placed = nullptr;
  HG_ASSIGN(const trace::Question question, QuestionOf(filter.words));
  HG_ASSIGN(const trace::BlockFilter blocks, BlocksBornWithin(question, trace));
  auto placed = std::make_shared<Placed>();
  HG_ASSIGN(placed->stacks, reading->answers.Stacks());
  std::optional<trace::Matcher> matcher;
  if (blocks != trace::BlockFilter()) {
    HG_ASSIGN(matcher, trace::Matcher::Compile(blocks, trace, *placed->stacks));
  }
  placed->filter = blocks.Text();
  placed->notes = AllNotes(blocks, trace);
  placed->groups = std::make_unique<const trace::BlockGroups>(
      *placed->stacks, trace::GroupByOf(words.by), trace.threads().size());
  trace::StatsRequest request;
  if (matcher) request.matcher = &*matcher;
  request.wants_chains = request.wants_counts = false;
  request.pin_unit = words.page;
  const std::string otherwise = filter.peak ? "peak" : "end";
  request.moments = {question.at.empty() ? otherwise : question.at};
  request.take_blocks = [&](size_t, std::vector<trace::PlacedBlock> taken) {
    placed->blocks = std::move(taken);
  };
  HG_ASSIGN(trace::TraceStats stats, ReadStats(trace, *placed->groups, request));
  placed->use = std::move(stats.pages.at(0));
  constexpr size_t kKeptBlocks = 8 << 20;
  if (placed->blocks.size() <= kKeptBlocks) {
    reading->placed = placed;
    reading->placed_key = key;
  }
  return placed;
}

Result<std::string> TraceSource::MemoryMap(const Filter& filter, const MapWords& words) {
  const std::shared_ptr<Reading> reading = Held(filter.hold);
  const trace::TraceFile& trace = *reading->trace;
  HG_ASSIGN(const auto placed, PlacedAt(reading.get(), filter, words));
  if (!placed->use.knows_places()) {
    return Fail(ErrorCode::kInvalidArgument,
                "this trace has no addresses: the tool that recorded it did not tell where blocks "
                "were; heapgauge run --trace does");
  }
  const TraceSubject subject{&trace, placed->stacks.get(), placed->groups.get(), placed->filter,
                             placed->notes};
  BlockMapInput input;
  input.use = &placed->use;
  input.map = trace::MapAddresses(placed->blocks, words.cells);
  input.rows = words.rows;
  if (words.end > words.start) {
    input.start = words.start;
    input.end = words.end;
    input.holders = trace::FindHolders(placed->blocks, words.start, words.end);
  }
  return BlockMapJson(subject, input);
}

Result<std::string> TraceSource::Lifetimes(const Filter& filter, const LifetimeWords& words) {
  const std::shared_ptr<Reading> reading = Held(filter.hold);
  const trace::TraceFile& trace = *reading->trace;
  HG_ASSIGN(const trace::Question question, QuestionOf(filter.words));
  HG_ASSIGN(const trace::BlockFilter blocks, BlocksBornWithin(question, trace));
  HG_ASSIGN(const auto stacks, reading->answers.Stacks());
  std::optional<trace::Matcher> matcher;
  if (blocks != trace::BlockFilter()) {
    HG_ASSIGN(matcher, trace::Matcher::Compile(blocks, trace, *stacks));
  }
  const trace::BlockGroups groups(*stacks, trace::GroupByOf(words.by), trace.threads().size());
  trace::LifetimeRequest request;
  if (matcher) request.matcher = &*matcher;
  request.rows = words.rows;
  request.sort = trace::LifetimeSortOf(words.order);
  HG_ASSIGN(const trace::LifetimeReport report,
            trace::ReadLifetimes(trace, groups, request, nullptr));
  const TraceSubject subject{&trace, stacks.get(), &groups, blocks.Text(), AllNotes(blocks, trace)};
  return LifetimesJson(subject, report);
}

}  // namespace heapgauge::endpoint::api
