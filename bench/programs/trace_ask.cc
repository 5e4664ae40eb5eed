// How long questions to a trace take: `trace_ask FILE [ROUNDS]`
//
// Opens it, makes one full report, and then asks for flame graphs of ranges at random, with each
// value in turn, as a page does that keeps the trace open; then for one that looks at single
// blocks. Prints processor time for each event of the trace, and real time for each question.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

#include "core/fold/functions.h"
#include "core/report/draw/flame.h"
#include "core/trace/answer/trace_profile.h"

namespace {

namespace trace = heapgauge::trace;

double Now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

int Fail(const heapgauge::Error& error) {
  std::fprintf(stderr, "trace_ask: %s\n", error.message.c_str());
  return 1;
}

constexpr trace::TraceValue kValues[] = {
    trace::TraceValue::kLive,   trace::TraceValue::kAllocated, trace::TraceValue::kFreed,
    trace::TraceValue::kGrowth, trace::TraceValue::kTemporary, trace::TraceValue::kLifetime,
    trace::TraceValue::kPeak,   trace::TraceValue::kLeft,      trace::TraceValue::kNeverFreed};

void Print(const char* what, std::vector<double> ms, double cpu) {
  std::sort(ms.begin(), ms.end());
  std::printf("%-12s median %7.1f ms  most %7.1f ms  processor time %7.1f ms\n", what,
              ms[ms.size() / 2], ms.back(), cpu / static_cast<double>(ms.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE [ROUNDS]\n", argv[0]);
    return 2;
  }
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  const double begin_cpu = Now(CLOCK_PROCESS_CPUTIME_ID);
  const double begin = Now(CLOCK_MONOTONIC);
  auto opened = trace::TraceFile::Open(argv[1]);
  if (!opened) return Fail(opened.error());
  const double open = Now(CLOCK_MONOTONIC) - begin;
  const auto full = trace::ReadTraceProfile(**opened, {});
  if (!full) return Fail(full.error());
  const auto report = heapgauge::AggregateFunctions(*full, {});
  if (!report) return Fail(report.error());
  const auto events = static_cast<double>((*opened)->events());
  std::printf("%.0f events in %zu segments, %u stacks\n", events, (*opened)->segments().size(),
              (*opened)->stack_count());
  std::printf("open         %.1f ms\n", open);
  std::printf("full report  %.1f ms, %.1f ns of processor time for each event\n",
              Now(CLOCK_MONOTONIC) - begin,
              (Now(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu) * 1e6 / events);
  trace::TraceAnswers answers(*opened);
  const double prepare = Now(CLOCK_MONOTONIC);
  if (const auto prepared = answers.Prepare(); !prepared) return Fail(prepared.error());
  std::printf("prepare      %.1f ms\n", Now(CLOCK_MONOTONIC) - prepare);
  std::mt19937_64 random(1);
  const uint64_t end = (*opened)->end_ns();
  for (const trace::TraceValue value : kValues) {
    std::vector<double> times;
    const double cpu = Now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < rounds; ++i) {
      trace::ProfileRequest request;
      request.value = value;
      request.range.from = trace::TraceMoment::At(random() % (end + 1));
      request.range.to = trace::TraceMoment::At(random() % (end + 1));
      if (request.range.from > request.range.to) std::swap(request.range.from, request.range.to);
      const double start = Now(CLOCK_MONOTONIC);
      const auto profile = answers.Ask(request);
      if (!profile) return Fail(profile.error());
      heapgauge::TreeOptions flame = heapgauge::FlameOptions();
      if (value == trace::TraceValue::kAllocated) flame.sort = heapgauge::SortKey::kAllocated;
      const auto svg = heapgauge::FlameSvg(*profile, flame);
      if (!svg) return Fail(svg.error());
      times.push_back(Now(CLOCK_MONOTONIC) - start);
    }
    Print(trace::ValueName(value), times, Now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
  }
  trace::ProfileRequest request;
  request.filter.least_size = 1000;
  const double start = Now(CLOCK_MONOTONIC);
  const double start_cpu = Now(CLOCK_PROCESS_CPUTIME_ID);
  const auto filtered = answers.Ask(request);
  if (!filtered) return Fail(filtered.error());
  std::printf("by block     %.1f ms, %.1f ns of processor time for each event\n",
              Now(CLOCK_MONOTONIC) - start,
              (Now(CLOCK_PROCESS_CPUTIME_ID) - start_cpu) * 1e6 / events);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("memory       %.0f MB at the most\n", static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}
