// Small conversions that reading and importing heaptrack files share. Pure functions.
#ifndef HEAPGAUGE_CORE_FORMATS_HEAPTRACK_HEAPTRACK_TEXT_H_
#define HEAPGAUGE_CORE_FORMATS_HEAPTRACK_HEAPTRACK_TEXT_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapgauge {

// The words of a command line; which blanks were inside of words, the file does not tell.
inline std::vector<std::string> SplitCommand(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

// No run is longer than a century; what says so is cut to that.
inline uint64_t MillisecondsToNs(uint64_t milliseconds) {
  constexpr uint64_t kCentury = uint64_t{100} * 366 * 86400 * 1000;
  return std::min(milliseconds, kCentury) * 1'000'000;
}

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_FORMATS_HEAPTRACK_HEAPTRACK_TEXT_H_
