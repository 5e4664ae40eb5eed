#include "core/voices/pprof/short_function_name.h"

#include "core/base/regex.h"

namespace heapgauge::pprof {
namespace {

// A package path of Go with a major version: "example.com/a/v2/b".
const Regex& GoVersion() {
  static const Regex expression(R"(^(.*?)/v(?:[2-9]|[1-9][0-9]+)([./].*)$)");
  return expression;
}

// The rest of a Go name behind its last directory.
const Regex& GoPath() {
  static const Regex expression(R"(^(?:[\w\-\.]+/)+(.+))");
  return expression;
}

// Class and method of a Java name, in front of parameters or the end.
const Regex& JavaMethod() {
  static const Regex expression(
      R"(^(?:[a-z]\w*\.)*([A-Z][\w\$]*\.(?:<init>|[a-z][\w\$]*(?:\$\d+)?))(?:\(|$))");
  return expression;
}

// Class and method of a C++ name, with template arguments.
const Regex& CppMethod() {
  static const Regex expression(R"(^(?:[_a-zA-Z]\w*::)+(_*[A-Z]\w*::~?[_a-zA-Z]\w*(?:<.*>)?))");
  return expression;
}

}  // namespace

std::string ShortenFunctionName(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (name.starts_with(kAnonymous)) name.remove_prefix(kAnonymous.size());
  std::string text(name);
  std::string_view head, tail, found;
  if (GoVersion().Matches(name, &head, &tail)) text = std::string(head) += tail;
  for (const Regex* expression : {&GoPath(), &JavaMethod(), &CppMethod()}) {
    if (expression->Matches(text, &found)) return std::string(found);
  }
  return text;
}

}  // namespace heapgauge::pprof
