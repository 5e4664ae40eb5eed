#include "endpoint/api/trace_source.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/base/text.h"
#include "core/fold/frames.h"
#include "core/leaks/verdict/check_file.h"
#include "core/report/draw/timeline_graph.h"
#include "core/report/views/lifetimes.h"
#include "core/report/views/memory_json.h"
#include "core/trace/answer/lifetimes.h"
#include "core/trace/answer/live_stacks.h"
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
  HG_ASSIGN(trace::Question question, QuestionOf(filter));
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
  HG_ASSIGN(const trace::Question question, BlocksOf(filter));
  HG_ASSIGN(selection.filter, FilterOf(question, *reading->trace));
  selection.rows = {filter.focus, filter.ignore};
  selection.granularity = filter.granularity;
  *notes = trace::NotesOn(selection.filter, *reading->trace);
  if (!selection.any()) return trace::BlockChoice();
  *text = selection.Text();
  HG_ASSIGN(const auto stacks, reading->answers.Stacks());
  return trace::SelectBlocks(*reading->trace, *stacks, selection);
}

Result<Timeline> TraceSource::Over(const Stretch& stretch) {
  const std::shared_ptr<Reading> reading = Held(stretch.filter.hold);
  const trace::TraceFile& trace = *reading->trace;
  const View& view = stretch.filter;
  trace::TimelineRequest request;
  const trace::Mappings mappings = view.with_mappings ? trace::Mappings() : false;
  HG_ASSIGN(request.range, trace::ParseRange(trace, view.from, view.to, mappings));
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
  const std::string key =
      KeyOf(filter, kProfileFields) + "#" + words.by + "#" + std::to_string(words.page);
  const trace::TraceFile& trace = *reading->trace;
  const std::lock_guard lock(reading->placed_mutex);
  if (reading->placed != nullptr && reading->placed_key == key) return reading->placed;
  reading->placed = nullptr;
  HG_ASSIGN(const trace::Question question, QuestionOf(filter));
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
  HG_ASSIGN(const trace::Question question, QuestionOf(filter));
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

// What functions had live over time, from a trace that is kept open.

namespace {

using Member = trace::HistoryRequest::Member;

// Which stacks belong to which rows.
class Membership {
 public:
  Membership(const trace::TraceFile::Stacks& stacks, const Source::RowsOverTime& rows)
      : stacks_(stacks), profile_(stacks.profile), entities_(stacks.profile, rows.granularity) {
    std::unordered_map<std::string_view, uint32_t> wanted;
    for (uint32_t i = 0; i < rows.identities.size(); ++i) wanted.emplace(rows.identities[i], i);
    row_of_.assign(entities_.size(), kNone);
    for (EntityId id = 0; id < entities_.size(); ++id) {
      const auto found = wanted.find(IdentityOf(profile_, entities_, id));
      if (found != wanted.end()) row_of_[id] = found->second;
    }
  }

  // `selected`: by number of the stack; empty: all.
  std::vector<Member> Find(bool cumulative, const std::vector<bool>& selected) {
    const std::vector<uint32_t> skipped = CountAllocationFrames(profile_);
    for (uint32_t stack = 0; stack < stacks_.stacks.size(); ++stack) {
      if (!selected.empty() && !selected[stack]) continue;
      if (cumulative) {
        AddAll(stack);
      } else {
        AddFlat(stack, skipped);
      }
    }
    return std::move(members_);
  }

 private:
  void AddFlat(uint32_t stack, const std::vector<uint32_t>& skipped) {
    const EntityId entity = FlatOf(stacks_.stacks[stack].leaf, skipped);
    if (entity != kNone && row_of_[entity] != kNone) members_.push_back({stack, row_of_[entity]});
  }

  // As flat figures have it: see FlatFrame().
  EntityId FlatOf(NodeId leaf, const std::vector<uint32_t>& skipped) const {
    EntityId last = kNone;
    for (NodeId node = leaf; node != kNone; node = profile_.nodes[node].parent) {
      const LocationId id = profile_.nodes[node].location;
      const uint32_t count = profile_.locations[id].frame_count;
      if (skipped[id] < count) return entities_.Of(id, skipped[id]);
      if (count > 0) last = entities_.Of(id, count - 1);
    }
    return last;
  }

  void AddAll(uint32_t stack) {
    const size_t first = members_.size();
    for (NodeId node = stacks_.stacks[stack].leaf; node != kNone;
         node = profile_.nodes[node].parent) {
      const LocationId id = profile_.nodes[node].location;
      for (uint32_t k = 0; k < profile_.locations[id].frame_count; ++k) {
        const uint32_t row = row_of_[entities_.Of(id, k)];
        const auto same = [&](const Member& member) { return member.group == row; };
        if (row == kNone ||
            std::any_of(members_.begin() + static_cast<ptrdiff_t>(first), members_.end(), same)) {
          continue;
        }
        members_.push_back({stack, row});
      }
    }
  }

  const trace::TraceFile::Stacks& stacks_;
  const Profile& profile_;
  const Entities entities_;
  std::vector<uint32_t> row_of_;  // by entity
  std::vector<Member> members_;
};

}  // namespace

Result<Source::History> TraceSource::Recall(const Filter& filter, const RowsOverTime& rows) {
  History history;
  const std::shared_ptr<Reading> reading = Held(filter.hold);
  const trace::TraceFile& trace = *reading->trace;
  HG_ASSIGN(const trace::Question question, QuestionOf(filter));
  HG_ASSIGN(const trace::BlockFilter blocks, FilterOf(question, trace));
  if (blocks != trace::BlockFilter()) {
    history.why_not = "not for single blocks that a filter chooses";
    return history;
  }
  trace::HistoryRequest request;
  HG_ASSIGN(const trace::TraceRange range, trace::ParseRange(trace, question.from, question.to));
  request.from_ns = range.from.time_ns;
  request.to_ns = range.to.time_ns;
  HG_ASSIGN(const auto stacks, reading->answers.Stacks());
  HG_ASSIGN(const std::vector<bool> selected,
            trace::SelectStacks(*stacks, rows.filter, rows.granularity));
  request.points = rows.points;
  request.groups = rows.identities.size();
  request.members = Membership(*stacks, rows).Find(rows.cumulative, selected);
  HG_ASSIGN(trace::LiveHistory made, trace::ReadStackHistory(trace, request));
  history.times_ns = std::move(made.times_ns);
  history.bytes = std::move(made.bytes);
  return history;
}

}  // namespace heapgauge::endpoint::api
