#include "endpoint/api/trace_source.h"

#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/leaks/check_file.h"
#include "core/report/lifetimes.h"
#include "core/report/memory_map.h"
#include "core/report/timeline_bands.h"
#include "core/trace/analysis/lifetimes.h"
#include "core/trace/analysis/stats.h"
#include "core/trace/analysis/trace_timeline.h"
#include "core/trace/trace_moment.h"

namespace heapgauge::endpoint::api {

TraceSource::TraceSource(std::shared_ptr<const trace::TraceFile> trace, std::string name,
                         trace::NameStacks name_stacks)
    : trace_(std::move(trace)), name_(std::move(name)), answers_(trace_, std::move(name_stacks)) {}

Source::Facts TraceSource::facts() {
  Facts facts;
  facts.id = name_;
  facts.title = name_;
  facts.kind = Kind::kTrace;
  facts.pid = trace_->facts().recording.pid;
  return facts;
}

Result<std::shared_ptr<const Profile>> TraceSource::Ask(const Filter& filter) {
  HG_ASSIGN(trace::Question question, QuestionOf(filter.words));
  if (filter.peak && question.at.empty()) question.at = "peak";
  HG_ASSIGN(const trace::ProfileRequest request, RequestOf(question, *trace_));
  HG_ASSIGN(Profile profile, answers_.Ask(request));
  return std::make_shared<const Profile>(std::move(profile));
}

Result<Timeline> TraceSource::Over(const Stretch& stretch) {
  trace::TimelineRequest request;
  if (!stretch.from.empty()) {
    HG_ASSIGN(request.from_ns, trace::ParseMoment(*trace_, stretch.from));
  }
  if (!stretch.to.empty()) {
    HG_ASSIGN(request.to_ns, trace::ParseMoment(*trace_, stretch.to));
  }
  if (request.from_ns > request.to_ns || request.from_ns > trace_->end_ns()) {
    return Fail(ErrorCode::kInvalidArgument,
                "from is behind " +
                    std::string(request.from_ns > request.to_ns ? "to" : "the end of the trace"));
  }
  request.steps = stretch.steps;
  request.bands = stretch.stacks;
  request.lanes = stretch.threads;
  HG_ASSIGN(trace::TraceTimeline made, trace::ReadTraceTimeline(*trace_, request));
  if (!made.stacks.empty()) {
    HG_ASSIGN(const auto stacks, answers_.Stacks());
    NameBands(*stacks, &made);
  }
  return std::move(made.timeline);
}

Result<leaks::Check> TraceSource::LeaksOfFile() {
  HG_ASSIGN(const auto stacks, answers_.Stacks());
  return leaks::CheckTrace(*trace_, *stacks);
}

Result<trace::Filter> TraceSource::BlocksOf(const trace::Question& question) const {
  HG_ASSIGN(trace::Filter blocks, FilterOf(question, *trace_));
  if (!question.from.empty()) {
    HG_ASSIGN(blocks.born_from_ns, trace::ParseMoment(*trace_, question.from));
  }
  if (!question.to.empty()) {
    HG_ASSIGN(blocks.born_to_ns, trace::ParseMoment(*trace_, question.to));
  }
  return blocks;
}

struct TraceSource::Placed {
  std::shared_ptr<const trace::TraceFile::Stacks> stacks;
  std::unique_ptr<const trace::BlockGroups> groups;
  std::string filter;
  trace::PageUse use;
  std::vector<trace::PlacedBlock> blocks;
};

Result<std::shared_ptr<const TraceSource::Placed>> TraceSource::PlacedAt(const Filter& filter,
                                                                         const MapWords& words) {
  const std::string key = filter.ProfileKey() + "#" + words.by + "#" + std::to_string(words.page);
  const std::lock_guard lock(placed_mutex_);
  if (placed_ != nullptr && placed_key_ == key) return placed_;
  placed_ = nullptr;
  HG_ASSIGN(const trace::Question question, QuestionOf(filter.words));
  HG_ASSIGN(const trace::Filter blocks, BlocksOf(question));
  auto placed = std::make_shared<Placed>();
  HG_ASSIGN(placed->stacks, answers_.Stacks());
  std::optional<trace::Matcher> matcher;
  if (blocks != trace::Filter()) {
    HG_ASSIGN(matcher, trace::Matcher::Compile(blocks, *trace_, *placed->stacks));
  }
  placed->filter = blocks.Text();
  placed->groups = std::make_unique<const trace::BlockGroups>(
      *placed->stacks, trace::GroupByOf(words.by), trace_->threads().size());
  trace::StatsRequest request;
  if (matcher) request.matcher = &*matcher;
  request.wants_chains = request.wants_counts = false;
  request.pin_unit = words.page;
  const std::string otherwise = filter.peak ? "peak" : "end";
  request.moments = {question.at.empty() ? otherwise : question.at};
  request.take_blocks = [&](size_t, std::vector<trace::PlacedBlock> taken) {
    placed->blocks = std::move(taken);
  };
  HG_ASSIGN(trace::TraceStats stats, ReadStats(*trace_, *placed->groups, request));
  placed->use = std::move(stats.pages.at(0));
  constexpr size_t kKeptBlocks = 8 << 20;
  if (placed->blocks.size() <= kKeptBlocks) {
    placed_ = placed;
    placed_key_ = key;
  }
  return placed;
}

Result<std::string> TraceSource::MemoryMap(const Filter& filter, const MapWords& words) {
  HG_ASSIGN(const auto placed, PlacedAt(filter, words));
  const TraceSubject subject{trace_.get(), placed->stacks.get(), placed->groups.get(),
                             placed->filter, trace_->notes()};
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
  HG_ASSIGN(const trace::Question question, QuestionOf(filter.words));
  HG_ASSIGN(const trace::Filter blocks, BlocksOf(question));
  HG_ASSIGN(const auto stacks, answers_.Stacks());
  std::optional<trace::Matcher> matcher;
  if (blocks != trace::Filter()) {
    HG_ASSIGN(matcher, trace::Matcher::Compile(blocks, *trace_, *stacks));
  }
  const trace::BlockGroups groups(*stacks, trace::GroupByOf(words.by), trace_->threads().size());
  trace::LifetimeRequest request;
  if (matcher) request.matcher = &*matcher;
  request.rows = words.rows;
  request.sort = trace::LifetimeSortOf(words.order);
  HG_ASSIGN(const trace::LifetimeReport report,
            trace::ReadLifetimes(*trace_, groups, request, nullptr));
  const TraceSubject subject{trace_.get(), stacks.get(), &groups, blocks.Text(), trace_->notes()};
  return LifetimesJson(subject, report);
}

}  // namespace heapgauge::endpoint::api
