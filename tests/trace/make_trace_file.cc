// Makes traces for tests of the command and for measurements:
//
//   heapgauge_make_trace_file story PATH                  a small program, ten seconds of it
//   heapgauge_make_trace_file random PATH EVENTS SEED     at random, with its blocks as CSV on
//                                                         standard output
//   heapgauge_make_trace_file large PATH EVENTS STACKS    written as it is made: any number of
//   events
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::FakeFrame;
using testing::MakeTrace;
using testing::RandomTrace;

constexpr uint64_t kMs = 1'000'000;

int Finish(const Status& status) {
  if (status) return 0;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return 1;
}

// Ten seconds: a table is loaded at 1 s and stays; from 2 s to 6 s a cache grows, and half of it is
// dropped at 7 s; requests come and go every 10 ms, one in a hundred leaves a token behind.
int Story(const char* path) {
  MakeTrace made;
  const FakeFrame main("main", "/src/main.cc", 10);
  const FakeFrame serve("Server::Serve", "/src/server.cc", 40);
  const FakeFrame load("LoadTable", "/src/table.cc", 12);
  const FakeFrame add("Cache::Add", "/src/cache.cc", 33, "/lib/libcache.so");
  const FakeFrame parse("ParseRequest", "/src/request.cc", 21);
  const FakeFrame token("NewToken", "/src/session.cc", 8);
  const uint32_t table = made.Stack({load, main});
  const uint32_t cache = made.Stack({add, serve, main});
  const uint32_t request = made.Stack({parse, serve, main});
  const uint32_t session = made.Stack({token, serve, main});
  made.NameThread(0, "main", 4242);
  made.NameThread(1, "worker", 4243);
  made.facts.recording.duration_ns = 10'000 * kMs;
  made.facts.recording.command_line = {"program", "--port", "80"};
  std::vector<uint64_t> cached;
  made.Allocate(1000 * kMs, 0, 8 << 20, table);
  for (uint64_t ms = 1010; ms < 10'000; ms += 10) {
    if (ms >= 2000 && ms < 6000) cached.push_back(made.Allocate(ms * kMs, 1, 64 << 10, cache));
    if (ms == 7000) {
      for (size_t i = 0; i < cached.size() / 2; ++i) made.Free(ms * kMs, cached[i]);
    }
    const uint64_t block = made.Allocate(ms * kMs + 100, 1, 2000, request);
    if (ms % 1000 == 0) made.Allocate(ms * kMs + 200, 1, 128, session);
    made.Free(ms * kMs + 5000, block);
  }
  made.Memory(5000 * kMs, 40 << 20);
  return Finish(made.Write(path));
}

bool IsOfRealloc(const Block& block) {
  return block.previous != kNoBlock || block.resized_away ||
         block.function == static_cast<uint8_t>(wire::AllocationFunction::kRealloc);
}

int Random(const char* path, uint32_t events, uint64_t seed) {
  MakeTrace made;
  RandomTrace how;
  how.events = events;
  how.seed = seed;
  how.greatest_pause_ns = kMs;
  made.options.segment_events = std::max(events / 16, 16u);
  AddRandomEvents(how, &made);
  if (const int failed = Finish(made.Write(path))) return failed;
  std::printf("number,birth_ns,death_ns,size,stack,thread,distance,realloc,mapping\n");
  for (const Block& b : made.blocks()) {
    const std::string death = b.is_live() ? "" : std::to_string(b.death_ns);
    const std::string distance = b.distance == kForeign ? "" : std::to_string(b.distance);
    std::printf("%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%u,%u,%s,%d,%d\n", b.number, b.birth_ns,
                death.c_str(), b.size, b.stack, b.thread, distance.c_str(), IsOfRealloc(b) ? 1 : 0,
                b.is_mapping ? 1 : 0);
  }
  return 0;
}

