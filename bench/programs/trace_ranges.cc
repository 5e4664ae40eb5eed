// How long a trace takes to answer: `trace_ranges FILE.hgt RANGES`
//
// Opens the trace, asks for the profile of so many random ranges of time, draws each as a flame
// graph, and prints as JSON: events, bytes of the file, milliseconds for opening and for each of
// the answers (least, median, most).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "core/report/draw/flame.h"
#include "core/trace/answer/trace_profile.h"
#include "core/trace/file/trace_file.h"

namespace {

using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

int Fail(const heapgauge::Error& error) {
  std::fprintf(stderr, "trace_ranges: %s\n", error.message.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace heapgauge;
  if (argc != 3) {
    std::fprintf(stderr, "usage: trace_ranges FILE.hgt RANGES\n");
    return 2;
  }
  const Clock::time_point start = Clock::now();
  auto opened = trace::TraceFile::Open(argv[1]);
  if (!opened) return Fail(opened.error());
  const trace::TraceFile& file = **opened;
  if (auto stacks = file.ReadStacks(); !stacks) return Fail(stacks.error());
  const double open_ms = Milliseconds(start);

  std::mt19937_64 random(1);
  std::vector<double> answers;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    trace::ProfileRequest request;
    uint64_t a = random() % (file.end_ns() + 1);
    uint64_t b = random() % (file.end_ns() + 1);
    request.range.from = trace::TraceMoment::At(std::min(a, b));
    request.range.to = trace::TraceMoment::At(std::max(a, b));
    const trace::TraceValue kinds[] = {trace::TraceValue::kLive, trace::TraceValue::kAllocated,
                                       trace::TraceValue::kGrowth, trace::TraceValue::kLeft};
    request.value = kinds[i % 4];
    const Clock::time_point asked = Clock::now();
    auto profile = trace::ReadTraceProfile(file, request);
    if (!profile) return Fail(profile.error());
    if (auto flame = FlameSvg(*profile, FlameOptions()); !flame) return Fail(flame.error());
    answers.push_back(Milliseconds(asked));
  }
  std::sort(answers.begin(), answers.end());
  std::printf(
      "{\"events\": %llu, \"file_bytes\": %llu, \"open_ms\": %.3f, \"least_ms\": %.3f, "
      "\"median_ms\": %.3f, \"most_ms\": %.3f}\n",
      static_cast<unsigned long long>(file.events()),
      static_cast<unsigned long long>(file.file_bytes()), open_ms,
      answers.empty() ? 0 : answers.front(), answers.empty() ? 0 : answers[answers.size() / 2],
      answers.empty() ? 0 : answers.back());
  return 0;
}
