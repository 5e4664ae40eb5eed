// What a trace costs on disk and to write and read: `trace_codec EVENTS [THREADS]`
//
// Threads allocate and free as deep_stacks does: a block from one of 16,807 stacks, in one of the
// four sizes of that stack; a quarter is freed at once, the rest when its place in a ring of 4,096
// comes round again. Addresses and times are real. The events are kept in memory, then written as a
// trace, then read back. Prints bytes and nanoseconds of processor time for each event, and bytes
// by column.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/base/file.h"
#include "core/trace/file/chunk.h"
#include "core/trace/file/trace_file.h"
#include "core/trace/record/trace_writer.h"

namespace {

namespace trace = heapgauge::trace;
namespace wire = heapgauge::wire;

constexpr uint32_t kStacks = 16807;
constexpr uint32_t kFrames = 30;
constexpr uint32_t kPlaces = 4096;
constexpr uint64_t kWork = 100;  // at most; stands for walking the stack

struct Call {
  uint64_t time_ns;
  uint64_t address;
  uint64_t size;  // 0: a free
  uint32_t stack;
  uint16_t slack;
  uint16_t thread;
};

uint64_t Now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

class Mutator {
 public:
  Mutator(uint16_t thread, uint64_t calls) : thread_(thread), ring_(kPlaces) {
    calls_.reserve(calls + 2);
    wanted_ = calls;
  }

  void Run() {
    uint64_t next = 0;
    while (calls_.size() < wanted_) {
      const uint64_t random = Random();
      const auto stack = static_cast<uint32_t>((Random() >> 20) % kStacks);
      const size_t size = 16 + 24 * (stack % 40) + 8 * (random & 3);
      void* block = malloc(size);
      *static_cast<volatile char*>(block) = 1;
      const auto slack = static_cast<uint16_t>(malloc_usable_size(block) - size);
      Work();
      calls_.push_back({Now(CLOCK_MONOTONIC), reinterpret_cast<uint64_t>(block), size, stack + 1,
                        slack, thread_});
      if ((random >> 8 & 3) == 0) {
        Free(block);
        continue;
      }
      void*& place = ring_[next++ % kPlaces];
      if (place != nullptr) Free(place);
      place = block;
    }
  }
  std::vector<Call>& calls() { return calls_; }

