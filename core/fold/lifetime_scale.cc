#include "core/fold/lifetime_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace heapgauge {
namespace {

constexpr uint64_t kUs = 1'000;
constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kS = 1'000'000'000;

constexpr LifetimeStep kSteps[] = {
    {kUs, "<1us", "1us"},
    {10 * kUs, "<10us", "10us"},
    {100 * kUs, "<100us", ".1ms"},
    {kMs, "<1ms", "1ms"},
    {10 * kMs, "<10ms", "10ms"},
    {100 * kMs, "<100ms", ".1s"},
    {kS, "<1s", "1s"},
    {10 * kS, "<10s", "10s"},
    {60 * kS, "<1min", "1min"},
    {600 * kS, "<10min", "10m"},
    {3600 * kS, "<1h", "1h"},
    {UINT64_MAX, ">1h", ">1h"},
    {UINT64_MAX, "never freed", "never"},
};
static_assert(std::size(kSteps) == kLifetimeSteps);

struct Scale {
  std::array<uint64_t, kFineSteps> ends{};
  std::array<uint8_t, kFineSteps> step{};
  std::array<uint8_t, 65> first{};  // by bit width: the first fine step that may hold it

  Scale() {
    constexpr int kPerDecade = 16;
    std::vector<uint64_t> edges = {60 * kS, 600 * kS, 3600 * kS};
    uint64_t decade = 10;
    for (int i = 0; i < 12; ++i, decade *= 10) {  // 10 ns to 10^13 ns, nearly three hours
      for (int j = 0; j < kPerDecade; ++j) {
        edges.push_back(static_cast<uint64_t>(
            std::llround(static_cast<double>(decade) * std::pow(10.0, j / double{kPerDecade}))));
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    edges.resize(kFineSteps - 1, edges.back());
    std::copy(edges.begin(), edges.end(), ends.begin());
    ends.back() = UINT64_MAX;
    for (size_t i = 0; i < kFineSteps; ++i) {
      const uint64_t begin = i == 0 ? 0 : ends[i - 1];
      size_t s = 0;
      while (s < kLongestStep && begin >= kSteps[s].end_ns) ++s;
      step[i] = static_cast<uint8_t>(s);
    }
    for (size_t width = 0; width <= 64; ++width) {
      const uint64_t least = width == 0 ? 0 : uint64_t{1} << (width - 1);
      size_t i = 0;
      while (i + 1 < kFineSteps && ends[i] <= least) ++i;
      first[width] = static_cast<uint8_t>(i);
    }
  }
};

const Scale& TheScale() {
  static const Scale scale;
  return scale;
}

}  // namespace

std::span<const LifetimeStep> LifetimeSteps() { return kSteps; }

size_t FineStepOf(uint64_t lifetime_ns) {
  const Scale& scale = TheScale();
  size_t i = scale.first[static_cast<size_t>(std::bit_width(lifetime_ns))];
  while (i + 1 < kFineSteps && scale.ends[i] <= lifetime_ns) ++i;
  return i;
}

size_t StepOfFine(size_t fine) { return TheScale().step[fine]; }
uint64_t FineStepBegin(size_t fine) { return fine == 0 ? 0 : TheScale().ends[fine - 1]; }
uint64_t FineStepEnd(size_t fine) { return TheScale().ends[fine]; }

}  // namespace heapgauge
