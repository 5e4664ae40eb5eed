// allocations: one row for each block that was ever allocated.

#include <fmt/format.h>

#include <algorithm>

#include "core/query/allocation_columns.h"
#include "core/query/block_reader.h"
#include "core/query/schema.h"
#include "core/query/sql_values.h"

namespace heapgauge::query {
namespace {

using namespace allocation;  // NOLINT: its columns

// Rows that may be gathered, by the memory they take.
constexpr double kMostGathered = 256 << 20;

class AllocationsCursor final : public Cursor {
 public:
  explicit AllocationsCursor(QuerySource* source) : source_(source) {}

  Status Start(const Scan& scan, std::span<sqlite3_value*> values) override {
    recorded_.end_ns = source_->end_ns();
    recorded_.only_blocks = source_->trace() != nullptr && source_->trace()->facts().only_blocks;
    HG_ASSIGN(BlockScan blocks, Understand(scan, values));
    reader_ = ReadBlocks(source_, std::move(blocks));
    grouped_.reset();
    row_ = 0;
    if (!scan.group_by.empty()) {
      auto grouped = std::make_unique<GroupedRows>(scan, recorded_);
      for (;;) {
        HG_ASSIGN(const trace::Block* block, reader_->Next());
        if (block == nullptr) break;
        grouped->Add(*block);
      }
      grouped->Arrange();
      grouped_ = std::move(grouped);
      return {};
    }
    return Next();
  }

  Status Next() override {
    ++row_;
    if (grouped_ != nullptr) return {};
    HG_ASSIGN(block_, reader_->Next());
    return {};
  }

  bool at_end() const override {
    return grouped_ != nullptr ? row_ >= grouped_->size() : block_ == nullptr;
  }

  void Get(int column, sqlite3_context* out) override {
    if (grouped_ != nullptr) return PutNumber(column, grouped_->at(row_, column), out);
    if (column == kLifespan) return PutLifespan(*block_, out);
    PutNumber(column, NumberIn(*block_, column, recorded_), out);
  }

  int64_t row_id() const override {
    return grouped_ != nullptr ? static_cast<int64_t>(row_) : NumberIn(*block_, kNumber, recorded_);
  }

 private:
  // What the conditions mean for reading.
  Result<BlockScan> Understand(const Scan& scan, std::span<sqlite3_value*> values) {
    BlockScan blocks;
    blocks.ends_matter = false;
    for (int column = 0; column <= kLifespan; ++column) {
      if (NeedsEnd(column) && scan.uses(column)) blocks.ends_matter = true;
    }
    if (scan.uses(kAddress)) blocks.parts |= trace::kAddresses;
    if (scan.uses(kSlack) || scan.uses(kAlignment) || scan.uses(kCall)) {
      blocks.parts |= trace::kDetails;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const Term& term = scan.terms[i];
      if (NeedsEnd(term.column)) blocks.ends_matter = true;
      HG_TRY(Apply(term, values[i], &blocks));
    }
    return blocks;
  }

  Status Apply(const Term& term, sqlite3_value* value, BlockScan* blocks) {
    switch (term.column) {
      case kNumber:
        blocks->number.Restrict(term.op, value);
        break;
      case kBorn:
        blocks->born.Restrict(term.op, value);
        break;
      case kSize:
        blocks->size.Restrict(term.op, value);
        break;
      case kFreed:
        ApplyFreed(term.op, value, blocks);
        break;
      case kIsMapping: {
        Range range;
        range.Restrict(term.op, value);
        if (!range.contains(0)) blocks->mapping = true;
        if (!range.contains(1)) blocks->mapping = false;
        if (!range.contains(0) && !range.contains(1)) blocks->number.Nothing();
        break;
      }
      case kThread:
        ApplyList(term.op, value, &blocks->threads);
        break;
      case kStack:
        if (term.op == kStackContains) return ApplyPattern(value, blocks);
        ApplyList(term.op, value, &blocks->stacks);
        break;
      case kLifespan: {
        HG_ASSIGN(const std::optional<ExactMoment> moment, ExactMomentOf(value, source_));
        if (moment) {
          blocks->LiveAt(*moment);
        } else {  // live_at(NULL) is true for none
          blocks->number.Nothing();
        }
        break;
      }
      default:
        break;
    }
    return {};
  }

  static void ApplyFreed(int op, sqlite3_value* value, BlockScan* blocks) {
    if (op == SQLITE_INDEX_CONSTRAINT_ISNULL) {
      blocks->dead = false;
    } else {
      blocks->live = false;  // NULL is neither greater nor less
      if (IsComparison(op)) blocks->died.Restrict(op, value);
    }
  }

