// stacks: one row for each stack with its figures. Of a trace, those over all of it.

#include <algorithm>

#include "core/fold/measures.h"
#include "core/query/schema.h"

namespace heapgauge::query {
namespace {

enum Id : int {
  kStack,
  kFunction,
  kModule,
  kDepth,
  kText,
  kLiveBytes,
  kLiveBlocks,
  kAllocatedBytes,
  kAllocatedBlocks,
  kFreedBytes,
  kFreedBlocks,
  kTemporaryBytes,
  kTemporaryBlocks,
  kMeanLifetime,
  kMapped,
  kSamples,
  kTruncated,
};

std::vector<Column> Columns() {
  return {
      {"stack", "INTEGER", "key, as in allocations, frames, snapshots, labels"},
      {"function", "TEXT", "that it is counted for: the innermost that does more than allocate"},
      {"module", "TEXT", "the file of that function"},
      {"depth", "INTEGER", "frames"},
      {"text", "TEXT", "all frames, outermost first: main;f;g"},
      {"live_bytes", "INTEGER", "at the end, or at the moment of the profile"},
      {"live_blocks", "INTEGER", "the same in blocks"},
      {"allocated_bytes", "INTEGER", "ever"},
      {"allocated_blocks", "INTEGER", "ever"},
      {"freed_bytes", "INTEGER", "ever"},
      {"freed_blocks", "INTEGER", "ever"},
      {"temporary_bytes", "INTEGER", "freed before the next allocation of the thread (traces)"},
      {"temporary_blocks", "INTEGER", "the same in blocks"},
      {"mean_lifetime_ns", "INTEGER", "of its freed bytes (traces)"},
      {"mapped_bytes", "INTEGER", "that it mapped and did not unmap, not in the other figures"},
      {"samples", "INTEGER", "that the figures rest on (sampled profiles)"},
      {"truncated", "INTEGER", "1 if the outermost frames are missing"},
  };
}

class StacksCursor final : public Cursor {
 public:
  explicit StacksCursor(QuerySource* source) : source_(source) {}

  Status Start(const Scan& scan, std::span<sqlite3_value*> values) override {
    Range wanted;
    for (sqlite3_value* value : values) wanted.Restrict(SQLITE_INDEX_CONSTRAINT_EQ, value);
    if (scan.uses(kFunction) || scan.uses(kModule) || scan.uses(kDepth) || scan.uses(kText)) {
      HG_ASSIGN(names_, source_->Names());
    }
    HG_ASSIGN(profile_, source_->StacksOnly());
    first_ = source_->trace() != nullptr ? 0 : 1;
    if (source_->trace() != nullptr) {
      HG_ASSIGN(totals_, source_->Totals());
    } else if (!has_types_) {
      has_types_ = true;
      const Measures measures = MeasuresOf(*profile_);
      bytes_ = measures.name == "live" ? measures.main : kNone;
      blocks_ = bytes_ == kNone ? kNone : measures.objects;
      allocated_bytes_ = measures.allocated;
      allocated_blocks_ = measures.allocated_objects;
    }
    const uint64_t end = first_ + profile_->rows.size();
    stack_ = std::max<uint64_t>(wanted.low, first_);
    end_ = wanted.high < end ? wanted.high + 1 : end;
    SkipUnused();
    return {};
  }

  Status Next() override {
    ++stack_;
    SkipUnused();
    return {};
  }

  bool at_end() const override { return stack_ >= end_; }
  int64_t row_id() const override { return static_cast<int64_t>(stack_); }

  void Get(int column, sqlite3_context* out) override {
    const auto stack = static_cast<uint32_t>(stack_);
    switch (column) {
      case kStack:
        return Put(out, stack_);
      case kFunction:
        return PutLasting(out, names_->function(stack));
      case kModule:
        return PutLastingOrNull(out, names_->module(stack));
      case kDepth:
        return Put(out, names_->depth(stack));
      case kText:
        return PutCopy(out, names_->Collapsed(stack));
      case kTruncated:
        return Put(out, profile_->rows[stack - first_].truncated ? 1 : 0);
      default:
        return totals_ != nullptr ? GetTotal(column, out) : GetFigure(column, out);
    }
  }

