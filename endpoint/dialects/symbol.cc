#include "endpoint/dialects/symbol.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/text.h"
#include "core/fold/allocation_frames.h"

namespace heapgauge::endpoint {
namespace {

constexpr const char* kHasSymbols = "num_symbols: 1\n";

// One line; the end of a line would begin an answer for another address.
std::string Line(const std::string& name) {
  std::string text = Printable(name);
  return text.empty() ? "?" : text;
}

bool TakesChains(const Request& request) {
  return request.Header("Content-Type").starts_with("application/x-www-form-urlencoded");
}

// Lines for all addresses in `text`.
Reply Names(const Call& call, std::string_view text, std::string opening, char between) {
  const auto addresses = ParseAddresses(text);
  if (!addresses) {
    return ErrorText(413, fmt::format("more than {} addresses; ask in parts", kMostAddresses));
  }
  const bool chains = TakesChains(call.request);
  std::string answer = std::move(opening);
  const auto names = call.process->NamesOf(*addresses);
  for (size_t i = 0; i < addresses->size() && i < names.size(); ++i) {
    if (names[i].empty()) continue;
    fmt::format_to(std::back_inserter(answer), "0x{:x}{}{}\n", (*addresses)[i], between,
                   chains ? ChainText(names[i]) : SingleName(names[i]));
    if (answer.size() > call.limits.response_bytes) {
      return ErrorText(413, "the names are too long for one answer; ask in parts");
    }
  }
  return PlainText(200, std::move(answer));
}

}  // namespace

std::optional<std::vector<uint64_t>> ParseAddresses(std::string_view text) {
  std::vector<uint64_t> addresses;
  constexpr std::string_view kBetween = "+ \t\r\n,'\"";
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return addresses;
    std::string_view word = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(word.size());
    if (word.starts_with("0x") || word.starts_with("0X")) word.remove_prefix(2);
    uint64_t address = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), address, 16);
    if (error != std::errc() || end != word.data() + word.size() || address == 0) continue;
    if (addresses.size() == kMostAddresses) return {};
    addresses.push_back(address);
  }
}

std::string ChainText(const std::vector<std::string>& innermost_first) {
  std::string text;
  for (size_t i = innermost_first.size(); i-- > 0;) {
    std::string name = Line(innermost_first[i]);
    for (size_t at = name.find("--"); at != std::string::npos; at = name.find("--", at)) {
      name.replace(at, 2, "- -");
    }
    // A dash at the end would join those that follow.
    if (i != 0 && name.back() == '-') name += ' ';
    text += name;
    if (i != 0) text += "--";
  }
  return text;
}

std::string SingleName(const std::vector<std::string>& innermost_first) {
  for (const std::string& name : innermost_first) {
    if (!IsAllocationFunction(name)) return Line(name);
  }
  return Line(innermost_first.back());
}

Reply GperftoolsSymbol(const Call& call) {
  if (call.request.method == "POST") return Names(call, call.request.body, "", '\t');
  return PlainText(200, kHasSymbols);
}

Reply GoSymbol(const Call& call) {
  const bool post = call.request.method == "POST";
  return Names(call, post ? call.request.body : call.request.query, kHasSymbols, ' ');
}

}  // namespace heapgauge::endpoint