  static void ApplyList(int op, sqlite3_value* value, std::optional<std::vector<uint32_t>>* list) {
    std::vector<uint32_t> wanted;
    const auto add = [&](sqlite3_value* v) {
      if (sqlite3_value_type(v) == SQLITE_NULL) return true;  // equals nothing
      if (sqlite3_value_type(v) != SQLITE_INTEGER) return false;
      const int64_t number = sqlite3_value_int64(v);
      if (number >= 0 && number < UINT32_MAX) wanted.push_back(static_cast<uint32_t>(number));
      return true;
    };
    if (op == kOneOf) {
      sqlite3_value* one = nullptr;
      for (int code = sqlite3_vtab_in_first(value, &one); code == SQLITE_OK;
           code = sqlite3_vtab_in_next(value, &one)) {
        if (!add(one)) return;  // SQLite knows how to compare it
      }
    } else if (!add(value)) {
      return;
    }
    std::sort(wanted.begin(), wanted.end());
    if (*list) {
      std::vector<uint32_t> both;
      std::set_intersection(wanted.begin(), wanted.end(), (*list)->begin(), (*list)->end(),
                            std::back_inserter(both));
      wanted.swap(both);
    }
    *list = std::move(wanted);
  }

  Status ApplyPattern(sqlite3_value* value, BlockScan* blocks) {
    if (sqlite3_value_type(value) == SQLITE_NULL) {
      blocks->number.Nothing();
      return {};
    }
    HG_ASSIGN(NamesInStacks * names, source_->Names());
    HG_ASSIGN(const auto matching, names->Matching(TextOf(value)));
    std::vector<bool> set(names->end());
    for (uint32_t stack = names->first(); stack < names->end(); ++stack) {
      set[stack] = names->Matches(*matching, stack);
    }
    blocks->stack_sets.push_back(std::move(set));
    return {};
  }

  QuerySource* source_;
  Recorded recorded_;
  std::unique_ptr<BlockReader> reader_;
  const trace::Block* block_ = nullptr;
  std::unique_ptr<GroupedRows> grouped_;
  size_t row_ = 0;
};

class AllocationsTable final : public Table {
 public:
  explicit AllocationsTable(QuerySource* source)
      : Table(source, "allocations",
              "every block that was allocated; of a sampled profile its sampled live blocks",
              Columns()) {}

  Status Available() const override {
    if (source()->trace() != nullptr) return {};
    HG_ASSIGN(const Profile* profile, source()->StacksOnly());
    if (!profile->blocks.empty() || source()->recording().interval != 0) return {};
    return Fail(
        ErrorCode::kUnsupported,
        "there is no table allocations here: this profile has sums for each stack and no "
        "single blocks (see stacks and figures; a trace has them, asked by itself: heapgauge "
        "run --trace)");
  }

  bool Accepts(const Term& term) const override {
    switch (term.column) {
      case kNumber:
      case kBorn:
      case kSize:
        return IsComparison(term.op);
      case kIsMapping:
        return IsComparison(term.op);
      case kFreed:
        return IsComparison(term.op) || term.op == SQLITE_INDEX_CONSTRAINT_ISNULL ||
               term.op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
      case kThread:
        return term.op == SQLITE_INDEX_CONSTRAINT_EQ || term.op == kOneOf;
      case kStack:
        return term.op == SQLITE_INDEX_CONSTRAINT_EQ || term.op == kOneOf ||
               term.op == kStackContains;
      case kLifespan:
        return term.op == kLiveAt;
      default:
        return false;
    }
  }

  bool Exact(const Term& term) const override {
    return term.op == kLiveAt || term.op == kStackContains;
  }

  Price PriceOf(const Scan& scan) const override {
    const trace::TraceFile* trace = source()->trace();
    double blocks = 1000;
    if (trace != nullptr) {
      blocks = static_cast<double>(trace->blocks()) + 1;
    } else if (const auto profile = source()->StacksOnly()) {
      blocks = static_cast<double>((*profile)->blocks.size()) + 1;
    }
    Price price;
    price.rows = blocks;
    price.cost = blocks + 1000;
    for (const Term& term : scan.terms) {
      const bool equal = term.op == SQLITE_INDEX_CONSTRAINT_EQ;
      if (term.column == kNumber && equal) {
        price.rows = 1;
        price.cost /= trace == nullptr ? 1 : 50;  // a segment, which is often still there
      } else if (term.column == kNumber || term.column == kBorn || term.column == kFreed ||
                 term.column == kLifespan) {
        price.rows /= equal ? 100 : 4;
        price.cost /= equal ? 10 : 3;  // less is read
      } else {
        // All of it is read all the same: not a table to look into for each row of another.
        price.rows /= equal ? 20 : 2;
      }
    }
    price.rows = std::max(price.rows, 1.0);
    price.groups = CanGroup(scan, blocks);
    return price;
  }

  std::unique_ptr<Cursor> Open() override { return std::make_unique<AllocationsCursor>(source()); }

 private:
  static bool CanGroup(const Scan& scan, double blocks) {
    if (scan.group_by.empty() || scan.uses(kLifespan)) return false;
    for (const int column : scan.group_by) {
      if (column < 0 || column >= kLifespan) return false;
    }
    return GroupedRows::BytesFor(scan, blocks) <= kMostGathered && blocks < UINT32_MAX;
  }
};

}  // namespace

std::shared_ptr<Table> MakeAllocationsTable(QuerySource* source) {
  return std::make_shared<AllocationsTable>(source);
}

}  // namespace heapgauge::query
