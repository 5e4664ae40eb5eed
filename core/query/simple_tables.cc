#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "core/fold/statistics.h"
#include "core/query/schema.h"
#include "core/query/source.h"
#include "core/query/virtual_table.h"

namespace heapgauge::query {

// A table that is a list: how many rows, and what is in each. Enough for most of them.

// Called when a walk begins.
using CountRows = std::function<Result<size_t>()>;
// Puts a column of a row, or nothing for NULL.
using PutColumn = std::function<void(size_t row, int column, sqlite3_context* out)>;

// `key` is a column that holds the row's own number, so that other tables can be joined quickly;
// -1: none does. An error in `available` says why there is no such table here.
std::shared_ptr<Table> MakeList(QuerySource* source, const char* name, const char* meaning,
                                std::vector<Column> columns, CountRows count, PutColumn put,
                                int key = -1, Status available = {});

namespace {

class ListCursor final : public Cursor {
 public:
  ListCursor(const CountRows& count, const PutColumn& put) : count_(count), put_(put) {}

  Status Start(const Scan&, std::span<sqlite3_value*> values) override {
    HG_ASSIGN(const size_t count, count_());
    Range rows;
    for (sqlite3_value* value : values) rows.Restrict(SQLITE_INDEX_CONSTRAINT_EQ, value);
    row_ = rows.low;
    end_ = rows.high < count ? rows.high + 1 : count;
    return {};
  }
  Status Next() override {
    ++row_;
    return {};
  }
  bool at_end() const override { return row_ >= end_; }
  void Get(int column, sqlite3_context* out) override { put_(row_, column, out); }
  int64_t row_id() const override { return static_cast<int64_t>(row_); }

 private:
  const CountRows& count_;
  const PutColumn& put_;
  size_t row_ = 0;
  size_t end_ = 0;
};

class ListTable final : public Table {
 public:
  ListTable(QuerySource* source, const char* name, const char* meaning, std::vector<Column> columns,
            CountRows count, PutColumn put, int key, Status available)
      : Table(source, name, meaning, std::move(columns)),
        count_(std::move(count)),
        put_(std::move(put)),
        key_(key),
        available_(std::move(available)) {}

  Status Available() const override { return available_; }
  bool Accepts(const Term& term) const override {
    return term.column == key_ && term.op == SQLITE_INDEX_CONSTRAINT_EQ;
  }
  Price PriceOf(const Scan& scan) const override {
    return scan.terms.empty() ? Price{10000, 10000} : Price{1, 1};
  }
  std::unique_ptr<Cursor> Open() override { return std::make_unique<ListCursor>(count_, put_); }

