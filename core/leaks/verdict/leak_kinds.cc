#include "core/leaks/verdict/leak_kinds.h"

#include "core/base/text.h"

namespace heapgauge::leaks {
namespace {

// Each word of a list with commas is one of the `count` that name() knows.
template <typename NameOf>
Result<uint32_t> ParseSet(std::string_view text, uint32_t first, uint32_t count, const char* what,
                          const NameOf& name) {
  const uint32_t all = ((1u << count) - 1) & ~((1u << first) - 1);
  uint32_t set = 0;
  if (text == "all") return all;
  if (text == "none") return set;
  std::string_view rest = text;
  while (true) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    uint32_t i = first;
    while (i < count && word != name(i)) ++i;
    if (i == count) {
      std::string known;
      for (uint32_t k = first; k < count; ++k) known += std::string(name(k)) + ", ";
      return Fail(ErrorCode::kInvalidArgument, "'" + Printable(word.substr(0, 40)) + "' is no " +
                                                   what + " (" + known + "all, none)");
    }
    set |= 1u << i;
    if (comma == rest.size()) return set;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<uint32_t> ParseKinds(std::string_view text) {
  return ParseSet(text, 0, kKinds, "kind of leak",
                  [](uint32_t i) { return KindName(static_cast<Kind>(i)); });
}

Result<uint32_t> ParseHeuristics(std::string_view text) {
  return ParseSet(text, 1, kHeuristics, "heuristic",
                  [](uint32_t i) { return HeuristicName(static_cast<Heuristic>(i)); });
}

const char* KindPhrase(Kind kind) {
  switch (kind) {
    case Kind::kDefinite:
      return "definitely lost";
    case Kind::kIndirect:
      return "indirectly lost";
    case Kind::kPossible:
      return "possibly lost";
    case Kind::kReachable:
      break;
  }
  return "still reachable";
}

}  // namespace heapgauge::leaks