 private:
  void Free(void* block) {
    Work();
    calls_.push_back({Now(CLOCK_MONOTONIC), reinterpret_cast<uint64_t>(block), 0, 0, 0, thread_});
    free(block);
  }
  void Work() {
    const uint64_t count = Random() % kWork + kWork;
    for (uint64_t i = 0; i < count; ++i) __asm__ volatile("" : : "r"(i) : "memory");
  }
  uint64_t Random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  uint16_t thread_;
  uint64_t wanted_;
  uint64_t random_ = 0x9e3779b97f4a7c15 * (thread_ + 1U) + 1;
  std::vector<void*> ring_;
  std::vector<Call> calls_;
};

std::vector<Call> Record(uint64_t events, unsigned threads) {
  std::vector<Mutator> mutators;
  for (unsigned i = 0; i < threads; ++i) {
    mutators.emplace_back(static_cast<uint16_t>(i), events / threads);
  }
  std::vector<std::thread> running;
  for (Mutator& mutator : mutators) running.emplace_back([&mutator] { mutator.Run(); });
  for (std::thread& thread : running) thread.join();
  std::vector<Call> all;
  for (Mutator& mutator : mutators) {
    all.insert(all.end(), mutator.calls().begin(), mutator.calls().end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Call& a, const Call& b) { return a.time_ns < b.time_ns; });
  const uint64_t start = all.front().time_ns;
  for (Call& call : all) call.time_ns -= start;
  return all;
}

// As a recorder hands them on: frees have their blocks.
std::vector<trace::Block> Match(const std::vector<Call>& calls) {
  std::vector<trace::Block> blocks;
  blocks.reserve(calls.size());
  std::unordered_map<uint64_t, trace::Block> live;
  std::map<uint32_t, uint64_t> allocations;
  std::unordered_map<uint64_t, uint64_t> ordinals;
  uint64_t number = 0;
  for (const Call& call : calls) {
    if (call.size != 0) {
      trace::Block block;
      block.number = number++;
      block.birth_ns = call.time_ns;
      block.address = call.address;
      block.size = call.size;
      block.stack = call.stack;
      block.thread = call.thread;
      block.slack = call.slack;
      live[call.address] = block;
      ordinals[call.address] = allocations[call.thread]++;
      blocks.push_back(block);
    } else {
      trace::Block block = live[call.address];
      block.death_ns = call.time_ns;
      block.death_thread = call.thread;
      block.distance = static_cast<uint32_t>(allocations[call.thread] - ordinals[call.address] - 1);
      blocks.push_back(block);
    }
  }
  return blocks;
}

void AddTables(trace::TraceWriter* writer) {
  wire::ModuleRecord module{};
  module.start = 0x400000;
  module.end = 0x800000;
  std::snprintf(module.path, sizeof module.path, "/bench/program");
  writer->AddModule(0, module);
  // 22 frames that all share, then two for each of the choices.
  uint32_t nodes = 0;
  const auto add = [&](uint32_t parent, uint64_t pc) {
    writer->AddNode(++nodes, {wire::PackPc(0x400000 + pc, 1), parent, 0});
    return nodes;
  };
  uint32_t top = 0;
  for (uint32_t i = 0; i < kFrames - 7; ++i) top = add(top, 64 + i * 40);
  std::vector<uint32_t> level{top};
  for (uint32_t depth = 0; depth < 5; ++depth) {
    std::vector<uint32_t> below;
    for (const uint32_t parent : level) {
      for (uint32_t choice = 0; choice < 7; ++choice) {
        below.push_back(add(parent, 4096 + depth * 1024 + choice * 100));
      }
    }
    level = below;
  }
  for (uint32_t i = 0; i < level.size(); ++i) {
    writer->AddStack(i + 1, add(add(level[i], 16384), 20000), 0, 0);
  }
}

int Fail(const heapgauge::Error& error) {
  std::fprintf(stderr, "trace_codec: %s\n", error.message.c_str());
  return 2;
}

void PrintColumns(const std::string& path, double events) {
  auto file = heapgauge::File::OpenForReading(path);
  if (!file) return;
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint64_t, uint64_t>> columns;
  uint64_t offset = sizeof(trace::FileHeader);
  for (;;) {
    auto chunk = trace::ChunkReader::Read(*file, file->Size(), offset, path);
    if (!chunk) break;
    for (const trace::ColumnEntry& entry : chunk->columns()) {
      auto& [stored, plain] = columns[{static_cast<uint32_t>(chunk->type()), entry.id}];
      stored += entry.stored;
      plain += entry.plain;
    }
    offset = chunk->end();
  }
  for (const auto& [key, bytes] : columns) {
    std::printf("  chunk %u column %2u: %7.4f bytes per event (%.4f before)\n", key.first,
                key.second, static_cast<double>(bytes.first) / events,
                static_cast<double>(bytes.second) / events);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4'000'000;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  if (wanted == 0 || threads == 0) return 2;
  const std::vector<trace::Block> blocks = Match(Record(wanted, threads));
  const auto events = static_cast<double>(blocks.size());
  const std::string path = argc > 3 ? argv[3] : "/tmp/trace_codec." + std::to_string(getpid());

  const trace::Facts facts;
  double write_ns = 1e99;
  for (int i = 0; i < 3; ++i) {
    auto created = trace::TraceWriter::Create(path, facts, trace::TraceWriter::Options(), true);
    if (!created) return Fail(created.error());
    const std::unique_ptr<trace::TraceWriter> writer = *std::move(created);
    AddTables(writer.get());
    for (uint32_t t = 0; t < threads; ++t) writer->SetThread(t, {t + 1, "", 0});
    const uint64_t start = Now(CLOCK_PROCESS_CPUTIME_ID);
    for (const trace::Block& block : blocks) {
      if (block.is_live()) {
        writer->Allocate(block);
      } else {
        writer->Free(block);
      }
    }
    if (auto done = writer->Finish(facts); !done) return Fail(done.error());
    const uint64_t end = Now(CLOCK_PROCESS_CPUTIME_ID);
    // What it costs to go through the blocks alone.
    uint64_t sum = 0;
    for (const trace::Block& block : blocks) sum += block.address + block.size;
    __asm__ volatile("" : : "r"(sum));
    const uint64_t gone = Now(CLOCK_PROCESS_CPUTIME_ID) - end;
    write_ns = std::min(write_ns, static_cast<double>(end - start - gone));
  }

  const uint64_t open_start = Now(CLOCK_PROCESS_CPUTIME_ID);
  auto opened = trace::TraceFile::Open(path);
  if (!opened) return Fail(opened.error());
  const trace::TraceFile& file = **opened;
  const auto open_ns = static_cast<double>(Now(CLOCK_PROCESS_CPUTIME_ID) - open_start);
  const uint64_t stacks_start = Now(CLOCK_PROCESS_CPUTIME_ID);
  if (auto stacks = file.ReadStacks(); !stacks) return Fail(stacks.error());
  const auto stacks_ns = static_cast<double>(Now(CLOCK_PROCESS_CPUTIME_ID) - stacks_start);

  trace::Segment segment;
  const auto read = [&](uint32_t parts) {
    double best = 1e99;
    for (int i = 0; i < 3; ++i) {
      const uint64_t start = Now(CLOCK_PROCESS_CPUTIME_ID);
      for (size_t s = 0; s < file.segments().size(); ++s) {
        if (auto status = file.ReadSegment(s, parts, &segment); !status) {
          std::exit(Fail(status.error()));
        }
      }
      best = std::min(best, static_cast<double>(Now(CLOCK_PROCESS_CPUTIME_ID) - start));
    }
    return best / events;
  };
  const double read_all = read(trace::kEverything);
  const double read_blocks = read(trace::kOldBlocks | trace::kNewBlocks);
  const double read_old = read(trace::kOldBlocks);
  const uint64_t sums_start = Now(CLOCK_PROCESS_CPUTIME_ID);
  std::vector<trace::StackSums> sums;
  for (size_t s = 0; s < file.segments().size(); ++s) {
    if (auto status = file.ReadSums(s, &sums); !status) return Fail(status.error());
  }
  const auto sums_ns = static_cast<double>(Now(CLOCK_PROCESS_CPUTIME_ID) - sums_start);

  std::printf("%.0f events in %zu segments, %.3f bytes per event\n", events, file.segments().size(),
              static_cast<double>(file.file_bytes()) / events);
  PrintColumns(path, events);
  std::printf("write %.1f ns per event, read %.1f all, %.1f blocks, %.1f old blocks\n",
              write_ns / events, read_all, read_blocks, read_old);
  std::printf("open %.2f ms, stacks %.2f ms, sums %.2f ms\n", open_ns / 1e6, stacks_ns / 1e6,
              sums_ns / 1e6);
  if (argc <= 3) unlink(path.c_str());
  return 0;
}