 private:
  CountRows count_;
  PutColumn put_;
  int key_;
  Status available_;
};

}  // namespace

std::shared_ptr<Table> MakeList(QuerySource* source, const char* name, const char* meaning,
                                std::vector<Column> columns, CountRows count, PutColumn put,
                                int key, Status available) {
  return std::make_shared<ListTable>(source, name, meaning, std::move(columns), std::move(count),
                                     std::move(put), key, std::move(available));
}

// Tables that are lists: each row is found by its place.

namespace {

// Threads of a trace, or those of the sampled blocks of a profile.
std::shared_ptr<Table> Threads(QuerySource* source) {
  return MakeList(
      source, "threads", "threads that allocated or freed",
      {{"thread", "INTEGER", "key, as in allocations"},
       {"id", "INTEGER", "the kernel's number of the thread"},
       {"name", "TEXT", "the last that was seen"},
       {"first_ns", "INTEGER", "its first event"}},
      [source]() -> Result<size_t> { return source->threads().size(); },
      [source](size_t row, int column, sqlite3_context* out) {
        const trace::Thread& thread = source->threads()[row];
        if (column == 0) Put(out, row);
        if (column == 1) Put(out, thread.id);
        if (column == 2) PutLastingOrNull(out, thread.name);
        if (column == 3) Put(out, thread.first_ns);
      },
      0);
}

std::shared_ptr<Table> Modules(QuerySource* source) {
  return MakeList(
      source, "modules", "the program and its libraries",
      {{"module", "INTEGER", "key, as in frames"},
       {"path", "TEXT", "of the file"},
       {"build_id", "TEXT", "which build it is"},
       {"start", "INTEGER", "first address"},
       {"end", "INTEGER", "behind its last address"}},
      [source]() -> Result<size_t> {
        HG_ASSIGN(const Profile* profile, source->StacksOnly());
        return profile->modules.size();
      },
      [source](size_t row, int column, sqlite3_context* out) {
        // Naming may move modules, so no text of theirs lasts.
        const Module& module = (*source->StacksOnly())->modules[row];
        if (column == 0) Put(out, row);
        if (column == 1) PutCopy(out, module.path);
        if (column == 2 && !module.build_id.empty()) PutCopy(out, module.build_id);
        if (column == 3) PutOrNull(out, module.start);
        if (column == 4) PutOrNull(out, module.end);
      },
      0);
}

// The memory of the process as the kernel saw it.
std::vector<trace::MemoryPoint> MemoryPoints(QuerySource* source) {
  if (source->trace() != nullptr) return source->trace()->memory();
  std::vector<trace::MemoryPoint> points;
  const auto profile = source->StacksOnly();
  if (!profile) return points;
  for (const TimelinePoint& point : (*profile)->timeline) {
    if (point.resident_bytes == 0) continue;
    trace::MemoryPoint& memory = points.emplace_back();
    memory.time_ns = point.time_ns;
    memory.resident_bytes = point.resident_bytes;
  }
  const DumpFacts& dump = (*profile)->recording.dump;
  if (dump.resident_bytes != 0) {
    points.push_back({dump.memory_ns, dump.resident_bytes, dump.anonymous_bytes, 0,
                      dump.swapped_bytes, dump.cgroup_bytes, dump.cgroup_limit});
  }
  return points;
}

std::shared_ptr<Table> Memory(QuerySource* source) {
  auto points = std::make_shared<std::vector<trace::MemoryPoint>>(MemoryPoints(source));
  return MakeList(
      source, "memory", "memory of the process as the kernel counts it, from time to time",
      {{"time_ns", "INTEGER", "since the recording began"},
       {"resident_bytes", "INTEGER", "RSS"},
       {"anonymous_bytes", "INTEGER", "of these, not of files"},
       {"proportional_bytes", "INTEGER", "PSS; NULL where it was not taken"},
       {"swapped_bytes", "INTEGER", "in swap"},
       {"cgroup_bytes", "INTEGER", "of its cgroup"},
       {"cgroup_limit", "INTEGER", "that the cgroup may have"}},
      [points]() -> Result<size_t> { return points->size(); },
      [points](size_t row, int column, sqlite3_context* out) {
        const trace::MemoryPoint& point = (*points)[row];
        if (column == 0) Put(out, point.time_ns);
        if (column == 1) PutOrNull(out, point.resident_bytes);
        if (column == 2) PutOrNull(out, point.anonymous_bytes);
        if (column == 3) PutOrNull(out, point.proportional_bytes);
        if (column == 4) Put(out, point.swapped_bytes);
        if (column == 5) PutOrNull(out, point.cgroup_bytes);
        if (column == 6) PutOrNull(out, point.cgroup_limit);
      });
}

// For a table that traces do not have.
Status ForProfiles(const QuerySource& source, const char* why_not) {
  if (source.trace() == nullptr) return {};
  return Fail(ErrorCode::kUnsupported, why_not);
}

std::shared_ptr<Table> Blocks(QuerySource* source) {
  return MakeList(
      source, "blocks", "live blocks that were sampled, and what they stand for (profiles)",
      {{"block", "INTEGER", "from 0"},
       {"stack", "INTEGER", "who allocated it"},
       {"thread", "INTEGER", "that allocated it: key of threads"},
       {"address", "INTEGER", "of the block"},
       {"size", "INTEGER", "bytes that were asked for"},
       {"interval", "INTEGER", "mean bytes between samples when it was taken"},
       {"live_bytes", "REAL", "bytes of the heap that it stands for"},
       {"live_blocks", "REAL", "blocks of the heap that it stands for"},
       {"born_ns", "INTEGER", "since the recording began"},
       {"age_ns", "INTEGER", "at the moment of the profile"},
       {"inherited", "INTEGER", "1 if a parent process allocated it before fork"}},
      [source]() -> Result<size_t> {
        HG_ASSIGN(const Profile* profile, source->StacksOnly());
        return profile->blocks.size();
      },
      [source](size_t row, int column, sqlite3_context* out) {
        const heapgauge::SampledBlock& block = (*source->StacksOnly())->blocks[row];
        const double size = static_cast<double>(block.size);
        const double p =
            block.interval <= 1 ? 1 : -std::expm1(-size / static_cast<double>(block.interval));
        const uint64_t now = source->end_ns();
        const uint32_t thread = source->ThreadIndex(block.thread);
        if (column == 0) Put(out, row);
        if (column == 1 && block.row != kNone) Put(out, uint64_t{block.row} + 1);
        if (column == 2 && thread != trace::kNoIndex) Put(out, thread);
        if (column == 3) PutOrNull(out, block.address);
        if (column == 4) Put(out, block.size);
        if (column == 5) Put(out, block.interval);
        if (column == 6) sqlite3_result_double(out, p > 0 ? size / p : 0);
        if (column == 7) sqlite3_result_double(out, p > 0 ? 1 / p : 0);
        if (column == 8) Put(out, block.birth_ns);
        if (column == 9) Put(out, now > block.birth_ns ? now - block.birth_ns : 0);
        if (column == 10) Put(out, block.inherited ? 1 : 0);
      },
      0,
      ForProfiles(*source,
                  "there is no table blocks here: a trace has allocations, those with freed_ns IS "
                  "NULL are live"));
}

// Each sample type of each stack of a profile, whatever it counts.
std::shared_ptr<Table> Figures(QuerySource* source) {
  return MakeList(
      source, "figures", "every figure of every stack, by sample type (profiles)",
      {{"stack", "INTEGER", "key of stacks"},
       {"type", "TEXT", "inuse_space, alloc_objects, samples, ..."},
       {"unit", "TEXT", "bytes, count, nanoseconds, ..."},
       {"value", "INTEGER", "final: what a sample stands for is worked in"},
       {"low", "REAL", "the true value is not below, 95 times in 100"},
       {"high", "REAL", "nor above"}},
      [source]() -> Result<size_t> {
        HG_ASSIGN(const Profile* profile, source->StacksOnly());
        return profile->values.size();
      },
      [source](size_t row, int column, sqlite3_context* out) {
        const Profile& profile = **source->StacksOnly();
        const size_t types = profile.sample_types.size();
        const auto id = static_cast<RowId>(row / types);
        const SampleType& type = profile.sample_types[row % types];
        if (column == 0) Put(out, uint64_t{id} + 1);
        if (column == 1) PutLasting(out, type.name);
        if (column == 2) PutLasting(out, type.unit);
        if (column == 3) sqlite3_result_int64(out, profile.values[row]);
        if (column < 4) return;
        const Interval interval = Interval95(profile.estimate(id, row % types));
        sqlite3_result_double(out, column == 4 ? interval.low : interval.high);
      },
      -1,
      ForProfiles(*source,
                  "there is no table figures here: it is for profiles, a trace has stacks"));
}

struct LabelAt {
  uint32_t stack;
  Label label;
};

std::shared_ptr<Table> Labels(QuerySource* source) {
  auto labels = std::make_shared<std::vector<LabelAt>>();
  auto filled = std::make_shared<bool>(false);
  return MakeList(
      source, "labels", "labels that stacks carry, one row each",
      {{"stack", "INTEGER", "key of stacks"},
       {"key", "TEXT", "of the label"},
       {"value", "TEXT", "a text, or a number"},
       {"unit", "TEXT", "of a number"}},
      [=]() -> Result<size_t> {
        HG_ASSIGN(const Profile* profile, source->StacksOnly());
        if (!*filled) {
          const uint32_t first = source->trace() != nullptr ? 0 : 1;
          for (RowId row = 0; row < profile->rows.size(); ++row) {
            for (const Label& label : profile->LabelsOf(row)) {
              labels->push_back({row + first, label});
            }
          }
          *filled = true;
        }
        return labels->size();
      },
      [=](size_t row, int column, sqlite3_context* out) {
        const Profile& profile = **source->StacksOnly();
        const auto& [stack, label] = (*labels)[row];
        const auto text = [&](StringId id) {
          if (id != kNone) PutCopy(out, profile.strings[id]);
        };
        if (column == 0) Put(out, stack);
        if (column == 1) text(label.key);
        if (column == 2 && label.is_number()) sqlite3_result_int64(out, label.number);
        if (column == 2 && !label.is_number()) text(label.text);
        if (column == 3) text(label.unit);
      });
}

std::shared_ptr<Table> Markers(QuerySource* source) {
  static const std::vector<trace::Marker> kNone;
  const std::vector<trace::Marker>* markers =
      source->trace() != nullptr ? &source->trace()->markers() : &kNone;
  return MakeList(
      source, "markers", "marks in time (traces)",
      {{"time_ns", "INTEGER", "since the recording began"}, {"text", "TEXT", "what it says"}},
      [=]() -> Result<size_t> { return markers->size(); },
      [=](size_t row, int column, sqlite3_context* out) {
        if (column == 0) Put(out, (*markers)[row].time_ns);
        if (column == 1) PutLasting(out, (*markers)[row].text);
      });
}

std::shared_ptr<Table> Facts(QuerySource* source) {
  auto facts = std::make_shared<std::vector<std::pair<const char*, std::string>>>();
  const RecordingFacts& r = source->recording();
  const auto number = [&](const char* name, uint64_t value) {
    facts->emplace_back(name, std::to_string(value));
  };
  // Nothing if it is 0.
  const auto if_known = [&](const char* name, uint64_t value) {
    facts->emplace_back(name, value != 0 ? std::to_string(value) : "");
  };
  const auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts->emplace_back(name, value);
  };
  text("program", r.program);
  text("command", r.command());
  if_known("pid", r.pid);
  text("allocator", r.allocator);
  text("state", StateName(r.state));
  if_known("duration_ns", source->end_ns());
  if (r.start_unix_ns != 0) number("start_unix_ns", r.start_unix_ns);
  if (const trace::TraceFile* trace = source->trace()) {
    const trace::Facts& f = trace->facts();
    number("events", trace->events());
    number("allocations", trace->blocks());
    number("file_bytes", trace->file_bytes());
    number("lost_events", f.lost_events);
    number("unknown_frees", f.unknown_frees);
    number("missed_frees", f.missed_frees);
    number("culled_below_ns", f.culled_below_ns);
    number("culled_blocks", f.culled_blocks);
    number("culled_bytes", f.culled_bytes);
    number("complete", f.complete ? 1 : 0);
  } else {
    number("interval", r.interval);
    number("samples", r.samples);
  }
  return MakeList(
      source, "facts", "what is known about the recording",
      {{"name", "TEXT", "of the fact"}, {"value", "TEXT", "of it"}},
      [=]() -> Result<size_t> { return facts->size(); },
      [=](size_t row, int column, sqlite3_context* out) {
        if (column == 0) PutLasting(out, (*facts)[row].first);
        if (column == 1) PutLastingOrNull(out, (*facts)[row].second);
      });
}

}  // namespace

std::vector<std::shared_ptr<Table>> MakeSimpleTables(QuerySource* source) {
  return {Threads(source), Modules(source), Memory(source),  Blocks(source),
          Figures(source), Labels(source),  Markers(source), Facts(source)};
}

}  // namespace heapgauge::query
