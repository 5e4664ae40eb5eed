// Lines that a user types. On a terminal with editing, completion by the Tab key, and a history
// that is kept in $XDG_STATE_HOME/heapgauge/history; from a pipe just as they come.
//
// There is one at a time. Single-threaded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapgauge::cli {

class PromptReader {
 public:
  // Ways to complete the last word of a line.
  using Completer = std::function<std::vector<std::string>(const std::string& line)>;

  // From a pipe the prompt goes to `prompt_fd`.
  PromptReader(std::string prompt, Completer completer, int prompt_fd = 1);
  ~PromptReader();
  PromptReader(const PromptReader&) = delete;
  PromptReader& operator=(const PromptReader&) = delete;

  // Nothing at the end of input.
  std::optional<std::string> Read();

 private:
  struct Editor;
  std::string prompt_;
  Completer completer_;
  int prompt_fd_;
  std::unique_ptr<Editor> editor_;  // null: no terminal
};

}  // namespace heapgauge::cli
