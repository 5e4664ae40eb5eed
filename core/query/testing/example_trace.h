// The trace that docs/query.md talks about: ten seconds of a small shop. Always the same.
//
//   catalogue   loaded in the first second, stays
//   json        parses requests: blocks that are freed at once
//   cache       fills up, evicts late; small entries that outlive their neighbours
//   session     one in many is never freed
//   log         buffers that grow by realloc
//   image       large, in the middle of the run: the peak
//   queue       one thread allocates, another frees
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <utility>

#include "core/trace/testing/make_trace.h"

namespace heapgauge::query::testing {

inline trace::testing::MakeTrace ExampleTrace() {
  using trace::testing::FakeFrame;
  using trace::testing::MakeTrace;
  constexpr uint64_t kMs = 1'000'000;
  MakeTrace made;
  made.options.segment_events = 1000;
  made.facts.recording.program = "/srv/shop";
  made.facts.recording.command_line = {"shop", "--port", "80"};
  const std::string shop = "/srv/shop";
  const std::string json = "/usr/lib/libjson.so.1";
  const FakeFrame main("main", "main.cc", 20, shop);
  const FakeFrame serve("shop::Serve(int)", "serve.cc", 31, shop);
  const FakeFrame allocate("malloc", "", 0, "/lib/x86_64-linux-gnu/libc.so.6");
  const uint16_t search = made.LabelSet("request", "search");
  const uint16_t buy = made.LabelSet("request", "buy");
  const uint32_t catalogue =
      made.Stack({allocate, {"shop::LoadCatalogue()", "catalogue.cc", 14, shop}, main});
  const uint32_t parse = made.Stack(
      {allocate, {"json::Parse(char const*)", "json.cc", 88, json}, serve, main}, search);
  const uint32_t cache = made.Stack(
      {allocate, {"shop::Cache::Insert(Key)", "cache.cc", 52, shop}, serve, main}, search);
  const uint32_t session =
      made.Stack({allocate, {"shop::Session::Login()", "session.cc", 9, shop}, serve, main}, buy);
  const uint32_t log =
      made.Stack({allocate, {"shop::Log::Append(char)", "log.cc", 17, shop}, serve, main}, buy);
  const uint32_t image =
      made.Stack({allocate, {"image::Decode(Stream&)", "decode.cc", 203, shop}, serve, main});
  const uint32_t queue =
      made.Stack({allocate, {"shop::Queue::Push(Job)", "queue.cc", 26, shop}, serve, main}, buy);
  made.NameThread(0, "main", 4242);
  made.NameThread(1, "worker", 4243);

  std::mt19937_64 random(6);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  std::multimap<uint64_t, std::function<void(uint64_t)>> later;
  const auto free_at = [&](uint64_t when, uint64_t block, uint32_t thread) {
    later.emplace(when, [&made, block, thread](uint64_t now) { made.Free(now, block, thread); });
  };
  const auto run_until = [&](uint64_t now) {
    while (!later.empty() && later.begin()->first <= now) {
      const auto [when, what] = *later.begin();
      later.erase(later.begin());
      what(when);
    }
  };
  for (uint64_t tick = 1; tick < 4000; ++tick) {
    const uint64_t now = tick * 5 * kMs / 2;
    run_until(now);
    if (tick < 300) made.Allocate(now, 0, 2000 + below(100), catalogue);
    const auto thread = static_cast<uint32_t>(tick % 2);
    const uint64_t parsed = made.Allocate(now + 1000, thread, 20 + below(400), parse);
    made.Free(now + 1000 + 200 + below(3000), parsed);
    if (tick % 3 == 0) {
      const uint64_t entry = made.Allocate(now + 10'000, thread, 40 + below(160), cache);
      if (tick % 18 != 0) free_at(now + (1000 + below(2500)) * kMs, entry, thread);
    }
    if (tick % 5 == 0) {
      const uint64_t token = made.Allocate(now + 20'000, 0, 48, session);
      if (tick % 35 != 0) free_at(now + (300 + below(100)) * kMs, token, 0);
    }
    if (tick % 7 == 0) {
      free_at(now + (2 + below(6)) * kMs, made.Allocate(now + 30'000, 0, 256, queue), 1);
    }
    if (tick % 200 == 0) {
      uint64_t buffer = made.Allocate(now + 40'000, 1, 64, log);
      const uint64_t steps = 2 + below(5);
      for (uint64_t i = 1; i <= steps; ++i) {
        buffer = made.Reallocate(now + 40'000 + i * 1000, buffer, uint64_t{64} << i, log);
      }
      free_at(now + 900 * kMs, buffer, 1);
    }
    if (tick > 1700 && tick < 2100 && tick % 40 == 0) {
      free_at(now + 450 * kMs, made.Allocate(now + 60'000, 1, 300'000 + below(9) * 4096, image), 1);
    }
    if (tick % 400 == 0) {
      made.Memory(now, made.LiveBytesAt(now) + 900'000 + (tick > 1900 ? 700'000 : 0));
    }
    if (tick == 2400) made.Mark(now, "deployed");
  }
  run_until(10'000 * kMs);
  made.facts.recording.duration_ns = 10'000 * kMs;
  return made;
}

}  // namespace heapgauge::query::testing
