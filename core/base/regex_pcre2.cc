// PCRE2 behind Regex, for libheapgauge_service.so alone.
//
// RE2's archive is not made for shared libraries (its thread-local variable has a fixed place), and
// its shared library would bring libstdc++.so into every program. The readers' expressions are
// constant texts of their own and mean the same to both. PCRE2 needs no stack; limits on steps and
// memory stand in for RE2's guarantee of linear time: a text that exceeds them does not match.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/base/regex.h"

namespace heapgauge {
namespace {

constexpr uint32_t kMostSteps = 1'000'000;
constexpr uint32_t kMostKib = 16 << 10;

PCRE2_SPTR Units(const char* text) { return reinterpret_cast<PCRE2_SPTR>(text); }

pcre2_match_context* Limits() {
  static pcre2_match_context* const limits = [] {
    pcre2_match_context* made = pcre2_match_context_create(nullptr);
    if (made != nullptr) {
      pcre2_set_match_limit(made, kMostSteps);
      pcre2_set_heap_limit(made, kMostKib);
    }
    return made;
  }();
  return limits;
}

class Pcre2Engine final : public RegexEngine {
 public:
  // Takes over `compiled`.
  explicit Pcre2Engine(pcre2_code* compiled) : compiled_(compiled) {
    pcre2_pattern_info(compiled, PCRE2_INFO_CAPTURECOUNT, &groups_);
  }
  Pcre2Engine(const Pcre2Engine&) = delete;
  Pcre2Engine& operator=(const Pcre2Engine&) = delete;
  ~Pcre2Engine() override { pcre2_code_free(compiled_); }

  bool Match(std::string_view text, RegexAnchor anchor, std::string_view* groups,
             size_t n) const override {
    if (n > 1 + size_t{groups_}) return false;
    const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data(
        pcre2_match_data_create_from_pattern(compiled_, nullptr), pcre2_match_data_free);
    if (data == nullptr) return false;
    uint32_t flags = 0;
    if (anchor != RegexAnchor::kNowhere) flags |= PCRE2_ANCHORED;
    if (anchor == RegexAnchor::kBoth) flags |= PCRE2_ENDANCHORED;
    const char* begin = text.data() != nullptr ? text.data() : "";
    const int found =
        pcre2_match(compiled_, Units(begin), text.size(), 0, flags, data.get(), Limits());
    if (found <= 0) return false;
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
    for (size_t i = 0; i < n; ++i, ends += 2) {
      const bool set = i < static_cast<size_t>(found) && ends[0] != PCRE2_UNSET;
      groups[i] = set ? std::string_view(begin + ends[0], ends[1] - ends[0]) : std::string_view();
    }
    return true;
  }

 private:
  pcre2_code* compiled_;
  uint32_t groups_ = 0;
};

}  // namespace

std::unique_ptr<RegexEngine> RegexEngine::Compile(const std::string& pattern, RegexOver over,
                                                  int64_t, Fault* fault) {
  const uint32_t text = over == RegexOver::kText ? PCRE2_MATCH_INVALID_UTF : 0;
  int code = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* compiled = pcre2_compile(Units(pattern.data()), pattern.size(),
                                       PCRE2_DOLLAR_ENDONLY | text, &code, &offset, nullptr);
  if (compiled != nullptr) return std::make_unique<Pcre2Engine>(compiled);
  fault->go_words = "internal error: `" + pattern + "`";
  PCRE2_UCHAR words[256] = "";
  pcre2_get_error_message(code, words, sizeof words);
  fault->words = reinterpret_cast<const char*>(words);
  return nullptr;
}

}  // namespace heapgauge
