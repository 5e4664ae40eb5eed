// What functions had live over time, from a trace that is kept open.

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/fold/allocation_frames.h"
#include "core/fold/entities.h"
#include "core/trace/answer/stack_history.h"
#include "core/trace/answer/trace_moment.h"
#include "endpoint/api/trace_source.h"

namespace heapgauge::endpoint::api {
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
  HG_ASSIGN(const trace::Question question, QuestionOf(filter.words));
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
