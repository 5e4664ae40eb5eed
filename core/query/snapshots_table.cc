// snapshots: what every stack had at a moment, as snapshots('peak') or WHERE at = MOMENT.
//
// Sums of whole segments up to the moment, and the events of the one it lies in: any moment costs
// about the same.

#include <fmt/format.h>

#include "core/fold/measures.h"
#include "core/query/schema.h"
#include "core/query/sql_values.h"

namespace heapgauge::query {
namespace {

enum Id : int {
  kTime,
  kStack,
  kLiveBytes,
  kLiveBlocks,
  kAllocatedBytes,
  kAllocatedBlocks,
  kFreedBytes,
  kFreedBlocks,
  kMapped,
  kAt,
};

std::vector<Column> Columns() {
  return {
      {"time_ns", "INTEGER", "the moment"},
      {"stack", "INTEGER", "key of stacks"},
      {"live_bytes", "INTEGER", "at the moment"},
      {"live_blocks", "INTEGER", "at the moment"},
      {"allocated_bytes", "INTEGER", "up to the moment"},
      {"allocated_blocks", "INTEGER", "up to the moment"},
      {"freed_bytes", "INTEGER", "up to the moment"},
      {"freed_blocks", "INTEGER", "up to the moment"},
      {"mapped_bytes", "INTEGER", "mapped at the moment, not in the other figures"},
      {"at", "", "the moment asked for: nanoseconds, 'peak', '1.5s'; the end if none is", true},
  };
}

// What happened up to and including a moment of a trace, by stack.
Result<std::vector<StackUse>> SumsUpTo(QuerySource* source, const ExactMoment& moment) {
  const trace::TraceFile& trace = *source->trace();
  std::vector<StackUse> totals(trace.stack_count());
  const auto known = [&](uint32_t stack) { return stack < totals.size(); };
  std::vector<trace::StackSums> sums;
  const std::vector<trace::SegmentInfo>& segments = trace.segments();
  const uint64_t time_ns = moment.time_ns;
  for (size_t i = 0; i < segments.size() && segments[i].begin_ns <= time_ns; ++i) {
    HG_TRY(source->CheckStop());
    source->Report("adding up", i, segments.size(), "segments");
    if (segments[i].end_ns < time_ns || (segments[i].end_ns == time_ns && moment.dead == nullptr)) {
      HG_TRY(trace.ReadSums(i, &sums));
      for (const trace::StackSums& s : sums) {
        if (known(s.stack)) totals[s.stack].Add(s);
      }
      continue;
    }
    HG_ASSIGN(const auto segment,
              source->segments()->Read(i, trace::kOldBlocks | trace::kNewBlocks));
    for (const trace::Block& block : segment->blocks) {
      if (!known(block.stack)) continue;
      const bool born =
          block.number >= segments[i].first_block && moment.HasBegun(block.number, block.birth_ns);
      const bool died = moment.HasEnded(block.number, block.death_ns);
      trace::StackSums one;
      one.is_mapping = block.is_mapping;
      one.allocated_blocks = born ? 1 : 0;
      one.allocated_bytes = born ? block.size : 0;
      one.freed_blocks = died ? 1 : 0;
      one.freed_bytes = died ? block.size : 0;
      totals[block.stack].Add(one);
    }
  }
  return totals;
}

// The moment of a profile, which is the only one it has.
Result<std::vector<StackUse>> SumsOf(const Profile& profile) {
  const Measures measures = MeasuresOf(profile);
  if (measures.name != "live") {
    return Fail(ErrorCode::kUnsupported,
                "there is no table snapshots here: the profile does not tell what was live");
  }
  std::vector<StackUse> totals(profile.rows.size() + 1);
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const auto value = [&](size_t type) -> uint64_t {
      if (type == kNone || profile.value(row, type) < 0) return 0;
      return static_cast<uint64_t>(profile.value(row, type));
    };
    StackUse& total = totals[row + 1];
    const uint64_t bytes = value(measures.main);
    const uint64_t blocks = value(measures.objects);
    total.allocated_bytes = std::max(bytes, value(measures.allocated));
    total.allocated_blocks = std::max(blocks, value(measures.allocated_objects));
    total.freed_bytes = total.allocated_bytes - bytes;
    total.freed_blocks = total.allocated_blocks - blocks;
  }
  return totals;
}

// Of a profile that is none of the peak, although it may be as old.
bool IsOtherPeak(sqlite3_value* value, const QuerySource& source) {
  return source.trace() == nullptr && !source.recording().is_peak &&
         sqlite3_value_type(value) == SQLITE_TEXT && TextOf(value) == "peak";
}

class SnapshotsCursor final : public Cursor {
 public:
  explicit SnapshotsCursor(QuerySource* source) : source_(source) {}

