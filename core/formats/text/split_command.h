// The command line of a program in the files of tools that write it as one line.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace heapgauge {

// The words of it; which blanks were inside of words, the file does not tell. Pure.
inline std::vector<std::string> SplitCommand(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

}  // namespace heapgauge
