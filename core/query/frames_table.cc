// frames: the frames of every stack, innermost first.

#include "core/query/schema.h"

namespace heapgauge::query {
namespace {

enum Id : int {
  kStack,
  kDepth,
  kFunction,
  kName,
  kSystemName,
  kFile,
  kLine,
  kModule,
  kModuleKey,
  kAddress,
  kInlined,
};

std::vector<Column> Columns() {
  return {
      {"stack", "INTEGER", "key of stacks"},
      {"depth", "INTEGER", "0 is the innermost frame"},
      {"function", "TEXT", "name as reports show it"},
      {"name", "TEXT", "the whole name, with parameters and template arguments"},
      {"system_name", "TEXT", "as the linker knows it; NULL if the same"},
      {"file", "TEXT", "source file"},
      {"line", "INTEGER", "in it"},
      {"module", "TEXT", "path of the executable or library"},
      {"module_key", "INTEGER", "the same as key of modules"},
      {"address", "INTEGER", "as found on the stack"},
      {"inlined", "INTEGER", "1 if it was inlined into the next frame"},
  };
}

class FramesCursor final : public Cursor {
 public:
  explicit FramesCursor(QuerySource* source) : source_(source) {}

  Status Start(const Scan&, std::span<sqlite3_value*> values) override {
    Range wanted;
    for (sqlite3_value* value : values) wanted.Restrict(SQLITE_INDEX_CONSTRAINT_EQ, value);
    HG_ASSIGN(names_, source_->Names());
    stack_ = std::max<uint64_t>(wanted.low, names_->first());
    end_ = wanted.high < names_->end() ? wanted.high + 1 : names_->end();
    Enter();
    return {};
  }

  Status Next() override {
    ++depth_;
    ++k_;
    if (k_ < location().frame_count) return {};
    k_ = 0;
    node_ = names_->profile().nodes[node_].parent;
    FindFrame();
    return {};
  }

  bool at_end() const override { return stack_ >= end_; }
  int64_t row_id() const override { return static_cast<int64_t>(stack_ << 32 | depth_); }

  void Get(int column, sqlite3_context* out) override {
    const Profile& profile = names_->profile();
    const Location& at = location();
    const Frame& frame = profile.frames[at.first_frame + k_];
    const Function& function = profile.functions[frame.function];
    switch (column) {
      case kStack:
        return Put(out, stack_);
      case kDepth:
        return Put(out, depth_);
      case kFunction:
        return PutLasting(out, names_->frame_name(at.first_frame + k_));
      case kName:
        return PutLasting(out, function.name);
      case kSystemName:
        return PutLastingOrNull(out, function.system_name);
      case kFile:
        return PutLastingOrNull(out, function.file);
      case kLine:
        return PutOrNull(out, frame.line);
      case kModule:
        if (at.module != kNone) PutLastingOrNull(out, profile.modules[at.module].path);
        return;
      case kModuleKey:
        if (at.module != kNone) Put(out, at.module);
        return;
      case kAddress:
        return PutOrNull(out, at.address);
      case kInlined:
        return Put(out, frame.inlined ? 1 : 0);
      default:
        return;
    }
  }

 private:
  const Location& location() const {
    const Profile& profile = names_->profile();
    return profile.locations[profile.nodes[node_].location];
  }

  // To the first frame of this stack, or of the next one that has any.
  void Enter() {
    k_ = 0;
    depth_ = 0;
    node_ = stack_ < end_ ? names_->row(static_cast<uint32_t>(stack_)).leaf : kNone;
    FindFrame();
  }

  // From node_ outwards to a location that has frames.
  void FindFrame() {
    while (stack_ < end_) {
      while (node_ != kNone && location().frame_count == 0) {
        node_ = names_->profile().nodes[node_].parent;
      }
      if (node_ != kNone) return;
      ++stack_;
      k_ = 0;
      depth_ = 0;
      if (stack_ < end_) node_ = names_->row(static_cast<uint32_t>(stack_)).leaf;
    }
  }

  QuerySource* source_;
  const NamesInStacks* names_ = nullptr;
  uint64_t stack_ = 0;
  uint64_t end_ = 0;
  NodeId node_ = kNone;
  uint32_t k_ = 0;  // frame of the location
  uint64_t depth_ = 0;
};

class FramesTable final : public Table {
 public:
  explicit FramesTable(QuerySource* source)
      : Table(source, "frames", "frames of stacks", Columns()) {}

  bool Accepts(const Term& term) const override {
    return term.column == kStack && term.op == SQLITE_INDEX_CONSTRAINT_EQ;
  }
  Price PriceOf(const Scan& scan) const override {
    if (!scan.terms.empty()) return {20, 20};
    const trace::TraceFile* trace = source()->trace();
    const double count = 20 * (trace != nullptr ? trace->stack_count() : 10000.0);
    return {count + 10, count + 1};
  }
  std::unique_ptr<Cursor> Open() override { return std::make_unique<FramesCursor>(source()); }
};

}  // namespace

std::shared_ptr<Table> MakeFramesTable(QuerySource* source) {
  return std::make_shared<FramesTable>(source);
}

}  // namespace heapgauge::query
