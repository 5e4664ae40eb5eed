// Variables as a program is given them: a list of texts that ends with a null pointer. Keeps the
// texts, which settings point to. Not for use outside of tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heapgauge::agent {

class EnvironmentList {
 public:
  explicit EnvironmentList(std::vector<std::string> entries) : entries_(std::move(entries)) {
    for (auto& entry : entries_) vector_.push_back(entry.data());
    vector_.push_back(nullptr);
  }
  char** get() { return vector_.data(); }
  // What the list has now.
  std::vector<std::string> Left() const {
    std::vector<std::string> left;
    for (char* const* entry = vector_.data(); *entry != nullptr; ++entry) left.emplace_back(*entry);
    return left;
  }

 private:
  std::vector<std::string> entries_;
  std::vector<char*> vector_;
};

}  // namespace heapgauge::agent
