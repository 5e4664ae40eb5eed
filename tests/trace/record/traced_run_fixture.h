// Runs programs under `heapgauge run --trace`, with all files in a directory of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace heapgauge::testing {

// A program of tests/targets.
inline std::string Target(const std::string& name) {
  return std::string(HEAPGAUGE_TARGETS) + "/" + name;
}

class TracedRun : public ::testing::Test {
 protected:
  // heapgauge run --trace, with all files in the scratch directory.
  std::vector<std::string> Traced(const std::vector<std::string>& options,
                                  const std::vector<std::string>& command) {
    std::vector<std::string> words = {"run", "--trace", "--dir", scratch_ / "gauge"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return HeapgaugeCommand(words);
  }
  Outcome Run(const std::vector<std::string>& options, const std::vector<std::string>& command) {
    return Command(Traced(options, command)).Wait();
  }
  std::vector<std::string> Traces() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.path())) {
      if (entry.path().extension() == ".hgt") paths.push_back(entry.path().string());
    }
    return paths;
  }
  size_t GaugeFiles() {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_ / "gauge")) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

  ScratchDir scratch_;
};

}  // namespace heapgauge::testing
