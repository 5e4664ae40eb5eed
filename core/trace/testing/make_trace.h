// Makes traces for tests: stacks of named functions, allocations, frees, whatever happened, and
// what the right answers are. Not for use outside of tests.
//
//   MakeTrace m;
//   const uint32_t stack = m.Stack({"leaf", "main"});        // innermost first
//   const uint64_t block = m.Allocate(10, 0, 100, stack);    // time, thread, size, stack
//   m.Free(25, block);
//   const auto trace = m.Open();                             // a TraceFile; or m.Write(path)
//   m.blocks()[block].death_ns == 25
//
// All is kept in memory until Write, and stays there as the oracle: blocks() as they were at the
// end, by number; events() in order. Frames have names within the trace, so nothing needs to be
// symbolized. Bad use ends the program.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/trace/file/trace_file.h"
#include "core/trace/record/trace_writer.h"

namespace heapgauge::trace::testing {

// A function on a stack. One code address for each distinct one.
struct FakeFrame {
  FakeFrame(const char* name) : function(name) {}  // NOLINT: so that a list of names is a stack
  FakeFrame(std::string name, std::string source = "made.cc", uint32_t at = 1,
            std::string in = "/made/program")
      : function(std::move(name)), file(std::move(source)), line(at), module(std::move(in)) {}

  std::string function;
  std::string file = "made.cc";
  uint32_t line = 1;
  std::string module = "/made/program";

