#include "core/voices/pprof/short_function_name.h"

#include <re2/re2.h>

namespace heapgauge::pprof {
namespace {

// Expressions over bytes: names need not be UTF-8.
class Expression {
 public:
  explicit Expression(const char* pattern) : re_(pattern, RE2::Latin1) {}

  template <typename... Parts>
  bool Starts(const std::string& text, Parts*... parts) const {
    return RE2::PartialMatch(text, re_, parts...);
  }

 private:
  RE2 re_;
};

// A package path of Go with a major version: "example.com/a/v2/b".
const Expression& GoVersion() {
  static const Expression expression(R"(^(.*?)/v(?:[2-9]|[1-9][0-9]+)([./].*)$)");
  return expression;
}

// The rest of a Go name behind its last directory.
const Expression& GoPath() {
  static const Expression expression(R"(^(?:[\w\-\.]+/)+(.+))");
  return expression;
}

// Class and method of a Java name, in front of parameters or the end.
const Expression& JavaMethod() {
  static const Expression expression(
      R"(^(?:[a-z]\w*\.)*([A-Z][\w\$]*\.(?:<init>|[a-z][\w\$]*(?:\$\d+)?))(?:\(|$))");
  return expression;
}

// Class and method of a C++ name, with template arguments.
const Expression& CppMethod() {
  static const Expression expression(
      R"(^(?:[_a-zA-Z]\w*::)+(_*[A-Z]\w*::~?[_a-zA-Z]\w*(?:<.*>)?))");
  return expression;
}

}  // namespace

std::string ShortenFunctionName(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (name.starts_with(kAnonymous)) name.remove_prefix(kAnonymous.size());
  std::string text(name);
  std::string head;
  std::string tail;
  if (GoVersion().Starts(text, &head, &tail)) text = head + tail;
  std::string found;
  for (const Expression* expression : {&GoPath(), &JavaMethod(), &CppMethod()}) {
    if (expression->Starts(text, &found)) return found;
  }
  return text;
}

}  // namespace heapgauge::pprof
