// The options that ask about a moment, a range or certain blocks of a trace, as somebody wrote
// them: on the command line (--min-size 4K) or in the address of a page (min-size=4K). The one
// place where these words are read.
//
// Plain data and pure functions.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/trace/answer/trace_question.h"

namespace heapgauge::trace {

struct QuestionWords {
  // As written; "" not given.
  std::string at;
  std::string from;
  std::string to;
  std::string value;
  std::string temporary;
  std::string least_size;
  std::string greatest_size;
  std::string least_lifetime;
  std::string greatest_lifetime;
  std::string thread;
  std::vector<std::string> live_at;
  bool blocks = false;
  bool freed = false;
  bool not_freed = false;
  bool by_realloc = false;
  bool with_mappings = false;
  // Regular expressions.
  std::string stack, not_stack;
  std::string function, not_function;
  std::string module, not_module;
  std::string source, not_source;

  // The same without moments, range and value: what chooses blocks.
  QuestionWords Blocks() const;

  friend bool operator==(const QuestionWords&, const QuestionWords&) = default;
};

// Fails with the option's name where a size, time or word cannot be read.
Result<Question> QuestionOf(const QuestionWords& words);

}  // namespace heapgauge::trace