  auto Key() const { return std::tie(module, file, line, function); }
  friend bool operator<(const FakeFrame& a, const FakeFrame& b) { return a.Key() < b.Key(); }
};

// The file goes when this does.
class TemporaryTrace {
 public:
  TemporaryTrace() {
    std::string name = (std::filesystem::temp_directory_path() / "made-trace-XXXXXX").string();
    const int fd = mkstemp(name.data());
    if (fd < 0) std::abort();
    close(fd);
    path_ = name;
  }
  ~TemporaryTrace() { unlink(path_.c_str()); }
  TemporaryTrace(const TemporaryTrace&) = delete;
  TemporaryTrace& operator=(const TemporaryTrace&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class MakeTrace {
 public:
  // Numbers of blocks, kNoBlock none.
  struct Happening {
    uint64_t time_ns = 0;
    uint64_t born = kNoBlock;
    uint64_t died = kNoBlock;
  };

  MakeTrace() {
    facts.recording.program = "/made/program";
    facts.recording.command_line = {"program"};
    facts.recording.pid = 4242;
    facts.recording.allocator = "glibc";
    facts.recording.start_unix_ns = 1'600'000'000'000'000'000;
    facts.recording.state = RecordingState::kEnded;
  }

  // All of these may be changed before Write.
  Facts facts;
  TraceWriter::Options options{.segment_events = 64};  // small, so that tests meet several
  bool with_addresses = true;                          // false: blocks get none
  bool write_survivors = true;
  bool write_names = true;
  bool finish = true;  // false: as a writer leaves the file that is killed after the last segment

  // A number for the stack; the same stack has the same number. `labels` is one of LabelSet's.
  uint32_t Stack(const std::vector<FakeFrame>& innermost_first, uint16_t labels = 0,
                 bool of_mappings = false) {
    uint32_t node = 0;
    for (size_t i = innermost_first.size(); i-- > 0;) node = NodeOf(node, innermost_first[i]);
    const auto key = std::make_tuple(node, labels, of_mappings);
    const auto [it, added] = stack_numbers_.try_emplace(key, static_cast<uint32_t>(stacks_.size()));
    if (added) stacks_.push_back(key);
    return it->second;
  }

  // The labels of `parent` and one more.
  uint16_t LabelSet(const std::string& key, const std::string& value, uint16_t parent = 0) {
    wire::LabelRecord record{};
    record.valid = 1;
    record.parent = parent;
    record.depth = static_cast<uint16_t>(parent == 0 ? 1 : labels_[parent].depth + 1);
    key.copy(record.key, sizeof record.key - 1);
    value.copy(record.value, sizeof record.value - 1);
    record.key_bytes = static_cast<uint16_t>(std::strlen(record.key));
    record.value_bytes = static_cast<uint16_t>(std::strlen(record.value));
    labels_.push_back(record);
    return static_cast<uint16_t>(labels_.size() - 1);
  }

  // Threads that nobody named get the ids 1000, 1001, ...
  void NameThread(uint32_t index, const std::string& name, uint32_t id = 0) {
    ThreadOf(index).name = name;
    if (id != 0) ThreadOf(index).id = id;
  }

  // Events, in order of time. Allocate and its kin return the block's number, from 0.
  uint64_t Allocate(uint64_t time_ns, uint32_t thread, uint64_t size, uint32_t stack) {
    Block block;
    block.birth_ns = time_ns;
    block.thread = thread;
    block.size = size;
    block.stack = stack;
    return Allocate(block);
  }
  uint64_t Map(uint64_t time_ns, uint32_t thread, uint64_t size, uint32_t stack) {
    Block block;
    block.birth_ns = time_ns;
    block.thread = thread;
    block.size = size;
    block.stack = stack;
    block.is_mapping = true;
    return Allocate(block);
  }
  // `block` with birth_ns, thread, size, stack and details; the rest is filled in, also an address
  // if it has none.
  uint64_t Allocate(const Block& block) {
    const uint64_t number = Bear(block);
    events_.push_back({block.birth_ns, number, kNoBlock});
    return number;
  }

  void Free(uint64_t time_ns, uint64_t number) { Free(time_ns, number, blocks_[number].thread); }
  void Free(uint64_t time_ns, uint64_t number, uint32_t thread) {
    Kill(time_ns, number, thread);
    events_.push_back({time_ns, kNoBlock, number});
  }

  // realloc by the thread that allocated it.
  uint64_t Reallocate(uint64_t time_ns, uint64_t number, uint64_t size, uint32_t stack) {
    return Reallocate(time_ns, number, size, stack, blocks_[number].thread);
  }
  uint64_t Reallocate(uint64_t time_ns, uint64_t number, uint64_t size, uint32_t stack,
                      uint32_t thread) {
    Kill(time_ns, number, thread);
    blocks_[number].resized_away = true;
    Block block;
    block.birth_ns = time_ns;
    block.thread = thread;
    block.size = size;
    block.stack = stack;
    block.function = static_cast<uint8_t>(wire::AllocationFunction::kRealloc);
    block.previous = number;
    block.is_mapping = blocks_[number].is_mapping;
    const uint64_t made = Bear(block);
    events_.push_back({time_ns, made, number});
    return made;
  }

  // munmap in the middle of a mapping: the numbers of what is left of it.
  std::pair<uint64_t, uint64_t> Cut(uint64_t time_ns, uint64_t number, uint64_t left_bytes,
                                    uint64_t right_bytes) {
    Block right = blocks_[number];
    const uint64_t left = Reallocate(time_ns, number, left_bytes, right.stack);
    right.birth_ns = time_ns;
    right.address += right.size - right_bytes;
    right.size = right_bytes;
    right.previous = number;
    return {left, Allocate(right)};
  }

  void Memory(const MemoryPoint& point) { memory_.push_back(point); }
  void Memory(uint64_t time_ns, uint64_t resident_bytes) {
    MemoryPoint point;
    point.time_ns = time_ns;
    point.resident_bytes = resident_bytes;
    memory_.push_back(point);
  }
  void Mark(uint64_t time_ns, const std::string& text) { markers_.push_back({time_ns, text}); }

  // The oracle.
  const std::vector<Block>& blocks() const { return blocks_; }
  const std::vector<Happening>& events() const { return events_; }
  const std::vector<Thread>& threads() const { return threads_; }
  const std::vector<MemoryPoint>& memory() const { return memory_; }
  const std::vector<Marker>& markers() const { return markers_; }
  uint32_t stack_count() const { return static_cast<uint32_t>(stacks_.size()); }
  uint64_t end_ns() const {
    return std::max(events_.empty() ? 0 : events_.back().time_ns, facts.recording.duration_ns);
  }
  // Live after all events up to and including that time.
  bool IsLiveAt(const Block& block, uint64_t time_ns) const {
    return block.birth_ns <= time_ns && block.death_ns > time_ns;
  }
  uint64_t LiveBytesAt(uint64_t time_ns) const {
    uint64_t sum = 0;
    for (const Block& b : blocks_) sum += !b.is_mapping && IsLiveAt(b, time_ns) ? b.size : 0;
    return sum;
  }
  // The greatest live total after any event, and the time of the first such event.
  std::pair<uint64_t, uint64_t> Peak() const {
    uint64_t live = 0;
    std::pair<uint64_t, uint64_t> peak{0, 0};
    const auto heap = [&](uint64_t number) {
      return number == kNoBlock || blocks_[number].is_mapping ? 0 : blocks_[number].size;
    };
    for (const Happening& event : events_) {
      live = live - heap(event.died) + heap(event.born);
      if (live > peak.first) peak = {live, event.time_ns};
    }
    return peak;
  }

  Status Write(const std::string& path) const {
    auto created = TraceWriter::Create(path, facts, options, true);
    if (!created) return tl::unexpected<Error>(created.error());
    TraceWriter& writer = **created;
    WriteTables(&writer);
    WriteEvents(0, events_.size(), &writer);
    if (!finish) return writer.Flush();
    return WriteEnd(&writer);
  }

  // In pieces, for a file that grows: all tables, then events from `first` up to `end`, then the
  // end.
  void WriteTables(TraceWriter* writer) const {
    for (const auto& [path, index] : modules_) {
      wire::ModuleRecord module{};
      module.start = ModuleStart(index);
      module.end = ModuleStart(index + 1);
      module.load_bias = module.start;
      path.copy(module.path, sizeof module.path - 1);
      writer->AddModule(index, module);
    }
    for (uint32_t i = 1; i < nodes_.size(); ++i) writer->AddNode(i, nodes_[i]);
    for (uint32_t i = 1; i < labels_.size(); ++i) writer->AddLabelSet(i, labels_[i]);
    for (uint32_t i = 1; i < stacks_.size(); ++i) {
      const auto& [node, labels, of_mappings] = stacks_[i];
      writer->AddStack(i, node, labels, of_mappings ? wire::kStackOfMappings : uint16_t{0});
    }
    if (write_names) {
      for (const auto& [frame, pc] : pcs_) {
        writer->AddFrames(pc, false, {{frame.function, frame.file, frame.line}});
      }
    }
    for (uint32_t i = 0; i < threads_.size(); ++i) writer->SetThread(i, threads_[i]);
    for (const MemoryPoint& point : memory_) writer->AddMemory(point);
    for (const Marker& marker : markers_) writer->AddMarker(marker);
  }
  void WriteEvents(size_t first, size_t end, TraceWriter* writer) const {
    for (size_t i = first; i < end; ++i) {
      const Happening& event = events_[i];
      if (event.died == kNoBlock) {
        writer->Allocate(AtBirth(blocks_[event.born]));
      } else if (event.born == kNoBlock) {
        writer->Free(blocks_[event.died]);
      } else {
        writer->Reallocate(blocks_[event.died], AtBirth(blocks_[event.born]));
      }
    }
  }
  Status WriteEnd(TraceWriter* writer) const {
    if (write_survivors) {
      writer->BeginSurvivors();
      for (const Block& block : blocks_) {
        if (block.is_live()) writer->AddSurvivor(block);
      }
    }
    return writer->Finish(facts);
  }

  // Through a file that is gone from its folder afterwards.
  std::shared_ptr<const TraceFile> Open() const {
    const TemporaryTrace file;
    const Status written = Write(file.path());
    if (!written) Die(written.error());
    auto trace = TraceFile::Open(file.path());
    if (!trace) Die(trace.error());
    return *trace;
  }

 private:
  static void Die(const Error& error) {
    std::fprintf(stderr, "make_trace: %s\n", error.message.c_str());
    std::abort();
  }
  static Block AtBirth(Block block) {
    block.death_ns = kNever;
    block.death_thread = kNoIndex;
    block.distance = kForeign;
    block.resized_away = false;
    return block;
  }

  trace::Thread& ThreadOf(uint32_t index) {
    while (index >= threads_.size()) {
      threads_.push_back({static_cast<uint32_t>(1000 + threads_.size()), "", 0});
      allocations_.push_back(0);
    }
    return threads_[index];
  }

  uint64_t Bear(Block block) {
    trace::Thread& thread = ThreadOf(block.thread);
    if (allocations_[block.thread] == 0) thread.first_ns = block.birth_ns;
    block.number = blocks_.size();
    ordinals_.push_back(allocations_[block.thread]++);
    if (block.address == 0 && with_addresses) {
      // As allocators do: the block that was freed last is the first to be handed out again.
      std::vector<uint64_t>& free = free_[RoomOf(block)];
      if (!free.empty()) {
        block.address = free.back();
        free.pop_back();
      } else {
        block.address = next_address_;
        next_address_ += RoomOf(block);
      }
      if (block.slack == 0) {
        block.slack = static_cast<uint16_t>(std::min<uint64_t>(RoomOf(block) - block.size, 65535));
      }
    }
    blocks_.push_back(block);
    return block.number;
  }

  void Kill(uint64_t time_ns, uint64_t number, uint32_t thread) {
    ThreadOf(thread);
    Block& block = blocks_[number];
    if (!block.is_live() || time_ns < block.birth_ns) std::abort();
    block.death_ns = time_ns;
    block.death_thread = thread;
    if (thread == block.thread) {
      block.distance = static_cast<uint32_t>(allocations_[thread] - ordinals_[number] - 1);
    }
    free_[RoomOf(block)].push_back(block.address);
  }

  static uint64_t RoomOf(const Block& block) {
    const uint64_t unit = block.is_mapping ? 4096 : 16;
    return std::max<uint64_t>((block.size + unit - 1) / unit * unit, unit);
  }

  static constexpr uint64_t ModuleStart(uint64_t index) { return 0x10000000 * (index + 1); }

  uint32_t NodeOf(uint32_t parent, const FakeFrame& frame) {
    const auto [module, new_module] =
        modules_.try_emplace(frame.module, static_cast<uint32_t>(modules_.size()));
    const auto [pc, new_pc] = pcs_.try_emplace(frame, 0);
    if (new_pc) {
      pc->second = wire::PackPc(ModuleStart(module->second) + 16 * pcs_.size(), module->second + 1);
    }
    const auto [node, new_node] = node_numbers_.try_emplace(std::make_pair(parent, pc->second),
                                                            static_cast<uint32_t>(nodes_.size()));
    if (new_node) nodes_.push_back({pc->second, parent, 0});
    return node->second;
  }

  std::vector<Block> blocks_;
  std::vector<uint64_t> ordinals_;  // of each block: which of its thread's
  std::vector<Happening> events_;
  std::vector<trace::Thread> threads_;
  std::vector<uint64_t> allocations_;  // by thread
  std::vector<MemoryPoint> memory_;
  std::vector<Marker> markers_;
  std::map<uint64_t, std::vector<uint64_t>> free_;
  uint64_t next_address_ = 0x5500'0000'1000;
  std::map<std::string, uint32_t> modules_{{"/made/program", 0}};
  std::map<FakeFrame, uint64_t> pcs_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> node_numbers_;
  std::vector<wire::NodeRecord> nodes_{wire::NodeRecord{}};
  std::map<std::tuple<uint32_t, uint16_t, bool>, uint32_t> stack_numbers_;
  std::vector<std::tuple<uint32_t, uint16_t, bool>> stacks_{{}};
  std::vector<wire::LabelRecord> labels_{wire::LabelRecord{}};
};

struct RandomTrace {
  uint64_t seed = 1;
  uint32_t events = 10000;
  uint32_t stacks = 50;
  uint32_t threads = 3;
  uint32_t live = 500;         // about so many blocks are live at a time
  double temporary = 0.25;     // freed at once
  double reallocated = 0.05;   // of the events
  double foreign_frees = 0.1;  // by another thread
  double mappings = 0.01;      // of the allocations
  double cuts = 0;             // of the mappings that would be freed: in the middle
  uint64_t greatest_size = 100'000;
  uint64_t greatest_pause_ns = 5000;
};

// Adds events at random, the same for the same seed. Call Stack and the rest before or after as you
// like.
inline void AddRandomEvents(const RandomTrace& how, MakeTrace* trace) {
  std::mt19937_64 random(how.seed);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  const auto happens = [&](double probability) {
    return static_cast<double>(random() >> 11) * 0x1p-53 < probability;
  };
  std::vector<uint32_t> stacks;
  std::vector<uint32_t> map_stacks;
  for (uint32_t i = 0; i < how.stacks; ++i) {
    const std::string caller = "caller_" + std::to_string(i % 7);
    stacks.push_back(trace->Stack(
        {FakeFrame("leaf_" + std::to_string(i)), FakeFrame(caller), FakeFrame("main")}));
    map_stacks.push_back(trace->Stack(
        {FakeFrame("mmap"), FakeFrame("map_" + std::to_string(i % 3)), FakeFrame("main")}, 0,
        true));
  }
  uint64_t now = trace->end_ns();
  std::vector<uint64_t> live;
  const auto size = [&] {
    const uint64_t limit = uint64_t{1} << below(64);
    return below(std::min(limit, how.greatest_size) + 1);
  };
  while (trace->events().size() < how.events) {
    now += below(how.greatest_pause_ns + 1);
    const auto thread = static_cast<uint32_t>(below(how.threads));
    const bool full = live.size() >= how.live;
    if (!live.empty() && happens(how.reallocated)) {
      uint64_t& block = live[below(live.size())];
      if (!trace->blocks()[block].is_mapping) {
        block = trace->Reallocate(now, block, size(), stacks[below(stacks.size())]);
        continue;
      }
    }
    if (!live.empty() && happens(full ? 0.6 : 0.3)) {
      const size_t at = below(live.size());
      const Block& chosen = trace->blocks()[live[at]];
      if (chosen.is_mapping && how.cuts > 0 && happens(how.cuts)) {
        const auto [left, right] = trace->Cut(now, live[at], chosen.size / 4, chosen.size / 2);
        live[at] = left;
        live.push_back(right);
        continue;
      }
      const uint32_t by = happens(how.foreign_frees) ? thread : trace->blocks()[live[at]].thread;
      trace->Free(now, live[at], by);
      live[at] = live.back();
      live.pop_back();
      continue;
    }
    const bool map = happens(how.mappings);
    const size_t which = below(stacks.size());
    uint64_t block = 0;
    if (map) {
      block = trace->Map(now, thread, (size() + 4096) / 4096 * 4096, map_stacks[which]);
    } else {
      Block b;
      b.birth_ns = now;
      b.thread = thread;
      b.size = size();
      b.stack = stacks[which];
      b.function = static_cast<uint8_t>(below(6));
      b.alignment_log2 = happens(0.02) ? static_cast<uint8_t>(4 + below(9)) : uint8_t{0};
      block = trace->Allocate(b);
    }
    if (happens(how.temporary) && trace->events().size() < how.events) {
      trace->Free(now + below(100), block);
      now = trace->events().back().time_ns;
    } else {
      live.push_back(block);
    }
  }
}

}  // namespace heapgauge::trace::testing