  Status Start(const Scan& scan, std::span<sqlite3_value*> values) override {
    ExactMoment moment;
    moment.time_ns = source_->end_ns();
    Range stacks;
    bool none = false;
    bool other = false;
    asked_.Forget();
    for (size_t i = 0; i < values.size(); ++i) {
      if (scan.terms[i].column == kStack) {
        stacks.Restrict(scan.terms[i].op, values[i]);
        continue;
      }
      HG_ASSIGN(const std::optional<ExactMoment> at, ExactMomentOf(values[i], source_));
      asked_.Keep(values[i]);
      none = none || !at;
      other = other || IsOtherPeak(values[i], *source_);
      moment = at.value_or(ExactMoment{});
    }
    if (none) {
      sums_.clear();
    } else if (!sums_.empty() && moment == moment_) {
      // A join asks for one stack after the other.
    } else if (source_->trace() == nullptr) {
      if (other || moment.time_ns != source_->end_ns()) {
        return Fail(ErrorCode::kUnsupported,
                    fmt::format("a profile is one moment, here {} ns; heapgauge run --trace "
                                "records all of them",
                                source_->end_ns()));
      }
      HG_ASSIGN(const Profile* profile, source_->StacksOnly());
      HG_ASSIGN(sums_, SumsOf(*profile));
    } else {
      HG_ASSIGN(sums_, SumsUpTo(source_, moment));
    }
    moment_ = moment;
    stack_ = stacks.low;
    end_ = stacks.high < sums_.size() ? stacks.high + 1 : sums_.size();
    Skip();
    return {};
  }

  Status Next() override {
    ++stack_;
    Skip();
    return {};
  }
  bool at_end() const override { return stack_ >= end_; }
  int64_t row_id() const override {
    const uint64_t is_peak = moment_.dead != nullptr ? 1 : 0;
    return RowIdOf(2 * moment_.time_ns + is_peak, stack_);
  }

  void Get(int column, sqlite3_context* out) override {
    const StackUse& sums = sums_[stack_];
    switch (column) {
      case kAt:
        if (asked_.Put(out)) return;
        [[fallthrough]];
      case kTime:
        return Put(out, moment_.time_ns);
      case kStack:
        return Put(out, stack_);
      case kLiveBytes:
        return Put(out, sums.live_bytes());
      case kLiveBlocks:
        return Put(out, sums.live_blocks());
      case kAllocatedBytes:
        return Put(out, sums.allocated_bytes);
      case kAllocatedBlocks:
        return Put(out, sums.allocated_blocks);
      case kFreedBytes:
        return Put(out, sums.freed_bytes);
      case kFreedBlocks:
        return Put(out, sums.freed_blocks);
      case kMapped:
        return Put(out, sums.mapped());
      default:
        return;
    }
  }

 private:
  void Skip() {
    while (stack_ < end_ && sums_[stack_].empty()) ++stack_;
  }

  QuerySource* source_;
  ExactMoment moment_;
  AskedValue asked_;
  std::vector<StackUse> sums_;  // by stack
  uint64_t stack_ = 0;
  uint64_t end_ = 0;
};

class SnapshotsTable final : public Table {
 public:
  explicit SnapshotsTable(QuerySource* source)
      : Table(source, "snapshots", "every stack at a moment: snapshots('peak')", Columns()) {}

  bool Accepts(const Term& term) const override {
    return term.op == SQLITE_INDEX_CONSTRAINT_EQ && (term.column == kAt || term.column == kStack);
  }
  bool Exact(const Term& term) const override { return term.column == kAt; }
  Price PriceOf(const Scan& scan) const override {
    const trace::TraceFile* trace = source()->trace();
    const double count = trace != nullptr ? trace->stack_count() : 10000.0;
    // Adding up costs the same for one stack, unless it was just done.
    const bool one = scan.Find(kStack, SQLITE_INDEX_CONSTRAINT_EQ) != nullptr;
    const double cost = scan.misses(kAt) ? Price::kLast : count * (one ? 1 : 2) + 100;
    return {cost, one ? 1 : count + 1};
  }
  std::unique_ptr<Cursor> Open() override { return std::make_unique<SnapshotsCursor>(source()); }
};

}  // namespace

std::shared_ptr<Table> MakeSnapshotsTable(QuerySource* source) {
  return std::make_shared<SnapshotsTable>(source);
}

}  // namespace heapgauge::query