 private:
  // Numbers of a trace that no event has are no stacks.
  void SkipUnused() {
    if (totals_ == nullptr) return;
    while (stack_ < end_ && profile_->rows[stack_].leaf == kNone &&
           (stack_ >= totals_->size() || (*totals_)[stack_].empty())) {
      ++stack_;
    }
  }

  void GetTotal(int column, sqlite3_context* out) const {
    const StackUse sums = stack_ < totals_->size() ? (*totals_)[stack_] : StackUse{};
    switch (column) {
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
      case kTemporaryBytes:
        return Put(out, sums.temporary_bytes);
      case kTemporaryBlocks:
        return Put(out, sums.temporary_blocks);
      case kMapped:
        return Put(out, sums.mapped());
      case kMeanLifetime:
        if (sums.freed_bytes != 0) {
          const double mean = sums.lifetime_byte_ns / static_cast<double>(sums.freed_bytes);
          if (mean >= 0 && mean < 9e18) Put(out, static_cast<uint64_t>(mean));
        }
        return;
      default:
        return;
    }
  }

  void GetFigure(int column, sqlite3_context* out) const {
    const auto row = static_cast<RowId>(stack_ - first_);
    const auto put = [&](size_t type) {
      if (type != kNone) sqlite3_result_int64(out, profile_->value(row, type));
    };
    const auto put_freed = [&](size_t allocated, size_t live) {
      if (allocated == kNone || live == kNone) return;
      sqlite3_result_int64(
          out, std::max<int64_t>(0, profile_->value(row, allocated) - profile_->value(row, live)));
    };
    switch (column) {
      case kLiveBytes:
        return put(bytes_);
      case kLiveBlocks:
        return put(blocks_);
      case kAllocatedBytes:
        return put(allocated_bytes_);
      case kAllocatedBlocks:
        return put(allocated_blocks_);
      case kFreedBytes:
        return put_freed(allocated_bytes_, bytes_);
      case kFreedBlocks:
        return put_freed(allocated_blocks_, blocks_);
      case kSamples:
        return PutOrNull(out, profile_->rows[row].samples);
      default:
        return;
    }
  }

  QuerySource* source_;
  const NamesInStacks* names_ = nullptr;
  const Profile* profile_ = nullptr;
  const std::vector<StackUse>* totals_ = nullptr;
  uint64_t first_ = 0;
  uint64_t stack_ = 0;
  uint64_t end_ = 0;
  // Sample types.
  bool has_types_ = false;
  size_t bytes_ = kNone;
  size_t blocks_ = kNone;
  size_t allocated_bytes_ = kNone;
  size_t allocated_blocks_ = kNone;
};

class StacksTable final : public Table {
 public:
  explicit StacksTable(QuerySource* source)
      : Table(source, "stacks", "who allocated, with figures over the whole recording", Columns()) {
  }

  bool Accepts(const Term& term) const override {
    return term.column == kStack && term.op == SQLITE_INDEX_CONSTRAINT_EQ;
  }
  Price PriceOf(const Scan& scan) const override {
    if (!scan.terms.empty()) return {1, 1};
    const trace::TraceFile* trace = source()->trace();
    const double count = trace != nullptr ? trace->stack_count() : 10000;
    return {count * 2 + 10, count + 1};
  }
  std::unique_ptr<Cursor> Open() override { return std::make_unique<StacksCursor>(source()); }
};

}  // namespace

std::shared_ptr<Table> MakeStacksTable(QuerySource* source) {
  return std::make_shared<StacksTable>(source);
}

}  // namespace heapgauge::query
