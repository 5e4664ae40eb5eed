#include "core/formats/heaptrack/heaptrack_writer.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr size_t kBuffer = 256 << 10;

std::string CommandOf(const RecordingFacts& recording) {
  const std::string text = Join(recording.command_line);
  return Printable(text.empty() ? recording.name() : text);
}

// A string of the file must not hold the end of a line.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\0') c = ' ';
  }
  return text;
}

}  // namespace

void HeaptrackWriter::Line(char mode, std::initializer_list<uint64_t> fields) {
  text_ += mode;
  for (const uint64_t field : fields) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, field, 16);
    text_ += ' ';
    text_.append(digits, end.ptr);
  }
  text_ += '\n';
}

void HeaptrackWriter::Begin(const std::vector<std::string>& comments) {
  // The version of heaptrack whose files these are like, and that of the format.
  Line('v', {0x10400, 3});
  for (const std::string& comment : comments) text_ += "# " + OneLine(comment) + "\n";
  text_ += "X " + OneLine(CommandOf(profile_.recording)) + "\n";
  const long pages = sysconf(_SC_PHYS_PAGES);
  Line('I', {kPageBytes, static_cast<uint64_t>(pages < 0 ? 0 : pages)});
  // heaptrack_print counts frees of pair 0 wrongly (docs/formats/heaptrack.md), so nobody is it.
  Line('a', {0, 0});
  instructions_.resize(profile_.locations.size());
  stacks_.resize(profile_.nodes.size());
}

uint32_t HeaptrackWriter::String(const std::string& text) {
  if (text.empty()) return 0;
  const auto [it, is_new] = strings_.try_emplace(text, static_cast<uint32_t>(strings_.size() + 1));
  if (is_new) {
    const std::string line = OneLine(text);
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, line.size(), 16);
    text_ += "s ";
    text_.append(digits, end.ptr);
    text_ += ' ' + line + '\n';
  }
  return it->second;
}

uint32_t HeaptrackWriter::Instruction(LocationId id) {
  if (instructions_[id] != 0) return instructions_[id];
  const Location& location = profile_.locations[id];
  std::vector<uint64_t> fields = {
      location.lookup_address(),  // as heaptrack has it: within the call
      location.module == kNone ? 0 : String(profile_.modules[location.module].path)};
  for (uint32_t i = 0; i < location.frame_count; ++i) {
    const Frame& frame = profile_.frames[location.first_frame + i];
    const Function& function = profile_.functions[frame.function];
    // A name that is only an address is what readers make of it by themselves.
    fields.push_back(function.placeholder ? 0 : String(function.name));
    fields.push_back(String(function.file));
    fields.push_back(frame.line);
  }
  if (location.frame_count == 1 && fields[2] == 0 && fields[3] == 0) fields.resize(2);
  text_ += 'i';
  for (const uint64_t field : fields) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, field, 16);
    text_ += ' ';
    text_.append(digits, end.ptr);
  }
  text_ += '\n';
  return instructions_[id] = ++instruction_count_;
}

uint32_t HeaptrackWriter::Stack(NodeId leaf) {
  // Outwards to what is written already, and back.
  std::vector<NodeId> missing;
  NodeId node = leaf;
  while (node != kNone && stacks_[node] == 0) {
    missing.push_back(node);
    node = profile_.nodes[node].parent;
  }
  uint32_t parent = node == kNone ? 0 : stacks_[node];
  for (size_t i = missing.size(); i-- > 0;) {
    const uint32_t instruction = Instruction(profile_.nodes[missing[i]].location);
    Line('t', {instruction, parent});
    parent = stacks_[missing[i]] = ++stack_count_;
  }
  return parent;
}

uint32_t HeaptrackWriter::Pair(uint64_t size, NodeId leaf) {
  const uint32_t stack = leaf != kNone && stacks_[leaf] != 0 ? stacks_[leaf] : Stack(leaf);
  bool is_new = false;
  const uint32_t pair = pairs_.Find(size, stack, &is_new);
  if (is_new) Line('a', {size, stack});
  return pair;
}

void HeaptrackWriter::Allocate(uint64_t size, NodeId leaf) {
  const uint32_t pair = Pair(size, leaf);
  Line('+', {pair});
}

void HeaptrackWriter::Free(uint64_t size, NodeId leaf) {
  const uint32_t pair = Pair(size, leaf);
  Line('-', {pair});
}

void HeaptrackWriter::Time(uint64_t milliseconds) { Line('c', {milliseconds}); }
void HeaptrackWriter::Resident(uint64_t bytes) { Line('R', {bytes / kPageBytes}); }

Status HeaptrackWriter::Flush(bool all) {
  if (text_.size() < (all ? 1 : kBuffer)) return {};
  const Status written = out_->Write(text_);
  text_.clear();
  return written;
}

// What is written by HeaptrackWriter: a profile, or a trace.

