#include "endpoint/base/route.h"

#include <algorithm>
#include <array>

namespace heapgauge::endpoint {

std::optional<std::string_view> Call::Parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

Result<Engine*> Call::ChosenEngine() const {
  const std::string_view wanted = Parameter("engine").value_or("native");
  if (wanted.empty() || wanted == "native") return nullptr;
  constexpr std::array<std::string_view, 2> kKnown = {"jemalloc", "tcmalloc"};
  if (std::find(kKnown.begin(), kKnown.end(), wanted) == kKnown.end()) {
    return Fail(ErrorCode::kInvalidArgument, "engine is one of: native, jemalloc, tcmalloc");
  }
  std::string there = "native";
  if (process != nullptr) {
    for (Engine* engine : process->engines()) {
      if (engine->name() == wanted) return engine;
      there += ", " + std::string(engine->name());
    }
  }
  return Fail(ErrorCode::kNotFound,
              "no engine " + std::string(wanted) +
                  " in this process, or it is seen from outside; there is: " + there);
}

}  // namespace heapgauge::endpoint
