#include "core/source/listing.h"

#include <algorithm>
#include <map>

#include "core/base/wrapping.h"

namespace heapgauge {
namespace {

constexpr int64_t kMargin = 5;

int64_t StartOf(const LineWeight& weight) {
  return weight.start_line != 0 ? weight.start_line : weight.line - kMargin;
}

}  // namespace

void LineSum::Add(const LineWeight& weight) {
  flat = WrapAdd(flat, weight.flat);
  cum = WrapAdd(cum, weight.cum);
  flat_div = WrapAdd(flat_div, weight.flat_div);
  cum_div = WrapAdd(cum_div, weight.cum_div);
}

std::vector<ListedLine> ListLines(const std::string& path, const std::string& build_id,
                                  const std::vector<LineWeight>& weights, SourceFiles* files) {
  int64_t start = StartOf(weights.front());
  int64_t end = weights.front().line + kMargin;
  std::map<int64_t, LineSum> sums;
  for (const LineWeight& weight : weights) {
    start = std::min(start, StartOf(weight));
    end = std::max(end, weight.line + kMargin);
    sums[weight.line].Add(weight);
  }
  std::vector<ListedLine> lines;
  for (int64_t number = std::max<int64_t>(start, 1); number <= end; ++number) {
    const auto text = files->Line(path, number, build_id);
    if (!text) break;
    const auto sum = sums.find(number);
    ListedLine line{number, {}, *text};
    if (sum != sums.end()) line.sum = sum->second;
    lines.push_back(line);
  }
  return lines;
}

}  // namespace heapgauge