namespace {

// A line for each block: beyond this, nobody has the patience to read the file.
constexpr uint64_t kMaxBlocks = 200'000'000;
constexpr uint64_t kTickNs = 10'000'000;  // as heaptrack has it

// Writes times and memory between events, as often as heaptrack does.
class Clock {
 public:
  Clock(const std::vector<trace::MemoryPoint>& memory, HeaptrackWriter* writer)
      : memory_(memory), writer_(writer) {}

  // Before an event at that time.
  void GoTo(uint64_t time_ns) {
    while (next_ < memory_.size() && memory_[next_].time_ns <= time_ns) {
      const trace::MemoryPoint& point = memory_[next_++];
      if (point.resident_bytes == 0) continue;
      Tick(point.time_ns);
      writer_->Resident(point.resident_bytes);
    }
    if (time_ns >= last_ns_ + kTickNs) Tick(time_ns);
  }
  void End(uint64_t time_ns) {
    GoTo(time_ns);
    Tick(time_ns);
  }

 private:
  void Tick(uint64_t time_ns) {
    const uint64_t milliseconds = std::max(time_ns, last_ns_) / 1'000'000;
    if (begun_ && milliseconds == last_ns_ / 1'000'000) return;
    writer_->Time(milliseconds);
    last_ns_ = std::max(time_ns, last_ns_);
    begun_ = true;
  }

  const std::vector<trace::MemoryPoint>& memory_;
  HeaptrackWriter* writer_;
  size_t next_ = 0;
  uint64_t last_ns_ = 0;
  bool begun_ = false;
};

}  // namespace

Result<HeaptrackExport> WriteHeaptrack(const Profile& profile, const std::vector<bool>& selected,
                                       TextSink* out) {
  const size_t objects = profile.FindType("inuse_objects");
  const size_t space = profile.FindType("inuse_space");
  if (std::max(objects, space) >= profile.sample_types.size()) {
    return Fail(ErrorCode::kUnsupported,
                "the profile has no figures of memory in use (inuse_objects, inuse_space)");
  }
  HeaptrackExport result;
  std::vector<RowId> rows;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (!selected.empty() && !selected[row]) continue;
    const int64_t n = profile.value(row, objects);
    const int64_t bytes = profile.value(row, space);
    if (n <= 0 || bytes < 0) {
      if (n != 0 || bytes != 0) ++result.skipped_rows;
      continue;
    }
    rows.push_back(row);
    result.allocations += static_cast<uint64_t>(n);
    if (result.allocations > kMaxBlocks) {
      return Fail(ErrorCode::kUnsupported,
                  "more than 200 million live blocks, each of which would be a line");
    }
  }
  HeaptrackWriter writer(profile, out);
  writer.Begin({"made by heapgauge from a profile: the blocks that were live, none of them freed",
                "sizes are means of their stack; no times, no temporary allocations, no peak"});
  for (const RowId row : rows) {
    const auto n = static_cast<uint64_t>(profile.value(row, objects));
    const auto bytes = static_cast<uint64_t>(profile.value(row, space));
    const uint64_t larger = bytes % n;
    for (uint64_t i = 0; i < n; ++i) {
      writer.Allocate(bytes / n + (i < larger ? 1 : 0), profile.rows[row].leaf);
      HG_TRY(writer.Flush(false));
    }
  }
  writer.Time(profile.recording.duration_ns / 1'000'000);
  HG_TRY(writer.Flush(true));
  return result;
}

Result<HeaptrackExport> WriteHeaptrack(const trace::TraceFile& trace,
                                       const trace::TraceFile::Stacks& stacks,
                                       ProgressSink* progress, TextSink* out) {
  HeaptrackExport result;
  HeaptrackWriter writer(stacks.profile, out);
  writer.Begin({"made by heapgauge from a trace: every allocation and free in order"});
  const auto leaf = [&](const trace::Block& block) {
    return block.stack < stacks.stacks.size() ? stacks.stacks[block.stack].leaf : kNone;
  };
  Clock clock(trace.memory(), &writer);
  trace::Segment segment;
  for (size_t i = 0; i < trace.segments().size(); ++i) {
    if (progress != nullptr) {
      progress->Report("writing", i, trace.segments().size(), "segments");
    }
    HG_TRY(trace.ReadSegment(i, trace::kOldBlocks | trace::kNewBlocks | trace::kEvents, &segment));
    for (const trace::Event& event : segment.events) {
      clock.GoTo(event.time_ns);
      if (event.died != trace::kNoIndex) {
        const trace::Block& block = segment.blocks[event.died];
        if (!block.is_mapping) writer.Free(block.size, leaf(block));
      }
      if (event.born != trace::kNoIndex) {
        const trace::Block& block = segment.blocks[event.born];
        if (!block.is_mapping) {
          writer.Allocate(block.size, leaf(block));
          ++result.allocations;
        }
      }
      HG_TRY(writer.Flush(false));
    }
  }
  clock.End(trace.end_ns());
  HG_TRY(writer.Flush(true));
  return result;
}

}  // namespace heapgauge
