// What the recorder's inner loop costs: `trace_record FILE.hgt [ROUNDS]`
//
// Makes the events of a trace into what the buffers of a program hold, and then does with them what
// the recorder does: takes them in, puts threads in order, matches frees, writes a trace. Prints
// nanoseconds of processor time for each event, the least of all rounds, and bytes. So changes of
// the recorder are measured on the events of real programs, again and again the same.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/file/trace_file.h"
#include "core/trace/record/block_matcher.h"
#include "core/trace/record/merge.h"
#include "core/trace/record/trace_writer.h"

namespace {

namespace trace = heapgauge::trace;
namespace wire = heapgauge::wire;

// Of one thread, as it would fill buffers of this size.
constexpr size_t kBufferBytes = 64 * 1024 - sizeof(wire::TraceBufferHeader);
// So much is taken in before it is merged.
constexpr uint64_t kPassNs = 1'000'000;

uint64_t ProcessorNs() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

struct Piece {
  uint32_t thread;
  uint64_t latest;
  std::vector<uint8_t> bytes;
};

struct Calls {
  std::vector<std::vector<Piece>> passes;
  uint64_t events = 0;
  uint32_t threads = 0;
  uint32_t stacks = 0;
};

class CallMaker {
 public:
  void Add(const trace::Block* born, const trace::Block* died, uint64_t time) {
    if (time >= pass_end_) {
      EndPass();
      pass_end_ = time + kPassNs;
    }
    if (born != nullptr && died != nullptr) {
      Put(born->thread,
          wire::TraceFree{time,
                          wire::PackTraceWhat(wire::TraceEventKind::kResizeBegin, died->address)},
          time);
      PutBlock(wire::TraceEventKind::kResizeEnd, *born, time);
    } else if (born != nullptr) {
      PutBlock(wire::TraceEventKind::kAllocate, *born, time);
    } else {
      Put(died->death_thread,
          wire::TraceFree{time, wire::PackTraceWhat(wire::TraceEventKind::kFree, died->address)},
          time);
    }
    ++calls_.events;
  }
  Calls Take() {
    EndPass();
    calls_.threads = static_cast<uint32_t>(filling_.size());
    return std::move(calls_);
  }

 private:
  void PutBlock(wire::TraceEventKind kind, const trace::Block& block, uint64_t time) {
    Put(block.thread,
        wire::TraceAllocation{.time = time,
                              .what = wire::PackTraceWhat(kind, block.address),
                              .size = block.size,
                              .stack = block.stack,
                              .slack = block.slack,
                              .function = block.function,
                              .alignment_log2 = block.alignment_log2},
        time);
    calls_.stacks = std::max(calls_.stacks, block.stack + 1);
  }
  template <typename Event>
  void Put(uint32_t thread, const Event& event, uint64_t time) {
    if (thread >= filling_.size()) filling_.resize(thread + 1);
    Piece& piece = filling_[thread];
    piece.thread = thread;
    piece.latest = time;
    const auto* const start = reinterpret_cast<const uint8_t*>(&event);
    piece.bytes.insert(piece.bytes.end(), start, start + sizeof event);
    if (piece.bytes.size() + sizeof(wire::TraceAllocation) > kBufferBytes) Close(&piece);
  }
  void Close(Piece* piece) {
    pass_.push_back(*piece);
    piece->bytes.clear();
  }
  void EndPass() {
    for (Piece& piece : filling_) {
      if (!piece.bytes.empty()) Close(&piece);
    }
    if (!pass_.empty()) calls_.passes.push_back(std::move(pass_));
    pass_.clear();
  }

  Calls calls_;
  uint64_t pass_end_ = 0;
  std::vector<Piece> filling_;
  std::vector<Piece> pass_;
};

int Fail(const heapgauge::Error& error) {
  std::fprintf(stderr, "trace_record: %s\n", error.message.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  auto opened = trace::TraceFile::Open(argv[1]);
  if (!opened) return Fail(opened.error());
  CallMaker maker;
  trace::Segment segment;
  for (size_t i = 0; i < (*opened)->segments().size(); ++i) {
    if (auto read = (*opened)->ReadSegment(i, trace::kEverything, &segment); !read)
      return Fail(read.error());
    for (const trace::Event& event : segment.events) {
      const auto block = [&](uint32_t index) {
        return index == trace::kNoIndex ? nullptr : &segment.blocks[index];
      };
      maker.Add(block(event.born), block(event.died), event.time_ns);
    }
  }
  const Calls calls = maker.Take();
  const std::string path = "/dev/shm/trace_record." + std::to_string(getpid());
  double least = 1e99;
  uint64_t bytes = 0;
  for (int round = 0; round < rounds; ++round) {
    auto created =
        trace::TraceWriter::Create(path, trace::Facts(), trace::TraceWriter::Options(), true);
    if (!created) return Fail(created.error());
    const std::unique_ptr<trace::TraceWriter> writer = *std::move(created);
    writer->AddStack(calls.stacks - 1, 0, 0, 0);
    for (uint32_t t = 0; t < calls.threads; ++t) writer->SetThread(t, {t + 1, "", 0});
    std::vector<std::unique_ptr<trace::EventStream>> streams;
    std::vector<trace::EventStream*> pointers;
    for (uint32_t t = 0; t < calls.threads; ++t) {
      streams.push_back(std::make_unique<trace::EventStream>(t, t + 1, t, 0));
      pointers.push_back(streams.back().get());
    }
    trace::BlockMatcher matcher(writer.get(), {});
    trace::Merge merge(256);
    const uint64_t start = ProcessorNs();
    for (const std::vector<Piece>& pass : calls.passes) {
      uint64_t latest = 0;
      for (const Piece& piece : pass) {
        streams[piece.thread]->Append(piece.bytes.data(), piece.bytes.size(), piece.latest);
        latest = std::max(latest, piece.latest);
      }
      merge.Start(pointers, latest);
      for (auto batch = merge.Next(); !batch.empty(); batch = merge.Next()) matcher.Process(batch);
    }
    matcher.Finish();
    if (auto done = writer->Finish(trace::Facts()); !done) return Fail(done.error());
    least = std::min(least, static_cast<double>(ProcessorNs() - start));
    bytes = writer->bytes_written();
    unlink(path.c_str());
  }
  const auto events = static_cast<double>(calls.events);
  std::printf("%.0f events, %u threads: %.2f ns and %.3f bytes per event\n", events, calls.threads,
              least / events, static_cast<double>(bytes) / events);
  return 0;
}
