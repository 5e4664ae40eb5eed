// The part of RE2's interface that the readers use, carried out by PCRE2, for this library alone.
//
// RE2's archive is not made for shared libraries (its thread-local variable has a fixed place), and
// its shared library would bring libstdc++.so into every program. The readers' expressions are
// constant texts of their own and mean the same to both. PCRE2 needs no stack; limits on steps and
// memory stand in for RE2's guarantee of linear time: a text that exceeds them does not match.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace re2 {
namespace {

constexpr uint32_t kMostSteps = 1'000'000;
constexpr uint32_t kMostKib = 16 << 10;

struct FreeData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

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

uint32_t OptionsFor(const RE2::Options& options) {
  uint32_t flags = PCRE2_DOLLAR_ENDONLY;
  if (options.encoding() == RE2::Options::EncodingUTF8) flags |= PCRE2_MATCH_INVALID_UTF;
  if (!options.case_sensitive()) flags |= PCRE2_CASELESS;
  if (options.dot_nl()) flags |= PCRE2_DOTALL;
  if (options.literal()) flags = (flags & PCRE2_CASELESS) | PCRE2_LITERAL;
  return flags;
}

const std::string& NoWords() {
  static const std::string* const none = new std::string;
  return *none;
}

}  // namespace

RE2::Options::Options(CannedOptions canned) : Options() {
  if (canned == Latin1) encoding_ = EncodingLatin1;
  if (canned == Quiet) log_errors_ = false;
}

void RE2::Init(const StringPiece& pattern, const Options& options) {
  pattern_.assign(pattern.data(), pattern.size());
  options_.Copy(options);
  entire_regexp_ = nullptr;
  suffix_regexp_ = nullptr;
  rprog_ = nullptr;
  error_ = &NoWords();
  error_code_ = RE2::NoError;
  num_captures_ = 0;
  prefix_foldcase_ = false;
  is_one_pass_ = false;
  named_groups_ = nullptr;
  group_names_ = nullptr;
  int code = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* compiled =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern_.data()), pattern_.size(),
                    OptionsFor(options), &code, &offset, nullptr);
  prog_ = reinterpret_cast<Prog*>(compiled);
  if (compiled == nullptr) {
    PCRE2_UCHAR words[256] = "";
    pcre2_get_error_message(code, words, sizeof words);
    error_ = new std::string(reinterpret_cast<const char*>(words));
    error_code_ = ErrorInternal;
    error_arg_ = pattern_;
    return;
  }
  uint32_t groups = 0;
  pcre2_pattern_info(compiled, PCRE2_INFO_CAPTURECOUNT, &groups);
  num_captures_ = static_cast<int>(groups);
}

RE2::RE2(const char* pattern) { Init(pattern, DefaultOptions); }
RE2::RE2(const std::string& pattern) { Init(pattern, DefaultOptions); }
RE2::RE2(const StringPiece& pattern) { Init(pattern, DefaultOptions); }
RE2::RE2(const StringPiece& pattern, const Options& options) { Init(pattern, options); }

RE2::~RE2() {
  pcre2_code_free(reinterpret_cast<pcre2_code*>(prog_));
  if (error_ != &NoWords()) delete error_;
}

bool RE2::DoMatch(const StringPiece& text, Anchor anchor, size_t* consumed, const Arg* const args[],
                  int n) const {
  const auto* compiled = reinterpret_cast<const pcre2_code*>(prog_);
  if (compiled == nullptr || n > num_captures_) return false;
  const std::unique_ptr<pcre2_match_data, FreeData> data(
      pcre2_match_data_create_from_pattern(compiled, nullptr));
  if (data == nullptr) return false;
  uint32_t flags = 0;
  if (anchor != UNANCHORED) flags |= PCRE2_ANCHORED;
  if (anchor == ANCHOR_BOTH) flags |= PCRE2_ENDANCHORED;
  const char* begin = text.data() != nullptr ? text.data() : "";
  const int found = pcre2_match(compiled, reinterpret_cast<PCRE2_SPTR>(begin), text.size(), 0,
                                flags, data.get(), Limits());
  if (found <= 0) return false;
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
  if (consumed != nullptr) *consumed = ends[1];
  for (int i = 0; i < n; ++i) {
    const PCRE2_SIZE* group = ends + 2 * (i + 1);
    const bool set = i + 1 < found && group[0] != PCRE2_UNSET;
    const char* start = set ? begin + group[0] : nullptr;
    if (!args[i]->Parse(start, set ? group[1] - group[0] : 0)) return false;
  }
  return true;
}

bool RE2::FullMatchN(const StringPiece& text, const RE2& re, const Arg* const args[], int n) {
  return re.DoMatch(text, ANCHOR_BOTH, nullptr, args, n);
}

bool RE2::PartialMatchN(const StringPiece& text, const RE2& re, const Arg* const args[], int n) {
  return re.DoMatch(text, UNANCHORED, nullptr, args, n);
}

bool RE2::ConsumeN(StringPiece* input, const RE2& re, const Arg* const args[], int n) {
  size_t consumed = 0;
  if (!re.DoMatch(*input, ANCHOR_START, &consumed, args, n)) return false;
  input->remove_prefix(consumed);
  return true;
}

namespace re2_internal {

template <>
bool Parse(const char* text, size_t size, StringPiece* to) {
  if (to != nullptr) *to = StringPiece(text, size);
  return true;
}

template <>
bool Parse(const char* text, size_t size, std::string* to) {
  if (to != nullptr) to->assign(text == nullptr ? "" : text, size);
  return true;
}

}  // namespace re2_internal

StringPiece::size_type StringPiece::find(char c, size_type from) const {
  return std::string_view(data_, size_).find(c, from);
}

StringPiece StringPiece::substr(size_type from, size_type n) const {
  from = std::min(from, size_);
  return StringPiece(data_ + from, std::min(n, size_ - from));
}

}  // namespace re2
