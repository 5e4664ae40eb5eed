// Writes a trace of a make-believe server: make_server_trace FILE [ROUNDS]. It loads tables, works
// on requests whose memory swings, keeps a cache that grows and is trimmed, and leaks a little. All
// names are in the file, so nothing has to be symbolized.

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>

#include "core/trace/testing/make_trace.h"

using heapgauge::trace::MemoryPoint;
using heapgauge::trace::testing::FakeFrame;
using heapgauge::trace::testing::MakeTrace;

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "make_server_trace FILE [ROUNDS]\n"), 2;
  const uint64_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4000;
  constexpr uint64_t kRoundNs = 1'000'000;

  MakeTrace m;
  m.options.segment_events = rounds > 100'000 ? 1 << 18 : 4096;
  m.facts.recording.program = "/usr/bin/server";
  m.facts.recording.command_line = {"server", "--port", "80"};
  m.facts.recording.duration_ns = (rounds + 200) * kRoundNs;
  const FakeFrame main_frame("main", "main.cc", 12);
  const FakeFrame serve("Serve", "server.cc", 80);
  const FakeFrame make("operator new(unsigned long)", "", 0);
  const uint32_t tables = m.Stack({make, FakeFrame("LoadTables", "tables.cc", 33), main_frame});
  const uint32_t cache =
      m.Stack({make, FakeFrame("Cache::Insert", "cache.cc", 71), serve, main_frame});
  const uint32_t body = m.Stack({FakeFrame("Request::Read", "request.cc", 18), serve, main_frame});
  const uint32_t reply =
      m.Stack({make, FakeFrame("Reply::Format(Reply::{lambda()#1}) const", "reply.cc", 40), serve,
               main_frame});
  const uint32_t leak = m.Stack({FakeFrame("Session::Token", "session.cc", 5), serve, main_frame});

  std::mt19937_64 random(7);
  uint64_t now = 0;
  uint64_t live = 0;
  std::deque<uint64_t> cached;
  std::vector<uint64_t> requests;
  uint32_t thread = 0;  // who works
  const auto allocate = [&](uint64_t size, uint32_t stack) {
    now += 200 + random() % 800;
    live += size;
    return m.Allocate(now, thread, size, stack);
  };
  const auto release = [&](uint64_t block) {
    now += 100 + random() % 400;
    live -= m.blocks()[block].size;
    m.Free(now, block);
  };
  for (int i = 0; i < 300; ++i) allocate(20'000 + random() % 4000, tables);
  m.Mark(now, "tables loaded");
  m.NameThread(0, "server");
  for (uint32_t i = 1; i <= 5; ++i) m.NameThread(i, "worker-" + std::to_string(i));
  for (uint64_t round = 0; round < rounds; ++round) {
    now = std::max(now, round * kRoundNs);
    const uint64_t load = 1 + round * 8 / rounds % 4;  // comes and goes
    thread = 1 + static_cast<uint32_t>(round / 50 % (load + 1));
    for (uint64_t i = 0; i < load; ++i)
      requests.push_back(allocate(30'000 + random() % 60'000, body));
    for (uint64_t i = 0; i < load; ++i) release(allocate(5'000 + random() % 1000, reply));
    cached.push_back(allocate(6'000 + random() % 8000, cache));
    if (cached.size() > 1200) {
      if (round % 1000 == 0) m.Mark(now, "cache trimmed");
      for (int i = 0; i < 2 && !cached.empty(); ++i) release(cached.front()), cached.pop_front();
    }
    if (round % 20 == 0) allocate(2'000, leak);
    while (requests.size() > 8 * load) release(requests.front()), requests.erase(requests.begin());
    if (round % 20 == 0) {
      MemoryPoint point;
      point.time_ns = now;
      point.resident_bytes = 9'000'000 + live + live / 8;
      point.proportional_bytes = point.resident_bytes - 3'000'000;
      point.cgroup_bytes = point.resident_bytes + 5'000'000;
      point.cgroup_limit = 48 << 20;
      m.Memory(point);
    }
  }
  while (!cached.empty() && cached.size() > 100) release(cached.front()), cached.pop_front();
  for (const uint64_t block : requests) release(block);
  m.facts.recording.duration_ns = std::max(m.facts.recording.duration_ns, now);
  const auto written = m.Write(argv[1]);
  if (!written) return std::fprintf(stderr, "%s\n", written.error().message.c_str()), 1;
  return 0;
}