// Stacks of 30 frames; a quarter of the blocks is freed at once, the rest lives for some thousand
// allocations, one in a thousand for ever.
int Large(const char* path, uint64_t events, uint32_t stacks) {
  Facts facts;
  facts.recording.program = "/made/large";
  facts.recording.pid = 4242;
  facts.recording.state = RecordingState::kEnded;
  auto created = TraceWriter::Create(path, facts, {}, true);
  if (!created) return Finish(tl::unexpected<Error>(created.error()));
  TraceWriter& writer = **created;
  wire::ModuleRecord module{};
  module.start = 0x10000000;
  module.end = 0x20000000;
  module.load_bias = module.start;
  std::strcpy(module.path, "/made/large");
  writer.AddModule(0, module);
  std::mt19937_64 random(1);
  uint32_t nodes = 0;
  const auto node = [&](uint32_t parent, uint32_t function) {
    wire::NodeRecord n{};
    n.pc_module = wire::PackPc(module.start + 16 * (function + 1), 1);
    n.parent = parent;
    writer.AddNode(++nodes, n);
    return nodes;
  };
  std::vector<uint32_t> trunk{0};
  for (uint32_t i = 1; i < 20; ++i) trunk.push_back(node(trunk.back(), i));
  for (uint32_t i = 1; i <= stacks; ++i) {
    uint32_t at = trunk[random() % 8 + 12];
    for (uint32_t k = 0; k < 12; ++k) at = node(at, static_cast<uint32_t>(random() % 5000) + 100);
    writer.AddStack(i, at, 0, 0);
  }
  for (uint32_t i = 0; i < 5200; ++i) {
    writer.AddFrames(wire::PackPc(module.start + 16 * (i + 1), 1), false,
                     {{"Function_" + std::to_string(i), "/src/large.cc", i}});
  }
  for (uint32_t i = 0; i < 2; ++i) writer.SetThread(i, {4242 + i, "worker", 0});
  constexpr size_t kPlaces = 8192;
  std::vector<Block> ring(kPlaces);
  std::vector<bool> used(kPlaces);
  std::vector<Block> kept;
  std::vector<uint64_t> made(2);
  std::vector<uint64_t> ordinal(kPlaces);
  uint64_t now = 0;
  uint64_t number = 0;
  uint64_t done = 0;
  const auto free = [&](Block block, uint64_t born) {
    now += random() % 100;
    block.death_ns = now;
    block.death_thread = block.thread;
    block.distance = static_cast<uint32_t>(made[block.thread] - born - 1);
    writer.Free(block);
    ++done;
  };
  while (done < events) {
    now += random() % 200;
    Block block;
    block.number = number++;
    block.birth_ns = now;
    block.thread = static_cast<uint32_t>(random() % 2);
    block.stack = static_cast<uint32_t>(random() % stacks) + 1;
    block.size = 16 << (block.stack + random() % 4) % 12;
    block.address = 0x7f0000000000 + (random() % (1 << 24)) * 16;
    writer.Allocate(block);
    const uint64_t born = made[block.thread]++;
    ++done;
    if (random() % 4 == 0) {
      free(block, born);
    } else if (random() % 1000 == 0) {
      kept.push_back(block);
    } else {
      const size_t place = random() % kPlaces;
      if (used[place]) free(ring[place], ordinal[place]);
      used[place] = true;
      ring[place] = block;
      ordinal[place] = born;
    }
  }
  for (size_t i = 0; i < kPlaces; ++i) {
    if (used[i]) kept.push_back(ring[i]);
  }
  std::sort(kept.begin(), kept.end(),
            [](const Block& a, const Block& b) { return a.number < b.number; });
  writer.BeginSurvivors();
  for (const Block& block : kept) writer.AddSurvivor(block);
  facts.complete = true;
  facts.recording.duration_ns = now;
  return Finish(writer.Finish(facts));
}

int Main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "story" && argc == 3) return Story(argv[2]);
  if (what == "random" && argc == 5) {
    return Random(argv[2], static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)),
                  std::strtoull(argv[4], nullptr, 10));
  }
  if (what == "large" && argc == 5) {
    return Large(argv[2], std::strtoull(argv[3], nullptr, 10),
                 static_cast<uint32_t>(std::strtoul(argv[4], nullptr, 10)));
  }
  std::fprintf(stderr,
               "usage: %s story PATH | random PATH EVENTS SEED | large PATH EVENTS STACKS\n",
               argv[0]);
  return 2;
}

}  // namespace
}  // namespace heapgauge::trace

int main(int argc, char** argv) { return heapgauge::trace::Main(argc, argv); }
